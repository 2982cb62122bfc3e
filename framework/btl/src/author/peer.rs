//! A peer process as the host keeps it: what all contexts share, and a lane for each context.

use super::Btl;
use core::cell::UnsafeCell;
use core::ops::Deref;

/// An endpoint with its lanes. What all contexts share is reached by deref, a lane by [`Entered::lane`](super::Entered::lane).
pub struct Peer<T: Btl> {
    endpoint: T::Endpoint,
    /// By context.
    lanes: Box<[UnsafeCell<T::Lane>]>,
}

// SAFETY: the endpoint is `Sync`. A lane is reached by `lane_of` alone, whose caller has its context to itself; so threads touch it one
// after the other, for which `Send` is enough.
unsafe impl<T: Btl> Sync for Peer<T> {}

impl<T: Btl> Peer<T> {
    /// A peer with as many lanes as the module has contexts.
    pub(super) fn new(device: &T, endpoint: T::Endpoint, contexts: u32) -> Peer<T> {
        let lanes = (0..contexts).map(|ctx| UnsafeCell::new(device.lane(&endpoint, ctx))).collect();
        Peer { endpoint, lanes }
    }

    /// The lane of a context.
    ///
    /// # Safety
    /// The caller has that context to itself, and no other borrow of this lane, for as long as the result lives.
    #[expect(clippy::mut_from_ref, reason = "that is what having the context to oneself permits")]
    #[inline(always)]
    pub(super) unsafe fn lane_of(&self, ctx: u32) -> &mut T::Lane {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.lanes[ctx as usize].get() }
    }
}

impl<T: Btl> Deref for Peer<T> {
    type Target = T::Endpoint;
    #[inline(always)]
    fn deref(&self) -> &T::Endpoint {
        &self.endpoint
    }
}
