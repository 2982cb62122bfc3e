//! The words of an inbox: bits of who has something, what sums them up, and the bell of who sleeps. `ready.rs` and
//! `service/inbox.rs` say what is done with them; models have words of their own.

use oxmpi_mca::sync::{AtomicU32, AtomicU64};

/// The memory of an inbox.
pub trait InboxMem {
    /// The futex word on which the receiver sleeps; that of all contexts of a rank.
    fn bell(&self) -> &AtomicU32;
    /// The summary: bit w is set if a bit of word w may be.
    fn summary(&self) -> &AtomicU64;
    /// Word `index` of the ready bits, one bit for each source rank.
    fn word(&self, index: usize) -> &AtomicU64;
}

/// One inbox in the header area.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Inbox {
    // First, for the sake of a receiver's first line.
    pub(super) summary: *const AtomicU64,
    pub(super) bell: *const AtomicU32,
    pub(super) ready: *const AtomicU64,
    pub(super) words: usize,
}

impl Inbox {
    /// Number of words of ready bits.
    pub fn words(&self) -> usize {
        self.words
    }
}

impl InboxMem for Inbox {
    #[inline(always)]
    fn bell(&self) -> &AtomicU32 {
        // SAFETY: in the header area, which the module keeps mapped as long as it keeps inboxes.
        unsafe { &*self.bell }
    }
    #[inline(always)]
    fn summary(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &*self.summary }
    }
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < self.words);
        // SAFETY: as above; callers stay below `words`.
        unsafe { &*self.ready.add(index) }
    }
}

/// The memory of a service inbox.
pub trait ServiceMem {
    /// The futex word on which the server sleeps.
    fn bell(&self) -> &AtomicU32;
    /// The summary: bit b is set if a bit of word b or b + 32 may be.
    fn pending(&self) -> &AtomicU32;
    /// A word of the bits, one for each process of the node.
    fn word(&self, index: usize) -> &AtomicU64;
}

/// The inbox of a service context.
#[derive(Clone, Copy)]
pub struct ServiceInbox {
    pub(super) bell: *const AtomicU32,
    pub(super) pending: *const AtomicU32,
    pub(super) ready: *const AtomicU64,
    pub(super) words: usize,
}

impl ServiceInbox {
    /// Number of words of bits, one bit for each process of the node.
    pub fn words(&self) -> usize {
        self.words
    }
}

impl ServiceMem for ServiceInbox {
    fn bell(&self) -> &AtomicU32 {
        // SAFETY: in the header area, which the module keeps mapped as long as it keeps inboxes.
        unsafe { &*self.bell }
    }
    fn pending(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.pending }
    }
    fn word(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < self.words);
        // SAFETY: as above; callers stay below `words`.
        unsafe { &*self.ready.add(index) }
    }
}
