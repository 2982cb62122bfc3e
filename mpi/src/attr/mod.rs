//! Attributes: values that users hang on communicators, datatypes and windows (MPI 5.0 §7.7).
//!
//! Map: `attributes` (keys, and the attributes of one object) · `predefined` (the values of MPI_TAG_UB and its like) ·
//! `calls` (the standard's functions).

mod attributes;
mod calls;
pub mod predefined;

pub use attributes::{Attributes, forget_keyvals, keyvals};
