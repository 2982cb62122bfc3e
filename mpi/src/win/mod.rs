//! Windows as the C interface has them: handle, error handler, attributes, name and hints (MPI 5.0 §12.2, §7.7, §9.3).
//!
//! Map: `object` (the object behind a handle) · `names` (name and hints) · `create` (made and freed) · `memory` (memory of ranks, attached memory) · `argument` (what all calls
//! on a window look at) · `fast_path` (calls in which nothing is unusual) · `operation` (put, get, accumulate) · `atomic` (one element) · `fence`, `post` (active
//! synchronisation) · `lock` (passive synchronisation) · `notify`, `duplicate` (extensions of `mpi-ext.h`). A window's operations are carried out by its
//! one-sided component ([`oxmpi_runtime::window`]).

mod argument;
mod atomic;
mod create;
mod duplicate;
mod fast_path;
mod fence;
mod lock;
mod memory;
mod names;
mod notify;
mod object;
mod operation;
mod post;

pub use object::{TABLE, WinObject, get, require};
