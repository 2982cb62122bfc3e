//! Two kinds of proof: the model checker goes through all interleavings of small cases (`--cfg loom`), and
//! threads hammer larger ones. The state that a call uses without locks is a cell, which nobody may touch
//! while another does.

use super::{Answer, Gate};
use oxmpi_mca::Entry;
use oxmpi_mca::sync::{AtomicU32, Ordering};

#[cfg(loom)]
use loom::{cell::UnsafeCell, thread};
#[cfg(not(loom))]
use std::{cell::UnsafeCell, thread};

/// A process: its gate, the flag, and what a call works on, with locks once the flag is up.
struct Process {
    gate: Gate,
    threaded: AtomicU32,
    state: UnsafeCell<u32>,
    lock: oxmpi_mca::lock::Lock,
}

// SAFETY: `state` is what the tests are about.
unsafe impl Sync for Process {}
// SAFETY: a number and words belong to no thread.
unsafe impl Send for Process {}

impl Process {
    fn new(solo: bool) -> Process {
        let process = Process {
            gate: Gate::new(),
            threaded: AtomicU32::new(0),
            state: UnsafeCell::new(0),
            lock: oxmpi_mca::lock::Lock::new(),
        };
        process.gate.open(solo);
        process
    }

    fn touch(&self) {
        #[cfg(loom)]
        // SAFETY: loom checks it.
        self.state.with_mut(|state| unsafe { *state += 1 });
        #[cfg(not(loom))]
        // SAFETY: the gate's promise, or the lock.
        unsafe {
            let state = self.state.get();
            state.write_volatile(state.read_volatile() + 1);
        }
    }

    fn threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// Events of the layers below.
    fn work(&self) {
        if self.threaded() {
            let entry = Entry::among();
            let _guard = self.lock.guard(&entry);
            self.touch();
        } else {
            self.touch();
        }
    }

    fn raise(&self) -> bool {
        let raise = || {
            // Result of `threads_begin`.
            self.touch();
            self.threaded.store(1, Ordering::SeqCst);
            true
        };
        self.gate.stop(fence_all, |_| (), raise)
    }

    /// A call of the C interface.
    fn call<R>(&self, me: usize, body: impl FnOnce() -> R) {
        let marked = self.gate.enter(me)
            || loop {
                match self.gate.ask(me) {
                    Answer::Inside => break true,
                    Answer::Free => break false,
                    Answer::Raise => assert!(self.raise()),
                }
            };
        body();
        if marked {
            self.gate.leave_own(me);
        }
    }

    /// A loop of `progress::wait`.
    fn wait(&self, me: usize, done: impl Fn() -> bool) {
        while !done() {
            if !self.threaded() && self.gate.wanted() {
                self.gate.let_raiser_in(me);
            }
            self.work();
            oxmpi_mca::sync::yield_now();
        }
    }

    fn touched(&self) -> u32 {
        #[cfg(loom)]
        // SAFETY: loom checks it.
        return self.state.with(|state| unsafe { *state });
        #[cfg(not(loom))]
        // SAFETY: everybody else has ended.
        unsafe {
            *self.state.get()
        }
    }
}

/// The model has the barrier on both sides as a fence; what is real is real.
fn fence_all() -> bool {
    #[cfg(loom)]
    oxmpi_mca::sync::fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::RegisterPrivateExpedited).expect("this kernel has membarrier");
        membarrier(MembarrierCommand::PrivateExpedited).expect("registered");
    }
    true
}

const OWNER: usize = 16;
const SECOND: usize = 32;
const THIRD: usize = 48;

#[cfg(loom)]
mod model {
    use super::*;
    use loom::sync::Arc;

    fn check(f: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(f);
    }

    fn spawn(process: &Arc<Process>, run: impl FnOnce(&Process) + 'static) -> thread::JoinHandle<()> {
        let process = process.clone();
        thread::spawn(move || run(&process))
    }

    /// The owner comes and goes while a second thread gets in.
    #[test]
    fn the_second_thread_waits_for_the_call_of_the_first() {
        check(|| {
            let process = Arc::new(Process::new(true));
            process.call(OWNER, || process.work());
            let second = spawn(&process, |p| p.call(SECOND, || p.work()));
            process.call(OWNER, || process.work());
            process.call(OWNER, || process.work());
            second.join().expect("it ends");
            assert!(process.threaded());
            assert_eq!((process.touched(), process.gate.first()), (5, OWNER));
        });
    }

