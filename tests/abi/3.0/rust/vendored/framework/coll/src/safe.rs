//! Collectives without `unsafe`: what an author of a component writes against, over the tables of the contract.
//!
//! A module implements the trait of each operation that it has ([`Barrier`], [`Bcast`], …), and [`Offer`] makes the tables of them. An
//! operation gets a [`Call`], whose verbs send, receive, copy and combine, and buffers that only these verbs look into: a [`Source`] is read
//! and a [`Place`] written, and the borrow checker knows that no two verbs, and no two messages under way, write where another reads.
//!
//! The same function serves the blocking, the nonblocking and the persistent operation; `call.rs` has the reasons, and what happens after a failure.
//! Operations on one group with one count are here. For the others (counts per rank, between groups, on a node's memory) an author adds
//! functions to the table as the contract describes them.
//!
//! | file | |
//! |---|---|
//! | `buffers.rs` | elements to be read and written |
//! | `memory.rs` | temporary elements |
//! | `failure.rs`, `call.rs` | one call: its messages, its work on data, its failures |
//! | `learn.rs`, `carry.rs` | what depends on data that was received; buffers for that |
//! | `arguments.rs` | buffers of a call from what the host passes |
//! | `operations.rs` | the operations, and the table of them |

mod arguments;
mod buffers;
mod call;
mod carry;
mod failure;
mod learn;
mod memory;
mod operations;

pub use arguments::{Broadcast, Gathered, Scattered};
pub use buffers::{Place, Result, Source};
pub use call::{Batch, Call, Op};
pub use carry::Carry;
pub use memory::{Constant, Memory};
pub use operations::{
    Allgather, Allreduce, Alltoall, Barrier, Bcast, Exscan, Gather, Offer, Reduce, ReduceScatterBlock, Scan,
    Scatter,
};
