//! Computations about files that MPI-IO needs and that touch none: pure functions, no system call, no MPI, no `static`.
//!
//! | | |
//! |---|---|
//! | [`blocks`] | the blocks of a range of packed data, one after the other, on demand |
//! | [`view`] | where byte `p` of a view lies in the file, which byte lies at or behind an offset, and which types may be views |
//! | [`pieces`] | a view cut against memory, in batches for a transfer |
//! | [`Window`] | pieces that are written as one range, holes included |
//! | [`layout`] | which ranks transfer for others, and by which unit they part the file |
//! | [`hints`], [`config`] | keys of info objects: accepted spellings, values, what is in force; files of hints, lists of hosts |
//! | [`mode`] | which access modes MPI_File_open takes |
//! | [`representation`] | sizes in the file, and conversion of data on its way |
//!
//! **Views are walked, never flattened.** A view repeats its filetype from its displacement on; its *position* `p` is byte `p` of the packed data. Everything here costs
//! memory by the type's description, whatever the size of the file.

#![deny(missing_docs)]

pub mod blocks;
pub mod config;
pub mod hints;
pub mod layout;
pub mod mode;
pub mod pieces;
pub mod representation;
mod rising;
pub mod view;
mod window;

pub use blocks::Blocks;
pub use pieces::{Memory, Pieces};
pub use view::{Refusal, View};
pub use window::{Window, window};
