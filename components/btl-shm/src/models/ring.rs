//! Models under loom: this component's own ring, ready bits and doorbell, over lines made of model
//! atomics, in all interleavings and with all stale values that the memory model permits.
//!
//! Payload is a cell that loom watches: reading it before it is published, or overwriting it before it
//! is read, is an error of the model. The asymmetric barrier stands as a full fence on both sides
//! (`doorbell.rs` says why that is the same). A sleeper parks its thread; a lost wake-up is a deadlock,
//! which loom reports.

use crate::ring::{Consumer, Look, Producer, Rest, RingMem, Room};
use crate::segment::cells::{CellPool, seen_from_here};
use crate::segment::doorbell::{self, ASLEEP, Barriers, light_barrier};
use crate::segment::inbox::InboxMem;
use crate::segment::ready;
use crate::wire::{GRANULE, NEED_BIT, PER_LINE, THE_OTHERS, THIS_RINGS};
use core::ops::Range;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, Thread};
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

struct Line {
    flag: AtomicU64,
    second: AtomicU64,
    payload: UnsafeCell<u64>,
}

pub struct Memory {
    lines: Vec<Line>,
    bulk: Vec<UnsafeCell<u64>>,
    head: AtomicU64,
    bulk_head: AtomicU64,
    notification: AtomicU32,
}

#[derive(Clone)]
pub struct Ring(Arc<Memory>);

impl Ring {
    /// Both numbers are powers of two; a bulk granule of the model is one cell.
    pub fn new(lines: usize, granules: usize) -> Ring {
        let line =
            |_| Line { flag: AtomicU64::new(0), second: AtomicU64::new(0), payload: UnsafeCell::new(0) };
        Ring(Arc::new(Memory {
            lines: (0..lines).map(line).collect(),
            bulk: (0..granules).map(|_| UnsafeCell::new(0)).collect(),
            head: AtomicU64::new(0),
            bulk_head: AtomicU64::new(0),
            notification: AtomicU32::new(NEED_BIT),
        }))
    }

    fn line(&self, line: u64) -> &Line {
        &self.0.lines[line as usize % self.0.lines.len()]
    }

    fn bulk(&self, position: u64) -> &UnsafeCell<u64> {
        &self.0.bulk[(position / GRANULE) as usize % self.0.bulk.len()]
    }
}

impl RingMem for Ring {
    fn lines_log2(&self) -> u32 {
        self.0.lines.len().trailing_zeros()
    }
    fn bulk_size(&self) -> u64 {
        self.0.bulk.len() as u64 * GRANULE
    }
    fn flag(&self, line: u64) -> &AtomicU64 {
        &self.line(line).flag
    }
    fn second(&self, line: u64) -> &AtomicU64 {
        &self.line(line).second
    }
    fn head(&self) -> &AtomicU64 {
        &self.0.head
    }
    fn bulk_head(&self) -> &AtomicU64 {
        &self.0.bulk_head
    }
    fn notification(&self) -> &AtomicU32 {
        &self.0.notification
    }
}

struct Inbox {
    bell: AtomicU32,
    summary: AtomicU64,
    word: AtomicU64,
}

impl Inbox {
    fn new() -> Inbox {
        Inbox { bell: AtomicU32::new(0), summary: AtomicU64::new(0), word: AtomicU64::new(0) }
    }
}

impl InboxMem for Inbox {
    fn bell(&self) -> &AtomicU32 {
        &self.bell
    }
    fn summary(&self) -> &AtomicU64 {
        &self.summary
    }
    fn word(&self, _: usize) -> &AtomicU64 {
        &self.word
    }
}

/// How a message of the model travels.
#[derive(Clone, Copy)]
enum Size {
    Lines(u64),
    /// Granules of bulk.
    Bulk(u64),
}

/// Publishes `value` in a message of `size` if there is room.
fn publish(p: &mut Producer<Ring>, value: u64, size: Size) -> bool {
    let (lines, bulk) = match size {
        Size::Lines(lines) => (lines, 0),
        Size::Bulk(granules) => (1, granules * GRANULE),
    };
    let known = |p: &Producer<Ring>| p.has_lines(lines) && (bulk == 0 || p.find_bulk(bulk, lines).is_some());
    if !known(p) {
        match p.make_room(lines, bulk) {
            Room::Free => {}
            Room::Full => return false,
            Room::Garbage(head) => panic!("head {head}"),
        }
    }
    let fill = |mem: &Ring, line: u64| {
        // SAFETY: loom checks that nobody else is in this cell.
        mem.line(line).payload.with_mut(|cell| unsafe { *cell = value });
    };
    match size {
        Size::Lines(1) => {
            fill(p.mem(), p.tail());
            p.next_line().publish(0, value as u8);
        }
        Size::Lines(n) => p.publish_lines(n * PER_LINE, value as u8, |mem, line, _| fill(mem, line)),
        Size::Bulk(_) => {
            let Some(at) = p.find_bulk(bulk, lines) else { return false };
            fill_bulk(p.mem(), at, 0..bulk, value);
            p.publish_long(at, bulk, value as u8);
        }
    }
    true
}

