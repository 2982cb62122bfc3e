//! Matching engines: they pair messages that arrive with receives that are posted.
//!
//! An engine serves one **shard** and is called under that shard's lock, so `&mut self` is honest.
//! Nodes are intrusive: [`Posted`] lies in a request, [`Unexpected`] in a message record, and the
//! engine owns their links while it holds them. Neither node moves or goes while it is held.
//!
//! **The rules of MPI 5.0 §3.5 that every engine keeps**: a message matches the oldest posted
//! receive it fits; a receive matches the oldest waiting message it fits; MPI_ANY_TAG fits tags from
//! 0 up only (negative ones are the library's own). "Oldest" is the order of `post` and of
//! `add_unexpected`; an engine that keeps several lists decides between them by the stamp of a
//! posted receive and the arrival order of a message. Order keys travel with messages so that
//! engines over several FIFOs can restore the sender's order; with one FIFO they are all 0.
//!
//! An [`Engine`] is two [`queue::Queue`]s, one of receives and one of messages, each a list with an
//! [`Index`] behind it: what kind, and from which search depth on, is what the engines differ in.
//! README.md has the rule of the default, figures, and how to choose.
//!
//! Map: `queue` (the list in front, the change to the index) · `list` · `hash` and `table` ·
//! `perpeer` · `arrivals` (waiting messages in order, with a look-up) · `lanes` (vector and fuzzy) ·
//! `simd` · `choice` (names) · `harness` (engines against a model, for tests and the fuzzer).

mod arrivals;
mod choice;
mod hash;
mod lanes;
mod list;
mod perpeer;
mod queue;
mod simd;
mod table;

#[cfg(any(all(test, not(loom)), fuzzing))]
pub mod harness;
#[cfg(all(test, not(loom)))]
mod tests;

pub use choice::{Choice, Setting};
pub use simd::{Level, Simd};

use core::ptr::{NonNull, null_mut};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};
use queue::Queue;

/// Source and tag of a message, as in word 1 of its header.
pub type Key = u64;

/// Which messages a receive takes: `(key ^ want) & mask == 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub want: u64,
    pub mask: u64,
}

impl Pattern {
    const SOURCE: u64 = u32::MAX as u64;
    const TAG: u64 = !Self::SOURCE;
    /// Fits every message, the library's own too.
    const ALL: Pattern = Pattern { want: 0, mask: 0 };

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
    fn is_exact(&self) -> bool {
        self.mask == !0
    }
    /// The source, unless it is MPI_ANY_SOURCE.
    fn source(&self) -> Option<u32> {
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
    fn index(choice: Choice, simd: Simd) -> Option<Self::Index>;
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

impl Node for Posted {
    type Ask = Key;
    type Index = choice::PostedIndex;
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
    /// No message has source -1: a source is checked against the communicator before it is matched.
    fn never() -> Posted {
        Posted { next: null_mut(), pattern: Pattern::exact(!0), stamp: 0 }
    }
    fn index(choice: Choice, simd: Simd) -> Option<Self::Index> {
        choice::PostedIndex::new(choice, simd)
    }
}

impl Node for Unexpected {
    type Ask = Pattern;
    type Index = choice::WaitingIndex;
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
    /// No receive has source -1, and none has the lowest of all tags.
    fn never() -> Unexpected {
        Unexpected { next: null_mut(), key: 1 << 63 | Pattern::SOURCE, order_key: 0 }
    }
    fn index(choice: Choice, simd: Simd) -> Option<Self::Index> {
        choice::WaitingIndex::new(choice, simd)
    }
}

/// The engine of a shard; see the module's head.
pub struct Engine {
    posted: Queue<Posted>,
    waiting: Queue<Unexpected>,
}

impl Engine {
    pub fn new(setting: Setting) -> Engine {
        Engine { posted: Queue::new(setting), waiting: Queue::new(setting) }
    }

    /// Takes a receive that no waiting message fits. Stamps rise from one receive to the next.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the engine gives it out again.
    #[inline(always)]
    pub unsafe fn post(&mut self, node: NonNull<Posted>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.posted.push(node) }
    }

    /// Gives out the oldest posted receive that fits.
    #[inline(always)]
    pub fn match_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        self.posted.find(arrival.key, true)
    }

    /// Shows what `match_arrival` would give out: who decides between several shards compares its stamp.
    #[inline(always)]
    pub fn peek_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        self.posted.find(arrival.key, false)
    }

    /// Takes a message that no posted receive fits.
    ///
    /// # Safety
    /// As [`Engine::post`].
    #[inline(always)]
    pub unsafe fn add_unexpected(&mut self, node: NonNull<Unexpected>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.waiting.push(node) }
    }

    /// Gives out the oldest waiting message that fits, or with `take` false only shows it.
    #[inline(always)]
    pub fn find_unexpected(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>> {
        self.waiting.find(pattern, take)
    }

    /// Takes all posted receives out, oldest first.
    pub fn take_posted(&mut self) -> Vec<NonNull<Posted>> {
        let mut all = self.posted.take_all();
        // SAFETY: nodes that the queue gave out, valid by the promise of `post`.
        all.sort_by_key(|node| unsafe { node.as_ref() }.stamp);
        all
    }

    /// Takes all waiting messages out, oldest first.
    pub fn take_waiting(&mut self) -> Vec<NonNull<Unexpected>> {
        self.waiting.take_all()
    }

    /// The choice that it was made with.
    pub fn setting(&self) -> Setting {
        self.posted.setting()
    }

    /// Takes a posted receive back. False: it is not here.
    pub fn cancel(&mut self, node: NonNull<Posted>) -> bool {
        self.posted.remove(node)
    }

    /// Gives out the oldest waiting message, for clearing up.
    pub fn pop_unexpected(&mut self) -> Option<NonNull<Unexpected>> {
        self.waiting.pop()
    }

    /// Receives that are posted. Walks the list.
    pub fn posted_len(&self) -> usize {
        self.posted.len()
    }

    /// No message waits, as can be seen at a glance; false: `find_unexpected` tells.
    #[inline(always)]
    pub fn surely_none_waits(&self) -> bool {
        self.waiting.is_bare()
    }

    pub fn has_posted(&self) -> bool {
        !self.posted.is_empty()
    }

    /// Bytes of memory, its own and what it has allocated.
    pub fn bytes(&self) -> usize {
        size_of::<Engine>() + self.posted.bytes() + self.waiting.bytes()
    }
}
