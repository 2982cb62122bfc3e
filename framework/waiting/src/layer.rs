//! The layer below a waiter: the instance that it waits in.

use crate::waiting::{Concurrency, Waiting};
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::{Completion, Cri, Entry};
use oxmpi_progress::thread::Slot;

/// The instance in which threads wait. Its functions are called by any thread, with no lock held.
pub trait Layer {
    /// The part that waiters share.
    fn waiting(&self) -> &Waiting;
    /// The CRIs, by number.
    fn cris(&self) -> &[Cri];
}

/// A request that is waited for: its completion word, which stays where it is while the request's instance lives.
pub trait Awaitable: Copy {
    /// The completion word.
    fn completion(&self) -> &Completion;
}

impl Awaitable for &Completion {
    fn completion(&self) -> &Completion {
        self
    }
}

/// The calling thread in an instance: its way in, which the wait has for itself, and what it waits on top of.
pub struct Waiter<'a, L> {
    pub(crate) layer: &'a L,
    pub(crate) entry: &'a mut Entry,
}

impl<'a, L: Layer> Waiter<'a, L> {
    /// Makes the waiter of the calling thread, whose entry is one of this instance. Behind a wait the entry takes locks if that has to be from then on.
    #[inline(always)]
    pub fn new(layer: &'a L, entry: &'a mut Entry) -> Waiter<'a, L> {
        Waiter { layer, entry }
    }

    /// The part that waiters share.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> &'a Waiting {
        self.layer.waiting()
    }

    /// The host's part of the thread's context, if it has one, and the waiter.
    #[inline(always)]
    pub(crate) fn and_slot(&mut self) -> (Option<&Slot>, Waiter<'_, L>) {
        let (slot, entry) = Slot::and_entry(self.entry);
        (slot, Waiter { layer: self.layer, entry })
    }

    /// Calls `f`, which is not inlined, with a waiter in memory of its own, so that this one stays in registers.
    #[inline(always)]
    pub(crate) fn apart<R>(&mut self, f: impl FnOnce(Waiter<'_, L>) -> R) -> R {
        let layer = self.layer;
        self.entry.apart(|entry| f(Waiter { layer, entry }))
    }

    /// Makes one turn of progress. Returns the number of events.
    #[inline(always)]
    pub(crate) fn turn(&mut self) -> i32 {
        self.waiting().engine.turn(self.entry)
    }

    /// Whether several threads may make calls. If so, the entry takes locks from now on.
    #[inline(always)]
    pub(crate) fn are_several(&mut self) -> bool {
        let several = self.waiting().threaded();
        // A branch, not `raise(several)`: where a caller branches on the answer, rustc before 1.98 drops the comparison in front of a use like that, and
        // leaves what it reads unset (rust-lang/rust#158206).
        if several {
            self.entry.raise(true);
        }
        several
    }

    /// Whether more threads wait than there are cores for: whoever spins is in the way of one that has something to
    /// do.
    pub(crate) fn is_crowded(&self) -> bool {
        self.waiting().waiters.crowd() > self.waiting().room
    }

    /// Whether waiting threads progress CRIs beside the owner of progress, as the policy of turns says (`runtime_progress`), before they are parked.
    pub(crate) fn progress_side_by_side(&self) -> bool {
        match self.waiting().concurrency {
            Concurrency::Never => false,
            Concurrency::WhereSeveral => {
                self.layer.cris().get(1).is_some_and(|cri| cri.active.load(Ordering::Relaxed) != 0)
            }
            Concurrency::Always => true,
        }
    }
}
