//! A peer process as the host keeps it: an endpoint, which all contexts share, and a lane for each context.

use core::cell::UnsafeCell;
use core::ops::Deref;

/// An endpoint with its lanes. The endpoint is reached by deref, a lane by [`Entered::lane`](super::Entered::lane).
pub struct Met<E, L> {
    endpoint: E,
    /// By context.
    lanes: Box<[UnsafeCell<L>]>,
}

// SAFETY: the endpoint is `Sync`. A lane is reached by `lane_of` alone, whose caller has its context to itself; so threads touch it one
// after the other, for which `Send` is enough.
unsafe impl<E: Sync, L: Send> Sync for Met<E, L> {}

impl<E, L> Met<E, L> {
    /// A peer with these lanes, one for each context of the module.
    pub(super) fn new(endpoint: E, lanes: impl Iterator<Item = L>) -> Met<E, L> {
        Met { endpoint, lanes: lanes.map(UnsafeCell::new).collect() }
    }

    /// The lane of a context.
    ///
    /// # Safety
    /// The caller has that context to itself, and no other borrow of this lane, for as long as the result lives.
    #[expect(clippy::mut_from_ref, reason = "that is what having the context to oneself permits")]
    #[inline(always)]
    pub(super) unsafe fn lane_of(&self, ctx: u32) -> &mut L {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.lanes[ctx as usize].get() }
    }
}

impl<E, L> Deref for Met<E, L> {
    type Target = E;
    #[inline(always)]
    fn deref(&self) -> &E {
        &self.endpoint
    }
}
