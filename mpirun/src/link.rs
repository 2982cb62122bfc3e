//! Messages between `mpirun` and a node daemon, and the channel they go over.
//!
//! **Output and its windows.** Of each output of each rank a daemon sends at most [`window`] bytes
//! that `mpirun` has not written yet; `mpirun` says what it has written. So when the user's
//! terminal or pipe stands still, the ranks that print stand still in `write`, as they would
//! without us. One that prints more than the reader takes waits alone: the others have windows of
//! their own. Every other frame still gets through, because `mpirun` always reads.

mod channel;
mod counts;
mod direct;
mod ending;
mod exchange;
mod fields;
mod kinds;
mod launch;
mod message;
mod messages;
mod place;
mod route;
mod runs;
mod start_failures;
mod stdin;

pub use channel::{Channel, Peer};
pub use counts::{Counts, Sum, write as write_counts};
pub use direct::Direct;
pub use ending::{Ending, Mpi};
pub use exchange::Exchange;
pub use launch::{ARGUMENTS, Launch, Part, Program};
pub use message::{LIMIT, Message};
pub use messages::{FromNode, Stream, ToNode};
pub use place::Place;
pub use route::{DownMessage, Passed, unpack};
pub use stdin::Stdin;

/// Bytes that a daemon's outputs together may have on their way to the user, roughly.
const WINDOWS: usize = 16 << 20;

/// Bytes that one output of a rank may have on its way to the user, on a node with so many ranks.
pub fn window(ranks: usize) -> usize {
    (WINDOWS / (2 * ranks.max(1))).clamp(64 << 10, 1 << 20)
}

/// Written output is made known to the daemon in portions; small output needs no answer at all.
pub fn portion(ranks: usize) -> usize {
    window(ranks) / 4
}

/// Standard input that is on its way to another node, at most.
pub const INPUT: usize = 256 << 10;

#[cfg(test)]
mod tests;
