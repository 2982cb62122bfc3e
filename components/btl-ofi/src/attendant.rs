//! The attendant: a thread that has the provider work for endpoints that have sent something and whose holder is elsewhere.
//!
//! A provider without progress of its own may say that it has taken a message and keep it until it is called again: because the socket is
//! full, or the other side has to agree first. The message is its receiver's by then, whatever its sender does next. So the attendant watches the contexts'
//! pulses, which beat when their holders read their completion queues. Where one stands still it has the provider work, without taking
//! completions; where it beats it stays away. It starts with the first message.

use crate::objects::Cq;
use crate::ward::Ward;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use oxmpi_btl_support::{Bell, Helper};
use oxmpi_mca::Host;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

/// Time between two looks at a pulse, and the longest that it grows to while nothing happens.
const SHORTEST: Duration = Duration::from_millis(4);
const LONGEST: Duration = Duration::from_millis(64);

pub struct Attendant {
    wards: Vec<(Arc<Ward>, Arc<Cq>)>,
    bell: Bell,
    stop: AtomicBool,
    thread: OnceLock<Option<Helper>>,
}

impl Attendant {
    pub fn new(wards: Vec<(Arc<Ward>, Arc<Cq>)>) -> io::Result<Attendant> {
        Ok(Attendant { wards, bell: Bell::new()?, stop: AtomicBool::new(false), thread: OnceLock::new() })
    }

    /// A message was sent from an endpoint.
    #[inline]
    pub fn attend(self: &Arc<Attendant>, ward: &Ward, host: &Host) {
        if !ward.has_sent() {
            self.begin(ward, host);
        }
    }

    #[cold]
    fn begin(self: &Arc<Attendant>, ward: &Ward, host: &Host) {
        ward.sends();
        self.thread.get_or_init(|| {
            let attendant = self.clone();
            match Helper::start("btl-ofi sends", "attendant's", move || attendant.run()) {
                Ok(helper) => Some(helper),
                Err(why) => {
                    host.warn(&format!("messages may wait for their sender's next call: no thread: {why}"));
                    None
                }
            }
        });
    }

    fn run(&self) {
        let mut seen: Vec<u32> = vec![0; self.wards.len()];
        let mut pause = SHORTEST;
        while !self.stop.load(Ordering::Acquire) {
            let mut beats = false;
            let mut fds: Vec<RawFd> = vec![self.bell.fd()];
            for ((ward, cq), seen) in self.wards.iter().zip(&mut seen) {
                if !ward.has_sent() {
                    continue;
                }
                let pulse = ward.pulse();
                if core::mem::replace(seen, pulse) != pulse {
                    beats = true;
                    continue;
                }
                ward.serve(|| {
                    cq.work();
                    fds.extend(cq.fd.filter(|_| cq.may_sleep()));
                });
            }
            pause = if beats { SHORTEST } else { LONGEST.min(pause * 2) };
            if beats {
                // Holders take what comes; they are not to be disturbed.
                fds.truncate(1);
            }
            // SAFETY: the bell and the queues are open as long as the attendant, which this thread keeps.
            if unsafe { crate::sys::wait_for(&fds, pause) } {
                pause = SHORTEST;
                self.rest();
            }
        }
    }

    /// Leaves a holder time to take what woke the attendant.
    fn rest(&self) {
        // SAFETY: as above.
        unsafe { crate::sys::wait_for(&[self.bell.fd()], SHORTEST) };
    }

    /// Ends the thread.
    pub fn end(&self, host: &Host) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
        if let Some(Some(thread)) = self.thread.get() {
            thread.join(host);
        }
    }
}
