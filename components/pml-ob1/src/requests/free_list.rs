//! Free objects of a thread: a list that only it touches, and one for what others give back.
//!
//! **A list has one owner** (`thread_state.rs`). Only the owner takes from it, and what it gives back itself goes on a list that nobody else touches: no
//! lock, no read-modify-write. A call that is alone may do the same with any list.
//!
//! **Objects given back by others** (by a thread that completes a released request, or that waited for one of another thread) go on a
//! second list, by compare-and-swap. The owner takes all of that at once when its own list is empty: nothing is ever taken out of the
//! middle, so a node that is on the list twice in a row does no harm (no ABA).
//!
//! The model at the end runs this very code. Objects are never freed.

use crate::requests::links::{FreeList, Linked, ReturnedList};
use core::cell::Cell;
use core::ptr::{null, null_mut};
use oxmpi_mca::cache::fetch_to_write;
use oxmpi_mca::sync::{AtomicPtr, Ordering};

impl<T: Linked> FreeList<T> {
    /// Makes a list without free objects; `owner`: the number of the thread that it belongs to.
    pub fn new(owner: u32) -> FreeList<T> {
        FreeList { own: Cell::new(null()), owner, returned: ReturnedList(AtomicPtr::new(null_mut())) }
    }

    /// Gives the number of the thread that the list belongs to.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Takes a free object. `None`: there is none. By the owner.
    #[inline(always)]
    pub fn take(&self) -> Option<&'static T> {
        // SAFETY: what the lists hold is never freed.
        let first = match unsafe { self.own.get().as_ref() } {
            Some(first) => first,
            None => self.take_returned()?,
        };
        let next = first.next().get();
        self.own.set(next);
        // The next one will be written from end to end in a moment, perhaps right before a lock is taken, which
        // waits for all that is being written.
        for line in 0..Self::LINES {
            fetch_to_write(next.addr().wrapping_add(line * 64));
        }
        Some(first)
    }

    /// Cache lines of a node that its taker writes.
    const LINES: usize = 3;

    /// Takes all objects that other threads gave back, and gives the first, which is linked to the others. `None`:
    /// there are none. By the owner.
    #[inline(never)]
    fn take_returned(&self) -> Option<&'static T> {
        if self.returned.0.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // SYNC POINT with `give_from_outside`: what was written to them before is seen.
        // SAFETY: null, or an object that `give_from_outside` put there, which is there for good.
        unsafe { self.returned.0.swap(null_mut(), Ordering::Acquire).as_ref() }
    }

    /// Puts a free object on the owner's own list. By the owner.
    #[inline(always)]
    pub fn give(&self, free: &'static T) {
        free.next().set(self.own.get());
        self.own.set(free);
    }

    /// Puts a free object on the list of those that other threads gave back, by compare-and-swap. By any thread.
    pub fn give_from_outside(&self, free: &'static T) {
        let mut head = self.returned.0.load(Ordering::Relaxed);
        loop {
            free.next().set(head);
            let new = core::ptr::from_ref(free).cast_mut();
            // SYNC POINT with `take_returned`.
            match self.returned.0.compare_exchange(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::thread;

    /// A free object; the model sees every access of `written` that no order leads to.
    struct ListNode {
        next: Cell<*const ListNode>,
        written: UnsafeCell<u32>,
    }

    impl Linked for ListNode {
        fn next(&self) -> &Cell<*const ListNode> {
            &self.next
        }
    }

    #[derive(Clone, Copy)]
    struct SharedList(&'static FreeList<ListNode>);
    // SAFETY: the model calls what only the owner may call from one thread.
    unsafe impl Send for SharedList {}

    #[derive(Clone, Copy)]
    struct SharedNode(&'static ListNode);
    // SAFETY: one thread after the other has the node; the list orders what they do.
    unsafe impl Send for SharedNode {}

    /// Two threads give one each back, while the owner takes and gives its own: it gets each once, and sees
    /// what was written to it before.
    #[test]
    fn what_others_give_back_is_taken_once() {
        loom::model(|| {
            let free = SharedList(Box::leak(Box::new(FreeList::new(0))));
            let nodes: [SharedNode; 3] = std::array::from_fn(|i| {
                let node = ListNode { next: Cell::new(null()), written: UnsafeCell::new(i as u32) };
                SharedNode(Box::leak(Box::new(node)))
            });
            free.0.give(nodes[2].0);
            let others: Vec<_> = (0..2)
                .map(|i| {
                    let node = nodes[i];
                    thread::spawn(move || {
                        let (free, node) = (free, node);
                        // SAFETY: the thread's own until it gives it back.
                        node.0.written.with_mut(|w| unsafe { *w += 10 });
                        free.0.give_from_outside(node.0);
                    })
                })
                .collect();
            // SAFETY: what was taken is the taker's.
            let read = |node: &'static ListNode| node.written.with(|w| unsafe { *w });
            let mut seen = Vec::new();
            while seen.len() < nodes.len() {
                match free.0.take() {
                    Some(node) => seen.push(read(node)),
                    None => thread::yield_now(),
                }
            }
            assert!(free.0.take().is_none());
            for other in others {
                other.join().unwrap();
            }
            seen.sort_unstable();
            assert_eq!(seen, [2, 10, 11]);
        });
    }
}
