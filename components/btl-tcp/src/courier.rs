//! The courier of a rail: a thread that sends gathered frames whose owner is elsewhere.
//!
//! It begins with the first frame that waits, and looks every [`TICK`]. Notes that were there at the look before, in the same round, have waited for a tick at least, and are sent.
//! After [`QUIET`] looks at nothing it sleeps (`alarm.rs`), and the owner that puts down the next note wakes it.
//!
//! Where the process cannot run `membarrier`, or may have no further thread, nothing is gathered.

use crate::alarm::Alarm;
use crate::gathered::{Gathered, Waiting};
use crate::sys;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use oxmpi_btl_support::Helper;
use oxmpi_mca::Host;
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

/// Between two looks.
const TICK: Duration = Duration::from_micros(100);
/// Looks at nothing behind which the courier sleeps.
const QUIET: u32 = 16;

/// State that owners and the courier share.
struct Shared {
    contexts: Vec<Arc<Gathered>>,
    alarm: Alarm,
    ended: AtomicBool,
}

/// See the module's head.
pub struct Courier {
    shared: Arc<Shared>,
    /// The running thread; `None` within: there can be none.
    running: OnceLock<Option<(Helper, Thread)>>,
}

impl Courier {
    /// A courier that has not begun, for the contexts of a rail.
    pub fn new(contexts: Vec<Arc<Gathered>>) -> Courier {
        let shared = Shared { contexts, alarm: Alarm::new(), ended: AtomicBool::new(false) };
        Courier { shared: Arc::new(shared), running: OnceLock::new() }
    }

    /// Whether frames may wait: begins the thread if it has not begun. Any thread.
    pub fn is_there(&self) -> bool {
        self.running.get_or_init(|| self.begin()).is_some()
    }

    #[cold]
    fn begin(&self) -> Option<(Helper, Thread)> {
        if !sys::can_stop_all() {
            return None;
        }
        let (shared, (tell, told)) = (self.shared.clone(), std::sync::mpsc::channel());
        let run = move || {
            let _ = tell.send(std::thread::current());
            shared.run();
        };
        let helper = Helper::start("oxmpi tcp send", "tcp courier's", run).ok()?;
        Some((helper, told.recv().ok()?))
    }

    /// Tells the courier that a note was put down. By the owner of its context.
    pub fn notice(&self) {
        if self.shared.alarm.is_set() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.shared.alarm.clear();
        if let Some(Some((_, thread))) = self.running.get() {
            thread.unpark();
        }
    }

    /// Ends the thread. Notes that are there stay.
    pub fn end(&self, host: &Host) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(Some((helper, _))) = self.running.get() {
            self.wake();
            helper.join(host);
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut seen: Vec<Option<u32>> = vec![None; self.contexts.len()];
        let mut quiet = 0;
        while !self.ended.load(Ordering::Acquire) {
            std::thread::sleep(TICK);
            quiet += 1;
            for (gathered, seen) in self.contexts.iter().zip(&mut seen) {
                let round = gathered.round();
                if round.is_some() {
                    quiet = 0;
                    if round == *seen {
                        gathered.visit(sys::stop_all, |notes| notes.iter_mut().for_each(deliver));
                    }
                }
                *seen = round;
            }
            if quiet >= QUIET {
                self.sleep();
                quiet = 0;
            }
        }
    }

    /// Sleeps until there is a note, or the end.
    fn sleep(&self) {
        let is_quiet = || self.contexts.iter().all(|gathered| gathered.round().is_none());
        if self.alarm.set(sys::stop_all, is_quiet) {
            while self.alarm.stands() && !self.ended.load(Ordering::Acquire) {
                std::thread::park();
            }
            self.alarm.clear();
        }
    }
}

/// Writes what is left of a note, as far as its socket takes it.
fn deliver(note: &mut Waiting) {
    while note.wrote < note.len && !note.failed {
        // SAFETY: the note's owner keeps the bytes and the descriptor until the note is taken back.
        let written = unsafe {
            let rest = core::slice::from_raw_parts(note.from.add(note.wrote), note.len - note.wrote);
            sys::write_raw(note.fd, rest)
        };
        match written {
            Ok(0) => break,
            Ok(n) => note.wrote += n,
            Err(_) => note.failed = true,
        }
    }
}
