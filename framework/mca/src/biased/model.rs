//! All interleavings of an owner that enters and leaves with another thread that takes the lock away, and with a second
//! owner. The lock guards a cell that loom watches.

use super::*;
use crate::{BiasedLock, Entry};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::sync::Mutex;

/// One model at a time.
static ALONE: Mutex<()> = Mutex::new(());
static FORM: std::sync::RwLock<Option<Form>> = std::sync::RwLock::new(None);

pub fn weakened(form: Form) -> bool {
    FORM.read().is_ok_and(|left_out| *left_out == Some(form))
}

/// A fence on both sides stands for the barrier.
struct Modelled;

impl System for Modelled {
    fn has_barrier() -> bool {
        true
    }
    fn barrier() {
        crate::sync::fence(Ordering::SeqCst);
    }
    fn now() -> u64 {
        0
    }
}

const SERVICES: &LockServices = &LockServices::of::<Modelled>();

struct World {
    lock: BiasedLock<{ level::CRI }>,
    inside: UnsafeCell<u32>,
}
// SAFETY: the cell is what the model is about.
unsafe impl Sync for World {}
// SAFETY: nothing of it is bound to a thread.
unsafe impl Send for World {}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World { lock: BiasedLock::new(SERVICES), inside: UnsafeCell::new(0) })
    }

    fn touch(&self) {
        // SAFETY: loom stops the model if another thread is in here.
        self.inside.with_mut(|n| unsafe { *n += 1 });
    }

    fn visit(&self, who: Caller) {
        if let Some(seat) = who
            && self.lock.enter_own(seat)
        {
            self.touch();
            // SAFETY: entered as the owner just now.
            return unsafe { self.lock.leave_own(seat) };
        }
        let pass = self.lock.enter(&Entry::among(), who);
        self.touch();
        // SAFETY: entered with this pass.
        unsafe { self.lock.leave(pass) };
    }

    /// A visit of a thread that takes several locks.
    fn visit_among(&self, who: Caller) {
        let BiasedLock { bias, word } = &self.lock;
        let owned = bias.enter_among::<{ level::CRI }>(word, who);
        self.touch();
        bias.leave_among(word, who, owned);
    }

    /// A look, as that of a thread that polls; whether it got in.
    fn look(&self) -> u32 {
        let BiasedLock { bias, word } = &self.lock;
        if !bias.try_enter::<{ level::CRI }>(word, None) {
            return 0;
        }
        self.touch();
        bias.leave_uncounted::<{ level::CRI }>(word, None);
        1
    }

    /// Visits, when everybody else has ended.
    fn visits(&self) -> u32 {
        // SAFETY: nobody else is left.
        self.inside.with(|n| unsafe { *n })
    }
}

fn seat() -> &'static Seat {
    Box::leak(Box::new(Seat::new()))
}

fn check(body: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(body);
}

/// A lock that the calling thread owns, and its seat.
fn owned() -> (Arc<World>, Caller) {
    let (world, me) = (World::new(), Some(seat()));
    (0..2).for_each(|_| world.visit(me));
    assert!(!world.lock.bias.owner.load(Ordering::Relaxed).is_null(), "biased after two visits");
    (world, me)
}

/// `seats`: of the other threads, which visit `times` each; the first owns the lock when they begin and visits it
/// `own` times more.
fn run(own: u32, seats: &'static [bool], times: u32) {
    check(move || {
        let (world, me) = owned();
        let others: Vec<_> = seats
            .iter()
            .map(|&seated| {
                let world = world.clone();
                thread::spawn(move || {
                    let who = seated.then(seat);
                    (0..times).for_each(|_| world.visit(who));
                })
            })
            .collect();
        (0..own).for_each(|_| world.visit(me));
        others.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(world.visits(), 2 + own + times * seats.len() as u32);
    });
}

#[test]
fn model_owner_and_one_who_takes_it_away() {
    let _alone = ALONE.lock();
    run(2, &[false], 1);
}

#[test]
fn model_owner_and_the_next_owner() {
    let _alone = ALONE.lock();
    run(1, &[true], 3);
}

#[test]
fn model_owner_that_takes_it_among_others() {
    let _alone = ALONE.lock();
    check(|| {
        let (world, me) = owned();
        let taker = world.clone();
        let taker = thread::spawn(move || {
            taker.visit(None);
            taker.visit_among(Some(seat()));
        });
        world.visit_among(me);
        world.visit(me);
        world.visit_among(me);
        taker.join().unwrap();
        assert_eq!(world.visits(), 7);
    });
}

#[test]
fn model_owner_one_who_takes_it_away_and_one_who_looks() {
    let _alone = ALONE.lock();
    check(|| {
        let (world, me) = owned();
        let (taker, looker) = (world.clone(), world.clone());
        let taker = thread::spawn(move || taker.visit(None));
        let looker = thread::spawn(move || looker.look() + looker.look());
        world.visit(me);
        taker.join().unwrap();
        let looks = looker.join().unwrap();
        assert_eq!(world.visits(), 4 + looks);
    });
}

/// Without any one of the three steps two threads meet inside, and the model says so.
#[test]
fn model_finds_what_is_left_out() {
    let _alone = ALONE.lock();
    for form in [Form::SecondLook, Form::Barrier, Form::Wait] {
        *FORM.write().unwrap() = Some(form);
        let found = std::panic::catch_unwind(|| run(2, &[false], 1)).is_err();
        *FORM.write().unwrap() = None;
        assert!(found, "{form:?} does no harm in the model");
    }
}
