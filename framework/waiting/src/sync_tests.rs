//! Two kinds of proof: the model checker goes through all interleavings of small cases (`--cfg loom`),
//! and threads hammer larger ones.

#[cfg(loom)]
use super::{Sleepers, UserThread};
use super::{SyncObject, Waiters};
use oxmpi_mca::request::{Attach, Completion};

/// Completes what `attach` was done to, as `RequestHeader::complete` does.
fn complete(word: &Completion) {
    let sync = word.finish();
    if sync != 0 {
        // SAFETY: it was attached, and we completed the one request it was attached to.
        unsafe { SyncObject::update(std::ptr::with_exposed_provenance(sync), 1) }
    }
}

/// Waits for all of `words` as `progress::wait` does.
fn wait_all(waiters: &Waiters, words: &[&Completion], mut own: impl FnMut(&SyncObject)) {
    let sync = SyncObject::new(words.len() as u32);
    let mut already = 0;
    for word in words {
        if word.attach(sync.address()) == Attach::AlreadyComplete {
            already += 1;
        }
    }
    if !sync.retire(already) {
        waiters.run(&sync, &mut (), |_, sync| own(sync), |_, sync| park(sync));
    }
}

/// When something comes, waits that no request stands for wake, and the others sleep on.
#[cfg(not(loom))]
#[test]
fn condition_waiters_are_roused_alone() {
    let waiters = Waiters::new();
    let [owner, condition, other] =
        [SyncObject::of_condition(), SyncObject::of_condition(), SyncObject::new(1)];
    assert!(waiters.enter(&owner) && !waiters.enter(&condition) && !waiters.enter(&other));
    assert!(owner.take_nudge() && condition.park() && other.park());
    waiters.rouse_condition_waiters();
    assert!(owner.take_nudge(), "the owner waits for a condition, too");
    assert!(condition.park(), "awake again");
    assert!(!other.park(), "parked still");
    [&condition, &other, &owner].into_iter().for_each(|sync| waiters.leave(sync));
}

/// Waits for any of `words`; which are complete then.
fn wait_any(waiters: &Waiters, words: &[&Completion], mut own: impl FnMut(&SyncObject)) {
    let sync = SyncObject::new(1);
    let mut attached = 0;
    for word in words {
        match word.attach(sync.address()) {
            Attach::Attached => attached += 1,
            Attach::AlreadyComplete => break,
        }
    }
    if attached == words.len() {
        waiters.run(&sync, &mut (), |_, sync| own(sync), |_, sync| park(sync));
    }
    let owed = words[..attached].iter().filter(|w| !w.detach(sync.address())).count();
    sync.settle(1, owed as u32);
}

#[cfg(not(loom))]
fn park(sync: &SyncObject) {
    if sync.park() {
        let (word, parked) = sync.state_word();
        crate::futex::wait_private(word, parked, None);
        sync.unpark();
    }
}

/// The model's futex: sleeps exactly as long as the word has its value.
#[cfg(loom)]
fn park(sync: &SyncObject) {
    use oxmpi_mca::sync::{Ordering, yield_now};
    if sync.park() {
        let (word, parked) = sync.state_word();
        while word.load(Ordering::Acquire) == parked {
            yield_now();
        }
        sync.unpark();
    }
    yield_now();
}