    /// Two threads get in at once, and one of them is to be the owner.
    #[test]
    fn nobody_owns_yet() {
        check(|| {
            let process = Arc::new(Process::new(true));
            let second = spawn(&process, |p| p.call(SECOND, || p.work()));
            process.call(OWNER, || process.work());
            second.join().expect("it ends");
            assert_eq!(process.touched(), 3);
        });
    }

    /// The owner is in the user's code, which waits for the second thread.
    #[test]
    fn a_callback_waits_for_the_second_thread() {
        check(|| {
            let process = Arc::new(Process::new(true));
            let came = Arc::new(AtomicU32::new(0));
            let second = {
                let came = came.clone();
                spawn(&process, move |p| {
                    p.call(SECOND, || p.work());
                    came.store(1, Ordering::Release);
                })
            };
            process.call(OWNER, || {
                process.work();
                process.gate.run_outside(OWNER, || {
                    while came.load(Ordering::Acquire) == 0 {
                        thread::yield_now();
                    }
                });
                process.work();
            });
            second.join().expect("it ends");
            assert_eq!(process.touched(), 4);
        });
    }

    /// The owner waits in a loop for what the second thread brings.
    #[test]
    fn a_loop_waits_for_the_second_thread() {
        check(|| {
            let process = Arc::new(Process::new(true));
            let came = Arc::new(AtomicU32::new(0));
            let second = {
                let came = came.clone();
                spawn(&process, move |p| p.call(SECOND, || came.store(1, Ordering::Release)))
            };
            process.call(OWNER, || process.wait(OWNER, || came.load(Ordering::Acquire) == 1));
            second.join().expect("it ends");
            assert!(process.threaded());
        });
    }

    /// The components refuse: the owner goes on, behind what was tried.
    #[test]
    fn a_change_that_fails() {
        check(|| {
            let process = Arc::new(Process::new(true));
            process.call(OWNER, || process.work());
            let second = spawn(&process, |p| {
                let refuse = || {
                    p.touch();
                    false
                };
                assert!(!p.gate.stop(fence_all, |_| (), refuse));
            });
            process.call(OWNER, || process.work());
            process.call(OWNER, || process.work());
            second.join().expect("it ends");
            assert!(!process.threaded());
            assert_eq!(process.touched(), 4);
        });
    }

    /// A level rises while the thread that owns below MULTIPLE is inside.
    #[test]
    fn a_level_rises_under_a_call() {
        check(|| {
            let process = Arc::new(Process::new(false));
            process.call(OWNER, || process.work());
            let second = spawn(&process, |p| match p.gate.guard() {
                true => p.call(SECOND, || p.work()),
                false => assert!(p.raise()),
            });
            process.call(OWNER, || process.work());
            second.join().expect("it ends");
            assert_eq!(process.touched(), 4);
        });
    }

    /// Threads that take turns, and one that raises the level meanwhile.
    #[test]
    fn a_level_rises_under_threads_that_take_turns() {
        check(|| {
            let process = Arc::new(Process::new(false));
            process.call(OWNER, || process.work());
            process.call(THIRD, || process.work());
            let second = spawn(&process, |p| {
                assert!(!p.gate.guard());
                assert!(p.raise());
            });
            process.call(OWNER, || process.work());
            process.call(THIRD, || process.work());
            second.join().expect("it ends");
            assert_eq!((process.touched(), process.gate.first()), (5, 0));
        });
    }
}

#[cfg(not(loom))]
mod real {
    use super::*;
    use std::sync::Barrier;

    /// Owners that never stop calling, and several that come at once.
    #[test]
    fn many_threads_come_at_once() {
        const CALLS: u32 = 2000;
        const OTHERS: usize = 6;
        for _ in 0..50 {
            let process = Process::new(true);
            let start = Barrier::new(OTHERS + 1);
            thread::scope(|scope| {
                for n in 1..=OTHERS {
                    let (process, start) = (&process, &start);
                    scope.spawn(move || {
                        start.wait();
                        for _ in 0..100 {
                            process.call(SECOND * n, || process.work());
                        }
                    });
                }
                process.call(OWNER, || process.work());
                start.wait();
                for _ in 0..CALLS {
                    process.call(OWNER, || process.work());
                }
            });
            assert_eq!(process.touched(), 1 + CALLS + 100 * OTHERS as u32 + 1);
        }
    }

