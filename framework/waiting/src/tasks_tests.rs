use super::Tasks;

#[cfg(loom)]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    /// Every piece is done once and seen by the caller, whose job (on its stack) nobody touches afterwards:
    /// loom's atomics panic when they are used after their end.
    #[test]
    fn pieces_are_done_once_and_seen() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let tasks = Arc::new(Tasks::default());
            let done = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let helper = {
                let tasks = tasks.clone();
                thread::spawn(move || {
                    tasks.help();
                    tasks.help();
                })
            };
            tasks.share(
                2,
                &|n| {
                    done[n as usize].fetch_add(1, Ordering::Relaxed);
                },
                || {},
            );
            assert_eq!([0, 1].map(|n: usize| done[n].load(Ordering::Relaxed)), [1, 1]);
            helper.join().expect("it ends");
        });
    }

    /// While a job is open a thread that goes to sleep either sees it, or was seen by the caller, who
    /// wakes it.
    #[test]
    fn nobody_sleeps_over_a_piece() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let tasks = Arc::new(Tasks::default());
            let parked = Arc::new(AtomicUsize::new(0));
            let decided = Arc::new(AtomicUsize::new(0));
            let sleeper = {
                let (tasks, parked, decided) = (tasks.clone(), parked.clone(), decided.clone());
                thread::spawn(move || {
                    parked.store(1, Ordering::Relaxed);
                    let awake = tasks.may_not_sleep();
                    decided.store(1, Ordering::Release);
                    awake
                })
            };
            let woken = std::sync::atomic::AtomicBool::new(false);
            let work = |_| {
                while decided.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
            };
            let wake = || woken.store(parked.load(Ordering::Relaxed) == 1, Ordering::Relaxed);
            tasks.share(1, &work, wake);
            let awake = sleeper.join().expect("it ends");
            assert!(awake || woken.load(Ordering::Relaxed));
        });
    }
}

#[cfg(not(loom))]
mod stress {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    #[test]
    fn alone() {
        let tasks = Tasks::default();
        let sum = AtomicU64::new(0);
        let add = |n: u64| {
            sum.fetch_add(n + 1, Ordering::Relaxed);
        };
        tasks.share(100, &add, || {});
        assert_eq!(sum.load(Ordering::Relaxed), 5050);
        assert!(!tasks.help() && !tasks.may_not_sleep());
    }

    /// Sleepers are woken for work: the caller does the first piece, which lasts until somebody else has
    /// done the second.
    #[test]
    fn sleepers_wake_and_help() {
        use crate::futex;
        use crate::sync::{SyncObject, Waiters};
        use std::time::{Duration, Instant};
        let (tasks, waiters) = (Tasks::default(), Waiters::new());
        let objects: Vec<usize> = std::thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::channel();
            for _ in 0..3 {
                let (tasks, waiters, send) = (&tasks, &waiters, send.clone());
                scope.spawn(move || {
                    let sync = SyncObject::new(1);
                    send.send(sync.address()).expect("the test listens");
                    let step = |_: &mut (), sync: &SyncObject| {
                        if !tasks.help() && sync.park() {
                            let (word, parked) = sync.state_word();
                            if !tasks.may_not_sleep() {
                                futex::wait_private(word, parked, None);
                            }
                            sync.unpark();
                        }
                    };
                    let owner = |_: &mut (), sync: &SyncObject| {
                        sync.take_nudge();
                        std::thread::yield_now();
                    };
                    waiters.run(&sync, &mut (), owner, step);
                });
            }
            let objects: Vec<usize> = receive.iter().take(3).collect();
            let second = AtomicBool::new(false);
            for _ in 0..50 {
                second.store(false, Ordering::Relaxed);
                let work = |n: u64| {
                    let end = Instant::now() + Duration::from_secs(60);
                    while n == 0 && !second.load(Ordering::Acquire) {
                        assert!(Instant::now() < end, "nobody came to help");
                        std::thread::yield_now();
                    }
                    if n == 1 {
                        second.store(true, Ordering::Release);
                    }
                };
                tasks.share(2, &work, || waiters.rouse(2));
            }
            for address in &objects {
                let sync = std::ptr::with_exposed_provenance(*address);
                // SAFETY: its waiter stays until it was told, which is now.
                unsafe { SyncObject::update(sync, 1) };
            }
            objects
        });
        assert!(objects.len() == 3 && waiters.is_idle());
    }

    /// Several callers at once, helpers that come and go; plain memory is written by whoever has the piece.
    #[test]
    fn callers_and_helpers() {
        const PIECES: usize = 24;
        let tasks = Tasks::default();
        let over = AtomicBool::new(false);
        let helped = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        if tasks.help() {
                            helped.fetch_add(1, Ordering::Relaxed);
                        } else {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let callers: Vec<_> = (0..2u64)
                .map(|me| {
                    let tasks = &tasks;
                    scope.spawn(move || {
                        for round in 0..200 {
                            let mut cells = [0u64; PIECES];
                            let base = cells.as_mut_ptr() as usize;
                            let work = |n: u64| {
                                // SAFETY: each piece has a cell of its own.
                                unsafe { *(base as *mut u64).add(n as usize) += me + round + n };
                                if n.is_multiple_of(8) {
                                    std::thread::yield_now();
                                }
                            };
                            tasks.share(PIECES as u64, &work, || {});
                            for (n, cell) in cells.iter().enumerate() {
                                assert_eq!(*cell, me + round + n as u64);
                            }
                        }
                    })
                })
                .collect();
            for caller in callers {
                caller.join().expect("it ends");
            }
            over.store(true, Ordering::Relaxed);
        });
        eprintln!("{} pieces were done by helpers", helped.load(Ordering::Relaxed));
        assert!(!tasks.may_not_sleep());
    }
}
