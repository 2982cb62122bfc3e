//! Models under loom of service links: requests of several contexts of a process, their server asleep on its bell, requesters
//! asleep on theirs, and a helper beside a waiter that may serve or be gone.
//!
//! Requests and replies are in a cell that loom watches. A lost wake-up is a deadlock, which loom reports.

use crate::models::ring::check;
use crate::segment::inbox::ServiceMem;
use crate::service::inbox::{ASLEEP, any, arm, disarm, mark, ring, take};
use crate::service::link::{answer, ask, free, is_answered, is_asked};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, Thread};
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering, fence};

struct Inbox {
    bell: AtomicU32,
    pending: AtomicU32,
    word: AtomicU64,
    /// The service lock.
    lock: AtomicU32,
}

impl Inbox {
    fn new() -> Arc<Inbox> {
        let [bell, pending, lock] = [0; 3].map(AtomicU32::new);
        Arc::new(Inbox { bell, pending, word: AtomicU64::new(0), lock })
    }
}

impl ServiceMem for Inbox {
    fn bell(&self) -> &AtomicU32 {
        &self.bell
    }
    fn pending(&self) -> &AtomicU32 {
        &self.pending
    }
    fn word(&self, _: usize) -> &AtomicU64 {
        &self.word
    }
}

/// A link of one slot.
struct Link {
    state: AtomicU32,
    value: UnsafeCell<u64>,
}

impl Link {
    fn new() -> Link {
        Link { state: AtomicU32::new(0), value: UnsafeCell::new(0) }
    }

    fn put(&self, value: u64) {
        // SAFETY: loom checks that nobody else is at it.
        self.value.with_mut(|v| unsafe { *v = value });
    }
    fn get(&self) -> u64 {
        // SAFETY: loom checks that nobody writes meanwhile.
        self.value.with(|v| unsafe { *v })
    }

    fn request(&self, value: u64, inbox: &Inbox, server: Option<&Thread>) {
        self.put(value);
        ask(&self.state);
        if mark(inbox, 0)
            && let Some(server) = server
        {
            server.unpark();
        }
    }

    /// Serves the link's request, if there is one.
    fn serve(&self) -> u32 {
        if !is_asked(&self.state) {
            return 0;
        }
        let value = self.get();
        self.put(value + 100);
        answer(&self.state);
        1
    }

    fn take_reply(&self, value: u64) {
        assert_eq!(self.get(), value + 100);
        free(&self.state);
    }
}

fn serve_all(inbox: &Inbox, links: &[Link]) -> u32 {
    let mut served = 0;
    take(inbox, 1, |_| served += links.iter().map(Link::serve).sum::<u32>());
    served
}

fn park_while_asleep(bell: &AtomicU32) {
    while bell.load(Ordering::Acquire) == ASLEEP {
        thread::park();
    }
}

/// Two contexts of one process, which share a bit, and a server that sleeps whenever it finds nothing.
#[test]
fn model_service_requests_of_two_contexts() {
    check(3, || {
        let (inbox, links) = (Inbox::new(), Arc::new([Link::new(), Link::new()]));
        let server = thread::current();
        let handles = [0, 1].map(|which: u64| {
            let (inbox, links, server) = (inbox.clone(), links.clone(), server.clone());
            thread::spawn(move || links[which as usize].request(which, &inbox, Some(&server)))
        });
        let mut served = 0;
        while served < 2 {
            served += serve_all(&inbox, &*links);
            if served < 2 {
                if arm(&*inbox) {
                    park_while_asleep(&inbox.bell);
                }
                disarm(&*inbox);
            }
        }
        for handle in handles {
            handle.join().expect("requester");
        }
        (0..).zip(links.iter()).for_each(|(value, link)| link.take_reply(value));
    });
}

