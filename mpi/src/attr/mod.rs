//! Attributes: values that users hang on communicators, datatypes and windows (MPI 5.0 §7.7).
//!
//! Map: `attributes` (keys, and the attributes of one object) · `value` (a value and its language) · `predefined` (the values of MPI_TAG_UB and
//! its like) · `calls` (the standard's functions) · `languages` (what a Fortran library says and asks, `mpi-ext.h`).

mod attributes;
mod calls;
mod languages;
pub mod predefined;
mod value;

pub use attributes::{Attributes, forget_keyvals, keyvals};