#[cfg(loom)]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    fn check(f: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(f);
    }

    /// A request as a message path sees it: its status is plain data of whoever completes it; while it is posted it may
    /// be matched or cancelled, under its shard's lock.
    struct Request {
        word: Completion,
        status: loom::cell::UnsafeCell<u32>,
        posted: loom::sync::Mutex<bool>,
    }

    // SAFETY: loom watches the cell.
    unsafe impl Sync for Request {}
    // SAFETY: words and numbers belong to no thread.
    unsafe impl Send for Request {}

    impl Request {
        fn new() -> Arc<Request> {
            let (status, posted) = (loom::cell::UnsafeCell::new(0), loom::sync::Mutex::new(true));
            Arc::new(Request { word: Completion::new(), status, posted })
        }
        fn complete(&self, status: u32) {
            // SAFETY: loom stops the model if another thread is in here.
            self.status.with_mut(|s| unsafe { *s = status });
            complete(&self.word);
        }
        fn status(&self) -> u32 {
            // SAFETY: who reads it has seen that it is complete; loom stops the model if the writer is still in here.
            self.status.with(|s| unsafe { *s })
        }
        /// By a message, or by MPI_Cancel: the one that finds it posted has it.
        fn take(&self, status: u32) {
            let found = std::mem::take(&mut *self.posted.lock().expect("no thread panics"));
            if found {
                self.complete(status);
            }
        }
    }

    fn beside(request: &Arc<Request>, f: impl FnOnce(&Request) + 'static) -> thread::JoinHandle<()> {
        let request = request.clone();
        thread::spawn(move || f(&request))
    }

    /// One thread completes, as it may when it drains what came out of sequence for another; the request's own thread
    /// looks now and then, as MPI_Test does, and reads the status as soon as it sees the end.
    #[test]
    fn a_tester_reads_what_the_completer_wrote() {
        check(|| {
            let request = Request::new();
            let completer = beside(&request, |r| r.complete(7));
            while !request.word.is_complete() {
                thread::yield_now();
            }
            assert_eq!(request.status(), 7);
            completer.join().expect("it ends");
        });
    }

    /// A request is matched by one thread and cancelled by another while its own waits: it ends once, with one status.
    #[test]
    fn cancelled_or_matched_and_a_waiter() {
        check(|| {
            let request = Request::new();
            let matcher = beside(&request, |r| r.take(1));
            let canceller = beside(&request, |r| r.take(2));
            wait_all(&Waiters::new(), &[&request.word], |_| thread::yield_now());
            assert!([1, 2].contains(&request.status()));
            matcher.join().expect("it ends");
            canceller.join().expect("it ends");
        });
    }

    /// Two threads wait for requests that each of them may complete for the other, whoever of them makes progress; one
    /// looks whether its own is complete before it waits.
    #[test]
    fn each_completes_for_the_other() {
        check(|| {
            let requests = Arc::new([Request::new(), Request::new()]);
            let waiters = Arc::new(Waiters::new());
            let run = |mine: usize| {
                let (requests, waiters) = (requests.clone(), waiters.clone());
                move || {
                    requests[1 - mine].take(1 + mine as u32);
                    let request = &requests[mine];
                    if !request.word.is_complete() {
                        wait_all(&waiters, &[&request.word], |_| thread::yield_now());
                    }
                    assert_eq!(request.status(), 2 - mine as u32);
                }
            };
            let other = thread::spawn(run(1));
            run(0)();
            other.join().expect("it ends");
        });
    }

    /// Writes of the completing thread are seen by the waiter; the object is not touched after it went
    /// (loom's atomics live on the waiter's stack and panic when used after their end).
    #[test]
    fn a_completer_and_a_waiter_for_all() {
        check(|| {
            let words = Arc::new([Completion::new(), Completion::new()]);
            let data = Arc::new(AtomicUsize::new(0));
            let completers: Vec<_> = (0..2)
                .map(|i| {
                    let (words, data) = (words.clone(), data.clone());
                    thread::spawn(move || {
                        data.fetch_add(1, Ordering::Relaxed);
                        complete(&words[i]);
                    })
                })
                .collect();
            let waiters = Waiters::new();
            wait_all(&waiters, &[&words[0], &words[1]], |_| thread::yield_now());
            assert_eq!(data.load(Ordering::Relaxed), 2);
            for c in completers {
                c.join().expect("it ends");
            }
        });
    }

    /// A user-level thread stops; whoever empties the sleepers resumes it, once, and until then its object
    /// is there.
    #[test]
    fn a_stopped_thread_is_resumed_once() {
        check(|| {
            let word = Arc::new(Completion::new());
            let sleepers = Arc::new(Sleepers::default());
            let resumed = Arc::new(AtomicUsize::new(0));
            let completer = {
                let (word, sleepers, resumed) = (word.clone(), sleepers.clone(), resumed.clone());
                thread::spawn(move || {
                    complete(&word);
                    for _ in sleepers.take() {
                        resumed.fetch_add(1, Ordering::Release);
                    }
                })
            };
            let mut stopped = 0;
            {
                let sync = SyncObject::new(1);
                let attached = word.attach(sync.address()) == Attach::Attached;
                while attached && !sync.is_done() {
                    if sync.stop(&sleepers, UserThread(std::ptr::null_mut())) {
                        stopped += 1;
                        while resumed.load(Ordering::Acquire) < stopped {
                            thread::yield_now();
                        }
                    }
                }
            }
            completer.join().expect("it ends");
            assert_eq!(resumed.load(Ordering::Relaxed), stopped);
        });
    }

    /// Those whom two completers found stopped are resumed by a third thread, each once, under its own name.
    #[test]
    fn who_was_found_stopped_is_resumed_by_another() {
        check(|| {
            let sleepers = Arc::new(Sleepers::default());
            let completers: Vec<_> = (1..=2)
                .map(|name| {
                    let sleepers = sleepers.clone();
                    thread::spawn(move || {
                        let sync: &'static SyncObject = Box::leak(Box::new(SyncObject::new(1)));
                        sync.thread.set(UserThread(std::ptr::without_provenance_mut(name)));
                        sleepers.push(sync);
                    })
                })
                .collect();
            // Nothing but the stack itself may order what it hands over, so the completers are not joined before.
            let mut names: Vec<usize> = Vec::new();
            while names.len() < 2 {
                names.extend(sleepers.take().map(|thread| thread.0.addr()));
                thread::yield_now();
            }
            completers.into_iter().for_each(|c| c.join().expect("it ends"));
            names.sort_unstable();
            assert_eq!(names, [1, 2]);
        });
    }

    /// A user-level thread stops while another, which holds the list's lock, wakes it: it stays awake, or its name comes out
    /// of the stack once.
    fn stopped_and_woken(wake: fn(&SyncObject)) {
        const NAME: usize = 7;
        const REFUSED: usize = 1;
        check(move || {
            let sync: &'static SyncObject = Box::leak(Box::new(SyncObject::new(1)));
            let sleepers = Arc::new(Sleepers::default());
            // Relaxed: it must order nothing.
            let outcome = Arc::new(AtomicUsize::new(0));
            let waiter = {
                let (sleepers, outcome) = (sleepers.clone(), outcome.clone());
                thread::spawn(move || {
                    if !sync.stop(&sleepers, UserThread(std::ptr::without_provenance_mut(NAME))) {
                        outcome.store(REFUSED, Ordering::Relaxed);
                    }
                })
            };
            let mut names: Vec<usize> = Vec::new();
            while names.is_empty() && outcome.load(Ordering::Relaxed) != REFUSED {
                wake(sync);
                names.extend(sleepers.take().map(|thread| thread.0.addr()));
                thread::yield_now();
            }
            waiter.join().expect("it ends");
            let refused = outcome.load(Ordering::Relaxed) == REFUSED;
            assert_eq!(names, if refused { vec![] } else { vec![NAME] });
        });
    }

    #[test]
    fn who_stops_is_roused() {
        stopped_and_woken(SyncObject::rouse);
    }

    #[test]
    fn who_stops_is_nudged() {
        stopped_and_woken(|sync| _ = sync.nudge());
    }

    #[test]
    fn two_completers_and_a_waiter_for_any() {
        check(|| {
            let words = Arc::new([Completion::new(), Completion::new()]);
            let completers: Vec<_> = (0..2)
                .map(|i| {
                    let words = words.clone();
                    thread::spawn(move || complete(&words[i]))
                })
                .collect();
            let waiters = Waiters::new();
            wait_any(&waiters, &[&words[0], &words[1]], |_| thread::yield_now());
            assert!(words[0].is_complete() || words[1].is_complete());
            for c in completers {
                c.join().expect("it ends");
            }
        });
    }

    /// Two waiters; progress completes the first request, then the second. The owner makes progress; when it
    /// goes the other waiter must take over, or that one waits for ever (loom reports that).
    #[test]
    fn ownership_is_handed_on() {
        check(|| {
            let words = Arc::new([Completion::new(), Completion::new()]);
            let waiters = Arc::new(Waiters::new());
            let turns = Arc::new(AtomicUsize::new(0));
            let run = |mine: usize| {
                let (words, waiters, turns) = (words.clone(), waiters.clone(), turns.clone());
                move || {
                    let word = &words[mine];
                    wait_all(&waiters, &[word], |_| {
                        // One owner at a time, so this needs no read-modify-write.
                        let turn = turns.load(Ordering::Acquire);
                        turns.store(turn + 1, Ordering::Release);
                        if turn < 2 {
                            complete(&words[turn]);
                        } else {
                            thread::yield_now();
                        }
                    });
                    assert!(word.is_complete());
                }
            };
            let other = thread::spawn(run(1));
            run(0)();
            other.join().expect("it ends");
        });
    }

    /// The owner sleeps where only its own state wakes it; a newcomer brings work that needs progress.
    #[test]
    fn a_newcomer_wakes_the_sleeping_owner() {
        check(|| {
            let words = Arc::new([Completion::new(), Completion::new()]);
            let waiters = Arc::new(Waiters::new());
            let queued = Arc::new(AtomicUsize::new(0));
            let (w, ws, q) = (words.clone(), waiters.clone(), queued.clone());
            let owner_step = move |words: &[Completion; 2], queued: &AtomicUsize, sync: &SyncObject| {
                if queued.load(Ordering::Acquire) == 1 {
                    queued.store(0, Ordering::Release);
                    complete(&words[1]);
                    complete(&words[0]);
                    return;
                }
                park(sync);
                sync.take_nudge();
            };
            let other = thread::spawn(move || {
                q.store(1, Ordering::Release);
                wait_all(&ws, &[&w[1]], |sync| owner_step(&w, &q, sync));
            });
            wait_all(&waiters, &[&words[0]], |sync| owner_step(&words, &queued, sync));
            other.join().expect("it ends");
        });
    }
}