/// A requester that sleeps on its context's bell until the reply is there.
#[test]
fn model_service_replies_wake_the_requester() {
    check(3, || {
        let (inbox, links) = (Inbox::new(), Arc::new([Link::new()]));
        let bell = Arc::new(AtomicU32::new(0));
        let requester = thread::current();
        let server = {
            let (inbox, links, bell) = (inbox.clone(), links.clone(), bell.clone());
            thread::spawn(move || {
                while serve_all(&inbox, &*links) == 0 {
                    thread::yield_now();
                }
                fence(Ordering::SeqCst);
                if ring(&bell) {
                    requester.unpark();
                }
            })
        };
        links[0].request(1, &inbox, None);
        while !is_answered(&links[0].state) {
            bell.store(ASLEEP, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if !is_answered(&links[0].state) {
                park_while_asleep(&bell);
            }
            bell.store(0, Ordering::Relaxed);
        }
        links[0].take_reply(1);
        server.join().expect("server");
    });
}

/// One request; a waiter that looks once, and may take it or be gone; and the helper, which does not act while the waiter may
/// be about, and is ended when the request has been served. `doze`: what it does while it does not act.
fn helper(doze: fn(&Inbox)) {
    check(3, move || {
        let (inbox, links) = (Inbox::new(), Arc::new([Link::new()]));
        let (here, stop) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
        let helper = thread::current();
        let requester = {
            let (inbox, links, helper) = (inbox.clone(), links.clone(), helper.clone());
            thread::spawn(move || links[0].request(1, &inbox, Some(&helper)))
        };
        let waiter = {
            let (inbox, links) = (inbox.clone(), links.clone());
            let (here, stop) = (here.clone(), stop.clone());
            thread::spawn(move || {
                if any(&*inbox) && try_serve(&inbox, &*links) > 0 {
                    // As `Helper::end` does, with a word of its own in the place of the bell.
                    stop.store(1, Ordering::Release);
                    fence(Ordering::SeqCst);
                    if ring(&inbox.bell) {
                        helper.unpark();
                    }
                }
                here.store(0, Ordering::Release);
            })
        };
        let mut served = 0;
        while served == 0 && stop.load(Ordering::Acquire) == 0 {
            if !any(&*inbox) {
                let quiet = arm(&*inbox);
                if quiet && stop.load(Ordering::Acquire) == 0 {
                    park_while_asleep(&inbox.bell);
                }
                disarm(&*inbox);
            } else if here.load(Ordering::Acquire) != 0 {
                doze(&inbox);
            } else {
                served += try_serve(&inbox, &*links);
            }
        }
        requester.join().expect("requester");
        waiter.join().expect("waiter");
        links[0].take_reply(1);
    });
}

/// Serves if nobody else has the service lock.
fn try_serve(inbox: &Inbox, links: &[Link]) -> u32 {
    if inbox.lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        thread::yield_now();
        return 0;
    }
    let served = serve_all(inbox, links);
    inbox.lock.store(0, Ordering::Release);
    served
}

#[test]
fn model_service_helper_naps_beside_a_waiter() {
    helper(|_| thread::yield_now());
}

/// Back on its bell while a request is there: that has rung already.
#[test]
#[should_panic(expected = "deadlock")]
fn model_finds_a_service_helper_that_sleeps_beside_a_request() {
    helper(|inbox| {
        inbox.bell.swap(ASLEEP, Ordering::AcqRel);
        park_while_asleep(&inbox.bell);
        disarm(inbox);
    });
}

/// Two requests, the second once the first has been answered. The helper serves them alone: it is rung, looks once more while its bell is
/// off, and goes back to its bell, which the second request rings again. `arm`: how it announces that.
fn served_again(arm: fn(&Inbox) -> bool) {
    check(3, move || {
        let (inbox, links) = (Inbox::new(), Arc::new([Link::new()]));
        let helper = thread::current();
        let requester = {
            let (inbox, links) = (inbox.clone(), links.clone());
            thread::spawn(move || {
                links[0].request(1, &inbox, Some(&helper));
                while !is_answered(&links[0].state) {
                    thread::yield_now();
                }
                links[0].take_reply(1);
                links[0].request(2, &inbox, Some(&helper));
            })
        };
        let mut served = 0;
        while served < 2 {
            if any(&*inbox) {
                served += try_serve(&inbox, &*links);
                continue;
            }
            if arm(&inbox) {
                park_while_asleep(&inbox.bell);
            }
            disarm(&*inbox);
        }
        requester.join().expect("requester");
        links[0].take_reply(2);
    });
}

#[test]
fn model_service_helper_goes_back_to_its_bell() {
    served_again(|inbox| arm(inbox));
}

/// It looked before it announced its sleep, and does not look behind that: it sleeps, and the requester waits without end.
#[test]
#[should_panic(expected = "maximum number of branches")]
fn model_finds_a_service_helper_that_does_not_look_behind_its_bell() {
    served_again(|inbox| {
        inbox.bell.swap(ASLEEP, Ordering::AcqRel);
        true
    });
}
