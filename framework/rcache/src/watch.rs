//! The thread that reads events of memory, and the question whether any is outstanding (the essay is in `mod.rs`).

use super::slots::{Marked, Slot};
use super::turns::Turns;
use oxmpi_mca::sync::fence;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use oxmpi_system::locks::Mutex;
use oxmpi_system::userfaultfd::{Areas, Events, Message};
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The name that tools show.
const NAME: &str = "oxmpi-rcache";
/// How often a look-up lets the watcher go on before it goes without the cache.
const PATIENCE: usize = 8;
/// So many areas are remembered one by one.
const MOST_AREAS: usize = 1024;

/// Slots that the watcher marks, and the flag that says that it is marking.
pub struct WatchedSlots {
    pub turns: Turns,
    pub slots: Box<[Slot]>,
    /// Slots from here on have never been filled.
    pub most: AtomicUsize,
    /// Stale registrations without users are there.
    pub to_claim: AtomicBool,
    pub invalidations: AtomicU64,
    /// An address on the watcher's stack, once it runs.
    stack: AtomicU64,
}

impl WatchedSlots {
    /// Makes so many empty slots.
    pub fn new(entries: usize) -> WatchedSlots {
        WatchedSlots {
            turns: Turns::new(),
            slots: (0..entries).map(|_| Slot::new()).collect(),
            most: AtomicUsize::new(0),
            to_claim: AtomicBool::new(false),
            invalidations: AtomicU64::new(0),
            stack: AtomicU64::new(0),
        }
    }

    /// The slots that may have been filled.
    pub fn filled(&self) -> &[Slot] {
        // SYNC POINT with the cache's `publish`: raised before the slot is live.
        &self.slots[..self.most.load(Ordering::Acquire)]
    }

    /// Marks the live registrations stale that overlap a range. Called by the watcher; waits for nobody and allocates
    /// nothing.
    pub fn invalidate(&self, start: u64, end: u64) {
        for slot in self.filled() {
            let Some(life) = slot.overlaps(start, end) else { continue };
            let marked = slot.mark(life);
            if marked != Marked::Not {
                self.invalidations.fetch_add(1, Ordering::Relaxed);
            }
            if marked == Marked::Idle {
                // SYNC POINT with the cache's `claim_stale`.
                self.to_claim.store(true, Ordering::Release);
            }
        }
    }
}

/// The source of events.
pub struct Watch {
    shared: Arc<WatchedSlots>,
    /// `None`: the program has promised that there are none.
    kernel: Option<Kernel>,
}

/// The descriptor of events, the areas that were given to it, and the watcher's thread.
struct Kernel {
    events: Events,
    areas: Areas,
    /// Address on the watcher's stack.
    stack: u64,
    /// Areas that were given to `events`, as far as is known.
    watched: Mutex<Vec<(u64, u64)>>,
    stop: OwnedFd,
    thread: Mutex<Option<JoinHandle<()>>>,
    closed: AtomicBool,
}

impl Watch {
    /// Opens the descriptor and starts the watcher's thread; the reason if this system has no events.
    pub fn start(shared: Arc<WatchedSlots>) -> Result<Watch, String> {
        let events = Events::open()?;
        let kernel = Kernel::start(events, Arc::clone(&shared)).inspect_err(|_| events.close());
        Ok(Watch { shared, kernel: Some(kernel.map_err(|e| format!("watching memory: {e}"))?) })
    }

    /// Makes a source without events: memory is believed to stay as it is.
    pub fn trusting(shared: Arc<WatchedSlots>) -> Watch {
        Watch { shared, kernel: None }
    }

    /// The watcher's number, if all changes of mappings that came before the caller's have been handled; `None`: one
    /// may be outstanding. A registration that is found in the cache behind this is valid.
    pub fn quiet(&self) -> Option<u64> {
        // In this order: see the essay.
        if self.is_pending() {
            return None;
        }
        // The count that the kernel read is older than the number that is read here.
        fence(Ordering::Acquire);
        self.shared.turns.quiet()
    }

    /// The watcher's number once no change of mappings is outstanding, yielding the core a few times between looks;
    /// `None`: one still is.
    pub fn quiet_soon(&self) -> Option<u64> {
        (0..PATIENCE).find_map(|_| {
            self.quiet().or_else(|| {
                std::thread::yield_now();
                None
            })
        })
    }

    /// Whether the watcher's number is still `seen`, the answer of `quiet`: if so, every event since finds what the
    /// caller has published.
    pub fn is_still(&self, seen: u64) -> bool {
        self.shared.turns.is_still(seen)
    }

    /// Whether the kernel has a change of mappings under way whose event has not been read.
    fn is_pending(&self) -> bool {
        self.kernel.as_ref().is_some_and(|k| k.events.is_pending())
    }

