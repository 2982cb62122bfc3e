//! Communicators (MPI 5.0 §7).
//!
//! Map: `object` (what a handle leads to) · `lifetime` (from birth to the last operation) · `calls` (the standard's functions on one that is
//! there) · `create`, `intercomm` (those that make one).

mod calls;
mod create;
mod intercomm;
pub mod lifetime;
mod object;

pub use object::{CommObject, Placed, TABLE, get, require};
