//! The end: what was sent arrives, peers hear good-bye, and the device is given back.

use crate::link::{State, held};
use crate::nic::Entered;
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::Kind;
use core::sync::atomic::Ordering;
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

/// How long what was sent may take to arrive: longer than the network tries.
const PATIENCE: Duration = Duration::from_secs(10);

impl Rail {
    /// Sends what waits and a last word on each link, and waits until all has arrived. Nobody else uses the lanes.
    pub fn part(&self) {
        self.closing.store(true, Ordering::Release);
        let begun = Instant::now();
        for lane in &self.lanes {
            let mut held = lane.held.borrow_mut();
            while !held.unsent.is_empty() && begun.elapsed() < PATIENCE {
                if self.send_unsent(lane, &mut held) == 0 {
                    // Requests of a process that ends have nobody left who waits for a reply.
                    held.unsent.retain(|u| u.kind == Kind::Reply && u.link.state() == State::Connected);
                    self.reap(lane, &mut held);
                    std::thread::yield_now();
                }
            }
            for link in lane.links().iter().filter(|l| l.state() == State::Connected) {
                // Where there is no room the peer has not taken what is before it; it will miss the word alone.
                if !link.core.gone.load(Ordering::Acquire)
                    && self.push(lane, &mut held, link, Kind::Bye, 0, &Body::Bytes(&[]))
                        == Status::NO_RESOURCE
                {
                    self.host.debug(&format!("no room to say good-bye to process {}", link.core.proc));
                }
            }
        }
        for lane in &self.lanes {
            let mut held = lane.held.borrow_mut();
            while held.pool.under_way() > 0 && begun.elapsed() < PATIENCE {
                if self.reap(lane, &mut held) == 0 {
                    std::thread::yield_now();
                }
            }
        }
        self.wait_for_posts(begun);
    }

    /// Waits until what the device still does for operations is over.
    fn wait_for_posts(&self, begun: Instant) {
        for (number, device) in self.devices.iter().enumerate() {
            let flies = || device.nic.enter().posts.slots.iter().any(|slot| slot.flying.is_some());
            while flies() && begun.elapsed() < PATIENCE {
                self.read_completions(number);
                std::thread::yield_now();
            }
        }
    }

    /// Ends endpoints, datagrams and registrations. The thread has ended.
    pub fn close(&self) {
        held(&self.desk).close(&self.devices[0].nic.enter());
        self.lanes.iter().for_each(|lane| lane.close());
        for (number, device) in self.devices.iter().enumerate() {
            self.host.debug(&format!("device {number}: {}", device.nic.counted()));
            let mut entered = device.nic.enter();
            let Entered { calls, posts } = &mut entered;
            posts.slots.drain(..).for_each(|slot| calls.destroy(slot.ep));
            for (_, handle) in &posts.landings {
                let _ = calls.deregister(*handle);
            }
        }
    }
}
