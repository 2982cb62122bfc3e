//! Models under loom of waits for a word: against its writer, against a peer that is killed before or behind its store, for a word of a plan,
//! and against another thread that takes the plan's step meanwhile.
//!
//! The kernel is a mutex and a condition variable: a sleeper compares all its words under the mutex and sleeps by the variable, and who wakes takes
//! the mutex. A wake-up that is lost is a deadlock, which loom finds. At the end nobody may be left in the number of sleepers.

use super::{Awaited, Words};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use oxmpi_mca::sync::Cell;
use oxmpi_mca::{Status, WakingWord};
use oxmpi_mca::{WaitSet, WaitWord};
use std::mem::ManuallyDrop;

/// Names the plan in the list.
const PLAN: usize = 1;

/// One instance and its kernel.
struct World {
    word: WakingWord,
    words: Words,
    /// A process was lost.
    failed: AtomicU32,
    kernel: Mutex<()>,
    sleepers: Condvar,
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            word: WakingWord::new(0),
            words: Words::new(),
            failed: AtomicU32::new(0),
            kernel: Mutex::new(()),
            sleepers: Condvar::new(),
        })
    }

    fn awaited(&self) -> Awaited {
        // SAFETY: the world outlives its threads.
        unsafe { Awaited::new(&self.word, 0) }
    }

    /// Sleeps unless the word or the news have changed.
    fn sleep(&self, seen: u32) {
        let held = self.kernel.lock().unwrap();
        if self.word.load() == 0 && self.words.news.load(Ordering::Relaxed) == seen {
            drop(self.sleepers.wait(held).unwrap());
        }
    }

    fn wake(&self) {
        drop(self.kernel.lock().unwrap());
        self.sleepers.notify_all();
    }

    /// Waits for the word as `Waiter::sleep` does, turn by turn; `own`: it is the waiter's, else the plan's.
    fn wait(&self, own: bool) -> Status {
        let mut seen = 0;
        loop {
            if self.word.load() != 0 {
                return Status::OK;
            }
            if self.failed.load(Ordering::Acquire) != 0 {
                return Status::PEER_FAILED;
            }
            self.sleep_once(own, &mut seen);
        }
    }

    fn sleep_once(&self, own: bool, seen: &mut u32) {
        let mut room = [WaitWord { addr: std::ptr::null(), expected: 0, reserved: 0 }; 4];
        let mut set = WaitSet::new(&mut room, &mut []);
        let own = own.then(|| self.awaited());
        if let Some(announced) = self.words.announce(own, seen, &mut set) {
            // Where loom ends a thread it may touch nothing any more.
            let announced = ManuallyDrop::new(announced);
            if announced.num_words > 0 {
                self.sleep(*seen);
            }
            drop(ManuallyDrop::into_inner(announced));
        }
    }

    fn change(&self) {
        if self.word.store(1) {
            self.wake();
        }
    }

    /// Tells of a loss, as a helper does that hears of it.
    fn lose_peer(&self) {
        self.failed.store(1, Ordering::Release);
        self.words.ring();
        self.wake();
    }

    fn nobody_is_left(&self) {
        assert_eq!(self.word.sleepers.load(Ordering::Relaxed), 0, "a sleeper is still announced");
    }
}

/// Runs the others beside a waiter, whose answer `is_right`.
fn run(own: bool, others: &'static [fn(&World)], is_right: fn(Status) -> bool) {
    loom::model(move || {
        let w = World::new();
        if !own {
            w.words.enter(PLAN, w.awaited());
        }
        let threads: Vec<_> = others
            .iter()
            .map(|other| {
                let w = w.clone();
                thread::spawn(move || other(&w))
            })
            .collect();
        let status = w.wait(own);
        assert!(is_right(status), "{status}");
        threads.into_iter().for_each(|t| t.join().unwrap());
        if !own {
            w.words.leave(PLAN);
        }
        w.nobody_is_left();
    });
}

#[test]
fn model_wait_word_and_its_writer() {
    run(true, &[World::change], Status::is_ok);
}

#[test]
fn model_wait_word_and_two_writers() {
    run(true, &[World::change, World::change], Status::is_ok);
}

#[test]
fn model_plan_waits_for_a_word() {
    run(false, &[World::change], Status::is_ok);
}

/// The peer that was to change the word is killed; a helper tells.
#[test]
fn model_wait_word_and_a_killed_peer() {
    run(true, &[World::lose_peer], |status| status == Status::PEER_FAILED);
}

#[test]
fn model_plan_and_a_killed_peer() {
    run(false, &[World::lose_peer], |status| status == Status::PEER_FAILED);
}

/// It is killed between its store and the wake-up: the waiter may end either way, and ends.
#[test]
fn model_wait_word_and_a_peer_killed_behind_its_store() {
    run(true, const { &[|w| _ = w.word.store(1), World::lose_peer] }, |_| true);
    run(true, const { &[World::change, World::lose_peer] }, |_| true);
}

/// Another thread takes the plan's step while the first sleeps, and gives the word back: nobody touches it afterwards.
#[test]
fn model_word_is_taken_off_while_its_sleeper_sleeps() {
    loom::model(|| {
        let w = World::new();
        w.words.enter(PLAN, w.awaited());
        let taker = {
            let w = w.clone();
            thread::spawn(move || {
                let woken = w.word.store(1);
                w.words.leave(PLAN);
                w.nobody_is_left();
                // From here on the memory is the component's, who may give it to somebody else.
                w.word.sleepers.store(7, Ordering::Relaxed);
                if woken {
                    w.wake();
                }
            })
        };
        let mut seen = 0;
        w.sleep_once(false, &mut seen);
        taker.join().unwrap();
        assert_eq!(
            w.word.sleepers.load(Ordering::Relaxed),
            7,
            "the sleeper touched a word that was taken off"
        );
    });
}

/// A reader of the value sees all that was written before, whether the writer stores the value or adds to it.
#[test]
fn model_value_and_what_was_written_before() {
    let change: [fn(&WakingWord); 2] = [|word| _ = word.store(1), |word| _ = word.add(1)];
    for change in change {
        loom::model(move || {
            let (w, written) = (World::new(), Arc::new(Cell::new(0)));
            let writer = {
                let (w, written) = (w.clone(), written.clone());
                thread::spawn(move || {
                    written.set(5);
                    change(&w.word);
                })
            };
            if w.word.load() == 1 {
                assert_eq!(written.get(), 5);
            }
            writer.join().unwrap();
        });
    }
}

/// A writer that looks for sleepers without a fence.
#[test]
#[should_panic(expected = "deadlock")]
fn model_finds_a_writer_without_a_fence() {
    run(
        true,
        const {
            &[|w| {
                w.word.value.store(1, Ordering::Release);
                if w.word.sleepers.load(Ordering::Relaxed) != 0 {
                    w.wake();
                }
            }]
        },
        Status::is_ok,
    );
}
