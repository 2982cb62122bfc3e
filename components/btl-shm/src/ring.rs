//! The ring between one sender and one receiver: messages of any length, contiguous, in order.
//!
//! **Shape.** A message takes whole granules of 64 bytes and never wraps: what does not fit before the
//! end of the ring is preceded by a filler. Its first eight bytes are the control word (length, tag,
//! kind); header and payload follow. So a message of up to 56 bytes is one cache line, and sending it
//! moves one cache line.
//!
//! **Who writes what.** The sender writes the data area, the receiver the head (and the notification
//! word, which belongs to `doorbell.rs`). The receiver never writes a line that holds messages.
//!
//! **How the receiver tells a message from old bytes.** It looks only at the control word at its own
//! position, where a message will start; zero means none. Old payload lies all over the ring, so the
//! sender keeps this invariant: *when a message is published, the control word behind it is zero.* It
//! clears that word before it publishes. To keep the clearing out of the time between two messages of
//! a dialogue, it also clears, after publishing, the word where the message after the next would start
//! if the next is as long as this one; `cleared` remembers where that was, and a guess that was wrong
//! costs one store. Hence a sender needs two free granules behind each message ([`BEHIND`]).
//!
//! **Positions** count bytes since the ring's birth. `tail` (private to the sender) and the position
//! of the receiver (private to it) are exact; `head` in shared memory trails the receiver's position by
//! less than a quarter of the ring, so the line it is in moves four times per lap and not per message.
//! That is enough for progress: even if the receiver has read everything and says nothing more, three
//! quarters are known to be free, and no message is longer than [`largest_slot`]. A filler may be the
//! last thing the sender could do for now; then the receiver reads it away like a message, for which
//! it must be told like of a message (`Room::Full` therefore always notifies).
//!
//! **Limit.** The sender's fast path compares one number: `limit` is the lesser of where known free
//! space ends and the next end of the ring. A ring that is full, about to wrap or not even made all
//! exceed it, and the slow path finds out which.
//!
//! **Coming back.** A sender that finds a ring of an earlier life of itself walks from `head` over
//! published messages to the first zero control word: that is the tail ([`Producer::adopt`]). A fresh
//! ring is the case of no steps.
//!
//! **A peer is not trusted.** A length that runs over the end of the ring, an unknown kind or an
//! impossible head is garbage; sizes and masks are private, so no word of a peer makes either side
//! touch memory outside the mapping. A receiver reads the control word once.
//!
//! Model: `model.rs` (loom) runs this very code over granules of loom atomics.

use crate::wire::{CONTROL, Control, GRANULE, MESSAGE, PAD, ring};
use core::cell::Cell;
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

/// Free bytes a sender leaves behind each message, for the two words it clears.
pub const BEHIND: u64 = 2 * GRANULE;

/// The largest message (in bytes of ring) that surely finds room once the receiver has read
/// everything.
pub const fn largest_slot(ring_size: u64) -> u64 {
    ring_size / 4 * 3 - BEHIND
}

/// The memory of a ring: mapped in earnest, granules of model atomics under loom.
pub trait RingMem {
    /// Bytes of data, a power of two.
    fn size(&self) -> u64;
    /// The word at a granule's start.
    fn control(&self, position: u64) -> &AtomicU64;
    fn head(&self) -> &AtomicU64;
    fn notification(&self) -> &AtomicU32;
}

/// A mapped ring.
#[derive(Clone, Copy)]
pub struct Mapped {
    data: *mut u8,
    mask: u64,
}

impl Mapped {
    /// No ring: nothing of it may be touched, and a producer over it has no room.
    pub const NONE: Mapped = Mapped { data: core::ptr::null_mut(), mask: 0 };