#[cfg(not(loom))]
mod stress {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    /// Threads wait for requests that only progress completes, and only the owner makes progress.
    #[test]
    fn many_waiters_one_owner() {
        const THREADS: usize = 6;
        const ROUNDS: usize = 3000;
        let words: Vec<Vec<Completion>> =
            (0..ROUNDS).map(|_| (0..THREADS).map(|_| Completion::new()).collect()).collect();
        let asked: Vec<AtomicUsize> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
        let served: Vec<AtomicUsize> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
        let owners = AtomicUsize::new(0);
        let waiters = Waiters::new();
        // Completes one thing that somebody asked for, if there is one; starting anywhere.
        let turn = |from: usize| {
            assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0, "one owner at a time");
            for i in (from..from + THREADS).map(|i| i % THREADS) {
                let next = served[i].load(Ordering::Relaxed);
                if next < asked[i].load(Ordering::Acquire) {
                    served[i].store(next + 1, Ordering::Relaxed);
                    owners.store(0, Ordering::SeqCst);
                    complete(&words[next][i]);
                    return;
                }
            }
            owners.store(0, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for me in 0..THREADS {
                let (words, asked, waiters, turn) = (&words, &asked, &waiters, &turn);
                scope.spawn(move || {
                    let mut turns = me;
                    for (round, row) in words.iter().enumerate() {
                        asked[me].store(round + 1, Ordering::Release);
                        let mut own = |_: &SyncObject| {
                            turns += 1;
                            turn(turns);
                        };
                        if round % 2 == 0 {
                            wait_all(waiters, &[&row[me]], &mut own);
                        } else {
                            wait_any(waiters, &[&row[me]], &mut own);
                        }
                        assert!(row[me].is_complete());
                    }
                });
            }
        });
        assert!(waiters.is_idle());
    }

    /// Completers race with waiters for all and for any, and write over the dead stack at once.
    #[test]
    fn completers_race_with_waiters() {
        const ROUNDS: usize = 800;
        let words: Vec<[Completion; 3]> = (0..ROUNDS).map(|_| Default::default()).collect();
        let sums: Vec<AtomicU64> = (0..ROUNDS).map(|_| AtomicU64::new(0)).collect();
        let started = AtomicUsize::new(0);
        let waiters = Waiters::new();
        std::thread::scope(|scope| {
            for i in 0..3 {
                let (words, sums, started) = (&words, &sums, &started);
                scope.spawn(move || {
                    for (round, row) in words.iter().enumerate() {
                        while started.load(Ordering::Acquire) <= round {
                            std::thread::yield_now();
                        }
                        sums[round].fetch_add(1 << (8 * i), Ordering::Relaxed);
                        complete(&row[i]);
                    }
                });
            }
            for (round, row) in words.iter().enumerate() {
                started.store(round + 1, Ordering::Release);
                let all = [&row[0], &row[1], &row[2]];
                if round % 2 == 0 {
                    wait_any(&waiters, &all, |_| std::hint::spin_loop());
                    assert!(all.iter().any(|w| w.is_complete()));
                }
                // The value that lies on the stack now is where the last sync object lay.
                std::hint::black_box([round as u64; 64]);
                wait_all(&waiters, &all, |sync| {
                    if round % 3 == 0 {
                        park(sync);
                        sync.take_nudge();
                    }
                });
                assert_eq!(sums[round].load(Ordering::Relaxed), 0x01_01_01, "round {round}");
            }
        });
    }
}
