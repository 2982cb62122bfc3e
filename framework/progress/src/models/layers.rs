//! Layer functions: one whose work comes while a thread goes to sleep, and one that is unregistered while turns are made.

use crate::layers::Layers;
use core::ffi::c_void;
use loom::thread::{self, Thread};
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Entry, LayerFunction, Status, ThreadCtx};

const RUNS: u32 = 0;
const ASLEEP: u32 = 1;
const WOKEN: u32 = 2;

/// A layer with one piece of work, which completes what the sleeper waits for.
struct World {
    layers: Layers,
    work: AtomicU32,
    /// The sleeper's state.
    sleeper: AtomicU32,
    /// Set once the function may not be called by a turn that begins.
    gone: AtomicU32,
    calls: AtomicU32,
}

impl World {
    /// It stays: a panic of a model that must fail would end the process in its drop.
    fn new() -> &'static World {
        let (zero, layers) = (|| AtomicU32::new(0), Layers::new());
        Box::leak(Box::new(World { layers, work: zero(), sleeper: zero(), gone: zero(), calls: zero() }))
    }

    fn address(&self) -> *mut c_void {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    fn register(&self, f: oxmpi_mca::host::ProgressFn, work: Option<&AtomicU32>) {
        let layer = LayerFunction::new(f, self, work);
        // SAFETY: the world stays.
        assert_eq!(unsafe { self.layers.register(&layer) }, Status::OK);
    }

    fn turn(&self) -> i32 {
        self.layers.turn(&mut Entry::among(), 0)
    }

    /// As a waiter that has armed the transports: it looks at the words behind that, and sleeps until somebody completes what it waits for.
    fn sleep(&self) {
        while self.sleeper.load(Ordering::Acquire) != WOKEN {
            if self.layers.are_busy() {
                self.turn();
                thread::yield_now();
            } else if self.sleeper.compare_exchange(RUNS, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
            {
                while self.sleeper.load(Ordering::Acquire) == ASLEEP {
                    thread::park();
                }
            }
        }
    }

    /// Makes the layer busy; then makes a turn, as the contract has it, unless it `leaves` that to others, and
    /// wakes the sleeper if that completed what it waits for.
    fn begin_work(&self, waiter: &Thread, leaves: bool) {
        self.work.store(1, Ordering::Release);
        if !leaves && self.turn() > 1 {
            waiter.unpark();
        }
    }
}

/// Does the one piece of work, if nobody has, and completes what the sleeper waits for.
extern "C" fn complete(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: the world of the model.
    let world = unsafe { &*(ctx as *const World) };
    if world.work.swap(0, Ordering::AcqRel) == 0 {
        return 0;
    }
    // A sleeper is one more event.
    if world.sleeper.swap(WOKEN, Ordering::AcqRel) == ASLEEP { 2 } else { 1 }
}

/// Counts a call.
extern "C" fn count(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: the world of the model, which outlives its threads.
    let world = unsafe { &*(ctx as *const World) };
    world.calls.fetch_add(1, Ordering::Relaxed);
    1
}

fn work_beside_a_sleeper(leaves: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = World::new();
        world.register(complete, Some(&world.work));
        let waiter = thread::current();
        let other = thread::spawn(move || world.begin_work(&waiter, leaves));
        world.sleep();
        other.join().expect("the layer");
    });
}

#[test]
fn model_a_layer_becomes_busy_beside_a_sleeper() {
    work_beside_a_sleeper(false);
}

#[test]
#[should_panic]
fn model_finds_a_layer_that_becomes_busy_and_makes_no_turn() {
    work_beside_a_sleeper(true);
}

/// A turn that begins after `unregister` has returned does not call the function.
fn turns_beside_unregistering(unregisters: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = World::new();
        world.register(count, None);
        let other = thread::spawn(move || {
            if unregisters {
                assert_eq!(world.layers.unregister(count, world.address().addr()), Status::OK);
            }
            world.gone.store(1, Ordering::Release);
        });
        for _ in 0..2 {
            let gone = world.gone.load(Ordering::Acquire) != 0;
            let before = world.calls.load(Ordering::Relaxed);
            let events = world.turn();
            assert!((0..=1).contains(&events), "a list is whole");
            let called = world.calls.load(Ordering::Relaxed) != before;
            assert!(!(gone && called), "a turn that began afterwards called it");
        }
        other.join().expect("the other");
    });
}

#[test]
fn model_a_layer_function_is_unregistered_beside_turns() {
    turns_beside_unregistering(true);
}

#[test]
#[should_panic(expected = "began afterwards")]
fn model_finds_a_layer_function_that_stays() {
    turns_beside_unregistering(false);
}
