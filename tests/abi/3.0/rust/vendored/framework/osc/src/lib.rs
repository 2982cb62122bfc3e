//! The contract of a one-sided component (OSC): the RMA chapter of MPI (MPI 5.0 §12) on one window.
//!
//! For every new window the host asks each component for a priority ([`OscModule::query`]), takes the least
//! answer of all ranks, and has the best component make a module for this window ([`OscModule::create`], collective).
//! From then on all operations and synchronisation of the window go through the table that `create` gave.
//!
//! **Division of work.** The C interface resolves handles and checks everything that needs no state of the window: null
//! pointers, counts, committed types, ranks, lock types, assertions, operations. MPI_PROC_NULL as target never comes here. A
//! component tracks epochs and answers RMA_SYNC where a call is outside of the epoch it needs; it checks ranges
//! (RMA_RANGE) where it knows the target's memory. It checks data from peers itself.
//!
//! **Memory.** The host provides the window's memory for ALLOCATE and SHARED, in memory that the ranks of a node share
//! where that can be had; [`WinServices::mapped`] tells which ranks' memory this process can load and store.
//!
//! **Messages.** A window has a communicator of its own ([`WinComm`]); its messages and collectives go through
//! [`WinServices`], and every tag from 0 up to 32767 is the component's. Transports are reached by [`WinServices::reach`]; a BTL verb is called
//! with the CRI of its context held (`oxmpi_mca::cri`). Active messages have the tags that `Host::osc_tags` allots.
//!
//! **Waiting.** A component waits only by `wait`, `wait_until` or `wait_contexts` of [`WinServices`], holding nothing. In Rust the wait borrows the call's
//! [`Entry`](oxmpi_mca::Entry) and brings it up to date; in C `HostTable::threaded` is read anew afterwards. Verbs other than synchronisation that MPI lets wait (MPI_Win_lock, flush, fence …)
//! return at once.
//!
//! **Completion.** Operations of one context to one target through one module complete in any order. A component has a
//! [`Flow`] for each such triple: it asks [`Flow::next`] for the `done_ctx` of a verb ([`Flow::done`] is the function), and counts the verb with
//! [`Flow::count`] if that answered PENDING, all under the CRI's lock. A flush of a rank takes [`Flow::mark`] of each flow to it that
//! is not empty, without any lock; where "done" does not mean visible at the target (no PUT_DONE_IS_REMOTE) it issues the transport's
//! `flush` on that context as one more operation of the flow, before the mark. Then it calls [`WinServices::wait_contexts`] with
//! the question which contexts have a flow that is not complete up to its mark. Nothing else is needed: whoever owns those contexts may compute, wait or
//! be gone. Failures are in [`Flow::take_failure`].
//!
//! **Requests** of the request-based operations are the component's objects in pools that never shrink, as those of a PML.
//!
//! **Notifications** (version 1.2, optional). A window has [`WinDesc::num_notify`] counters at each rank, which begin at 0. A notified put or get
//! adds 1 to a counter of its target once its data is visible there (a get: once its data has been read there): who sees the counter sees the data. Notified operations
//! belong to passive target epochs; outside of one they answer RMA_SYNC. A counter that the window has not is BAD_PARAM.
//!
//! **Threads.** All verbs of a window may be called concurrently once `HostTable::threaded` says 1. Collective verbs
//! (`create`, `fence`, `dup`, `free`) are called by one thread at a time per window.

#![deny(missing_docs)]

mod author;
mod flow;
mod table;
mod verbs;

pub use author::{Asked, Flush, LockKind, Memory, Osc, Rma, Want, Window, module};
pub use flow::{Flow, Token};
pub use oxmpi_btl::{BtlServices, Reach, Vouched};
pub use oxmpi_mca::Place;
pub use table::*;
pub use verbs::{Operation, Verbs};
