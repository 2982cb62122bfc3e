//! The helper thread of one service context: serves requests while the program makes no MPI call.
//!
//! It takes the service lock, by trying, and no other; it never enters an ordinary context and never takes
//! messages. It sleeps on the word or the descriptors that the transport names (`service_arm`) and on a word of its own,
//! which says that it is to end. `watch` decides what it does when it is awake.
//!
//! All signals are blocked in it: they are the program's.

use super::contexts::{Open, Service, can_sleep};
use super::watch::{Step, Watch};
use crate::service::contexts::{Helper, Stop};
use oxmpi_btl::{WaitFd, WaitSet, WaitWord};
use oxmpi_mca::Status;
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_system::clock::monotonic_now;
use oxmpi_system::without_signals;
use oxmpi_waiting::futex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::mem::ManuallyDrop;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// The name that tools show.
pub const NAME: &str = "oxmpi-service";

/// Time between two looks at a transport that cannot wake its helper.
const BLIND_NAP: Duration = Duration::from_millis(1);
/// Longest sleep of a helper: a net, and nothing that anybody waits for.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// Longest sleep on kernels that cannot wait for two words.
const LONGEST_BLIND_SLEEP: Duration = Duration::from_millis(10);

/// Value of a helper's stop word while it runs.
const RUNS: u32 = 0;
/// Value of a helper's stop word when it is to end.
const ENDS: u32 = 1;

impl Stop {
    /// Whether the helper is to end.
    fn is_set(&self) -> bool {
        self.word.load(Ordering::Acquire) == ENDS
    }

    /// Sleeps for the given time; being told to end wakes the helper.
    fn nap(&self, nap: Duration) {
        futex::wait_private(&self.word, RUNS, Some(nap));
    }
}

/// The objects that a helper works on. It is ended before the instance ends.
struct Target {
    service: *const Service,
    open: Open,
    stop: Arc<Stop>,
}

// SAFETY: the service may be used from any thread, and outlives this one.
unsafe impl Send for Target {}

impl Helper {
    /// Starts the helper thread of an open service context.
    pub fn start(service: &Service, open: Open) -> std::io::Result<Helper> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let stop = Arc::new(Stop { word: AtomicU32::new(RUNS), event });
        let target = Target { service, open, stop: Arc::clone(&stop) };
        let thread = without_signals(|| {
            std::thread::Builder::new().name(NAME.to_owned()).spawn(move || {
                let target = target;
                target.run();
            })
        })?;
        Ok(Helper { stop, thread: ManuallyDrop::new(thread) })
    }

    /// Ends the helper thread, and waits for its end.
    pub fn end(self) {
        // SYNC POINT with `Stop::is_set`.
        self.stop.word.store(ENDS, Ordering::Release);
        futex::wake_private(self.stop.word.as_ptr().addr());
        // It cannot fail: the counter is far from full.
        let _ = rustix::io::write(&self.stop.event, &1u64.to_ne_bytes());
        if ManuallyDrop::into_inner(self.thread).join().is_err() {
            // The panic has been printed; nobody serves any more, and nobody asks.
        }
    }
}

impl Target {
    /// The service contexts of the instance.
    fn service(&self) -> &Service {
        // SAFETY: the instance ends this thread before it ends itself.
        unsafe { &*self.service }
    }

    /// The waiters' count of looks.
    fn looks(&self) -> u32 {
        self.service().looks.load(Ordering::Relaxed)
    }

    /// The loop of the helper thread: sleeps until a request comes, then watches until there has been nothing for a
    /// while.
    fn run(&self) {
        while !self.stop.is_set() {
            if can_sleep(self.open.raw()) {
                self.sleep();
            } else {
                self.stop.nap(BLIND_NAP);
            }
            self.watch();
        }
    }

    /// Serves or naps, with the bell off, until there has been nothing to do for a while, or the helper is to end.
    fn watch(&self) {
        let mut watch = Watch::woken(monotonic_now(), self.looks());
        while !self.stop.is_set() {
            let step = watch.step(monotonic_now(), self.looks(), self.open.pending());
            let step = match step {
                Step::Act => {
                    let handled = self.service().try_with(|held| self.service().serve(held, &self.open, 1));
                    watch.served(monotonic_now(), handled.unwrap_or(0))
                }
                other => Some(other),
            };
            match step {
                None | Some(Step::Act) => {}
                Some(Step::Nap(nap)) => self.stop.nap(nap),
                Some(Step::Sleep) => return,
            }
        }
    }

    /// Sleeps until a request comes, or the helper is to end; returns at once where a request is there.
    fn sleep(&self) {
        const NO_WORD: WaitWord = WaitWord { addr: std::ptr::null(), expected: 0, reserved: 0 };
        const NO_FD: WaitFd = WaitFd { fd: -1, events: 0 };
        let raw = self.open.raw();
        let (mut words, mut fds) = ([NO_WORD; 4], [NO_FD; 4]);
        let mut set = WaitSet::new(&mut words, &mut fds);
        // Waiters serve meanwhile; arming is under the lock like all else.
        let armed = loop {
            // SAFETY: `try_with` runs this under the service lock; the set lives as long as the call.
            match self.service().try_with(|_| unsafe { (raw.service_arm)(raw.state, &mut set) }) {
                Some(armed) => break armed,
                None if self.stop.is_set() => return,
                None => self.stop.nap(Duration::from_micros(20)),
            }
        };
        match (armed, set.words(), set.fds()) {
            (Status::OK, words @ [_, ..], []) => self.sleep_on(words),
            (Status::OK, [], fds @ [_, ..]) => self.poll(fds),
            (Status::PENDING, ..) => {}
            // Several kinds at once, or it cannot be told.
            _ => self.stop.nap(BLIND_NAP),
        }
        // SAFETY: `try_with` runs this under the service lock.
        while self.service().try_with(|_| unsafe { (raw.service_disarm)(raw.state) }).is_none() {
            std::thread::yield_now();
        }
    }

    /// Sleeps on the transport's words and the word by which the helper is told to end.
    fn sleep_on(&self, words: &[WaitWord]) {
        // SAFETY: the transport keeps the words mapped until `service_disarm`.
        let slept = unsafe { futex::wait_many(words, Some((&self.stop.word, RUNS)), LONGEST_SLEEP) };
        if !slept && !self.stop.is_set() {
            // SAFETY: the transport keeps the first of its words mapped, too, until `service_disarm`.
            unsafe { futex::wait_shared(words[0].addr, words[0].expected, LONGEST_BLIND_SLEEP) };
        }
    }

    /// Waits for the transport's descriptors and the one by which the helper is told to end.
    fn poll(&self, fds: &[WaitFd]) {
        // SAFETY: the transport keeps them open until `service_disarm`.
        let borrowed: Vec<BorrowedFd<'_>> =
            fds.iter().map(|f| unsafe { BorrowedFd::borrow_raw(f.fd) }).collect();
        let events = |f: &WaitFd| PollFlags::from_bits_retain(f.events as u16);
        let mut all: Vec<PollFd<'_>> =
            borrowed.iter().zip(fds).map(|(fd, f)| PollFd::from_borrowed_fd(*fd, events(f))).collect();
        all.push(PollFd::new(&self.stop.event, PollFlags::IN));
        // Interrupted or not: whoever called looks.
        let _ = poll(&mut all, None);
    }
}