    /// The owner waits in a loop for what the others bring, again and again.
    #[test]
    fn a_loop_lets_others_in() {
        for _ in 0..200 {
            let process = Process::new(true);
            let came = AtomicU32::new(0);
            process.call(OWNER, || process.work());
            thread::scope(|scope| {
                for me in [SECOND, THIRD] {
                    let (process, came) = (&process, &came);
                    scope.spawn(move || process.call(me, || came.fetch_add(1, Ordering::Release)));
                }
                process.call(OWNER, || process.wait(OWNER, || came.load(Ordering::Acquire) == 2));
            });
            assert!(process.threaded());
        }
    }

    #[test]
    fn below_multiple_turns_are_taken_and_no_flag_rises() {
        let process = Process::new(false);
        process.call(OWNER, || process.work());
        assert!(process.gate.enter(OWNER));
        process.gate.leave();
        process.call(SECOND, || process.work());
        assert!(!process.gate.enter(OWNER) && !process.gate.enter(SECOND), "nobody owns any more");
        assert_eq!(process.gate.ask(OWNER), Answer::Inside);
        process.gate.leave();
        assert!(!process.threaded());
    }

    /// A callback that calls again leaves the marks as they were; one that never comes back leaves none.
    #[test]
    fn callbacks_nest_and_may_not_come_back() {
        let process = Process::new(true);
        let inside = |who| process.gate.inside.load(Ordering::Relaxed) == who;
        process.call(OWNER, || {
            process.gate.run_outside(OWNER, || {
                assert!(inside(0));
                process.call(OWNER, || process.gate.run_outside(OWNER, || process.work()));
                assert!(inside(0));
            });
            assert!(inside(OWNER));
            process.gate.run_outside(SECOND, || assert!(inside(OWNER), "not the caller's"));
        });
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            process
                .call(OWNER, || process.gate.run_outside(OWNER, || std::panic::resume_unwind(Box::new(()))));
        }));
        assert!(thrown.is_err() && inside(0));
        assert!(process.raise());
    }

    /// Data that a process keeps for its first thread would otherwise go to a second one while the first uses it.
    #[test]
    fn the_first_thread_stays_the_first() {
        let from_the_start = Gate::new();
        from_the_start.share(OWNER);
        from_the_start.share(SECOND);
        assert_eq!(from_the_start.first(), OWNER);
        let process = Process::new(true);
        process.call(OWNER, || process.work());
        process.call(SECOND, || process.work());
        process.gate.share(SECOND);
        assert_eq!(process.gate.first(), OWNER);
        let turns = Process::new(false);
        turns.call(OWNER, || turns.work());
        turns.call(SECOND, || turns.work());
        assert!(turns.raise());
        turns.gate.share(SECOND);
        assert_eq!(turns.gate.first(), 0, "it was nobody's, and stays so");
    }

    /// The call in which the last user goes is not over when another thread begins anew and is inside.
    #[test]
    fn who_closed_leaves_the_next_ones_mark() {
        let process = Process::new(true);
        process.call(OWNER, || {
            process.gate.run_outside(OWNER, || process.gate.close());
            process.gate.open(true);
            assert_eq!(process.gate.ask(SECOND), Answer::Inside);
        });
        assert_eq!(process.gate.inside.load(Ordering::Relaxed), SECOND);
        process.gate.leave_own(SECOND);
        assert_eq!(process.gate.inside.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_cannot_be_is_left_as_it_was() {
        let process = Process::new(true);
        process.call(OWNER, || process.work());
        assert!(!process.gate.stop(|| false, |_| (), || panic!("nothing was stopped")));
        assert!(!process.gate.stop(fence_all, |_| (), || false));
        assert!(process.gate.enter(OWNER), "still its own");
        process.gate.leave();
        process.gate.close();
        assert!(!process.gate.enter(OWNER));
        assert_eq!(process.gate.ask(OWNER), Answer::Free);
        process.gate.open(false);
        assert_eq!(process.gate.ask(SECOND), Answer::Inside);
    }
}
