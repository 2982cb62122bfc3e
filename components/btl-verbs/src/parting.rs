//! The end: good-bye on every connection, behind all that was sent, until each is known to have arrived or time is over.
//!
//! Messages that a peer's device has acknowledged lie in that process's memory, so that this process may end. A process that has received
//! the good-bye does not report the end of the connection as a failure.

use crate::link::Link;
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::{Frame, Kind, Purpose};
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_mca::Status;
use std::sync::Arc;
use std::time::Instant;

/// For devices to acknowledge.
const LONGEST: Duration = Duration::from_secs(5);

impl Rail {
    /// Sends what is left, everywhere.
    pub fn part(&self) {
        self.closing.store(true, Ordering::SeqCst);
        let begun = Instant::now();
        let mut said: Vec<*const Link> = Vec::new();
        loop {
            let mut under_way = false;
            for lane in &self.lanes {
                self.take(lane);
                let mut guard = lane.enter();
                let held = &mut *guard.held;
                let links: Vec<Arc<Link>> =
                    held.links.values().filter(|l| l.purpose != Purpose::Memory).cloned().collect();
                for link in links.iter().filter(|l| !l.peer.is_out()) {
                    if !said.contains(&Arc::as_ptr(link)) {
                        let bye = Frame::of(Kind::Bye, 0, 0);
                        match self.push(lane, held, link, bye, Body::Nothing) {
                            Status::NO_RESOURCE => under_way = true,
                            _ => said.push(Arc::as_ptr(link)),
                        }
                    }
                    let side = link.side.borrow();
                    under_way |= side.complete < side.posted;
                }
            }
            if !under_way || begun.elapsed() > LONGEST {
                break;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Destroys all queue pairs, when nobody is left to use them.
    pub fn destroy_pairs(&self) {
        for lane in &self.lanes {
            lane.enter().held.links.clear();
        }
        for peer in self.peers() {
            for link in peer.all() {
                link.take();
                link.side.borrow_mut().pair = None;
            }
        }
    }
}
