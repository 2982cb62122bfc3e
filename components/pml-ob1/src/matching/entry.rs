//! Entries of an engine's queues, receives and waiting messages, and the interface of an index over them.

use super::choice::Setting;
use core::ptr::NonNull;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};

/// Source and tag of a message, as in word 1 of its header.
pub type Key = u64;

/// Which messages a receive takes: `(key ^ want) & mask == 0`.
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

    /// MPI_ANY_SOURCE leaves the source out; MPI_ANY_TAG looks at the tag's sign alone.
    #[inline(always)]
    pub fn new(source: i32, tag: i32) -> Pattern {
        let (s, sm) = if source == ANY_SOURCE { (0, 0) } else { (source as u32, u32::MAX) };
        let (t, tm) = if tag == ANY_TAG { (0, 1 << 31) } else { (tag as u32, u32::MAX) };
        Pattern { want: s as u64 | (t as u64) << 32, mask: sm as u64 | (tm as u64) << 32 }
    }
    /// One source and one tag.
    #[inline(always)]
    pub fn exact(key: Key) -> Pattern {
        Pattern { want: key, mask: !0 }
    }
    #[inline(always)]
    pub fn fits(&self, key: Key) -> bool {
        (key ^ self.want) & self.mask == 0
    }
    pub(super) fn is_exact(&self) -> bool {
        self.mask == !0
    }
    /// The source, unless it is MPI_ANY_SOURCE.
    pub(super) fn source(&self) -> Option<u32> {
        self.has_source().then_some(self.want as u32)
    }
    /// The source as a rank, unless it is MPI_ANY_SOURCE.
    pub fn named_source(&self) -> Option<i32> {
        self.source().map(u32::cast_signed)
    }
    /// The source is not MPI_ANY_SOURCE.
    #[inline(always)]
    pub fn has_source(&self) -> bool {
        self.mask & Self::SOURCE == Self::SOURCE
    }
    /// The tag is not MPI_ANY_TAG.
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

/// A queue's entries, and the operations on it.
pub(crate) trait Node: Sized + 'static {
    /// A message asks for receives by its key, a receive for messages by its pattern.
    type Ask: Copy;
    type Index: Index<Self>;
    fn fits(&self, ask: Self::Ask) -> bool;
    /// The link, which belongs to the engine.
    ///
    /// # Safety
    /// `this` points to a node.
    unsafe fn link(this: *mut Self) -> *mut *mut Self;
    /// The key that the node is found by.
    fn pattern(&self) -> Pattern;
    fn asked(ask: Self::Ask) -> Pattern;
    /// A node that nothing fits.
    fn never() -> Self;
    /// The index of an engine; `None`: it is a list only.
    fn index(setting: Setting) -> Option<Self::Index>;
}

/// How a queue finds its nodes without walking all of them.
pub(crate) trait Index<N: Node> {
    /// Adds the youngest.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the index gives it out again.
    unsafe fn push(&mut self, node: NonNull<N>);
    /// The oldest that fits; it leaves the index if `take`.
    fn find(&mut self, ask: N::Ask, take: bool) -> Option<NonNull<N>>;
    /// False: it is not here.
    fn remove(&mut self, node: NonNull<N>) -> bool;
    /// Takes all out: messages oldest first, receives in any order (their stamps tell).
    fn take_all(&mut self, out: &mut Vec<NonNull<N>>);
    fn len(&self) -> usize;
    /// Bytes of memory, its own and what it has allocated.
    fn bytes(&self) -> usize;
}
