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
//! **Access.** One holder at a time (the context's). Two re-entries are possible and allowed: the payload's pack function runs inside
//! `push`, before anything is committed, and must not call this queue; the receiver of the message in front runs between `front` and
//! `pass`, and may `push`. It does so behind the tail while the message it reads stays in front of it, so its bytes stay where
//! they are. A `begin` between `begin` and `end` finds that a batch is under way, and begins none.
//!
//! **Memory is uninitialised until written** and a queue that is never used never touches its pages.

use core::mem::{MaybeUninit, size_of};

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

#[repr(align(128))]
pub struct Queue {
    /// Granules, reached by pointers alone: a message that is being read stays while another is written.
    memory: Vec<MaybeUninit<Head>>,
    /// In granules.
    head: usize,
    tail: usize,
    used: usize,
    messages: usize,
    delivering: bool,
}

/// The message in front: its tag, where its bytes lie, and how many.
pub struct Front {
    pub tag: u8,
    pub data: *const u8,
    pub len: usize,
}

impl Queue {
    /// `None`: no memory. `bytes` is rounded down to granules.
    pub fn new(bytes: usize) -> Option<Queue> {
        let capacity = bytes / GRANULE;
        let mut memory = Vec::new();
        memory.try_reserve_exact(capacity).ok()?;
        memory.resize_with(capacity, MaybeUninit::uninit);
        (capacity > 0).then_some(Queue { memory, head: 0, tail: 0, used: 0, messages: 0, delivering: false })
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Appends a message of `len` bytes that `fill` writes. False: no room, nothing happened.
    #[inline]
    pub fn push(&mut self, tag: u8, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let need = footprint(len) / GRANULE;
        let Some(at) = self.make_room(need) else { return false };
        self.write_head(at, Head { len: len as u64, tag: tag as u32, reserved: 0 });
        // SAFETY: `make_room` found `need` granules at `at`, which nothing else uses.
        fill(unsafe { self.memory.as_mut_ptr().add(at + 1) }.cast());
        self.tail = self.wrap(at + need);
        self.used += need;
        self.messages += 1;
        true
    }

    /// Begins a batch of up to `limit` messages, and none that come in meanwhile; returns how many. A batch of more than 0 is ended by
    /// [`Queue::end`], behind as many calls of [`Queue::front`] and [`Queue::pass`].
    #[inline]
    pub fn begin(&mut self, limit: usize) -> usize {
        if self.delivering {
            return 0;
        }
        let batch = self.messages.min(limit);
        self.delivering = batch > 0;
        batch
    }

    /// The message in front, in a batch that has more. Its bytes stay as they are until [`Queue::pass`].
    #[inline]
    pub fn front(&mut self) -> Front {
        debug_assert!(self.delivering && self.messages > 0);
        let mut head = self.read_head(self.head);
        if head.tag == PAD {
            self.used -= self.memory.len() - self.head;
            self.head = 0;
            head = self.read_head(0);
        }
        // SAFETY: a message at `head` has its bytes behind its head, contiguous.
        let data = unsafe { self.memory.as_ptr().add(self.head + 1) }.cast();
        Front { tag: head.tag as u8, data, len: head.len as usize }
    }

    /// Takes the message in front away.
    #[inline]
    pub fn pass(&mut self) {
        let size = footprint(self.read_head(self.head).len as usize) / GRANULE;
        self.head = self.wrap(self.head + size);
        self.used -= size;
        self.messages -= 1;
    }

    /// Ends a batch.
    #[inline]
    pub fn end(&mut self) {
        if self.used == 0 {
            // Start over at the beginning: warm memory, and room for the largest message.
            self.head = 0;
            self.tail = 0;
        }
        self.delivering = false;
    }

    /// Finds `need` contiguous granules at the tail, padding to the end if that is what it takes.
    #[inline]
    fn make_room(&mut self, need: usize) -> Option<usize> {
        let (head, tail, used) = (self.head, self.tail, self.used);
        if used + need > self.memory.len() {
            return None;
        }
        if tail < head {
            return (need <= head - tail).then_some(tail);
        }
        let to_end = self.memory.len() - tail;
        if need <= to_end {
            return Some(tail);
        }
        if need > head {
            return None;
        }
        self.write_head(tail, Head { len: 0, tag: PAD, reserved: 0 });
        self.used = used + to_end;
        self.tail = 0;
        Some(0)
    }

    #[inline(always)]
    fn wrap(&self, at: usize) -> usize {
        if at == self.memory.len() { 0 } else { at }
    }

    #[inline(always)]
    fn write_head(&mut self, at: usize, head: Head) {
        debug_assert!(at < self.memory.len());
        // SAFETY: inside the memory, and free (the caller's finding).
        unsafe { self.memory.as_mut_ptr().add(at).cast::<Head>().write(head) }
    }

    #[inline(always)]
    fn read_head(&self, at: usize) -> Head {
        debug_assert!(at < self.memory.len());
        // SAFETY: the head position always names a written head while messages are there.
        unsafe { self.memory.as_ptr().add(at).cast::<Head>().read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn push(q: &mut Queue, tag: u8, bytes: &[u8]) -> bool {
        q.push(tag, bytes.len(), |dst| {
            // SAFETY: room for the bytes.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), dst, bytes.len()) }
        })
    }

    /// Hands the messages of a batch to `see`, which may push.
    fn deliver(q: &mut Queue, limit: usize, mut see: impl FnMut(&mut Queue, u8, &[u8])) -> usize {
        let batch = q.begin(limit);
        for _ in 0..batch {
            let Front { tag, data, len } = q.front();
            // SAFETY: the bytes stay until `pass`.
            see(q, tag, unsafe { core::slice::from_raw_parts(data, len) });
            q.pass();
        }
        if batch > 0 {
            q.end();
        }
        batch
    }

    fn take(q: &mut Queue, limit: usize) -> Vec<(u8, Vec<u8>)> {
        let mut got = Vec::new();
        deliver(q, limit, |_, tag, bytes| got.push((tag, bytes.to_vec())));
        got
    }

    /// Against a plain model, with sizes that make it wrap in every way.
    #[test]
    fn behaves_like_a_list_of_messages() {
        for capacity in [64usize, 96, 160, 1024, 4096] {
            let mut q = Queue::new(capacity).expect("memory");
            let mut model: VecDeque<(u8, Vec<u8>)> = VecDeque::new();
            let mut x = 0x9e37_79b9_7f4a_7c15u64 ^ capacity as u64;
            for step in 0..20_000u32 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let r = (x >> 33) as usize;
                if r.is_multiple_of(3) {
                    let got = take(&mut q, 1 + r % 5);
                    for m in got {
                        assert_eq!(Some(m), model.pop_front());
                    }
                } else {
                    let bytes: Vec<u8> =
                        (0..r % (capacity / 2 - GRANULE)).map(|i| (i as u32 ^ step) as u8).collect();
                    if push(&mut q, r as u8, &bytes) {
                        model.push_back((r as u8, bytes));
                    } else {
                        assert!(!model.is_empty(), "an empty queue took no message of half its size");
                    }
                }
            }
            assert_eq!(take(&mut q, usize::MAX), Vec::from(model));
            assert!(q.is_empty());
        }
    }

    /// A callback that sends: its messages come in the next call, in order, and what it reads stays.
    #[test]
    fn callback_may_push() {
        let mut q = Queue::new(256).expect("memory");
        assert!(push(&mut q, 1, &[7; 40]));
        let mut refused = 0;
        let n = deliver(&mut q, 10, |q, _, bytes| {
            for tag in 2..8 {
                refused += !push(q, tag, &[tag; 40]) as u32;
            }
            assert_eq!(q.begin(10), 0, "a batch inside a batch");
            assert!(bytes.iter().all(|&b| b == 7));
        });
        assert_eq!((n, refused), (1, 3));
        assert_eq!(take(&mut q, 10).iter().map(|m| m.0).collect::<Vec<_>>(), [2, 3, 4]);
    }

    /// An empty queue takes the largest message wherever it stood before.
    #[test]
    fn largest_message_fits_when_empty() {
        let mut q = Queue::new(2 * footprint(100)).expect("memory");
        for i in 0..50 {
            assert!(push(&mut q, 0, &vec![1; i]));
            take(&mut q, 9);
            assert!(push(&mut q, 0, &[2; 100]) && push(&mut q, 0, &[2; 100]) && !push(&mut q, 0, &[]));
            assert_eq!(take(&mut q, 9).len(), 2);
        }
    }

    #[test]
    fn nothing_to_deliver() {
        let mut q = Queue::new(64).expect("memory");
        assert!(q.is_empty() && take(&mut q, 5).is_empty());
        assert!(Queue::new(0).is_none());
    }
}
