//! The words of an inbox: bits of who has something, what sums them up, and the bell of who sleeps. `ready.rs` and
//! `service/inbox.rs` say what is done with them; models have words of their own.

use crate::sys::Mapping;
use core::ptr::NonNull;
use oxmpi_mca::sync::{AtomicU32, AtomicU64};
use std::sync::Arc;

/// The memory of an inbox.
pub trait InboxMem {
    /// The futex word on which the receiver sleeps; that of all contexts of a rank.
    fn bell(&self) -> &AtomicU32;
    /// The summary: bit w is set if a bit of word w may be.
    fn summary(&self) -> &AtomicU64;
    /// Word `index` of the ready bits, one bit for each source rank.
    fn word(&self, index: usize) -> &AtomicU64;
}

/// One inbox in the header area, which it keeps mapped.
#[repr(C)]
pub struct Inbox {
    // First, for the sake of a receiver's first line.
    summary: NonNull<AtomicU64>,
    bell: NonNull<AtomicU32>,
    ready: NonNull<[AtomicU64]>,
    _area: Arc<Mapping>,
}

// SAFETY: its words are atomic and in a mapping, which belongs to the process and to no thread of it, and which it keeps.
unsafe impl Send for Inbox {}

impl Inbox {
    /// The inbox with these words, all of which lie in the mapping.
    ///
    /// # Safety
    /// They do, so that they live as long as that.
    pub(super) unsafe fn new(
        area: Arc<Mapping>,
        bell: &AtomicU32,
        summary: &AtomicU64,
        ready: &[AtomicU64],
    ) -> Inbox {
        Inbox { summary: summary.into(), bell: bell.into(), ready: ready.into(), _area: area }
    }

    /// Number of words of ready bits.
    pub fn words(&self) -> usize {
        self.ready.len()
    }
}

impl InboxMem for Inbox {
    #[inline(always)]
    fn bell(&self) -> &AtomicU32 {
        // SAFETY: a word of the mapping that is kept here (`new`).
        unsafe { self.bell.as_ref() }
    }
    #[inline(always)]
    fn summary(&self) -> &AtomicU64 {
        // SAFETY: a word of the mapping that is kept here (`new`).
        unsafe { self.summary.as_ref() }
    }
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: words of the mapping that is kept here (`new`).
        unsafe { &self.ready.as_ref()[index] }
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
pub struct ServiceInbox<'a> {
    pub(super) bell: &'a AtomicU32,
    pub(super) pending: &'a AtomicU32,
    pub(super) ready: &'a [AtomicU64],
}

impl ServiceInbox<'_> {
    /// Number of words of bits, one bit for each process of the node.
    pub fn words(&self) -> usize {
        self.ready.len()
    }
}

impl ServiceMem for ServiceInbox<'_> {
    fn bell(&self) -> &AtomicU32 {
        self.bell
    }
    fn pending(&self) -> &AtomicU32 {
        self.pending
    }
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.ready[index]
    }
}