fn fill_bulk(mem: &Ring, at: u64, bytes: Range<u64>, value: u64) {
    for byte in bytes.step_by(GRANULE as usize) {
        // SAFETY: loom checks that nobody else is in this cell.
        mem.bulk(at + byte).with_mut(|cell| unsafe { *cell = value });
    }
}

fn check_bulk(mem: &Ring, at: u64, bytes: Range<u64>, value: u64) {
    for byte in bytes.step_by(GRANULE as usize) {
        // SAFETY: loom checks that nobody writes this cell.
        assert_eq!(mem.bulk(at + byte).with(|cell| unsafe { *cell }), value);
    }
}

/// Takes a message and checks that all of it is there.
fn take(c: &Consumer<Ring>) -> Option<u64> {
    match c.look() {
        Look::Nothing => None,
        Look::Garbage(word) => panic!("garbage {word:#x}"),
        Look::Assist { .. } => panic!("nobody asked for help"),
        Look::Cell { .. } | Look::Pieces { .. } => panic!("these have no cells"),
        Look::Short { at, tag, lines, .. } => {
            match c.has_all(at, lines, 1) {
                Rest::Here => {}
                Rest::Missing => return None,
                Rest::Garbage(word) => panic!("garbage {word:#x}"),
            }
            for line in at..at + lines {
                // SAFETY: loom checks that nobody writes this cell.
                let value = c.mem().line(line).payload.with(|cell| unsafe { *cell });
                assert_eq!(value, tag as u64);
            }
            c.advance(lines);
            Some(tag as u64)
        }
        Look::Long { at, len, tag } => {
            check_bulk(c.mem(), at, 0..len, tag as u64);
            c.advance_long(at, len, 1);
            Some(tag as u64)
        }
    }
}

pub fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Messages of some sizes through a ring of 4 lines, over both ends and through fullness.
fn stream(granules: usize, sizes: &'static [Size], preemptions: usize) {
    check(preemptions, move || {
        let ring = Ring::new(4, granules);
        let mut producer = Producer::adopt(ring.clone()).expect("fresh");
        let sender = thread::spawn(move || {
            for (value, &size) in (1..).zip(sizes) {
                while !publish(&mut producer, value, size) {
                    thread::yield_now();
                }
            }
        });
        let consumer = Consumer::new(ring);
        let mut next = 1;
        while next <= sizes.len() as u64 {
            match take(&consumer) {
                Some(value) => {
                    assert_eq!(value, next);
                    next += 1;
                }
                None => thread::yield_now(),
            }
        }
        sender.join().expect("sender");
        assert_eq!(take(&consumer), None, "stale bytes were taken for a message");
    });
}

#[test]
fn model_ring_of_lines() {
    stream(4, &[Size::Lines(1); 6], 3);
}

#[test]
fn model_ring_of_messages_of_several_lines() {
    stream(4, &[Size::Lines(2), Size::Lines(1), Size::Lines(3), Size::Lines(2)], 3);
}

#[test]
fn model_ring_with_long_messages() {
    stream(4, &[Size::Bulk(1), Size::Lines(2), Size::Bulk(2), Size::Bulk(2), Size::Lines(1)], 3);
}

/// One of two peers that have a ring and a cell each; the cells as it calls them.
struct Side {
    producer: Producer<Ring>,
    consumer: Consumer<Ring>,
    pool: CellPool,
    cells: [Arc<UnsafeCell<u64>>; 2],
}

/// Both, over rings of so many lines.
fn sides(lines: usize) -> [Side; 2] {
    let rings = [Ring::new(lines, 1), Ring::new(lines, 1)];
    let cells = [0; 2].map(|zero| Arc::new(UnsafeCell::new(zero)));
    [0, 1].map(|me| {
        let mut pool = CellPool::default();
        pool.take(THIS_RINGS, 0);
        Side {
            producer: Producer::adopt(rings[me].clone()).expect("fresh"),
            consumer: Consumer::new(rings[1 - me].clone()),
            pool,
            cells: [cells[me].clone(), cells[1 - me].clone()],
        }
    })
}

impl Side {
    /// In a cell if it has one, else in a line. `keep`: it forgets that this gives the cell away.
    fn send(&mut self, value: u64, keep: bool) {
        while !self.producer.has_lines(1) {
            match self.producer.make_room(1, 0) {
                Room::Free => {}
                Room::Full => thread::yield_now(),
                Room::Garbage(head) => panic!("head {head}"),
            }
        }
        let Some(which) = self.pool.best_for(8) else {
            assert!(publish(&mut self.producer, value, Size::Lines(1)));
            return;
        };
        // SAFETY: loom checks that nobody else is in this cell.
        self.cells[which as usize].with_mut(|cell| unsafe { *cell = value });
        self.producer.publish_cell(which, 8, value as u8);
        if !keep {
            self.pool.give(which);
        }
    }

