//! Parts of a partitioned message, and its description.

use core::ptr::null_mut;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU8, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

/// Word of a part: not started.
pub(crate) const IDLE: u8 = 0;

/// Word of a part: a thread is starting or unpacking it.
pub(crate) const CLAIMED: u8 = 1;

/// Word of a part: started (sender), or unpacked into the user's buffer (receiver).
pub(crate) const DONE: u8 = 2;

/// A persistent request of the point-to-point layer, and how far it is.
pub(crate) struct Part {
    pub(crate) req: *mut RequestHeader,
    pub(crate) word: AtomicU8,
}

impl Part {
    /// Makes an idle part of a persistent request.
    pub(crate) fn new(req: *mut RequestHeader) -> Part {
        Part { req, word: AtomicU8::new(IDLE) }
    }
    /// Whether the part's request is complete.
    pub(crate) fn is_complete(&self) -> bool {
        // SAFETY: a live request of ours.
        unsafe { &*self.req }.completion.is_complete()
    }
    /// The status of the part's request, which must be complete.
    pub(crate) fn status(&self) -> MsgStatus {
        // SAFETY: complete, so nobody writes.
        unsafe { (*self.req).status }
    }
    /// Starts the part's persistent request, which must be inactive.
    pub(crate) fn start(&self) -> Status {
        // SAFETY: an inactive persistent request of ours.
        unsafe { ((*(*self.req).ops).start)(self.req) }
    }
    /// Takes the part's word from IDLE to CLAIMED; false: another thread has taken it.
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

/// Releases the requests of all parts, which are complete or inactive, and empties the list.
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
