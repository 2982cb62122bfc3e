//! Parts of a partitioned message, and its description.

use crate::message::Envelope;
use crate::request::Header;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU8, Ordering};
use oxmpi_mca::{Entry, MsgStatus, Status};

/// Word of a part: not started.
pub(crate) const IDLE: u8 = 0;

/// Word of a part: a thread is starting or unpacking it.
pub(crate) const CLAIMED: u8 = 1;

/// Word of a part: started (sender), or unpacked into the user's buffer (receiver).
pub(crate) const DONE: u8 = 2;

/// A persistent request of the point-to-point layer, and how far it is.
pub(crate) struct Part {
    req: Header,
    pub(crate) word: AtomicU8,
}

impl Part {
    /// Makes an idle part of a persistent request, which is its own.
    pub(crate) fn new(req: Header) -> Part {
        Part { req, word: AtomicU8::new(IDLE) }
    }
    /// Whether the part's request is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.req.is_complete()
    }
    /// The status of the part's request; `None`: it is not complete.
    pub(crate) fn status(&self) -> Option<MsgStatus> {
        // SAFETY: complete, so nobody writes; it is started again, or released, when nobody looks at the operation.
        self.is_complete().then(|| unsafe { self.req.status() })
    }
    /// Starts the part's persistent request, which must be inactive.
    pub(crate) fn start(&self, entry: &mut Entry) -> Status {
        // SAFETY: an inactive persistent request of ours.
        unsafe { self.req.start(entry) }
    }
    /// Takes the part's word from IDLE to CLAIMED; false: another thread has taken it.
    pub(crate) fn claim(&self, entry: &Entry) -> bool {
        if entry.is_among() {
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
        // SAFETY: ours, and not used any more.
        unsafe { part.req.release(&mut Entry::among()) };
    }
}

/// The user's description of a partitioned message, the sender's or the receiver's.
pub struct Layout<'a> {
    pub(crate) buf: *mut u8,
    pub(crate) partitions: usize,
    /// Elements per partition.
    pub(crate) count: u64,
    pub(crate) dtype: &'a TypeDesc,
    /// Rank of the other side, and the user's tag.
    pub(crate) with: Envelope,
}

impl<'a> Layout<'a> {
    /// Of as many partitions, each of `count` elements of a type, one behind the other from `buf` on.
    ///
    /// # Safety
    /// They are readable for a sender, or writable by nobody else for a receiver, while the operation that is made of this is active.
    pub unsafe fn new(
        buf: *mut u8,
        (partitions, count): (usize, u64),
        dtype: &'a TypeDesc,
        with: Envelope,
    ) -> Layout<'a> {
        Layout { buf, partitions, count, dtype, with }
    }
}

impl Layout<'_> {
    /// Packed bytes of a partition; `None`: more than there can be in all.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let each = self.dtype.packed.checked_mul(self.count)?;
        each.checked_mul(self.partitions as u64).filter(|n| *n <= i64::MAX as u64)?;
        Some(each)
    }
}