    /// # Safety
    /// At `base` a ring with `1 << log2` bytes of data is mapped, for as long as this is used.
    pub unsafe fn new(base: *mut u8, log2: u32) -> Mapped {
        // SAFETY: the data area lies behind the ring's first page.
        Mapped { data: unsafe { base.add(ring::DATA as usize) }, mask: (1 << log2) - 1 }
    }

    /// Where byte `position` is.
    #[inline(always)]
    pub fn at(&self, position: u64) -> *mut u8 {
        // SAFETY: masked, so within the data area.
        unsafe { self.data.add((position & self.mask) as usize) }
    }

    /// Where header and payload of a message at `position` are.
    #[inline(always)]
    pub fn payload(&self, position: u64) -> *mut u8 {
        // SAFETY: a granule is longer than its control word.
        unsafe { self.at(position).add(CONTROL as usize) }
    }

    /// Asks for the next lines of a message (a few: the processor sees a stream by then), so that they
    /// are on their way while the message is being matched.
    #[inline(always)]
    pub fn fetch_ahead(&self, position: u64, len: u64) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..(len / GRANULE).min(8) {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing; the address is in the data area anyway.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.at(position + line * GRANULE).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (position, len);
    }

    #[inline(always)]
    fn word(&self, offset: u64) -> *const u8 {
        // SAFETY: the ring's first page lies right before its data.
        unsafe { self.data.sub((ring::DATA - offset) as usize) }
    }
}

impl RingMem for Mapped {
    #[inline(always)]
    fn size(&self) -> u64 {
        self.mask + 1
    }
    #[inline(always)]
    fn control(&self, position: u64) -> &AtomicU64 {
        debug_assert!(position.is_multiple_of(GRANULE));
        // SAFETY: within the data area; aligned, since positions are multiples of a granule: both ends
        // start at one and move by message sizes.
        unsafe { &*self.at(position).cast() }
    }
    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        // SAFETY: aligned, in the ring's first page.
        unsafe { &*self.word(ring::HEAD).cast() }
    }
    #[inline(always)]
    fn notification(&self) -> &AtomicU32 {
        // SAFETY: aligned, in the ring's first page.
        unsafe { &*self.word(ring::NOTIFY).cast() }
    }
}

/// Bytes from `position` to the end of the ring. (A mask, because a division costs more than all the
/// rest of a message.)
#[inline(always)]
fn room_in_lap(mem: &impl RingMem, position: u64) -> u64 {
    mem.size() - (position & (mem.size() - 1))
}

/// What the slow path of a sender found.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Room {
    /// The message goes to `tail`.
    Free,
    /// Not now. A filler may have been published: notify.
    Full,
    /// The receiver's head is impossible.
    Garbage(u64),
}

/// The sender's end.
pub struct Producer<M> {
    mem: M,
    tail: u64,
    limit: u64,
    cleared: u64,
}

impl<M: RingMem> Producer<M> {
    /// An end without room: every message meets the slow path.
    pub const fn detached(mem: M) -> Producer<M> {
        Producer { mem, tail: 0, limit: 0, cleared: 0 }
    }

    /// The end of a ring that may hold messages of an earlier life. `None`: what is in it is garbage.
    pub fn adopt(mem: M) -> Option<Producer<M>> {
        // SYNC POINT with the release store of `head` in `Consumer::advance`.
        let head = mem.head().load(Ordering::Acquire);
        if !head.is_multiple_of(GRANULE) || head > u64::MAX / 2 {
            return None;
        }
        let mut tail = head;
        loop {
            let word = mem.control(tail).load(Ordering::Relaxed);
            if word == 0 {
                return Some(Producer { mem, tail, limit: 0, cleared: 0 });
            }
            let size = Control(word).size();
            if size > room_in_lap(&mem, tail) || tail + size - head > mem.size() - GRANULE {
                return None;
            }
            tail += size;
        }
    }

    #[inline(always)]
    pub fn mem(&self) -> &M {
        &self.mem
    }

    /// Where the next message will lie.
    #[inline(always)]
    pub fn tail(&self) -> u64 {
        self.tail
    }

