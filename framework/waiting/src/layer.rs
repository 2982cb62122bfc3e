//! The layer below a waiter: the instance that it waits in.

use crate::waiting::Waiting;
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::{Cri, ThreadCtx};

/// The instance in which threads wait. Its functions are called by any thread, with no lock held.
pub trait Layer {
    /// The part that waiters share.
    fn waiting(&self) -> &Waiting;
    /// The CRIs, by number.
    fn cris(&self) -> &[Cri];
}

/// The calling thread in an instance: its context, and what it waits on top of.
pub struct Waiter<'a, L> {
    pub(crate) layer: &'a L,
    pub(crate) thread: *mut ThreadCtx,
}

impl<L> Clone for Waiter<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Waiter<'_, L> {}

impl<'a, L: Layer> Waiter<'a, L> {
    /// Makes the waiter of the calling thread, whose context `thread` is.
    #[inline(always)]
    pub fn new(layer: &'a L, thread: *mut ThreadCtx) -> Waiter<'a, L> {
        Waiter { layer, thread }
    }

    /// The part that waiters share.
    #[inline(always)]
    pub(crate) fn waiting(self) -> &'a Waiting {
        self.layer.waiting()
    }

    /// Makes one turn of progress. Returns the number of events.
    #[inline(always)]
    pub(crate) fn turn(self) -> i32 {
        self.waiting().engine.turn(self.thread)
    }

    /// Whether more threads wait than there are cores for: whoever spins is in the way of one that has something to
    /// do.
    pub(crate) fn is_crowded(self) -> bool {
        self.waiting().waiters.crowd() > self.waiting().room
    }

    /// Whether messages come on several CRIs, which waiting threads progress beside the owner of progress, each its
    /// own first (`runtime_progress`), before they are parked.
    pub(crate) fn progress_side_by_side(self) -> bool {
        !self.waiting().serial
            && self.layer.cris().get(1).is_some_and(|cri| cri.active.load(Ordering::Relaxed) != 0)
    }
}
