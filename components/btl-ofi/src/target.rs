//! The target of peers' puts, gets and atomics: an endpoint of its own, for which a thread works where the provider has no progress of its own.
//!
//! A target that computes, or waits for something else, serves its peers all the same. The thread starts when memory is first registered for
//! peers, and sleeps on the endpoint's completion queue, in which nothing ever completes: reading it has the provider work. It looks again
//! by itself, too (`pause.rs`).
//!
//! A holder of a context who waits works for the endpoint, too, in turns that had nothing else to do: on few cores the thread would take one from those who wait for
//! its data. The thread stays away as long as that goes on, and comes back when a holder goes to sleep, or behind [`AWAY`] without a help. The words between them are advice: one who misses it works beside the other, which the provider allows, or
//! comes [`AWAY`] later. (A get of 256 KiB over
//! `tcp;ofi_rxm` between two processes on two cores took 116 us by the thread and takes 78.)

use crate::abi::CqEntry;
use crate::endpoints::Ep;
use crate::objects::Found;
use crate::pause::Pause;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use oxmpi_btl_support::{Bell, Helper};
use oxmpi_mca::Host;
use std::io;
use std::sync::{Arc, OnceLock};

/// The thread looks so long after a help whether there was another.
const AWAY: Duration = Duration::from_micros(500);

pub struct Target {
    pub ep: Ep,
    /// The provider needs the thread.
    needs_thread: bool,
    bell: Bell,
    stop: AtomicBool,
    /// A holder of a context works for the endpoint.
    is_helped: AtomicBool,
    /// Counts the helps.
    pulse: AtomicU32,
    /// The thread looks at helps alone.
    is_away: AtomicBool,
    thread: OnceLock<Result<Helper, String>>,
}

impl Target {
    pub fn new(ep: Ep, needs_thread: bool) -> io::Result<Target> {
        let (stop, is_helped, pulse) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
        let (bell, is_away, thread) = (Bell::new()?, AtomicBool::new(false), OnceLock::new());
        Ok(Target { ep, needs_thread, bell, stop, is_helped, pulse, is_away, thread })
    }

    /// Has somebody work for the endpoint. The error says why nobody can.
    pub fn serve(self: &Arc<Target>) -> Result<(), String> {
        if !self.needs_thread {
            return Ok(());
        }
        let start = || {
            let target = self.clone();
            let started = Helper::start("btl-ofi", "one-sided", move || target.run());
            started.map_err(|e| format!("the thread that works for puts and gets of peers: {e}"))
        };
        self.thread.get_or_init(start).as_ref().map(drop).map_err(Clone::clone)
    }

    /// Has the provider work for the endpoint, by a holder of a context who has nothing else to do. The thread stays away meanwhile.
    #[inline]
    pub fn help(&self) {
        let is_served = matches!(self.thread.get(), Some(Ok(_)));
        if !is_served || self.is_helped.swap(true, Ordering::Acquire) {
            return;
        }
        self.pulse.store(self.pulse.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.ep.cq.work();
        self.is_helped.store(false, Ordering::Release);
    }

    /// A holder of a context goes to sleep, so that the thread is needed.
    pub fn resume(&self) {
        if self.is_away.swap(false, Ordering::AcqRel) {
            self.bell.ring();
        }
    }

    fn run(&self) {
        let mut entries = [CqEntry { context: null_mut(), flags: 0, len: 0 }; 16];
        let cq = &self.ep.cq;
        let (mut pause, mut seen) = (Pause::default(), 0);
        while !self.stop.load(Ordering::Acquire) {
            match cq.read(&mut entries) {
                Found::Entries(0) => {}
                Found::Entries(_) => continue,
                // Failures here are of connections that peers have ended.
                Found::Failure => {
                    cq.failure();
                    continue;
                }
                Found::Broken(_) => std::thread::sleep(Duration::from_millis(1)),
            }
            let pulse = self.pulse.load(Ordering::Relaxed);
            if core::mem::replace(&mut seen, pulse) != pulse {
                self.is_away.store(true, Ordering::Release);
                // SAFETY: open as long as the target, which this thread keeps.
                unsafe { crate::sys::wait_for(&[self.bell.fd()], AWAY) };
                self.is_away.store(false, Ordering::Release);
                self.bell.silence();
                continue;
            }
            match cq.fd {
                Some(fd) if cq.may_sleep() => {
                    // SAFETY: both are open as long as the target, which this thread keeps.
                    if unsafe { crate::sys::wait_for(&[fd, self.bell.fd()], pause.lengthen()) } {
                        pause.begin_anew();
                        self.bell.silence();
                    }
                }
                Some(_) => {}
                None => std::thread::sleep(Duration::from_micros(100)),
            }
        }
    }

    /// Ends the thread.
    pub fn end(&self, host: &Host) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
        if let Some(Ok(thread)) = self.thread.get() {
            thread.join(host);
        }
    }
}
