//! Parts that file system components share: [`PosixFile`], a file of the system, and [`mounts`], what types of file systems and options of mounts keep.

#![deny(missing_docs)]

mod file;
pub mod mounts;
pub mod params;
mod sys;

pub use file::{PosixFile, words};
pub use sys::{forget, unlink};