    fn receive(&mut self) -> u64 {
        loop {
            match self.consumer.look() {
                Look::Cell { which, tag, .. } => {
                    let here = seen_from_here(which);
                    assert!(!self.pool.has(here), "a cell in two hands");
                    // SAFETY: loom checks that nobody writes this cell.
                    let value = self.cells[here as usize].with(|cell| unsafe { *cell });
                    assert_eq!(value, tag as u64);
                    self.consumer.advance(1);
                    self.pool.take(here, 8);
                    return value;
                }
                Look::Nothing => thread::yield_now(),
                _ => return take(&self.consumer).expect("a whole message"),
            }
        }
    }
}

/// Each side's steps in turn: sends so many, then receives what the other has sent in that turn.
fn cells(turns: &'static [[usize; 2]], keep: bool) {
    check(3, move || {
        let [mut a, mut b] = sides(4);
        let run = move |side: &mut Side, me: usize| {
            let (mut sent, mut got) = (0, 0);
            for turn in turns {
                for _ in 0..turn[me] {
                    sent += 1;
                    side.send(sent, keep);
                }
                for _ in 0..turn[1 - me] {
                    got += 1;
                    assert_eq!(side.receive(), got);
                }
            }
        };
        let other = thread::spawn(move || {
            run(&mut b, 1);
            b
        });
        run(&mut a, 0);
        let b = other.join().expect("the other side");
        for (ours, theirs) in [(THIS_RINGS, THE_OTHERS), (THE_OTHERS, THIS_RINGS)] {
            assert!(a.pool.has(ours) != b.pool.has(theirs), "a cell in two hands, or in none");
        }
    });
}

#[test]
fn model_cells_to_and_fro() {
    cells(&[[1, 0], [0, 1], [1, 0], [0, 1]], false);
}

#[test]
fn model_cells_that_cross() {
    cells(&[[1, 1], [1, 1], [1, 1]], false);
}

#[test]
fn model_cells_one_way_and_back() {
    cells(&[[2, 0], [0, 3], [1, 1]], false);
}

/// A sender that goes on using what it gave away: the model sees it.
#[test]
#[should_panic]
fn model_cells_that_are_kept_are_seen() {
    cells(&[[2, 0], [0, 1]], true);
}

/// The sender as `outgoing.rs` has it.
fn send(
    p: &mut Producer<Ring>,
    value: u64,
    inbox: &Inbox,
    source: u32,
    barriers: Barriers,
    sleeper: Option<&Thread>,
) {
    assert!(publish(p, value, Size::Lines(1)), "rings of the model do not fill up here");
    if barriers.membarrier {
        light_barrier();
    }
    if p.mem().notification().load(Ordering::Relaxed) != barriers.quiet_word()
        && doorbell::notify(p.mem().notification(), inbox, source)
        && let Some(sleeper) = sleeper
    {
        sleeper.unpark();
    }
}

/// The receiver's turn: watched rings, then those with a bit.
fn turn(rings: &[Consumer<Ring>], watched: &[usize], inbox: &Inbox) -> usize {
    let mut got = 0;
    for &ring in watched {
        while take(&rings[ring]).is_some() {
            got += 1;
        }
    }
    if ready::any(inbox) {
        ready::take(inbox, 1, |source| {
            while take(&rings[source as usize]).is_some() {
                got += 1;
            }
        });
    }
    got
}

/// Senders send `each` messages; the receiver sleeps whenever it is told it may. `watched`: the rings it
/// watches from the start.
fn sleeping(senders: usize, each: u64, watched: &'static [usize], barriers: Barriers, preemptions: usize) {
    check(preemptions, move || {
        let inbox = Arc::new(Inbox::new());
        let rings: Vec<Ring> = (0..senders).map(|_| Ring::new(8, 1)).collect();
        let receiver = thread::current();
        let handles: Vec<_> = rings
            .iter()
            .enumerate()
            .map(|(source, ring)| {
                let (ring, inbox, receiver) = (ring.clone(), inbox.clone(), receiver.clone());
                thread::spawn(move || {
                    let mut p = Producer::adopt(ring).expect("fresh");
                    for value in 1..=each {
                        send(&mut p, value, &inbox, source as u32, barriers, Some(&receiver));
                    }
                })
            })
            .collect();
        let consumers: Vec<Consumer<Ring>> = rings.into_iter().map(Consumer::new).collect();
        for &ring in watched {
            doorbell::watch(&consumers[ring], barriers);
        }
        let watched_rings = || watched.iter().map(|&ring| &consumers[ring]);
        let mut got = 0;
        while got < senders * each as usize {
            got += turn(&consumers, watched, &inbox);
            if got < senders * each as usize {
                if doorbell::arm(&*inbox, watched_rings(), barriers, true) {
                    while inbox.bell.load(Ordering::Acquire) == ASLEEP {
                        thread::park();
                    }
                }
                doorbell::disarm(&*inbox, watched_rings(), barriers);
            }
        }
        for handle in handles {
            handle.join().expect("sender");
        }
    });
}

