//! Entries of an engine's queues, receives and waiting messages, and the interface of an index over them.

use core::ptr::{NonNull, null_mut};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};

/// Source and tag of a message, as in word 1 of its header.
pub type Key = u64;

/// The source and tag that a receive asks for, as bits to compare: a message fits if `(key ^ want) & mask` is 0.
/// Wildcards are holes in the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub want: u64,
    pub mask: u64,
}

impl Pattern {
    pub(super) const SOURCE: u64 = u32::MAX as u64;
    pub(super) const TAG: u64 = !Self::SOURCE;
    /// Fits every message, the library's own too.
    pub(super) const ALL: Pattern = Pattern { want: 0, mask: 0 };

    /// Makes the pattern of a receive: MPI_ANY_SOURCE masks the source out, and MPI_ANY_TAG leaves only the tag's sign
    /// to compare, so that it fits tags from 0 up.
    #[inline(always)]
    pub fn new(source: i32, tag: i32) -> Pattern {
        let (s, sm) = if source == ANY_SOURCE { (0, 0) } else { (source as u32, u32::MAX) };
        let (t, tm) = if tag == ANY_TAG { (0, 1 << 31) } else { (tag as u32, u32::MAX) };
        Pattern { want: s as u64 | (t as u64) << 32, mask: sm as u64 | (tm as u64) << 32 }
    }
    /// Makes the pattern that fits one source and one tag only.
    #[inline(always)]
    pub fn exact(key: Key) -> Pattern {
        Pattern { want: key, mask: !0 }
    }
    /// Whether a message with this source and tag fits: the bits that the mask leaves are equal.
    #[inline(always)]
    pub fn fits(&self, key: Key) -> bool {
        (key ^ self.want) & self.mask == 0
    }
    /// Whether neither source nor tag is a wildcard.
    pub(super) fn is_exact(&self) -> bool {
        self.mask == !0
    }
    /// Gives the source that the receive names. `None`: it takes MPI_ANY_SOURCE.
    pub(super) fn source(&self) -> Option<u32> {
        self.has_source().then_some(self.want as u32)
    }
    /// Gives the source that the receive names, as a rank. `None`: it takes MPI_ANY_SOURCE.
    pub fn named_source(&self) -> Option<i32> {
        self.source().map(u32::cast_signed)
    }
    /// Whether the receive names a source, rather than MPI_ANY_SOURCE.
    #[inline(always)]
    pub fn has_source(&self) -> bool {
        self.mask & Self::SOURCE == Self::SOURCE
    }
    /// Whether the receive names a tag, rather than MPI_ANY_TAG.
    #[inline(always)]
    pub fn has_tag(&self) -> bool {
        self.mask & Self::TAG == Self::TAG
    }
}

/// A message at the moment it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub key: Key,
    /// Local index of its communicator, for engines that serve several.
    pub comm: u32,
    pub order_key: u64,
}

/// A posted receive.
#[repr(C)]
#[derive(Debug)]
pub struct Posted {
    pub(crate) next: *mut Posted,
    pub pattern: Pattern,
    /// Counts the receives posted in the communicator.
    pub stamp: u64,
}

/// A message that waits for its receive.
#[repr(C)]
#[derive(Debug)]
pub struct Unexpected {
    pub(crate) next: *mut Unexpected,
    pub key: Key,
    pub order_key: u64,
}

/// An entry of a queue: a posted receive or a waiting message, with what lists and indices have to know of it.
pub(crate) trait Node: Sized + 'static {
    /// The question that entries are searched by: a message asks for receives by its key, a receive for messages by its
    /// pattern.
    type Ask: Copy;
    /// Whether this entry answers the question: the receive takes the message that asks, or the message fits the
    /// receive that asks.
    fn fits(&self, ask: Self::Ask) -> bool;
    /// Points to the field that leads from the node to the next of its list; the engine owns that field while it holds
    /// the node.
    ///
    /// # Safety
    /// `this` points to a node.
    unsafe fn link(this: *mut Self) -> *mut *mut Self;
    /// Gives the pattern under which an index keeps the node: a receive's own, or the one that fits a message's source
    /// and tag alone.
    fn pattern(&self) -> Pattern;
    /// Turns a question into the pattern that an index compares its nodes with.
    fn asked(ask: Self::Ask) -> Pattern;
    /// Makes a node that no question fits; a queue has it as its first node while its index is in use.
    fn never() -> Self;
}

impl Node for Posted {
    type Ask = Key;
    #[inline(always)]
    fn fits(&self, key: Key) -> bool {
        self.pattern.fits(key)
    }
    #[inline(always)]
    unsafe fn link(this: *mut Posted) -> *mut *mut Posted {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*this).next }
    }
    fn pattern(&self) -> Pattern {
        self.pattern
    }
    fn asked(key: Key) -> Pattern {
        Pattern::exact(key)
    }
    /// Makes a receive that no message fits: none has source -1, since a source is checked against the communicator
    /// before it is matched.
    fn never() -> Posted {
        Posted { next: null_mut(), pattern: Pattern::exact(!0), stamp: 0 }
    }
}

impl Node for Unexpected {
    type Ask = Pattern;
    #[inline(always)]
    fn fits(&self, pattern: Pattern) -> bool {
        pattern.fits(self.key)
    }
    #[inline(always)]
    unsafe fn link(this: *mut Unexpected) -> *mut *mut Unexpected {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*this).next }
    }
    fn pattern(&self) -> Pattern {
        Pattern::exact(self.key)
    }
    fn asked(pattern: Pattern) -> Pattern {
        pattern
    }
    /// Makes a message that no receive fits: none names source -1, and none asks for the lowest of all tags.
    fn never() -> Unexpected {
        Unexpected { next: null_mut(), key: 1 << 63 | Pattern::SOURCE, order_key: 0 }
    }
}

/// How a queue finds its nodes without walking all of them.
pub(crate) trait Index<N: Node> {
    /// Adds a node as the youngest.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the index gives it out again.
    unsafe fn push(&mut self, node: NonNull<N>);
    /// Finds the oldest node that fits, and takes it out if `take`. `None`: none fits.
    fn find(&mut self, ask: N::Ask, take: bool) -> Option<NonNull<N>>;
    /// Takes this very node out. `false`: the index does not hold it.
    ///
    /// # Safety
    /// The node is valid, whether the index holds it or not, and nobody writes its pattern or key meanwhile.
    unsafe fn remove(&mut self, node: NonNull<N>) -> bool;
    /// Takes all nodes out: messages oldest first, receives in any order (their stamps tell).
    fn take_all(&mut self) -> Vec<NonNull<N>>;
    /// Gives the number of nodes in the index.
    fn len(&self) -> usize;
    /// Gives the bytes of memory of the index: its own and those that it has allocated.
    fn bytes(&self) -> usize;
}
