//! The `list` engine: one list of posted receives and one of waiting messages per communicator.
//!
//! Adding is O(1), finding walks from the oldest, so order needs no stamps: the first that fits is
//! the right one. Good while lists are short; the other engines exist for when they are not.

use super::{Arrival, MatchEngine, Pattern, Posted, Unexpected};
use core::ptr::{NonNull, null_mut};

/// A node of a singly linked list.
trait Node {
    fn next(&mut self) -> &mut *mut Self;
}
impl Node for Posted {
    #[inline(always)]
    fn next(&mut self) -> &mut *mut Posted {
        &mut self.next
    }
}
impl Node for Unexpected {
    #[inline(always)]
    fn next(&mut self) -> &mut *mut Unexpected {
        &mut self.next
    }
}

/// First in, first out, with removal from the middle while walking.
struct List<T> {
    head: *mut T,
    /// Last node; meaningless while `head` is null.
    tail: *mut T,
}

impl<T: Node> List<T> {
    const fn new() -> List<T> {
        List { head: null_mut(), tail: null_mut() }
    }

    /// # Safety
    /// The node stays valid and unmoved until it leaves the list.
    #[inline(always)]
    unsafe fn push(&mut self, mut node: NonNull<T>) {
        // SAFETY: valid by the caller's promise, and nobody else refers to it.
        *unsafe { node.as_mut() }.next() = null_mut();
        if self.head.is_null() {
            self.head = node.as_ptr();
        } else {
            // SAFETY: the tail of a list that is not empty is a node of it.
            *unsafe { &mut *self.tail }.next() = node.as_ptr();
        }
        self.tail = node.as_ptr();
    }

    /// The first node for which `fits` holds; it leaves the list if `take`.
    #[inline(always)]
    fn find(&mut self, take: bool, mut fits: impl FnMut(&T) -> bool) -> Option<NonNull<T>> {
        let mut before: *mut T = null_mut();
        let mut at = self.head;
        while let Some(mut node) = NonNull::new(at) {
            // SAFETY: nodes in the list are valid (promise of `push`).
            let this = unsafe { node.as_mut() };
            let next = *this.next();
            if fits(this) {
                if take {
                    if before.is_null() {
                        self.head = next;
                    } else {
                        // SAFETY: `before` is a node of the list.
                        *unsafe { &mut *before }.next() = next;
                    }
                    if next.is_null() {
                        self.tail = before;
                    }
                }
                return Some(node);
            }
            before = at;
            at = next;
        }
        None
    }
}

/// See the module's head.
pub struct ListEngine {
    posted: List<Posted>,
    unexpected: List<Unexpected>,
}

impl ListEngine {
    pub const fn new() -> ListEngine {
        ListEngine { posted: List::new(), unexpected: List::new() }
    }
}

impl Default for ListEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl MatchEngine for ListEngine {
    #[inline(always)]
    unsafe fn post(&mut self, node: NonNull<Posted>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.posted.push(node) }
    }
    #[inline(always)]
    fn match_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        self.posted.find(true, |p| p.pattern.fits(arrival.key))
    }
    #[inline(always)]
    unsafe fn add_unexpected(&mut self, node: NonNull<Unexpected>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.unexpected.push(node) }
    }
    #[inline(always)]
    fn find_unexpected(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>> {
        self.unexpected.find(take, |u| pattern.fits(u.key))
    }
    fn cancel(&mut self, node: NonNull<Posted>) -> bool {
        self.posted.find(true, |p| core::ptr::eq(p, node.as_ptr())).is_some()
    }
    fn pop_unexpected(&mut self) -> Option<NonNull<Unexpected>> {
        self.unexpected.find(true, |_| true)
    }
    fn has_posted(&self) -> bool {
        !self.posted.head.is_null()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
