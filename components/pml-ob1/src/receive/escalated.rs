//! Communicators whose messages wait to be put in order (`receive/ordered.rs`).

use crate::communicators::comm::Comm;
use core::cell::UnsafeCell;
use oxmpi_mca::Lock;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// Communicators in ordered mode with messages to resolve.
#[derive(Default)]
pub struct Escalated {
    pub(super) mode: Lock,
    leaf: Lock,
    list: UnsafeCell<Vec<*const Comm>>,
    /// How many stand in the list.
    pub(super) pending: AtomicU32,
}

impl Escalated {
    /// Calls `f` with the list under its lock, and counts the list anew afterwards.
    pub fn with_list<R>(&self, f: impl FnOnce(&mut Vec<*const Comm>) -> R) -> R {
        let _guard = self.leaf.guard(true);
        // SAFETY: the lock is held.
        let list = unsafe { &mut *self.list.get() };
        let result = f(list);
        self.pending.store(list.len() as u32, Ordering::Relaxed);
        result
    }
    /// Adds a communicator, whose first message was deferred, to the list.
    pub fn add(&self, comm: &Comm) {
        self.with_list(|list| list.push(comm));
    }
    /// Takes a communicator that is about to be freed out of the list. The caller holds all CRI locks.
    pub fn remove(&self, comm: *const Comm) {
        self.with_list(|list| list.retain(|c| *c != comm));
    }
}