    /// Gives the areas of a range to the descriptor, so that their changes are told. False: they cannot be.
    pub fn cover(&self, start: u64, end: u64) -> bool {
        self.kernel.as_ref().is_none_or(|kernel| kernel.cover(start, end))
    }

    /// Takes all areas from the descriptor; nothing may be in the cache.
    pub fn uncover(&self) {
        if let Some(kernel) = &self.kernel {
            kernel.uncover();
        }
    }

    /// Ends the watcher's thread, if it runs. Not in a forked child.
    pub fn end(&self) {
        if let Some(kernel) = &self.kernel {
            kernel.end();
        }
    }

    /// Closes the descriptor in a forked child, where it would keep the parent's memory watched.
    pub fn forget(&self) {
        if let Some(kernel) = &self.kernel {
            kernel.close();
        }
    }
}

impl Kernel {
    /// Starts the watcher's thread and waits until its stack is known.
    fn start(events: Events, shared: Arc<WatchedSlots>) -> std::io::Result<Kernel> {
        let areas = Areas::open()?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let ends = stop.as_raw_fd();
        let theirs = Arc::clone(&shared);
        let thread = oxmpi_system::without_signals(|| {
            std::thread::Builder::new().name(NAME.to_owned()).spawn(move || watch(events, ends, &theirs))
        })?;
        // No object with memory of its own, which the thread might free while memory is watched already.
        let stack = loop {
            match shared.stack.load(Ordering::Acquire) {
                0 => std::thread::yield_now(),
                stack => break stack,
            }
        };
        let (thread, closed) = (Mutex::new(Some(thread)), AtomicBool::new(false));
        Ok(Kernel { events, areas, stack, watched: Mutex::default(), stop, thread, closed })
    }

    /// Gives the areas of a range to the descriptor and remembers them. False: one is not private anonymous memory or
    /// is the watcher's stack, the range has a hole, or the kernel refuses.
    fn cover(&self, start: u64, end: u64) -> bool {
        let Some(areas) = self.areas.of(start, end) else { return false };
        let fits =
            |a: &oxmpi_system::userfaultfd::Area| a.anonymous && !(a.start..a.end).contains(&self.stack);
        if !areas.iter().all(fits) {
            return false;
        }
        // Under the lock, so that `uncover` finds all.
        let mut watched = self.watched.lock();
        areas.iter().all(|area| {
            let told = self.events.watch(area);
            if told && !watched.iter().any(|w| w.0 <= area.start && area.end <= w.1) {
                watched.retain(|w| !(area.start <= w.0 && w.1 <= area.end));
                watched.push((area.start, area.end));
                if watched.len() > MOST_AREAS {
                    let hull = (watched.iter().map(|w| w.0).min(), watched.iter().map(|w| w.1).max());
                    *watched = vec![(hull.0.unwrap_or(0), hull.1.unwrap_or(u64::MAX))];
                }
            }
            told
        })
    }

    /// Takes all remembered areas from the descriptor, as far as they still exist.
    fn uncover(&self) {
        let watched = std::mem::take(&mut *self.watched.lock());
        for area in self.areas.all().iter().filter(|a| a.anonymous) {
            if watched.iter().any(|w| w.0 < area.end && area.start < w.1) {
                self.events.unwatch(area);
            }
        }
    }

    /// Takes all areas from the descriptor, stops the watcher's thread, waits for its end and closes the descriptor;
    /// later calls do nothing.
    fn end(&self) {
        let Some(thread) = self.thread.lock().take() else { return };
        self.uncover();
        // It cannot fail: the counter is far from full.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if thread.join().is_err() {
            // The panic has been printed.
        }
        self.close();
    }

    /// Closes the descriptor, at the first call only: a child's children have its memory, and other descriptors by that
    /// number.
    fn close(&self) {
        if !self.closed.swap(true, Ordering::Relaxed) {
            self.events.close();
        }
    }
}

/// Runs the watcher's thread: reads events and marks the registrations that they name, until `stop` is written to.
/// Behind its first line nothing here may allocate, free, lock or wait but for `poll`.
fn watch(events: Events, stop: i32, shared: &WatchedSlots) {
    let mut messages = [Message::EMPTY; 32];
    shared.stack.store(messages.as_ptr() as u64, Ordering::Release);
    let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut fds = [poll(events.fd()), poll(stop)];
    loop {
        // SAFETY: as many as are there. Interrupted or not: what is there is read.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) };
        shared.turns.begin();
        loop {
            let read = events.read(&mut messages);
            for message in &messages[..read] {
                let (start, end) = message.range();
                shared.invalidate(start, end);
            }
            if read == 0 {
                break;
            }
        }
        shared.turns.end();
        if fds[1].revents != 0 {
            return;
        }
    }
}
