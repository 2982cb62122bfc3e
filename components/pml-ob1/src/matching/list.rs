//! A list of nodes: adding is O(1), finding walks from the oldest, so order needs no stamps.

use super::entry::Node;
use core::ptr::{NonNull, null_mut};

/// First in, first out, with removal from the middle while walking.
pub(super) struct List<N> {
    head: *mut N,
    /// Last node; meaningless while `head` is null.
    tail: *mut N,
}

/// A node and the one before it (null: it is the first).
pub(super) struct Position<N> {
    pub before: *mut N,
    pub node: NonNull<N>,
}

impl<N> Default for List<N> {
    fn default() -> List<N> {
        List { head: null_mut(), tail: null_mut() }
    }
}

impl<N: Node> List<N> {
    /// Appends a node: walks from the oldest come to it last.
    ///
    /// # Safety
    /// The node stays valid and unmoved until it leaves the list.
    pub unsafe fn push(&mut self, node: NonNull<N>) {
        // SAFETY: valid by the caller's promise; the tail of a list that is not empty is a node of it.
        unsafe {
            *N::link(node.as_ptr()) = null_mut();
            if self.head.is_null() {
                self.head = node.as_ptr();
            } else {
                *N::link(self.tail) = node.as_ptr();
            }
        }
        self.tail = node.as_ptr();
    }

    /// Finds the oldest node for which `fits` holds, and the node before it. `None`: it holds for none.
    pub fn find(&self, mut fits: impl FnMut(&N) -> bool) -> Option<Position<N>> {
        let (mut before, mut at) = (null_mut(), self.head);
        while let Some(node) = NonNull::new(at) {
            // SAFETY: nodes in the list are valid (promise of `push`).
            unsafe {
                if fits(node.as_ref()) {
                    return Some(Position { before, node });
                }
                before = at;
                at = *N::link(at);
            }
        }
        None
    }

    /// Takes all nodes out, oldest first.
    pub fn take_all(&mut self) -> Vec<NonNull<N>> {
        let mut all = Vec::new();
        while let Some(at) = self.find(|_| true) {
            self.take(&at);
            all.push(at.node);
        }
        all
    }

    /// Takes out the node at a position that [`List::find`] gave; the list has not changed since.
    pub fn take(&mut self, at: &Position<N>) {
        // SAFETY: both are nodes of the list.
        unsafe {
            let next = *N::link(at.node.as_ptr());
            match NonNull::new(at.before) {
                None => self.head = next,
                Some(before) => *N::link(before.as_ptr()) = next,
            }
            if next.is_null() {
                self.tail = at.before;
            }
        }
    }
}
