//! Safe traits for the author of a file system component, from which [`module()`] makes the table.
//!
//! A component implements [`Fs`] for itself and [`File`] for an open file. Arguments come as views that borrow ([`Facts`], [`Opening`]); answers are values
//! and `Result<_, Status>`, where a failure of a system call is [`crate::error::system`] of its number. A panic in `query`, `open`, `delete` or a file's `close` is caught and
//! answered as PANICKED; elsewhere it ends the process, as in all components.
//!
//! Map: `views` (arguments as authors see them) · `traits` · `thunk` (the functions of the table, which hold the `unsafe`).

mod thunk;
mod traits;
mod views;

pub use thunk::module;
pub use traits::{Description, Direct, File, Fs, Locked};
pub use views::{Access, Facts, LockKind, Opening};
