//! The model checker goes through small cases, threads hammer larger ones.

use super::{Event, Events, TakenBack, tell};
use crate::sync::{SyncObject, Waiters};
use oxmpi_mca::sync::Cell;
use oxmpi_mca::{MsgStatus, Owner, RequestHeader, RequestOps, Status, ThreadCtx};

/// A request and its event; as in the library they are never given back.
struct TestRequest {
    request: *mut RequestHeader,
    event: &'static Event,
    /// Stands for the status and the data: written by the completer, read by who took the event.
    message: Cell<u64>,
}

// SAFETY: the tests hand each over as the rules of the module ask.
unsafe impl Send for TestRequest {}
// SAFETY: what threads share of it they hand over by the module's words.
unsafe impl Sync for TestRequest {}

fn queue() -> &'static Events {
    Box::leak(Box::default())
}

/// Of requests for whose owner nobody looks.
static OPS: RequestOps = RequestOps {
    size: size_of::<RequestOps>() as u32,
    reserved: 0,
    release: never,
    cancel: refuse,
    start: refuse,
};

extern "C" fn never(_: *mut RequestHeader, _: *mut ThreadCtx) {}

extern "C" fn refuse(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

fn test_request() -> &'static TestRequest {
    let request = Box::into_raw(Box::new(RequestHeader::new(RequestHeader::RECV, &OPS, Owner::NOBODY)));
    Box::leak(Box::new(TestRequest { request, event: Box::leak(Box::default()), message: Cell::new(0) }))
}

impl TestRequest {
    fn attach(&'static self, queue: &'static Events, data: usize, quiet: bool) {
        // SAFETY: the tests attach a request that is pending or complete and attached to nothing.
        unsafe { queue.attach(self.event, self.request, data, quiet) }
    }
    /// As `RequestHeader::complete` does.
    fn complete(&self, bytes: u64) {
        self.message.set(bytes);
        // SAFETY: the completer writes the status and then sets the word.
        unsafe {
            (*self.request).status.bytes = bytes;
            let found = (*self.request).completion.finish();
            if found != 0 {
                tell(found);
            }
        }
    }
    /// By the taker: what the status says; the request can be used again.
    fn collect(&self) -> u64 {
        // SAFETY: taken, so it is ours.
        unsafe {
            let bytes = (*self.request).status.bytes;
            assert_eq!(self.message.get(), bytes);
            (*self.request).status = MsgStatus::EMPTY;
            (*self.request).completion.rearm();
            bytes
        }
    }
}

#[cfg(not(loom))]
fn park(sync: &SyncObject) {
    if sync.park() {
        let (word, parked) = sync.state_word();
        crate::futex::wait_private(word, parked, None);
        sync.unpark();
    }
}

#[cfg(loom)]
fn park(_: &SyncObject) {
    loom::thread::yield_now();
}

