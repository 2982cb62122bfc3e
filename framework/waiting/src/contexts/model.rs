//! Models under loom of a flush over an idle owner: the lock of a CRI that another thread owns, operations that complete in its
//! progress, and a waiter that compares counters, looks and enters.
//!
//! Data that the lock guards is in cells that loom watches: the device's list of operations, and the result of each. A flush that returns
//! early reads a result that nobody wrote, or while it is written; one that nobody ends runs out of branches.

use super::Looks;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use oxmpi_mca::biased::System;
use oxmpi_mca::sync::{AtomicU32, Ordering, fence};
use oxmpi_mca::{Cri, Cris, Entry, LockServices, Status, ThreadCtx};
use oxmpi_osc::{Flow, Token};
use std::time::Duration;

/// A fence on both sides stands for the barrier.
struct Modelled;

impl System for Modelled {
    fn has_barrier() -> bool {
        true
    }
    fn barrier() {
        fence(Ordering::SeqCst);
    }
    fn now() -> u64 {
        0
    }
}

const SERVICES: &LockServices = &LockServices::of::<Modelled>();
const RESULT: u64 = 42;

/// One context and its operations to one target.
struct World {
    cris: Vec<Cri>,
    flow: Flow,
    /// Under way on the device, with the place of each result. The lock's holder's.
    device: UnsafeCell<Vec<(Token, usize)>>,
    results: [UnsafeCell<u64>; 2],
    issued: AtomicU32,
}

// SAFETY: the cells are what the model is about.
unsafe impl Sync for World {}
// SAFETY: tokens are addresses of the flow, which goes with it.
unsafe impl Send for World {}

/// How the waiter goes about it.
#[derive(Clone, Copy, PartialEq)]
enum WaiterVariant {
    /// As `Instance::wait_contexts`.
    Right,
    /// It trusts the owner.
    NeverEnters,
    /// It progresses without taking the lock away.
    DoesNotTakeAway,
    /// It does not wait for what it did not issue itself.
    LeavesOthersAlone,
}

impl World {
    /// With a context that the thread of `me` owns.
    fn owned_by(me: &Mine) -> Arc<World> {
        let world = World {
            cris: vec![Cri::new(SERVICES)],
            flow: Flow::new(),
            device: UnsafeCell::new(Vec::new()),
            results: [UnsafeCell::new(0), UnsafeCell::new(0)],
            issued: AtomicU32::new(0),
        };
        for _ in 0..2 {
            drop(world.cris().hold(&mut me.entry(), 0));
        }
        assert!(world.cri().is_anothers(None), "biased after two visits");
        Arc::new(world)
    }

    fn cri(&self) -> &Cri {
        &self.cris[0]
    }

    fn cris(&self) -> Cris<'_> {
        Cris::new(&self.cris)
    }

    fn issue(&self, me: &Mine, place: usize) {
        let mut entry = me.entry();
        let _held = self.cris().hold(&mut entry, 0);
        let token = self.flow.next();
        // SAFETY: loom stops the model if another thread is in here.
        self.device.with_mut(|device| unsafe { (*device).push((token, place)) });
        self.flow.count(token);
    }

    /// One turn, by the holder: completes the last operation, and before that the others if `all`.
    fn turn(&self, all: bool) {
        // SAFETY: the holder's; loom stops the model if another thread is in here.
        let ended = self.device.with_mut(|device| unsafe {
            let from = if all { 0 } else { (*device).len().saturating_sub(1) };
            (*device).split_off(from)
        });
        let events = ended.len() as i32;
        for (token, place) in ended {
            // SAFETY: a flush reads it when it is told that it is there; loom stops the model if it reads before.
            self.results[place].with_mut(|result| unsafe { *result = RESULT });
            // SAFETY: the flow stands beside the device, from which a token is taken once.
            unsafe { Flow::done(token.done_ctx(), Status::OK) };
        }
        self.cri().count_progress(events);
    }

    fn flush(&self, variant: WaiterVariant) {
        let mark = self.flow.mark();
        let mut looks = Looks::new();
        let mut now = Duration::from_secs(1);
        while variant != WaiterVariant::LeavesOthersAlone && !self.flow.is_complete(mark) {
            now += Duration::from_secs(1);
            if looks.idle(&self.cris, 1, now) == 0 || variant == WaiterVariant::NeverEnters {
                thread::yield_now();
                continue;
            }
            if variant == WaiterVariant::DoesNotTakeAway {
                self.turn(true);
            } else {
                let mut entry = Entry::among();
                let _held = self.cris().hold(&mut entry, 0);
                self.turn(true);
            }
            looks.made_a_turn(&self.cris, 0);
        }
    }

    fn result(&self, place: usize) -> u64 {
        // SAFETY: loom stops the model if somebody is writing it.
        self.results[place].with(|result| unsafe { *result })
    }
}

/// A thread's context, which stays.
struct Mine(*mut ThreadCtx);

impl Mine {
    fn new() -> Mine {
        Mine(Box::leak(Box::new(ThreadCtx::new(0, 0))))
    }

    /// The entry of a call among several threads.
    fn entry(&self) -> Entry {
        // SAFETY: the calling thread's, which stays.
        unsafe { Entry::of(true, self.0) }
    }
}

/// The owner issues an operation and tells of it; then it `goes_on` with another one, which it completes before the first, or computes.
/// The other thread flushes both threads' operations meanwhile.
fn flush_beside_an_owner(variant: WaiterVariant, goes_on: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let me = &Mine::new();
        let world = World::owned_by(me);
        let flusher = {
            let world = world.clone();
            thread::spawn(move || {
                while world.issued.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                world.flush(variant);
                assert_eq!(world.result(0), RESULT, "the flush returned before its operation was complete");
            })
        };
        world.issue(me, 0);
        world.issued.store(1, Ordering::Release);
        if goes_on {
            world.issue(me, 1);
            let mut entry = me.entry();
            let _held = world.cris().hold(&mut entry, 0);
            world.turn(false);
        }
        flusher.join().expect("the flush");
    });
}

#[test]
fn model_flush_over_an_owner_that_computes() {
    flush_beside_an_owner(WaiterVariant::Right, false);
}

#[test]
fn model_flush_beside_an_owner_that_goes_on() {
    flush_beside_an_owner(WaiterVariant::Right, true);
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn model_finds_a_flush_that_trusts_the_owner() {
    flush_beside_an_owner(WaiterVariant::NeverEnters, false);
}

#[test]
#[should_panic]
fn model_finds_a_flush_that_does_not_take_the_lock_away() {
    flush_beside_an_owner(WaiterVariant::DoesNotTakeAway, true);
}

#[test]
#[should_panic(expected = "before its operation was complete")]
fn model_finds_a_flush_that_leaves_others_alone() {
    flush_beside_an_owner(WaiterVariant::LeavesOthersAlone, false);
}
