//! Messages on their way from a process to itself: a byte queue in ordinary memory.
//!
//! **Why messages are queued and not delivered inside `send`.** Delivering at once would be shorter,
//! and wrong in three ways. The receiver's callback may send (an acknowledgement, the next fragment),
//! which would deliver inside that send, and so on: the stack would grow with the conversation. A
//! callback that sends the first of two messages would be overtaken by what that message causes: the
//! answer would arrive before the second was sent, so messages would not arrive in the order of the
//! calls. And the caller of `send` would meet the receive side of its own layer, under the lock it
//! already holds and in the middle of its own bookkeeping. So `send` copies the message here, and
//! `progress`, called from the outside, hands it up: the stack is flat, order is that of the calls,
//! and receive callbacks run where the contract says they run.
//!
//! **Shape.** Memory in granules of 16 bytes. A message is one granule of head (length, tag) and its
//! bytes, contiguous. Where a message does not fit before the end, a pad head fills the rest and the
//! message starts at 0. `used` counts granules in use, pads included, so that full and empty differ.
//!
//! **Access.** One holder at a time (the context's). Two re-entries are possible and
//! allowed: the payload's pack function runs inside `push`, before anything is committed, and must
//! not call this queue; the receive callback runs inside `deliver`, and may `push`. It does so behind
//! the tail while the message it reads stays in front of it: the head moves after the callback has
//! returned, so its bytes stay where they are. A `deliver` inside a `deliver` finds `delivering` set
//! and does nothing.
//!
//! **Memory is uninitialised until written** and a queue that is never used never touches its pages.

use core::cell::Cell;
use core::mem::size_of;
use std::alloc::{Layout, alloc, dealloc};

const GRANULE: usize = 16;
/// In `Head::tag`: skip to the beginning.
const PAD: u32 = u32::MAX;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Head {
    len: u64,
    tag: u32,
    reserved: u32,
}

const _: () = assert!(size_of::<Head>() == GRANULE);

/// Bytes of queue that a message of `len` bytes takes.
pub fn footprint(len: usize) -> usize {
    GRANULE + len.div_ceil(GRANULE) * GRANULE
}

pub struct Queue {
    memory: *mut u8,
    layout: Layout,
    /// In granules.
    capacity: usize,
    head: Cell<usize>,
    tail: Cell<usize>,
    used: Cell<usize>,
    messages: Cell<usize>,
    delivering: Cell<bool>,
}

