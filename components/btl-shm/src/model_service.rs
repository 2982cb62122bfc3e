//! Models under loom of service links: requests of several contexts of a process, their server asleep on its bell, requesters
//! asleep on theirs, and a helper beside a waiter that may serve or be gone.
//!
//! Requests and replies are in a cell that loom watches. A lost wake-up is a deadlock, which loom reports.

use crate::model::check;
use crate::service::inbox::{self, ASLEEP, ServiceMem, any, arm, disarm, mark, ring, take};
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
    /// The helper is to end.
    stop: AtomicU32,
}

impl Inbox {
    fn new() -> Arc<Inbox> {
        let [bell, pending, lock, stop] = [0; 4].map(AtomicU32::new);
        Arc::new(Inbox { bell, pending, word: AtomicU64::new(0), lock, stop })
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

/// A link of one slot, and the bell of its requester.
struct Link {
    state: AtomicU32,
    value: UnsafeCell<u64>,
    bell: AtomicU32,
    requester: Thread,
}

impl Link {
    fn put(&self, value: u64) {
        // SAFETY: loom checks that nobody else is at it.
        self.value.with_mut(|v| unsafe { *v = value });
    }
    fn get(&self) -> u64 {
        // SAFETY: as above.
        self.value.with(|v| unsafe { *v })
    }

    /// Serves the link's request, if there is one.
    fn serve(&self) -> u32 {
        if !is_asked(&self.state) {
            return 0;
        }
        let value = self.get();
        self.put(value + 100);
        answer(&self.state);
        fence(Ordering::SeqCst);
        if ring(&self.bell) {
            self.requester.unpark();
        }
        1
    }

    /// Makes a request and sleeps until its reply is there.
    fn request(&self, value: u64, inbox: &Inbox, server: &Thread) {
        self.put(value);
        ask(&self.state);
        if mark(inbox, 0) {
            server.unpark();
        }
        while !is_answered(&self.state) {
            self.bell.store(ASLEEP, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if !is_answered(&self.state) {
                while self.bell.load(Ordering::Acquire) == ASLEEP {
                    thread::park();
                }
            }
            self.bell.store(0, Ordering::Relaxed);
        }
        assert_eq!(self.get(), value + 100);
        free(&self.state);
    }
}

/// The link comes to its users when its requester's thread is known.
type Links = Arc<loom::sync::Mutex<Vec<Arc<Link>>>>;

fn link(links: &Links) -> Arc<Link> {
    let link = Arc::new(Link {
        state: AtomicU32::new(0),
        value: UnsafeCell::new(0),
        bell: AtomicU32::new(0),
        requester: thread::current(),
    });
    links.lock().expect("no panic").push(link.clone());
    link
}

fn serve_all(inbox: &Inbox, links: &Links) -> u32 {
    let mut served = 0;
    take(inbox, 1, |_| {
        let links = links.lock().expect("no panic").clone();
        served += links.iter().map(|link| link.serve()).sum::<u32>();
    });
    served
}

fn sleep(inbox: &Inbox) {
    if arm(inbox) {
        while inbox.bell.load(Ordering::Acquire) == ASLEEP {
            thread::park();
        }
    }
    disarm(inbox);
}

/// Two contexts of one process, which share a bit, and a server that sleeps whenever it finds nothing.
#[test]
fn model_service_requests_of_two_contexts() {
    check(3, || {
        let (inbox, links) = (Inbox::new(), Links::default());
        let server = thread::current();
        let handles: Vec<_> = (1..=2)
            .map(|value| {
                let (inbox, links, server) = (inbox.clone(), links.clone(), server.clone());
                thread::spawn(move || link(&links).request(value, &inbox, &server))
            })
            .collect();
        let mut served = 0;
        while served < 2 {
            served += serve_all(&inbox, &links);
            if served < 2 {
                sleep(&inbox);
            }
        }
        for handle in handles {
            handle.join().expect("requester");
        }
    });
}

/// One request; a waiter that looks once, and may take it or be gone; and the helper, which does not act while the waiter may
/// be about. `doze`: what it does then.
fn helper(doze: fn(&Inbox)) {
    check(3, move || {
        let (inbox, links) = (Inbox::new(), Links::default());
        let here = Arc::new(AtomicU32::new(1));
        let server = thread::current();
        let requester = {
            let (inbox, links, server) = (inbox.clone(), links.clone(), server.clone());
            thread::spawn(move || {
                link(&links).request(1, &inbox, &server);
                // The helper is not needed any more.
                inbox.stop.store(1, Ordering::Release);
                fence(Ordering::SeqCst);
                if ring(&inbox.bell) {
                    server.unpark();
                }
            })
        };
        let waiter = {
            let (inbox, links, here) = (inbox.clone(), links.clone(), here.clone());
            thread::spawn(move || {
                if any(&*inbox) {
                    try_serve(&inbox, &links);
                }
                here.store(0, Ordering::Release);
            })
        };
        while inbox.stop.load(Ordering::Acquire) == 0 {
            if !any(&*inbox) {
                sleep_unless_stopped(&inbox);
            } else if here.load(Ordering::Acquire) != 0 {
                doze(&inbox);
            } else {
                try_serve(&inbox, &links);
            }
        }
        requester.join().expect("requester");
        waiter.join().expect("waiter");
    });
}

fn try_serve(inbox: &Inbox, links: &Links) {
    if inbox.lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        serve_all(inbox, links);
        inbox.lock.store(0, Ordering::Release);
    } else {
        thread::yield_now();
    }
}

/// Its own word for the end stands beside the bell; here one bell is for both.
fn sleep_unless_stopped(inbox: &Inbox) {
    let quiet = arm(inbox);
    if quiet && inbox.stop.load(Ordering::Acquire) == 0 {
        while inbox.bell.load(Ordering::Acquire) == ASLEEP {
            thread::park();
        }
    }
    disarm(inbox);
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
        inbox.bell.store(inbox::ASLEEP, Ordering::Relaxed);
        while inbox.bell.load(Ordering::Acquire) == ASLEEP {
            thread::park();
        }
        disarm(inbox);
    });
}
