//! Safe traits for the author of a component that transfers data, from which [`module()`] makes the table.
//!
//! A component implements [`Fbtl`] for itself and [`Transfers`] for an open file. A transfer comes as a [`Job`], which owns the operation: it is ended by [`Job::end`], in any
//! thread, and one that is dropped (by a panic, say) ends as a failure, so nobody waits for it for ever. A job that cannot be taken now goes back by [`Job::refuse`].
//!
//! Map: `job` (a transfer and its operation, as authors see them) · `traits` · `thunk` (the functions of the table).

mod job;
mod thunk;
mod traits;

pub use job::{Data, Job, Key, Refusal};
pub use thunk::module;
pub use traits::{Fbtl, Opened, Transfers};
