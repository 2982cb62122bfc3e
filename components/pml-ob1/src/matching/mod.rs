//! Matching engines: they pair messages that arrive with receives that are posted.
//!
//! An engine serves one **shard** and is called under that shard's lock, so `&mut self` is honest.
//! Nodes are intrusive: [`Posted`] lies in a request, [`Unexpected`] in a message record, and the
//! engine owns their links while it holds them. Neither node moves or goes while it is held.
//!
//! **The rules of MPI 5.0 §3.5 that every engine keeps**: a message matches the oldest posted
//! receive it fits; a receive matches the oldest waiting message it fits; MPI_ANY_TAG fits tags from
//! 0 up only (negative ones are the library's own). "Oldest" is the order of `post` and of
//! `add_unexpected`; an engine that keeps several lists decides between them by the stamp of a
//! posted receive and the arrival order of a message. Order keys travel with messages so that
//! engines over several FIFOs can restore the sender's order; with one FIFO they are all 0.
//!
//! An [`Engine`] is two [`queue::Queue`]s, one of receives and one of messages, each a list with an
//! [`Index`](entry::Index) behind it: what kind, and from which search depth on, is what the engines differ in.
//! README.md has the rule of the default and how to choose, `bench/results/matching.md` figures.
//!
//! Map, from the top: `engine` · `queue` (the list in front, the change to the index) · `indices` (the index of each engine) ·
//! `hash` and `table` · `perpeer` and `list` · `arrivals` (waiting messages in order, with a look-up) · `lanes` (vector and fuzzy) ·
//! `choice` (names) · `simd` (which instructions compare) · `block` (of lanes, and the search through them) · `instructions` and `line` ·
//! `entry` (nodes, patterns, and how an index is asked). `harness` has engines against a model, for tests and the fuzzer.

mod arrivals;
mod block;
mod choice;
mod engine;
mod entry;
mod hash;
mod indices;
mod instructions;
mod lanes;
mod line;
mod list;
mod perpeer;
mod queue;
mod simd;
mod table;

#[cfg(any(all(test, not(loom)), fuzzing))]
pub mod harness;
#[cfg(all(test, not(loom)))]
mod tests;

pub use choice::{Choice, Setting, Windows};
pub use engine::Engine;
pub use entry::{Arrival, Key, Pattern, Posted, Unexpected};
pub use simd::{Level, Simd};
