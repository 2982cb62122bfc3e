//! The locks of CRIs as components take them: by guards, by calls through the host table, several at once, as owner.

mod common;
#[path = "common/keeper.rs"]
mod keeper;

use common::{Form, Thread, alone, config};
use oxmpi_mca::cri::set_below;
use oxmpi_mca::{Entry, ThreadCtx};
use oxmpi_runtime::{Instance, Level};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock};

/// The tests share the instance.
static ALONE: Mutex<()> = Mutex::new(());

/// The one instance of this program, which stays: the component has its table for good.
fn start() -> &'static Arc<Instance> {
    static INSTANCE: OnceLock<SharedInstance> = OnceLock::new();
    struct SharedInstance(Arc<Instance>);
    // SAFETY: functions of an instance at MULTIPLE may be called from any thread.
    unsafe impl Sync for SharedInstance {}
    // SAFETY: an instance belongs to no thread; this one is never dropped.
    unsafe impl Send for SharedInstance {}
    &INSTANCE
        .get_or_init(|| {
            let mut config = config(Form::LinkedIn, Level::Multiple, &[("runtime_num_cris", "3")]);
            config.builtin.push(keeper::descriptor());
            SharedInstance(alone(config).unwrap_or_else(|e| panic!("start: {e}")))
        })
        .0
}

/// The counter that the lock of a CRI guards.
struct Counter(UnsafeCell<u64>);
// SAFETY: only the holder of the lock touches it.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self) {
        // SAFETY: the lock is held; if not, an addition gets lost.
        unsafe { *self.0.get() += 1 };
    }
}

const ROUNDS: u64 = 20_000;

/// Every way in, at the same time, excludes every other.
#[test]
fn all_ways_in_exclude_each_other() {
    let _alone = ALONE.lock();
    let instance = start();
    let host = &keeper::of(instance);
    assert!(host.threaded() && host.num_cris() == 3);
    let counter = Counter(UnsafeCell::new(0));
    let by_guard = |thread: Thread<'_>| {
        for round in 0..ROUNDS {
            let mut entry = thread.entry();
            if round % 3 == 0
                && let Some(held) = host.try_hold(&mut entry, 1)
            {
                counter.add();
                held.leave_uncounted();
            } else {
                let _held = host.hold(&mut entry, 1);
                counter.add();
            }
        }
    };
    let by_calls = |thread: *mut ThreadCtx| {
        let (locking, instance) = (&host.table().locking, host.table().instance);
        for round in 0..ROUNDS {
            if round % 3 != 0 || (locking.try_enter)(instance, 1, thread) == 0 {
                (locking.enter)(instance, 1, thread);
            }
            counter.add();
            (locking.leave)(instance, 1, thread);
        }
    };
    let by_sets = |thread: Thread<'_>| {
        for _ in 0..ROUNDS / 20 {
            let (mut entry, mut held_ones) = (thread.entry(), Vec::new());
            let mut all = host.hold_set(&mut entry, set_below(3));
            all.for_each(|held| held_ones.push(held.ctx()));
            assert_eq!(held_ones, [0, 1, 2]);
            counter.add();
        }
    };
    let with_context = |f: &(dyn Fn(Thread<'_>) + Sync)| {
        let thread = Thread::attach(instance);
        f(thread);
        thread.detach();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| with_context(&by_guard));
        scope.spawn(|| with_context(&|thread| by_calls(thread.context())));
        scope.spawn(|| with_context(&by_sets));
        scope.spawn(|| by_calls(null_mut()));
    });
    assert_eq!(counter.0.into_inner(), 3 * ROUNDS + ROUNDS / 20);
}

/// A thread that takes a lock again and again becomes its owner, until another takes it away; a callback learns whose it is.
#[test]
fn a_frequent_taker_owns_the_lock_until_it_is_taken_away() {
    let _alone = ALONE.lock();
    let instance = start();
    let host = &keeper::of(instance);
    use rustix::thread::{MembarrierCommand, membarrier};
    if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_err() {
        eprintln!("left out: this kernel has no membarrier, so no lock has an owner");
        return;
    }
    let thread = Thread::attach(instance);
    let seat = thread.entry().who().expect("a context has a seat");
    let cri = host.cri(2);
    for _ in 0..=oxmpi_mca::biased::Bias::MOST {
        drop(host.hold(&mut thread.entry(), 2));
    }
    {
        let mut entry = thread.entry();
        let mut inside = host.enter_own(&mut entry, 2).expect("it owns the lock");
        assert!(cri.is_anothers(None) && !cri.is_anothers(Some(seat)));
        assert!(host.try_hold(&mut Entry::among(), 2).is_none(), "the word says that it is taken");
        // SAFETY: the lock is held by `inside`, which is not used as long as this lives.
        let inherited = unsafe { host.inherit(2, true) };
        assert!(inherited.who().is_some_and(|who| std::ptr::eq(who, seat)));
        drop(inherited);
        assert_eq!(inside.held().ctx(), 2);
    }
    // Among others, it takes the lock from itself and has it back.
    drop(host.hold_set(&mut thread.entry(), set_below(3)));
    assert!(host.enter_own(&mut thread.entry(), 2).is_some());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut entry = Entry::among();
            let held = host.hold(&mut entry, 2);
            assert!(held.who().is_none() && cri.holder().is_none());
        });
    });
    assert!(host.enter_own(&mut thread.entry(), 2).is_none(), "it was taken away");
    thread.detach();
}

/// CRI 1 tells whether any but the first is in use.
#[test]
fn a_cri_becomes_active_with_those_below_it() {
    let _alone = ALONE.lock();
    let host = &keeper::of(start());
    assert_eq!(host.active_cris(), 1);
    host.activate(1);
    assert_eq!(host.active_cris(), 2);
    let table = host.table();
    (table.locking.activate)(table.instance, 2);
    assert_eq!(host.active_cris(), 3);
}