const MEMBARRIER: Barriers = Barriers { membarrier: true };
const FENCES: Barriers = Barriers { membarrier: false };

#[test]
fn model_sleep_with_a_watched_ring() {
    sleeping(1, 2, &[0], MEMBARRIER, 3);
}

#[test]
fn model_sleep_with_a_watched_ring_without_membarrier() {
    sleeping(1, 2, &[0], FENCES, 3);
}

#[test]
fn model_sleep_with_ready_bits() {
    sleeping(1, 2, &[], MEMBARRIER, 3);
}

#[test]
fn model_sleep_with_one_ring_watched_and_one_not() {
    sleeping(2, 1, &[1], MEMBARRIER, 2);
}

#[test]
fn model_sleep_with_two_ready_bits_in_one_word() {
    sleeping(2, 1, &[], MEMBARRIER, 2);
}

/// A receiver stops watching a ring, as one does that watches another instead: a message is found by
/// then, or at the second look, or has a bit.
fn unwatching(barriers: Barriers) {
    check(3, move || {
        let inbox = Arc::new(Inbox::new());
        let ring = Ring::new(4, 1);
        let consumer = Consumer::new(ring.clone());
        doorbell::watch(&consumer, barriers);
        let sender = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                let mut p = Producer::adopt(ring).expect("fresh");
                send(&mut p, 1, &inbox, 0, barriers, None);
            })
        };
        let mut found = take(&consumer).is_some();
        assert!(doorbell::unwatch(&consumer, barriers));
        found |= !consumer.is_empty();
        sender.join().expect("sender");
        assert!(found || ready::any(&*inbox), "a message nobody will find");
    });
}

#[test]
fn model_unwatching() {
    unwatching(MEMBARRIER);
}

#[test]
fn model_unwatching_without_membarrier() {
    unwatching(FENCES);
}

/// The same without the receiver's barrier: the model is able to see the loss.
#[test]
#[should_panic(expected = "a message nobody will find")]
fn model_unwatching_without_any_barrier_loses() {
    check(3, || {
        let inbox = Arc::new(Inbox::new());
        let ring = Ring::new(4, 1);
        let consumer = Consumer::new(ring.clone());
        doorbell::watch(&consumer, MEMBARRIER);
        let sender = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                let mut p = Producer::adopt(ring).expect("fresh");
                send(&mut p, 1, &inbox, 0, MEMBARRIER, None);
            })
        };
        let mut found = take(&consumer).is_some();
        doorbell::abandon(&consumer);
        found |= !consumer.is_empty();
        sender.join().expect("sender");
        assert!(found || ready::any(&*inbox), "a message nobody will find");
    });
}

/// A receiver that takes one message in a turn, and marks what it leaves by `left`. Of whatever it knows to have been sent
/// nothing is left behind a turn that finds nothing.
fn leaving(left: fn(&Inbox, u32)) {
    check(3, move || {
        let (inbox, sent) = (Arc::new(Inbox::new()), Arc::new(AtomicU64::new(0)));
        let ring = Ring::new(4, 1);
        let consumer = Consumer::new(ring.clone());
        let sender = {
            let (inbox, sent) = (inbox.clone(), sent.clone());
            thread::spawn(move || {
                let mut p = Producer::adopt(ring).expect("fresh");
                for value in 1..=3 {
                    send(&mut p, value, &inbox, 0, MEMBARRIER, None);
                    sent.store(value, Ordering::Release);
                }
            })
        };
        let (known, mut got) = (sent.load(Ordering::Acquire), 0);
        while ready::any(&*inbox) {
            ready::take(&*inbox, 1, |source| {
                got += u64::from(take(&consumer).is_some());
                if !consumer.is_empty() {
                    left(&inbox, source);
                }
            });
        }
        assert!(got >= known, "{known} were sent, {got} were found");
        sender.join().expect("sender");
    });
}

#[test]
fn model_what_is_left_is_found_at_once() {
    leaving(|inbox, source| ready::mark_again(inbox, source));
}

/// Left as a sender marks, who may find the bit set by another whose summary is to come.
#[test]
#[should_panic(expected = "were found")]
fn model_what_is_left_without_the_summary_is_missed() {
    leaving(|inbox, source| _ = ready::mark(inbox, source));
}