    /// Whether `size` bytes fit at the tail as far as is known.
    #[inline(always)]
    pub fn has_room(&self, size: u64) -> bool {
        self.tail + size <= self.limit
    }

    /// Looks at the receiver's head, and goes round the end of the ring where necessary.
    pub fn make_room(&mut self, size: u64) -> Room {
        // SYNC POINT with the release store of `head` in `Consumer::advance`: what was read before it
        // may be overwritten now.
        let head = self.mem.head().load(Ordering::Acquire);
        if head > self.tail || self.tail - head > self.mem.size() {
            return Room::Garbage(head);
        }
        let free_until = head + self.mem.size() - BEHIND;
        for _ in 0..2 {
            let end_of_lap = self.tail + room_in_lap(&self.mem, self.tail);
            self.limit = free_until.min(end_of_lap);
            if self.has_room(size) {
                return Room::Free;
            }
            if self.tail + size <= end_of_lap || end_of_lap > free_until {
                return Room::Full;
            }
            self.emit(end_of_lap - self.tail, Control::pad(end_of_lap - self.tail));
        }
        Room::Full
    }

    /// Publishes what was written behind the control word at `tail`. There must be room for `size`.
    #[inline(always)]
    pub fn publish(&mut self, size: u64, control: Control) {
        debug_assert!(self.has_room(size));
        self.emit(size, control);
    }

    #[inline(always)]
    fn emit(&mut self, size: u64, control: Control) {
        let at = self.tail;
        let end = at + size;
        if self.cleared != end {
            self.mem.control(end).store(0, Ordering::Relaxed);
        }
        // SYNC POINT with the acquire load in `Consumer::look`: payload, and the zero behind.
        self.mem.control(at).store(control.0, Ordering::Release);
        self.tail = end;
        // A guess: the next message is as long as this one. The receiver does not look there before it
        // has read one more message than is published now. What is not known to be free is not touched;
        // a granule behind is free always.
        self.cleared = end + if end + size <= self.limit { size } else { GRANULE };
        self.mem.control(self.cleared).store(0, Ordering::Relaxed);
    }
}

/// What the receiver finds at its position.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    Nothing,
    /// `size` is for [`Consumer::advance`].
    Message {
        at: u64,
        len: u64,
        tag: u8,
        size: u64,
    },
    /// No word that a sender of this version writes.
    Garbage(u64),
}

/// The receiver's end. Cells, not `&mut`: a receive callback may come back to the module.
pub struct Consumer<M> {
    mem: M,
    position: Cell<u64>,
    published: Cell<u64>,
}

impl<M: RingMem> Consumer<M> {
    /// Goes on where an earlier life stopped; a fresh ring starts at 0.
    pub fn new(mem: M) -> Consumer<M> {
        // Our own word, written by nobody else.
        let head = mem.head().load(Ordering::Relaxed) & !(GRANULE - 1);
        Consumer { mem, position: Cell::new(head), published: Cell::new(head) }
    }

    #[inline(always)]
    pub fn mem(&self) -> &M {
        &self.mem
    }