#[cfg(loom)]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    fn check(f: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(f);
    }

    /// Attaching races with completing; two threads take; every event comes out once, with its status.
    #[test]
    fn each_event_is_taken_once() {
        check(|| {
            let (queue, a, b) = (queue(), test_request(), test_request());
            let completer = thread::spawn(move || {
                a.complete(11);
                b.complete(22);
            });
            a.attach(queue, 1, false);
            b.attach(queue, 2, false);
            let other = thread::spawn(move || queue.take(1).map(|e| e.data()).collect::<Vec<_>>());
            let mut all: Vec<usize> = queue.take(1).map(|e| e.data()).collect();
            all.extend(other.join().expect("it ends"));
            completer.join().expect("it ends");
            all.extend(queue.take(2).map(|e| e.data()));
            all.sort_unstable();
            assert_eq!(all, [1, 2]);
            assert_eq!((a.collect(), b.collect()), (11, 22));
            assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
        });
    }

    /// The last completion races with the thread that waits for none.
    #[test]
    fn who_waits_for_none_is_told() {
        check(|| {
            let (queue, a, b) = (queue(), test_request(), test_request());
            a.attach(queue, 1, false);
            b.attach(queue, 2, true);
            let one = thread::spawn(move || a.complete(1));
            let waiters = Arc::new(Waiters::new());
            let other = thread::spawn(move || b.complete(2));
            queue.wait_for_none(|sync| {
                waiters.run(sync, &mut (), |_, _| thread::yield_now(), |_, sync| park(sync))
            });
            assert_eq!(queue.outstanding(), 0);
            // Both are there already, and what they stand for.
            assert_eq!(queue.take(9).count(), 2, "one of them quiet");
            assert_eq!((a.collect(), b.collect()), (1, 2));
            one.join().expect("it ends");
            other.join().expect("it ends");
        });
    }

    /// Two threads want a quiet event, one by taking what there is: one gets it, and the other is told so.
    #[test]
    fn taken_or_taken_back() {
        check(|| {
            let (queue, a, b) = (queue(), test_request(), test_request());
            a.attach(queue, 1, false);
            b.attach(queue, 2, true);
            let completer = thread::spawn(move || {
                a.complete(1);
                b.complete(2);
            });
            let taker = thread::spawn(move || queue.take(1).filter(|e| e.is_quiet()).count());
            // As its user: only once it is complete.
            let mut back = 0;
            // SAFETY: headers are never given back.
            if unsafe { &*b.request }.completion.is_complete() && b.event.take_back() == TakenBack::Now {
                assert_eq!(b.collect(), 2);
                back = 1;
            }
            completer.join().expect("it ends");
            let taken = taker.join().expect("it ends");
            assert!(back + taken <= 1);
            let rest = queue.take(2).filter(|e| e.is_quiet()).count();
            assert_eq!(back + taken + rest, 1);
            assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
        });
    }

    /// A request that was complete before it is attached: who uses its handle meanwhile finds out where it is attached.
    #[test]
    fn taken_back_while_it_is_attached() {
        check(|| {
            let (queue, a) = (queue(), test_request());
            a.complete(3);
            let owner = thread::spawn(move || a.attach(queue, 1, true));
            let back = a.event.take_back();
            owner.join().expect("it ends");
            assert_ne!(back, TakenBack::Never);
            assert_eq!((back == TakenBack::Now) as usize + queue.take(1).count(), 1);
            assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
        });
    }

    /// Taking off races with completing: one of both has the request.
    #[test]
    fn detached_or_taken() {
        check(|| {
            let (queue, a) = (queue(), test_request());
            a.attach(queue, 7, false);
            let completer = thread::spawn(move || a.complete(1));
            let taker = thread::spawn(move || queue.take(1).count());
            let off = queue.detach(a.event);
            let taken = taker.join().expect("it ends");
            completer.join().expect("it ends");
            assert_eq!(off as usize + taken, 1);
            assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
        });
    }
}

#[cfg(not(loom))]
mod small {
    use super::*;

    #[test]
    fn events_leave_in_the_order_of_completion() {
        let queue = queue();
        let things: Vec<_> = (0..6).map(|_| test_request()).collect();
        for (i, t) in things.iter().enumerate() {
            t.attach(queue, i, i == 3);
        }
        assert_eq!((queue.outstanding(), queue.ready(), queue.has_news()), (6, 0, false));
        for i in [4, 3, 0] {
            things[i].complete(i as u64);
        }
        assert_eq!((queue.outstanding(), queue.ready()), (3, 2));
        let first: Vec<_> = queue.take(1).map(|e| (e.data(), e.is_quiet())).collect();
        assert_eq!(first, [(4, false), (3, true)], "a quiet one does not count");
        things[5].complete(5);
        let rest: Vec<_> = queue.take(9).map(|e| e.data()).collect();
        assert_eq!(rest, [0, 5]);
        assert_eq!((queue.outstanding(), queue.ready(), queue.has_news()), (2, 0, false));
    }

    #[test]
    fn complete_before_attached() {
        let (queue, t) = (queue(), test_request());
        t.complete(3);
        t.attach(queue, 9, false);
        assert_eq!((queue.outstanding(), queue.ready()), (0, 1));
        assert_eq!(queue.take(1).next().map(Event::data), Some(9));
    }

    #[test]
    fn a_cancelled_one_is_quiet() {
        let (queue, t) = (queue(), test_request());
        t.attach(queue, 9, false);
        // SAFETY: the completer's.
        unsafe { (*t.request).status.cancelled = 1 };
        t.complete(0);
        assert_eq!((queue.outstanding(), queue.ready(), queue.has_news()), (0, 0, true));
        assert_eq!(queue.take(1).filter(|e| !e.is_quiet()).count(), 0);
    }

