//! The target of peers' puts, gets and atomics: an endpoint of its own, for which a thread works where the provider has no progress of its own.
//!
//! A target that computes, or waits for something else, serves its peers all the same. The thread starts when memory is first registered for
//! peers, and sleeps on the endpoint's completion queue, in which nothing ever completes: reading it has the provider work. It looks again
//! by itself, too (`pause.rs`).

use crate::abi::CqEntry;
use crate::endpoints::Ep;
use crate::objects::Found;
use crate::pause::Pause;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use oxmpi_btl_support::{Bell, Helper};
use oxmpi_mca::Host;
use std::io;
use std::sync::{Arc, OnceLock};

pub struct Target {
    pub ep: Ep,
    /// The provider needs the thread.
    needs_thread: bool,
    bell: Bell,
    stop: AtomicBool,
    thread: OnceLock<Result<Helper, String>>,
}

impl Target {
    pub fn new(ep: Ep, needs_thread: bool) -> io::Result<Target> {
        let (bell, stop, thread) = (Bell::new()?, AtomicBool::new(false), OnceLock::new());
        Ok(Target { ep, needs_thread, bell, stop, thread })
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

    fn run(&self) {
        let mut entries = [CqEntry { context: null_mut(), flags: 0, len: 0 }; 16];
        let cq = &self.ep.cq;
        let mut pause = Pause::default();
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
            match cq.fd {
                Some(fd) if cq.may_sleep() => {
                    // SAFETY: both are open as long as the target, which this thread keeps.
                    if unsafe { crate::sys::wait_for(&[fd, self.bell.fd()], pause.lengthen()) } {
                        pause.begin_anew();
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