impl Queue {
    /// `None`: no memory. `bytes` is rounded down to granules.
    pub fn new(bytes: usize) -> Option<Queue> {
        let capacity = bytes / GRANULE;
        let layout = Layout::from_size_align(capacity.checked_mul(GRANULE)?, 128).ok()?;
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            return None;
        }
        Some(Queue {
            memory,
            layout,
            capacity,
            head: Cell::new(0),
            tail: Cell::new(0),
            used: Cell::new(0),
            messages: Cell::new(0),
            delivering: Cell::new(false),
        })
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.messages.get() == 0
    }

    /// Appends a message of `len` bytes that `fill` writes. False: no room, nothing happened.
    #[inline]
    pub fn push(&self, tag: u8, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let need = footprint(len) / GRANULE;
        let Some(at) = self.make_room(need) else { return false };
        self.write_head(at, Head { len: len as u64, tag: tag as u32, reserved: 0 });
        // SAFETY: `make_room` found `need` granules at `at`, which nothing else uses.
        fill(unsafe { self.memory.add((at + 1) * GRANULE) });
        self.tail.set(self.wrap(at + need));
        self.used.set(self.used.get() + need);
        self.messages.set(self.messages.get() + 1);
        true
    }

    /// Hands up to `limit` messages, and none that came in meanwhile, to `take` (tag, data, length).
    /// Returns how many.
    pub fn deliver(&self, limit: usize, mut take: impl FnMut(u8, *const u8, usize)) -> usize {
        if self.delivering.replace(true) {
            return 0;
        }
        let batch = self.messages.get().min(limit);
        for _ in 0..batch {
            let mut at = self.head.get();
            let mut head = self.read_head(at);
            if head.tag == PAD {
                self.used.set(self.used.get() - (self.capacity - at));
                at = 0;
                self.head.set(0);
                head = self.read_head(0);
            }
            let len = head.len as usize;
            // SAFETY: a message at `at` has its bytes behind its head, contiguous.
            take(head.tag as u8, unsafe { self.memory.add((at + 1) * GRANULE) }, len);
            let size = footprint(len) / GRANULE;
            self.head.set(self.wrap(at + size));
            self.used.set(self.used.get() - size);
            self.messages.set(self.messages.get() - 1);
        }
        if self.used.get() == 0 {
            // Start over at the beginning: warm memory, and room for the largest message.
            self.head.set(0);
            self.tail.set(0);
        }
        self.delivering.set(false);
        batch
    }

    /// Finds `need` contiguous granules at the tail, padding to the end if that is what it takes.
    #[inline]
    fn make_room(&self, need: usize) -> Option<usize> {
        let (head, tail, used) = (self.head.get(), self.tail.get(), self.used.get());
        if used + need > self.capacity {
            return None;
        }
        if tail < head {
            return (need <= head - tail).then_some(tail);
        }
        let to_end = self.capacity - tail;
        if need <= to_end {
            return Some(tail);
        }
        if need > head {
            return None;
        }
        self.write_head(tail, Head { len: 0, tag: PAD, reserved: 0 });
        self.used.set(used + to_end);
        self.tail.set(0);
        Some(0)
    }

    #[inline(always)]
    fn wrap(&self, at: usize) -> usize {
        if at == self.capacity { 0 } else { at }
    }

    #[inline(always)]
    fn write_head(&self, at: usize, head: Head) {
        debug_assert!(at < self.capacity);
        // SAFETY: inside the memory, aligned to a granule, and free (the caller's finding).
        unsafe { self.memory.add(at * GRANULE).cast::<Head>().write(head) }
    }

    #[inline(always)]
    fn read_head(&self, at: usize) -> Head {
        debug_assert!(at < self.capacity);
        // SAFETY: the head position always names a written head while messages are there.
        unsafe { self.memory.add(at * GRANULE).cast::<Head>().read() }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: from `alloc` with this layout.
        unsafe { dealloc(self.memory, self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn push(q: &Queue, tag: u8, bytes: &[u8]) -> bool {
        q.push(tag, bytes.len(), |dst| {
            // SAFETY: room for the bytes.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), dst, bytes.len()) }
        })
    }

    fn take(q: &Queue, limit: usize) -> Vec<(u8, Vec<u8>)> {
        let mut got = Vec::new();
        q.deliver(limit, |tag, data, len| {
            // SAFETY: valid during the callback.
            got.push((tag, unsafe { core::slice::from_raw_parts(data, len) }.to_vec()));
        });
        got
    }

    /// Against a plain model, with sizes that make it wrap in every way.
    #[test]
    fn behaves_like_a_list_of_messages() {
        for capacity in [64usize, 96, 160, 1024, 4096] {
            let q = Queue::new(capacity).expect("memory");
            let mut model: VecDeque<(u8, Vec<u8>)> = VecDeque::new();
            let mut x = 0x9e37_79b9_7f4a_7c15u64 ^ capacity as u64;
            for step in 0..20_000u32 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let r = (x >> 33) as usize;
                if r.is_multiple_of(3) {
                    let got = take(&q, 1 + r % 5);
                    for m in got {
                        assert_eq!(Some(m), model.pop_front());
                    }
                } else {
                    let bytes: Vec<u8> =
                        (0..r % (capacity / 2 - GRANULE)).map(|i| (i as u32 ^ step) as u8).collect();
                    if push(&q, r as u8, &bytes) {
                        model.push_back((r as u8, bytes));
                    } else {
                        assert!(!model.is_empty(), "an empty queue took no message of half its size");
                    }
                }
            }
            assert_eq!(take(&q, usize::MAX), Vec::from(model));
            assert!(q.is_empty());
        }
    }

    /// A callback that sends: its messages come in the next call, in order, and what it reads stays.
    #[test]
    fn callback_may_push() {
        let q = Queue::new(256).expect("memory");
        assert!(push(&q, 1, &[7; 40]));
        let mut refused = 0;
        let n = q.deliver(10, |_, data, len| {
            for tag in 2..8 {
                refused += !push(&q, tag, &[tag; 40]) as u32;
            }
            assert_eq!(q.deliver(10, |_, _, _| panic!("delivered inside a delivery")), 0);
            // SAFETY: valid during the callback.
            assert!(unsafe { core::slice::from_raw_parts(data, len) }.iter().all(|&b| b == 7));
        });
        assert_eq!((n, refused), (1, 3));
        assert_eq!(take(&q, 10).iter().map(|m| m.0).collect::<Vec<_>>(), [2, 3, 4]);
    }

    /// An empty queue takes the largest message wherever it stood before.
    #[test]
    fn largest_message_fits_when_empty() {
        let q = Queue::new(2 * footprint(100)).expect("memory");
        for i in 0..50 {
            assert!(push(&q, 0, &vec![1; i]));
            take(&q, 9);
            assert!(push(&q, 0, &[2; 100]) && push(&q, 0, &[2; 100]) && !push(&q, 0, &[]));
            assert_eq!(take(&q, 9).len(), 2);
        }
    }

    #[test]
    fn nothing_to_deliver() {
        let q = Queue::new(64).expect("memory");
        assert!(q.is_empty() && take(&q, 5).is_empty());
        assert!(Queue::new(0).is_none());
    }
}
