//! Work found under the lock of one CRI that needs the lock of another: a list, done by whoever put something there.
//!
//! A thread never takes a second CRI. Work that it finds for another one it puts here, and does it itself as soon as it has left its own
//! ([`Owed::take`], behind the turn), waiting for that lock or taking it from its owner. Nobody is asked to do it, so nobody has to be
//! woken for it: a thread that sleeps is woken by what the work completes, as by anything else that others complete. Others that come by
//! may take from the list, too.
//!
//! [`Owed::is_any`] stays true until the last piece is *done*, not only taken: who holds all CRI locks and finds it false may give back
//! what the work is about. So a piece is counted before it can be taken, and counted off behind its doing.

use crate::state::locked::Locked;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use std::collections::VecDeque;

/// The list of work that was found under one CRI's lock and needs another's. Its own lock is a leaf.
pub struct Owed<T> {
    list: Locked<VecDeque<T>>,
    pending: AtomicU32,
}

impl<T> Default for Owed<T> {
    fn default() -> Self {
        Owed { list: Locked::new(VecDeque::new()), pending: AtomicU32::new(0) }
    }
}

impl<T> Owed<T> {
    /// Adds a piece of work, under the lock of the CRI where it was found. The caller takes the work of the list once
    /// it holds no CRI's lock.
    pub fn push(&self, work: T) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        self.list.with(|list| list.push_back(work));
    }

    /// Takes the oldest piece of work off the list. `None`: there is none. The caller holds no CRI's lock, does the
    /// work, and says so by [`Owed::is_done`].
    pub fn take(&self) -> Option<T> {
        self.list.with(|list| list.pop_front())
    }

    /// Counts off a piece of work that the caller took and has done; it has given back the lock that the work needed.
    pub fn is_done(&self) {
        // SYNC POINT with `is_any`.
        self.pending.fetch_sub(1, Ordering::Release);
    }

    /// The word that is not 0 while [`Owed::is_any`] would be true.
    pub fn word(&self) -> &AtomicU32 {
        &self.pending
    }

    /// Whether any piece of work is on the list, or was taken and is not done yet.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        // SYNC POINT with `is_done`.
        self.pending.load(Ordering::Acquire) != 0
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::state::locked::ALWAYS;
    use loom::sync::Arc;
    use loom::thread::{self, Thread};
    use oxmpi_mca::Lock;

    const RUNS: u32 = 0;
    const ASLEEP: u32 = 1;
    const WOKEN: u32 = 2;

    /// Two CRIs; what the second guards; and a thread that waits for what the work completes.
    struct World {
        cris: [Lock; 2],
        guarded: loom::cell::UnsafeCell<u32>,
        owed: Owed<u32>,
        sleeper: AtomicU32,
    }

    // SAFETY: loom watches the cell, and stops the model where two threads are in it.
    unsafe impl Sync for World {}
    // SAFETY: nothing of it is bound to a thread.
    unsafe impl Send for World {}

    impl World {
        fn new() -> Arc<World> {
            Arc::new(World {
                cris: [Lock::new(), Lock::new()],
                guarded: loom::cell::UnsafeCell::new(0),
                owed: Owed::default(),
                sleeper: AtomicU32::new(RUNS),
            })
        }

        /// A turn of the first CRI finds work for the second.
        fn find(&self) {
            let _held = self.cris[0].guard(ALWAYS);
            self.owed.push(1);
        }

        /// Behind a turn, holding nothing.
        fn pay(&self, waiter: &Thread) {
            while let Some(work) = self.owed.take() {
                {
                    let _held = self.cris[1].guard(ALWAYS);
                    // SAFETY: loom stops the model if another thread is in here.
                    self.guarded.with_mut(|n| unsafe { *n += work });
                }
                if self.sleeper.swap(WOKEN, Ordering::AcqRel) == ASLEEP {
                    waiter.unpark();
                }
                self.owed.is_done();
            }
        }

        /// As a waiter that has found nothing owed: it does not look behind announcing its sleep.
        fn sleep(&self) {
            if self.sleeper.compare_exchange(RUNS, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                while self.sleeper.load(Ordering::Acquire) == ASLEEP {
                    thread::park();
                }
            }
        }
    }

    /// One finds the work, another waits for what it completes. `pays`: the finder does it itself.
    fn found_and_waited_for(pays: bool) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let (world, waiter) = (World::new(), thread::current());
            let finder = {
                let (world, waiter) = (world.clone(), waiter.clone());
                thread::spawn(move || {
                    world.find();
                    if pays {
                        world.pay(&waiter);
                    }
                })
            };
            world.pay(&waiter);
            world.sleep();
            finder.join().expect("the finder");
            // The holder of all locks who finds nothing owed is alone with what the work is about.
            let _all = world.cris.each_ref().map(|cri| cri.guard(ALWAYS));
            assert!(!world.owed.is_any());
            // SAFETY: loom stops the model if another thread is in here.
            assert_eq!(world.guarded.with(|n| unsafe { *n }), 1);
        });
    }

    #[test]
    fn model_owed_is_done_by_who_found_it() {
        found_and_waited_for(true);
    }

    /// The waiter had looked before, and sleeps.
    #[test]
    #[should_panic(expected = "deadlock")]
    fn model_finds_owed_that_is_left_to_others() {
        found_and_waited_for(false);
    }

    /// One finds work while another gives things back as soon as it holds all locks and nothing is owed.
    #[test]
    fn model_owed_is_any_until_it_is_done() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let (world, waiter) = (World::new(), thread::current());
            let finder = {
                let world = world.clone();
                thread::spawn(move || {
                    world.find();
                    world.pay(&waiter);
                })
            };
            loop {
                let all = world.cris.each_ref().map(|cri| cri.guard(ALWAYS));
                if !world.owed.is_any() {
                    // SAFETY: loom stops the model if another thread is in here.
                    world.guarded.with_mut(|n| unsafe { *n += 10 });
                    break;
                }
                drop(all);
                thread::yield_now();
            }
            finder.join().expect("the finder");
            // SAFETY: loom stops the model if another thread is in here.
            assert_eq!(world.guarded.with(|n| unsafe { *n }), 11);
        });
    }
}
