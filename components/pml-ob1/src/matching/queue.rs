//! One side of an engine: a list in front, and behind it an index for when lists are too slow.
//!
//! | mode | `head` | `tail` |
//! |---|---|---|
//! | list, empty | null | anything |
//! | list | the oldest node | the youngest |
//! | index | [`IndexParts::never`], a node that nothing fits | null |
//!
//! **Why so.** An empty queue, or one whose oldest node is the one asked for, is what nearly every
//! message meets, with every engine; there the queue costs what a plain list costs, not an
//! instruction more. Only who walks past the first node, or adds behind another one, finds out
//! whether there is an index. No call is indirect.
//!
//! **When.** A search that walks more than `limit` nodes moves the queue into its index, each node
//! once. The queue goes back to the list when it becomes empty and has not been longer than `limit`
//! since it was empty last: a program that fills and drains a long queue over and over moves it once.
//! `list` has no limit and no index; the engines that are named for their index have limit 0 and
//! start with it. Memory of an index stays with the queue, so that the steady state allocates nothing.

use super::choice::Setting;
use super::entry::{Index, Pattern, Unexpected};
use super::indices::Indexed;
use core::ptr::{NonNull, null_mut};

/// A queue's index, and the node that nothing fits (first of the queue while the index is in use). Behind a raw
/// pointer, because `head` points into it.
struct IndexParts<N: Indexed> {
    never: N,
    index: N::Index,
}

/// One side of an engine: posted receives or waiting messages, in a list, or in an index once searches were long (see
/// the module's head).
pub(super) struct Queue<N: Indexed> {
    head: *mut N,
    tail: *mut N,
    index_parts: *mut IndexParts<N>,
    setting: Setting,
    /// Longest since the index was empty.
    peak: usize,
}

impl<N: Indexed> Queue<N> {
    /// Makes an empty queue; an engine whose limit is 0 starts with its index in use.
    pub fn new(setting: Setting) -> Queue<N> {
        let mut queue =
            Queue { head: null_mut(), tail: null_mut(), index_parts: null_mut(), setting, peak: 0 };
        if setting.limit() == 0 {
            queue.move_to_index();
        }
        queue
    }

    /// Adds a node as the youngest, to the list or the index, whichever is in use.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the queue gives it out again.
    #[inline(always)]
    pub unsafe fn push(&mut self, node: NonNull<N>) {
        // SAFETY: valid by the caller's promise; a tail that is not null is a node of the list when
        // the list is not empty.
        unsafe {
            *N::link(node.as_ptr()) = null_mut();
            if self.head.is_null() {
                self.head = node.as_ptr();
            } else if self.tail.is_null() {
                return self.push_to_index(node);
            } else {
                *N::link(self.tail) = node.as_ptr();
            }
        }
        self.tail = node.as_ptr();
    }

    /// Finds the oldest node that fits, and takes it out if `take`. `None`: none fits. A search that walks far moves
    /// the list into the index.
    #[inline(always)]
    pub fn find(&mut self, ask: N::Ask, take: bool) -> Option<NonNull<N>> {
        let first = NonNull::new(self.head)?;
        // SAFETY: nodes in the queue are valid (promise of `push`); nothing fits `never`.
        unsafe {
            if !first.as_ref().fits(ask) {
                return self.find_beyond(ask, take);
            }
            if take {
                self.head = *N::link(first.as_ptr());
            }
        }
        Some(first)
    }

    /// Gives the index if it is in use. `None`: the queue is a list.
    #[inline(always)]
    fn index(&mut self) -> Option<&mut N::Index> {
        let used = !self.head.is_null() && self.tail.is_null();
        // SAFETY: `index_parts` is set when the index comes into use and stays; `head` points to another
        // field of it, and that is only read.
        used.then(|| unsafe { &mut (*self.index_parts).index })
    }

    /// Adds a node to the index, which is in use, as the youngest, and notes the greatest length.
    ///
    /// # Safety
    /// The index is in use, and the node stays valid and unmoved until the queue gives it out again.
    #[inline(never)]
    unsafe fn push_to_index(&mut self, node: NonNull<N>) {
        // SAFETY: `index_parts` is set in this mode; the rest is the caller's promise.
        let len = unsafe {
            let index = &mut (*self.index_parts).index;
            index.push(node);
            index.len()
        };
        self.peak = self.peak.max(len);
    }

    /// Finds the oldest node that fits where the queue's first node does not: in the index, or by walking on in the
    /// list, which moves into the index if the walk was longer than the limit. The queue has a first node.
    #[inline(never)]
    fn find_beyond(&mut self, ask: N::Ask, take: bool) -> Option<NonNull<N>> {
        if let Some(index) = self.index() {
            let found = index.find(ask, take);
            if take && found.is_some() && index.len() == 0 {
                self.drained();
            }
            return found;
        }
        let mut before = self.head;
        let mut walked = 1;
        let mut found = None;
        // SAFETY: nodes in the list are valid (promise of `push`), and the list is not empty.
        unsafe {
            while let Some(node) = NonNull::new(*N::link(before)) {
                if node.as_ref().fits(ask) {
                    if take {
                        self.unlink(before, node);
                    }
                    found = Some(node);
                    break;
                }
                before = node.as_ptr();
                walked += 1;
            }
        }
        if walked > self.setting.limit() {
            self.move_to_index();
        }
        found
    }