    #[test]
    fn only_quiet_ones_are_taken_back() {
        let (queue, loud, quiet) = (queue(), test_request(), test_request());
        assert_eq!(quiet.event.take_back(), TakenBack::Later, "never attached");
        loud.attach(queue, 1, false);
        quiet.attach(queue, 2, true);
        assert_eq!(quiet.event.take_back(), TakenBack::Later, "pending");
        loud.complete(1);
        quiet.complete(2);
        assert_eq!(loud.event.take_back(), TakenBack::Never);
        assert_eq!((quiet.event.take_back(), queue.ready()), (TakenBack::Now, 1));
        assert_eq!(quiet.event.take_back(), TakenBack::Later);
        quiet.collect();
        quiet.attach(queue, 3, true);
        assert_eq!(queue.take(9).map(|e| e.data()).collect::<Vec<_>>(), [1]);
        quiet.complete(3);
        assert_eq!((quiet.event.take_back(), queue.outstanding()), (TakenBack::Now, 0));
    }

    #[test]
    fn detach_before_behind_and_after() {
        let (queue, other) = (queue(), queue());
        let things: Vec<_> = (0..4).map(|_| test_request()).collect();
        for (i, t) in things.iter().enumerate() {
            t.attach(queue, i, false);
        }
        assert!(!other.detach(things[0].event), "attached elsewhere");
        assert!(queue.detach(things[0].event), "pending");
        assert!(!queue.detach(things[0].event), "twice");
        for t in &things {
            t.complete(1);
        }
        assert_eq!(queue.ready(), 3);
        assert!(queue.detach(things[3].event), "the newest event");
        assert!(queue.detach(things[1].event), "the oldest event");
        assert_eq!(queue.take(9).map(|e| e.data()).collect::<Vec<_>>(), [2]);
        assert!(!queue.detach(things[2].event), "taken");
        assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
    }
}

#[cfg(not(loom))]
mod stress {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    /// Completers, takers that attach again, and one that waits for none, on one queue.
    #[test]
    fn completers_takers_and_a_waiter() {
        const THINGS: usize = 8;
        const ROUNDS: u64 = 400;
        let queue = queue();
        let things: Vec<_> = (0..THINGS).map(|_| test_request()).collect();
        // Round that is attached, of each thing; 0: none.
        let attached: Vec<AtomicU64> = (0..THINGS).map(|_| AtomicU64::new(0)).collect();
        let taken = AtomicUsize::new(0);
        let waiters = Waiters::new();
        let all = THINGS * ROUNDS as usize;
        std::thread::scope(|scope| {
            for half in 0..2 {
                let (things, attached) = (&things, &attached);
                scope.spawn(move || {
                    let mut done = [0; THINGS];
                    while (0..THINGS).filter(|i| i % 2 == half).any(|i| done[i] < ROUNDS) {
                        for i in (0..THINGS).filter(|i| i % 2 == half) {
                            let round = attached[i].load(Ordering::Acquire);
                            if round > done[i] {
                                things[i].complete(round * 100 + i as u64);
                                done[i] = round;
                            }
                        }
                        std::thread::yield_now();
                    }
                });
            }
            for most in 1..=3 {
                let (things, attached, taken) = (&things, &attached, &taken);
                scope.spawn(move || {
                    while taken.load(Ordering::Relaxed) < all {
                        if !queue.has_news() {
                            std::thread::yield_now();
                        }
                        for event in queue.take(most) {
                            let i = event.data();
                            let round = attached[i].load(Ordering::Relaxed);
                            assert_eq!(things[i].collect(), round * 100 + i as u64);
                            taken.fetch_add(1, Ordering::Relaxed);
                            if round < ROUNDS {
                                things[i].attach(queue, i, false);
                                attached[i].store(round + 1, Ordering::Release);
                            }
                        }
                    }
                });
            }
            for (i, t) in things.iter().enumerate() {
                t.attach(queue, i, false);
                attached[i].store(1, Ordering::Release);
            }
            while taken.load(Ordering::Relaxed) < all {
                queue.wait_for_none(|sync| {
                    waiters.run(sync, &mut (), |_, sync| park(sync), |_, sync| park(sync))
                });
                std::thread::yield_now();
            }
        });
        assert_eq!((queue.outstanding(), queue.ready()), (0, 0));
    }
}
