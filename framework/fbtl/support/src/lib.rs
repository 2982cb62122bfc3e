//! Parts that components share which transfer file data: [`Cursor`] and [`Batch`] cut lists of pieces into vectored calls, [`carry_out`] does all of a transfer.

#![deny(missing_docs)]

mod batches;
mod carry;
pub mod params;
mod sieve;
mod sys;

pub use batches::{Batch, Cursor, Extent, MOST_BYTES, MOST_EXTENTS};
pub use carry::{carry_out, descriptor, unit};
pub use sieve::Sieving;
pub use sys::without_signals;
