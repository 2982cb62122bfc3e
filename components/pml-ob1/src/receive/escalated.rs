//! Communicators whose messages wait to be put in order (`receive/ordered.rs`).

use crate::communicators::comm::Comm;
use crate::state::locked::Locked;
use oxmpi_mca::Lock;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use std::sync::Arc;

/// Communicators in ordered mode with messages to resolve.
#[derive(Default)]
pub struct Escalated {
    pub(super) mode: Lock,
    list: Locked<Vec<Arc<Comm>>>,
    /// How many stand in the list.
    pub(super) pending: AtomicU32,
}

impl Escalated {
    /// Calls `f` with the list under its lock, and counts the list anew afterwards.
    fn with_list<R>(&self, f: impl FnOnce(&mut Vec<Arc<Comm>>) -> R) -> R {
        self.list.with(|list| {
            let result = f(list);
            self.pending.store(list.len() as u32, Ordering::Relaxed);
            result
        })
    }
    /// Adds a communicator, whose first message was deferred, to the list.
    pub fn add(&self, comm: &Comm) {
        self.with_list(|list| list.extend(comm.kept()));
    }
    /// Takes all communicators off the list.
    pub fn take(&self) -> Vec<Arc<Comm>> {
        self.with_list(core::mem::take)
    }
    /// Takes a communicator that goes out of the list.
    pub fn remove(&self, comm: &Arc<Comm>) {
        self.with_list(|list| list.retain(|c| !Arc::ptr_eq(c, comm)));
    }
}
