//! Models under loom: this component's own ring, ready bits and doorbell, over granules made of model
//! atomics, in all interleavings and with all stale values that the memory model permits.
//!
//! Payload is a cell that loom watches: reading it before it is published, or overwriting it before it
//! is read, is an error of the model. The asymmetric barrier stands as a full fence on both sides
//! (`doorbell.rs` says why that is the same). A sleeper parks its thread; a lost wake-up is a deadlock,
//! which loom reports.

use crate::doorbell::{self, ASLEEP, Barriers, light_barrier};
use crate::ready::{self, InboxMem};
use crate::ring::{Consumer, Look, Producer, RingMem, Room};
use crate::wire::{CONTROL, Control, GRANULE, NEED_BIT};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, Thread};
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

struct Granule {
    control: AtomicU64,
    payload: UnsafeCell<u64>,
}

struct Memory {
    granules: Vec<Granule>,
    head: AtomicU64,
    notification: AtomicU32,
}

#[derive(Clone)]
struct Ring(Arc<Memory>);

impl Ring {
    fn new(granules: usize) -> Ring {
        let granule = |_| Granule { control: AtomicU64::new(0), payload: UnsafeCell::new(0) };
        Ring(Arc::new(Memory {
            granules: (0..granules).map(granule).collect(),
            head: AtomicU64::new(0),
            notification: AtomicU32::new(NEED_BIT),
        }))
    }

    fn granule(&self, position: u64) -> &Granule {
        &self.0.granules[(position / GRANULE) as usize % self.0.granules.len()]
    }
}

impl RingMem for Ring {
    fn size(&self) -> u64 {
        self.0.granules.len() as u64 * GRANULE
    }
    fn control(&self, position: u64) -> &AtomicU64 {
        &self.granule(position).control
    }
    fn head(&self) -> &AtomicU64 {
        &self.0.head
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

/// What stale bytes may look like at worst: a control word.
const STALE: u64 = Control::message(1, 99).0;

/// Publishes `value` in a message of `granules` granules if there is room.
fn publish(p: &mut Producer<Ring>, value: u64, granules: u64) -> bool {
    let size = granules * GRANULE;
    if !p.has_room(size) {
        match p.make_room(size) {
            Room::Free => {}
            Room::Full => return false,
            Room::Garbage(head) => panic!("head {head}"),
        }
    }
    for i in 0..granules {
        let granule = p.mem().granule(p.tail() + i * GRANULE);
        // SAFETY: loom checks that nobody else is in this cell.
        granule.payload.with_mut(|cell| unsafe { *cell = value });
        if i > 0 {
            granule.control.store(STALE, Ordering::Relaxed);
        }
    }
    p.publish(size, Control::message(size - CONTROL, value as u8));
    true
}

/// Takes a message and checks that all of it is there.
fn take(c: &Consumer<Ring>) -> Option<u64> {
    match c.look() {
        Look::Nothing => None,
        Look::Garbage(word) => panic!("garbage {word:#x}"),
        Look::Message { at, tag, size, .. } => {
            for i in 0..size / GRANULE {
                // SAFETY: loom checks that nobody writes this cell.
                let value = c.mem().granule(at + i * GRANULE).payload.with(|cell| unsafe { *cell });
                assert_eq!(value, tag as u64);
            }
            c.advance(size);
            Some(tag as u64)
        }
    }
}

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Messages of some sizes through a ring of `granules`, over its end and through fullness.
fn stream(granules: usize, sizes: &'static [u64], preemptions: usize) {
    check(preemptions, move || {
        let ring = Ring::new(granules);
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
    stream(4, &[1, 1, 1, 1, 1, 1], 3);
}

#[test]
fn model_ring_with_long_messages_and_fillers() {
    stream(8, &[2, 1, 3, 2, 1, 3], 3);
}

/// The sender as `endpoint.rs` has it.
fn send(
    p: &mut Producer<Ring>,
    value: u64,
    inbox: &Inbox,
    source: u32,
    barriers: Barriers,
    sleeper: Option<&Thread>,
) {
    assert!(publish(p, value, 1), "rings of the model do not fill up here");
    if barriers.membarrier {
        light_barrier();
    }
    if p.mem().notification().load(Ordering::Relaxed) != barriers.quiet()
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
        let rings: Vec<Ring> = (0..senders).map(|_| Ring::new(8)).collect();
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
                if doorbell::arm(&*inbox, watched_rings(), barriers) {
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
        let ring = Ring::new(4);
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
        let ring = Ring::new(4);
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
