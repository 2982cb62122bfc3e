//! Models under loom of the orders that several FIFOs rest on: this component's own words ([`crate::signals`])
//! and the steps of `switch.rs` and `ordered.rs` around them, over FIFOs made of model atomics, in all
//! interleavings and with all stale values that the memory model permits.
//!
//! A FIFO shows a message with a release store and is read with acquire loads, as transports do that show
//! messages at once. The locks are the contract's own.

use crate::order::sequence::{Sequence, Turn};
use crate::order::signals::{Passed, Pending, Switch, is_sure};
use crate::state::locked::ALWAYS;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use oxmpi_mca::Lock;
use oxmpi_mca::sync::{AtomicU64, Ordering};

const SWITCH: u64 = 90;
const OPEN: u64 = 91;
const ROOM: usize = 4;

/// One direction of one context. Senders hold the sending CRI's lock, receivers the receiving one's.
struct Fifo {
    slots: Vec<AtomicU64>,
    /// How many messages there is room for.
    room: AtomicU64,
    sent: AtomicU64,
    taken: AtomicU64,
}

impl Fifo {
    fn new(room: u64) -> Fifo {
        Fifo {
            slots: (0..ROOM).map(|_| AtomicU64::new(0)).collect(),
            room: AtomicU64::new(room),
            sent: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }
    fn send(&self, message: u64) -> bool {
        let at = self.sent.load(Ordering::Relaxed);
        if at >= self.room.load(Ordering::Acquire) {
            return false;
        }
        self.sent.store(at + 1, Ordering::Relaxed);
        self.slots[at as usize].store(message, Ordering::Release);
        true
    }
    fn take(&self) -> Option<u64> {
        let at = self.taken.load(Ordering::Relaxed);
        let slot = self.slots.get(at as usize)?;
        let message = slot.load(Ordering::Acquire);
        if message == 0 {
            return None;
        }
        self.taken.store(at + 1, Ordering::Relaxed);
        Some(message)
    }
}

fn check(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// From one FIFO to several.
struct Fan {
    fifos: [Fifo; 2],
    senders: [Lock; 2],
    receivers: [Lock; 2],
    switch: Switch,
    seen: Passed,
    early: Mutex<Vec<u64>>,
    /// The messages that were matched, in this order.
    matched: Mutex<Vec<u64>>,
}

impl Fan {
    fn new() -> Fan {
        Fan {
            fifos: [Fifo::new(4), Fifo::new(4)],
            senders: [Lock::new(), Lock::new()],
            receivers: [Lock::new(), Lock::new()],
            switch: Switch::default(),
            seen: Passed::new(),
            early: Mutex::new(Vec::new()),
            matched: Mutex::new(Vec::new()),
        }
    }

    /// `Ob1::enter_flow` or `Ob1::enter_stream`, and the send: of messages whose FIFO is the second once there are two.
    fn send(&self, message: u64, crowd: bool) {
        if !self.switch.is_passed() {
            let _held = self.senders[0].guard(ALWAYS);
            if self.switch.may_go(false, 0) {
                if !crowd {
                    assert!(self.fifos[0].send(message));
                    return;
                }
                assert!(self.fifos[0].send(SWITCH));
                self.switch.begin(0);
            }
        }
        let _held = self.senders[1].guard(ALWAYS);
        if self.switch.needs_open(1) {
            assert!(self.fifos[1].send(OPEN));
            self.switch.opened(1);
        }
        assert!(self.fifos[1].send(message));
    }

    fn matched(&self, message: u64) {
        self.matched.lock().expect("not poisoned").push(message);
    }

    /// `Ob1::take_early`: what came early and is in its place now.
    fn take_early(&self, early: &mut Vec<u64>) {
        if self.seen.is_passed() {
            early.drain(..).filter(|&m| m != OPEN).for_each(|m| self.matched(m));
        }
    }

    /// A turn of progress on one CRI, as far as it goes.
    fn poll(&self, ctx: usize) {
        let _held = self.receivers[ctx].guard(ALWAYS);
        while let Some(message) = self.fifos[ctx].take() {
            if ctx == 0 {
                assert!(!self.seen.is_passed(), "{message} behind SWITCH, without a stamp");
                match message {
                    SWITCH => self.seen.pass(),
                    _ => self.matched(message),
                }
                continue;
            }
            let mut early = self.early.lock().expect("not poisoned");
            if message == OPEN {
                if !self.seen.is_passed() {
                    early.push(OPEN);
                }
                continue;
            }
            // `Ob1::intercept`.
            if !early.is_empty() {
                self.take_early(&mut early);
                if !early.is_empty() {
                    early.push(message);
                    continue;
                }
            }
            self.matched(message);
        }
        if ctx == 1 {
            self.take_early(&mut self.early.lock().expect("not poisoned"));
        }
    }
}

/// One thread has sent; then it sends again, while a second one starts to. Whichever CRI is looked at first,
/// the first message is matched first, and each once.
fn switching(two_receivers: bool) {
    check(3, move || {
        let fan = Arc::new(Fan::new());
        fan.send(1, false);
        let second = {
            let fan = fan.clone();
            thread::spawn(move || fan.send(2, true))
        };
        let receiver = {
            let fan = fan.clone();
            thread::spawn(move || {
                fan.poll(1);
                if !two_receivers {
                    fan.poll(0);
                }
                fan.poll(1);
            })
        };
        if two_receivers {
            fan.poll(0);
        } else {
            fan.send(3, false);
        }
        second.join().expect("sender");
        receiver.join().expect("receiver");
        fan.poll(0);
        fan.poll(1);
        let mut matched = fan.matched.lock().expect("not poisoned").clone();
        assert_eq!(matched[0], 1, "{matched:?}");
        matched.sort_unstable();
        assert_eq!(matched, if two_receivers { vec![1, 2] } else { vec![1, 2, 3] });
    });
}

#[test]
fn model_switch_while_the_first_sends_on() {
    switching(false);
}

#[test]
fn model_switch_between_two_receivers() {
    switching(true);
}

/// A process's sends with stamps, its FIFOs' queues, and a receiver with MPI_ANY_TAG.
struct Pressure {
    fifos: Vec<Fifo>,
    senders: [Lock; 2],
    queues: [Mutex<Vec<u64>>; 2],
    pending: Mutex<Pending>,
    /// The word of `BtlTable::hold`.
    told: AtomicU64,
    /// The receiver's steps; without one of them the model must find the fault.
    rules: Rules,
}

#[derive(Clone, Copy)]
struct Rules {
    looks: usize,
    /// It reads what the sender tells, behind this look.
    asks_after: Option<usize>,
    tells: Ordering,
    /// A message that the last look brings is not sure, nor is a younger one; else it is where the first look brought something younger.
    waits: bool,
}

const ALL: Rules = Rules { looks: 2, asks_after: Some(0), tells: Ordering::Release, waits: true };

impl Pressure {
    /// The first FIFO has so much room, the others enough.
    fn new(fifos: usize, room: u64, rules: Rules) -> Arc<Pressure> {
        Arc::new(Pressure {
            fifos: (0..fifos).map(|ctx| Fifo::new(if ctx == 0 { room } else { 4 })).collect(),
            senders: [Lock::new(), Lock::new()],
            queues: [Mutex::new(Vec::new()), Mutex::new(Vec::new())],
            pending: Mutex::new(Pending::default()),
            told: AtomicU64::new(0),
            rules,
        })
    }

    /// `Peer::queue_changed`.
    fn publish(&self, ctx: usize) {
        let front = self.queues[ctx].lock().expect("not poisoned").first().copied();
        let mut pending = self.pending.lock().expect("not poisoned");
        pending.changed(ctx, front.unwrap_or(0), |first| self.told.store(first, self.rules.tells));
    }

    /// `Ob1::offer`: the call returns with the message in its FIFO or in its queue.
    fn send(&self, ctx: usize, stamp: u64) {
        let _held = self.senders[ctx].guard(ALWAYS);
        let queued = !self.queues[ctx].lock().expect("not poisoned").is_empty();
        if queued || !self.fifos[ctx].send(stamp) {
            self.queues[ctx].lock().expect("not poisoned").push(stamp);
            self.publish(ctx);
        }
    }

    /// `Ob1::drain_peer`: a turn of the sender's progress.
    fn drain(&self, ctx: usize) {
        if !self.senders[ctx].try_lock() {
            return;
        }
        let front = self.queues[ctx].lock().expect("not poisoned").first().copied();
        if let Some(stamp) = front
            && self.fifos[ctx].send(stamp)
        {
            self.queues[ctx].lock().expect("not poisoned").remove(0);
            self.publish(ctx);
        }
        self.senders[ctx].unlock();
    }

    /// `Ob1::resolve`: what a receiver with MPI_ANY_TAG may match after its looks, in order.
    fn resolve(&self) -> Vec<u64> {
        let (mut seen, mut told, mut first) = (Vec::new(), 0, 0);
        for look in 0..self.rules.looks {
            // The one with the younger message last, which is the worse order.
            self.fifos.iter().for_each(|fifo| seen.extend(fifo.take()));
            if look == 0 {
                first = seen.len();
            }
            if self.rules.asks_after == Some(look) {
                told = self.told.load(Ordering::Acquire);
            }
        }
        let (before, behind) = seen.split_at(first);
        let bound = before.iter().max().copied().unwrap_or(0);
        let oldest = behind.iter().min().copied().unwrap_or(u64::MAX);
        let in_sight = |stamp| if self.rules.waits { stamp < oldest } else { stamp <= bound };
        seen.retain(|&stamp| in_sight(stamp) && is_sure(stamp, told));
        seen.sort_unstable();
        seen
    }
}

/// Message 1 finds no room until the receiver makes some; then message 2 goes to the other FIFO. The
/// receiver takes what was there at its first look, and is older than what waits as it is told then and than what
/// a second look at both brings: never 2 without 1 before it.
fn two_looks(rules: Rules) {
    check(3, move || {
        let p = Pressure::new(2, 0, rules);
        let progress = {
            let p = p.clone();
            thread::spawn(move || p.drain(0))
        };
        let receiver = {
            let p = p.clone();
            thread::spawn(move || {
                p.fifos[0].room.store(4, Ordering::Release);
                let matched = p.resolve();
                assert!(!matched.starts_with(&[2]), "message 2 was matched before message 1");
            })
        };
        p.send(0, 1);
        p.send(1, 2);
        progress.join().expect("progress");
        receiver.join().expect("receiver");
        // Nothing is stuck for ever, and nothing is told in the end.
        p.drain(0);
        assert_eq!(p.told.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn model_two_looks_under_back_pressure() {
    two_looks(ALL);
}

/// With one look the model sees the fault: the FIFOs are not looked at in one moment.
#[test]
#[should_panic(expected = "message 2 was matched before message 1")]
fn model_one_look_loses_the_order() {
    two_looks(Rules { looks: 1, ..ALL });
}

/// So it does where nobody asks what waits.
#[test]
#[should_panic(expected = "message 2 was matched before message 1")]
fn model_not_asking_loses_the_order() {
    two_looks(Rules { asks_after: None, ..ALL });
}

/// Or asks behind the last look: what was told of may have gone out in between.
#[test]
#[should_panic(expected = "message 2 was matched before message 1")]
fn model_asking_late_loses_the_order() {
    two_looks(Rules { asks_after: Some(1), ..ALL });
}

/// Or where the word that nothing waits any more comes before the message.
#[test]
#[should_panic(expected = "message 2 was matched before message 1")]
fn model_telling_early_loses_the_order() {
    two_looks(Rules { tells: Ordering::Relaxed, ..ALL });
}

/// A thread counts its stamps, 1 and 2 on two FIFOs, as long as it is named in the lease's word (`stamp.rs`). Another has read the
/// clock, 3, ends the lease and sends. The first may have looked at the word while message 1 was on the way out of its core.
fn lease_that_ends(rules: Rules) {
    check(3, move || {
        let (p, holder) = (Pressure::new(3, 4, rules), Arc::new(AtomicU64::new(1)));
        let counting = {
            let (p, holder) = (p.clone(), holder.clone());
            thread::spawn(move || {
                p.fifos[0].send(1);
                if holder.load(Ordering::Relaxed) == 1 {
                    p.fifos[1].send(2);
                }
            })
        };
        let reading = {
            let p = p.clone();
            thread::spawn(move || {
                holder.swap(0, Ordering::AcqRel);
                p.fifos[2].send(3);
            })
        };
        let matched = p.resolve();
        assert!(!matched.starts_with(&[2]), "message 2 was matched before message 1");
        counting.join().expect("counting");
        reading.join().expect("reading");
    });
}

#[test]
fn model_two_looks_while_a_lease_ends() {
    lease_that_ends(ALL);
}

/// Where the younger message of the first look vouches for what the second brings.
#[test]
#[should_panic(expected = "message 2 was matched before message 1")]
fn model_a_bound_by_stamps_loses_the_order() {
    lease_that_ends(Rules { waits: false, ..ALL });
}

/// Messages with numbers: any FIFO, any receiver. The steps of `numbered.rs` around its own `Sequence`.
struct NumberedMessages {
    fifos: [Fifo; 2],
    senders: [Lock; 2],
    receivers: [Lock; 2],
    /// The last number given out; several CRIs' holders take numbers.
    given: AtomicU64,
    /// The source's lock, and what it guards.
    lock: Lock,
    sequence: UnsafeCell<Sequence<u64>>,
    /// The messages that were matched; loom stops the model if two threads are in here.
    matched: UnsafeCell<Vec<u64>>,
}

// SAFETY: loom watches the cells.
unsafe impl Sync for NumberedMessages {}
// SAFETY: as above.
unsafe impl Send for NumberedMessages {}

impl NumberedMessages {
    fn new() -> Arc<NumberedMessages> {
        Arc::new(NumberedMessages {
            fifos: [Fifo::new(4), Fifo::new(4)],
            senders: [Lock::new(), Lock::new()],
            receivers: [Lock::new(), Lock::new()],
            given: AtomicU64::new(0),
            lock: Lock::new(),
            sequence: UnsafeCell::new(Sequence::default()),
            matched: UnsafeCell::new(Vec::new()),
        })
    }

    /// Takes a number under the lock of the CRI, as every send does; `used`, or SKIP goes out in its place.
    fn send(&self, ctx: usize, used: bool) {
        let _held = self.senders[ctx].guard(ALWAYS);
        let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(self.fifos[ctx].send(if used { number } else { number + 100 }));
    }

    fn with<R>(&self, f: impl FnOnce(&mut Sequence<u64>, &mut Vec<u64>) -> R) -> R {
        let _guard = self.lock.guard(ALWAYS);
        // SAFETY: loom stops the model if another thread is in here.
        self.sequence.with_mut(|s| self.matched.with_mut(|m| unsafe { f(&mut *s, &mut *m) }))
    }

    /// `Ob1::arrive_numbered`.
    fn arrive(&self, message: u64) {
        let (number, used) = (message % 100, message < 100);
        let more = self.with(|sequence, matched| match sequence.look(number) {
            Turn::Due => {
                matched.extend(used.then_some(number));
                sequence.pass()
            }
            Turn::Early => {
                sequence.keep(number, used.then_some(number));
                false
            }
            Turn::Wrong(why) => panic!("{number}: {why}"),
        });
        // `Ob1::catch_up`.
        while more
            && self.with(|sequence, matched| {
                let next = sequence.take_due();
                matched.extend(next);
                next.is_some()
            })
        {}
    }

    fn poll(&self, ctx: usize) {
        let _held = self.receivers[ctx].guard(ALWAYS);
        while let Some(message) = self.fifos[ctx].take() {
            self.arrive(message);
        }
    }
}

/// Three messages on two FIFOs, of two threads, the last two ordered by nothing; two receivers. The receiver that
/// brings the missing one also matches what waited for it, and all are matched in the order of their numbers.
fn numbers(skipped: bool) {
    check(3, move || {
        let world = NumberedMessages::new();
        world.send(1, true);
        let sender = {
            let world = world.clone();
            thread::spawn(move || world.send(0, !skipped))
        };
        let receiver = {
            let world = world.clone();
            thread::spawn(move || world.poll(0))
        };
        world.send(1, true);
        world.poll(1);
        sender.join().expect("sender");
        receiver.join().expect("receiver");
        world.poll(0);
        world.poll(1);
        world.with(|sequence, matched| {
            assert!(matched.is_sorted(), "{matched:?}");
            assert_eq!((matched[0], matched.len()), (1, 3 - usize::from(skipped)), "{matched:?}");
            assert_eq!(sequence.kept().now, 0, "left in the queue");
        });
    });
}

#[test]
fn model_numbers_sort_two_fifos() {
    numbers(false);
}

#[test]
fn model_numbers_that_are_not_used() {
    numbers(true);
}
