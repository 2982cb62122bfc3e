//! The engine of a shard: a queue of posted receives and one of waiting messages.

use super::choice::Setting;
use super::entry::{Arrival, Key, Node, Pattern, Posted, Unexpected};
use super::indices::{PostedIndex, WaitingIndex};
use super::queue::Queue;
use core::ptr::{NonNull, null_mut};

impl Node for Posted {
    type Ask = Key;
    type Index = PostedIndex;
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
    fn index(setting: Setting) -> Option<Self::Index> {
        PostedIndex::new(setting)
    }
}

impl Node for Unexpected {
    type Ask = Pattern;
    type Index = WaitingIndex;
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
    fn index(setting: Setting) -> Option<Self::Index> {
        WaitingIndex::new(setting)
    }
}

/// The engine of a shard.
pub struct Engine {
    pub(super) posted: Queue<Posted>,
    pub(super) waiting: Queue<Unexpected>,
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
