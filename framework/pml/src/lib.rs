//! The contract of a point-to-point messaging layer (PML): MPI's send and receive semantics over
//! the BTLs it is given.
//!
//! One PML is selected per instance (highest priority, or by name). The host resolves handles and
//! checks arguments (`mpi/`), so a PML sees valid ranks, counts and types; what it gets from peers
//! it checks itself. Requests are the PML's objects (a [`RequestHeader`](oxmpi_mca::RequestHeader) first) in pools that grow
//! and never shrink.
//!
//! **Threads.** All verbs may be called concurrently once `HostTable::threaded` says 1. Sends that
//! the program orders to one peer on one communicator are matched in that order, whichever threads
//! make them; likewise receives.
//!
//! **Waiting.** No verb blocks: `send` and `recv` finish at once when they can and otherwise
//! return PENDING with a request for the host to wait on.

#![deny(missing_docs)]

mod author;
mod polling;
pub mod simple;
mod table;

pub use author::{
    Admission, Arrived, Begun, Care, Claimed, Described, Given, Incoming, Next, Outgoing, Part, Placed, Pml,
    module, operations,
};
pub use polling::{ContextWords, Polled, Polling, Words, work};
pub use table::*;
