//! Parts of a partitioned message, and its description.

use core::ptr::null_mut;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU8, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

pub(crate) const IDLE: u8 = 0;

pub(crate) const CLAIMED: u8 = 1;

pub(crate) const DONE: u8 = 2;

/// A persistent request of the point-to-point layer, and how far it is.
pub(crate) struct Part {
    pub(crate) req: *mut RequestHeader,
    pub(crate) word: AtomicU8,
}

impl Part {
    pub(crate) fn new(req: *mut RequestHeader) -> Part {
        Part { req, word: AtomicU8::new(IDLE) }
    }
    pub(crate) fn is_complete(&self) -> bool {
        // SAFETY: a live request of ours.
        unsafe { &*self.req }.completion.is_complete()
    }
    pub(crate) fn status(&self) -> MsgStatus {
        // SAFETY: complete, so nobody writes.
        unsafe { (*self.req).status }
    }
    pub(crate) fn start(&self) -> Status {
        // SAFETY: an inactive persistent request of ours.
        unsafe { ((*(*self.req).ops).start)(self.req) }
    }
    /// Takes the word from IDLE; false: somebody has.
    pub(crate) fn claim(&self, threaded: bool) -> bool {
        if threaded {
            return self.word.compare_exchange(IDLE, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        }
        let idle = self.word.load(Ordering::Relaxed) == IDLE;
        if idle {
            self.word.store(CLAIMED, Ordering::Relaxed);
        }
        idle
    }
}

pub(crate) fn release_all(parts: &mut Vec<Part>) {
    for part in parts.drain(..) {
        // SAFETY: complete or inactive, and nobody else's.
        unsafe { ((*(*part.req).ops).release)(part.req, null_mut()) };
    }
}

/// The user's description of a partitioned message, the sender's or the receiver's.
pub struct Layout<'a> {
    pub buf: *mut u8,
    pub partitions: usize,
    /// Elements per partition.
    pub count: u64,
    pub dtype: &'a TypeDesc,
    /// Rank of the other side.
    pub peer: i32,
    pub tag: i32,
}

impl Layout<'_> {
    /// Packed bytes of a partition; `None`: more than there can be in all.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let each = self.dtype.packed.checked_mul(self.count)?;
        each.checked_mul(self.partitions as u64).filter(|n| *n <= i64::MAX as u64)?;
        Some(each)
    }
}