    /// Whether something lies at our position (a filler counts).
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.mem.control(self.position.get()).load(Ordering::Relaxed) == 0
    }

    /// The message at our position. Fillers are read away.
    #[inline(always)]
    pub fn look(&self) -> Look {
        loop {
            let at = self.position.get();
            // SYNC POINT with the release store in `Producer::emit`.
            let word = self.mem.control(at).load(Ordering::Acquire);
            if word == 0 {
                return Look::Nothing;
            }
            let control = Control(word);
            let size = control.size();
            let room = room_in_lap(&self.mem, at);
            if control.kind() == MESSAGE as u64 && size <= room {
                return Look::Message { at, len: control.len(), tag: control.tag(), size };
            }
            if control.kind() != PAD as u64 || size != room {
                return Look::Garbage(word);
            }
            self.advance(size);
        }
    }

    /// The message of `size` bytes at our position has been dealt with.
    #[inline(always)]
    pub fn advance(&self, size: u64) {
        let position = self.position.get() + size;
        self.position.set(position);
        if position - self.published.get() >= self.mem.size() / 4 {
            self.publish_head();
        }
    }

    /// Tells the sender how far we have read.
    pub fn publish_head(&self) {
        self.published.set(self.position.get());
        // SYNC POINT with the acquire loads in `Producer::make_room` and `adopt`.
        self.mem.head().store(self.position.get(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::wire::slot;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const LOG2: u32 = 12;
    const SIZE: u64 = 1 << LOG2;

    /// Ring memory on the heap, with both ends over it.
    fn ring() -> (Vec<[u64; 512]>, Producer<Mapped>, Consumer<Mapped>) {
        // Old bytes everywhere but where a fresh ring is looked at: nothing may depend on them.
        let mut memory = vec![[0u64; 512], [!0; 512]];
        memory[1][0] = 0;
        // SAFETY: a page of header and a page of data, alive as long as the vector.
        let mem = unsafe { Mapped::new(memory.as_mut_ptr().cast(), LOG2) };
        let producer = Producer::adopt(mem).expect("a fresh ring");
        (memory, producer, Consumer::new(mem))
    }

    fn fill(p: &Producer<Mapped>, len: u64, seed: u8) {
        // SAFETY: there is room for `len` bytes at the tail.
        unsafe { core::ptr::write_bytes(p.mem().payload(p.tail()), seed, len as usize) };
    }

    fn send(p: &mut Producer<Mapped>, len: u64, tag: u8) -> bool {
        let size = slot(len);
        if !p.has_room(size) {
            match p.make_room(size) {
                Room::Free => {}
                Room::Full => return false,
                Room::Garbage(head) => panic!("head {head}"),
            }
        }
        fill(p, len, tag);
        p.publish(size, Control::message(len, tag));
        true
    }

    /// Takes one message: length and tag, with its bytes checked.
    fn receive(c: &Consumer<Mapped>) -> Option<(u64, u8)> {
        match c.look() {
            Look::Nothing => None,
            Look::Garbage(word) => panic!("garbage {word:#x}"),
            Look::Message { at, len, tag, size } => {
                // SAFETY: the message lies there.
                let bytes = unsafe { core::slice::from_raw_parts(c.mem().payload(at), len as usize) };
                assert!(bytes.iter().all(|&b| b == tag));
                c.advance(size);
                Some((len, tag))
            }
        }
    }

    #[test]
    fn one_at_a_time_over_many_laps() {
        let (_memory, mut p, c) = ring();
        for i in 0..1000u64 {
            assert!(send(&mut p, i * 37 % 900, i as u8));
            assert_eq!(receive(&c), Some((i * 37 % 900, i as u8)));
            assert_eq!(receive(&c), None);
        }
    }

    #[test]
    fn full_ring_refuses_and_loses_nothing() {
        let (_memory, mut p, c) = ring();
        let mut sent = 0u64;
        while send(&mut p, 8, sent as u8) {
            sent += 1;
        }
        assert_eq!(sent, (SIZE - BEHIND) / GRANULE);
        assert!(!send(&mut p, 8, 0), "still full");
        for i in 0..sent {
            assert_eq!(receive(&c), Some((8, i as u8)));
        }
        assert_eq!(receive(&c), None);
        assert!(send(&mut p, 8, 1));
    }

    #[test]
    fn the_largest_message_always_gets_through_when_all_was_read() {
        // From every place in the ring, with the receiver silent about up to a quarter.
        for start in 0..SIZE / GRANULE {
            let (_memory, mut p, c) = ring();
            for _ in 0..start {
                assert!(send(&mut p, 8, 1));
                assert!(receive(&c).is_some());
            }
            let len = largest_slot(SIZE) - CONTROL;
            let mut tries = 0;
            while !send(&mut p, len, 7) {
                assert_eq!(receive(&c), None, "only fillers can be there");
                tries += 1;
                assert!(tries < 3, "start {start}");
            }
            assert_eq!(receive(&c), Some((len, 7)));
        }
    }

    #[test]
    fn payload_that_looks_like_a_message_is_none() {
        let (_memory, mut p, c) = ring();
        let fake = Control::message(8, 9).0;
        for round in 0..200u64 {
            let len = 64 * (1 + round % 20);
            while !p.has_room(slot(len)) {
                assert!(matches!(p.make_room(slot(len)), Room::Free | Room::Full));
                assert_eq!(c.look(), Look::Nothing);
            }
            for word in 0..len / 8 {
                // SAFETY: room for `len` bytes at the tail, aligned to 8.
                unsafe { *p.mem().payload(p.tail()).cast::<u64>().add(word as usize) = fake };
            }
            p.publish(slot(len), Control::message(len, 3));
            match c.look() {
                Look::Message { len: l, tag: 3, size, .. } if l == len => c.advance(size),
                other => panic!("{other:?}"),
            }
            assert_eq!(c.look(), Look::Nothing, "round {round}");
        }
    }

    #[test]
    fn garbage_is_named() {
        for word in [
            Control::message(SIZE, 0).0,
            Control::message(u32::MAX as u64, 0).0,
            Control::pad(64).0,
            Control::message(8, 0).0 | 1 << 48,
            3 << 40,
            1,
            u64::MAX,
        ] {
            let (_memory, p, c) = ring();
            p.mem().control(0).store(word, Ordering::Relaxed);
            assert_eq!(c.look(), Look::Garbage(word));
        }
        let (_memory, mut p, c) = ring();
        for head in [64, u64::MAX, 1 << 40] {
            c.mem().head().store(head, Ordering::Relaxed);
            assert_eq!(p.make_room(64), Room::Garbage(head));
        }
    }

    #[test]
    fn a_sender_finds_its_place_again() {
        let (_memory, mut p, c) = ring();
        for i in 0..300u64 {
            assert!(send(&mut p, i % 200, 1));
            if i % 3 == 0 {
                p = Producer::adopt(*p.mem()).expect("our own messages");
            }
            assert_eq!(receive(&c), Some((i % 200, 1)));
        }
        c.publish_head();
        let again = Consumer::new(*c.mem());
        assert_eq!(receive(&again), None);
        assert!(send(&mut p, 8, 2));
        assert_eq!(receive(&again), Some((8, 2)));
        // A ring full of nonsense is not walked for ever.
        p.mem().control(p.tail()).store(Control::message(SIZE * 2, 1).0, Ordering::Relaxed);
        assert!(Producer::adopt(*p.mem()).is_none());
    }

    proptest! {
        /// Any mixture of sends and receives is a queue.
        #[test]
        fn is_a_queue(steps in proptest::collection::vec((any::<bool>(), 0u64..1500), 1..400)) {
            let (_memory, mut p, c) = ring();
            let mut model = VecDeque::new();
            let mut tag = 0u8;
            for (sending, len) in steps {
                if sending {
                    tag = tag.wrapping_add(1);
                    if send(&mut p, len, tag) {
                        model.push_back((len, tag));
                    } else {
                        prop_assert!(
                            !model.is_empty() || receive(&c).is_none() && send(&mut p, len, tag) && {
                                model.push_back((len, tag));
                                true
                            },
                            "an empty ring refused {len}"
                        );
                    }
                } else {
                    prop_assert_eq!(receive(&c), model.pop_front());
                }
            }
            while let Some(want) = model.pop_front() {
                prop_assert_eq!(receive(&c), Some(want));
            }
            prop_assert_eq!(receive(&c), None);
        }
    }
}
