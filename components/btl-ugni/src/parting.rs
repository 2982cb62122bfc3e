//! The end: what was sent arrives, peers hear good-bye, and the device is given back.

use crate::context::{Context, Holder};
use crate::lane::Lane;
use crate::link::{State, held};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::service::Service;
use crate::wire::Kind;
use core::sync::atomic::Ordering;
use oxmpi_btl::{Contexts, Entered};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

/// How long what was sent may take to arrive: longer than the network tries.
const PATIENCE: Duration = Duration::from_secs(10);

impl Rail {
    /// Sends what waits and a last word on each link, and waits until all has arrived.
    pub fn part(&self, all: &mut Contexts<'_, Context>, service: &mut Entered<'_, Service>) {
        self.closing.store(true, Ordering::Release);
        let begun = Instant::now();
        for number in 0..all.count() {
            let mut at = all.enter(number);
            self.say_good_bye(self.lane_of(&at), at.context(), begun);
        }
        self.say_good_bye(self.lane_of(service), service.context(), begun);
        for number in 0..all.count() {
            let mut at = all.enter(number);
            self.wait_for_arrivals(self.lane_of(&at), at.context(), begun);
        }
        self.wait_for_arrivals(self.lane_of(service), service.context(), begun);
        self.wait_for_posts(begun);
    }

    fn say_good_bye(&self, lane: &Lane, context: &mut Context, begun: Instant) {
        while !context.unsent.is_empty() && begun.elapsed() < PATIENCE {
            if self.send_unsent(lane, context) == 0 {
                let Context { unsent, links, pool, .. } = &mut *context;
                // Requests of a process that ends have nobody left who waits for a reply.
                let is_due = |kind, link: u32| {
                    kind == Kind::Reply && links[link as usize].link.state() == State::Connected
                };
                unsent.retain(|u| is_due(u.kind, u.link));
                self.reap(lane, pool, links);
                std::thread::yield_now();
            }
        }
        context.meet(lane);
        for index in 0..context.links.len() as u32 {
            let link = context.link(index);
            let (proc, state) = (link.core.proc, link.state());
            // Where there is no room the peer has not taken what is before it; it will miss the word alone.
            if state == State::Connected
                && !link.core.gone.load(Ordering::Acquire)
                && self.push(lane, context, index, Kind::Bye, 0, &Body::Bytes(&[])) == Status::NO_RESOURCE
            {
                self.host.debug(&format!("no room to say good-bye to process {proc}"));
            }
        }
    }

    fn wait_for_arrivals(&self, lane: &Lane, context: &mut Context, begun: Instant) {
        while context.pool.under_way() > 0 && begun.elapsed() < PATIENCE {
            if self.reap(lane, &mut context.pool, &context.links) == 0 {
                std::thread::yield_now();
            }
        }
    }

    /// Waits until what the device still does for operations is over.
    fn wait_for_posts(&self, begun: Instant) {
        for (number, device) in self.devices.iter().enumerate() {
            let flies = || device.nic.lock().parts().1.slots.iter().any(|slot| slot.flying.is_some());
            while flies() && begun.elapsed() < PATIENCE {
                self.read_completions(number);
                std::thread::yield_now();
            }
        }
    }

    /// Ends endpoints, datagrams and registrations. The thread has ended.
    pub fn close(&self) {
        held(&self.desk).close(&self.devices[0].nic.lock());
        self.lanes.iter().for_each(Lane::close);
        for (number, device) in self.devices.iter().enumerate() {
            self.host.debug(&format!("device {number}: {}", device.nic.counted()));
            let mut locked = device.nic.lock();
            let (calls, posts) = locked.parts();
            posts.slots.drain(..).for_each(|slot| calls.end(&slot.ep));
            for (_, handle) in &posts.landings {
                let _ = calls.deregister(*handle);
            }
        }
    }
}