    /// Takes a node out of the list, given the node before it.
    ///
    /// # Safety
    /// `before` and `node` are neighbours in the list, in this order.
    unsafe fn unlink(&mut self, before: *mut N, node: NonNull<N>) {
        // SAFETY: the caller's promise.
        unsafe {
            let next = *N::link(node.as_ptr());
            *N::link(before) = next;
            if next.is_null() {
                self.tail = before;
            }
        }
    }

    /// Moves the nodes of the list into the index, oldest first, and puts the index to use. Does nothing with `list`,
    /// which has no index.
    #[cold]
    fn move_to_index(&mut self) {
        if self.index_parts.is_null() {
            let Some(index) = N::index(self.setting) else { return };
            self.index_parts = Box::into_raw(Box::new(IndexParts { never: N::never(), index }));
        }
        let mut at = self.head;
        // SAFETY: `index_parts` is set; nodes in the list are valid and stay so (promise of `push`).
        unsafe {
            let index = &mut (*self.index_parts).index;
            while let Some(node) = NonNull::new(at) {
                at = *N::link(at);
                index.push(node);
            }
            self.peak = index.len();
            self.head = &raw mut (*self.index_parts).never;
        }
        self.tail = null_mut();
    }

    /// Goes back to the list after the index has become empty, if it was never longer than the limit since it was empty
    /// last and the engine does not start with an index.
    fn drained(&mut self) {
        if self.peak <= self.setting.limit() && self.setting.limit() != 0 {
            self.head = null_mut();
        }
        self.peak = 0;
    }

    /// Takes this very node out. `false`: the queue does not hold it.
    ///
    /// # Safety
    /// As for [`Index::remove`].
    pub unsafe fn remove(&mut self, node: NonNull<N>) -> bool {
        if let Some(index) = self.index() {
            // SAFETY: the caller's promise, passed on.
            let was_here = unsafe { index.remove(node) };
            if was_here && index.len() == 0 {
                self.drained();
            }
            return was_here;
        }
        let (mut before, mut at) = (null_mut(), self.head);
        // SAFETY: nodes in the list are valid (promise of `push`).
        unsafe {
            while !at.is_null() {
                if at == node.as_ptr() {
                    match NonNull::new(before) {
                        None => self.head = *N::link(at),
                        Some(before) => self.unlink(before.as_ptr(), node),
                    }
                    return true;
                }
                before = at;
                at = *N::link(at);
            }
        }
        false
    }

    /// Takes all nodes out, in the order of [`Index::take_all`].
    pub fn take_all(&mut self) -> Vec<NonNull<N>> {
        if let Some(index) = self.index() {
            let all = index.take_all();
            self.drained();
            return all;
        }
        let mut all = Vec::new();
        let mut at = core::mem::replace(&mut self.head, null_mut());
        while let Some(node) = NonNull::new(at) {
            all.push(node);
            // SAFETY: nodes in the list are valid (promise of `push`).
            at = unsafe { *N::link(at) };
        }
        all
    }

    /// Gives the setting that the queue was made with.
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// Whether the queue is an empty list; `false` also for an index that is in use and empty.
    #[inline(always)]
    pub fn is_bare(&self) -> bool {
        self.head.is_null()
    }

    /// Whether the queue holds no node.
    pub fn is_empty(&self) -> bool {
        // SAFETY: in this mode `index_parts` is set.
        self.head.is_null() || self.tail.is_null() && unsafe { (*self.index_parts).index.len() == 0 }
    }

    /// Counts the nodes; walks the list if the index is not in use.
    pub fn len(&self) -> usize {
        if !self.head.is_null() && self.tail.is_null() {
            // SAFETY: in this mode `index_parts` is set.
            return unsafe { (*self.index_parts).index.len() };
        }
        let (mut at, mut len) = (self.head, 0);
        while !at.is_null() {
            len += 1;
            // SAFETY: nodes in the list are valid (promise of `push`).
            at = unsafe { *N::link(at) };
        }
        len
    }

    /// Whether the index is in use.
    #[cfg(all(test, not(loom)))]
    pub fn uses_index(&self) -> bool {
        !self.head.is_null() && self.tail.is_null()
    }

    /// Gives the bytes of memory that the queue has allocated: those of its index, or 0.
    pub fn bytes(&self) -> usize {
        // SAFETY: set once, stays.
        let parts = unsafe { self.index_parts.as_ref() };
        parts.map_or(0, |p| size_of::<N>() + p.index.bytes())
    }
}

impl Queue<Unexpected> {
    /// Takes out the oldest message, whatever its source and tag. `None`: the queue is empty.
    pub fn pop(&mut self) -> Option<NonNull<Unexpected>> {
        if self.index().is_some() {
            return self.find_beyond(Pattern::ALL, true);
        }
        self.find(Pattern::ALL, true)
    }
}

impl<N: Indexed> Drop for Queue<N> {
    fn drop(&mut self) {
        if !self.index_parts.is_null() {
            // SAFETY: made by Box::into_raw, and `head` is not used any more.
            drop(unsafe { Box::from_raw(self.index_parts) });
        }
    }
}
