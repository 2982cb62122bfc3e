//! The end: good-bye on every connection, behind all that was sent, until each is known to have arrived or time is over.
//!
//! Messages that a peer's device has acknowledged lie in that process's memory, so that this process may end. A process that has received
//! the good-bye does not report the end of the connection as a failure.

use crate::context::{Context, Holder};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::{Frame, Kind, Purpose};
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::Contexts;
use oxmpi_mca::Status;
use std::time::Instant;

/// For devices to acknowledge.
const LONGEST: Duration = Duration::from_secs(5);

impl Rail {
    /// Sends what is left, everywhere.
    pub fn part(&self, all: &mut Contexts<'_, Context>, service: &mut Context) {
        self.closing.store(true, Ordering::SeqCst);
        let begun = Instant::now();
        // Lanes and links.
        let mut said: Vec<(u16, usize)> = Vec::new();
        loop {
            let mut under_way = false;
            self.each_lane(all, service, |holder| under_way |= self.say_bye(holder, &mut said));
            if !under_way || begun.elapsed() > LONGEST {
                break;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Takes what is there for a lane, and says good-bye on its links. Whether something of it is under way.
    fn say_bye(&self, holder: &mut Holder<'_>, said: &mut Vec<(u16, usize)>) -> bool {
        self.take(holder);
        let sides = &holder.held.sides;
        let is_meant = |link: &usize| {
            let link = &sides[*link].link;
            link.purpose != Purpose::Memory && !link.peer.is_out()
        };
        let links: Vec<usize> = holder.held.links.values().copied().filter(is_meant).collect();
        let mut under_way = false;
        for link in links {
            let name = (holder.lane.number, link);
            if !said.contains(&name) {
                match self.push(holder, link, Frame::of(Kind::Bye, 0, 0), Body::Nothing) {
                    Status::NO_RESOURCE => under_way = true,
                    _ => said.push(name),
                }
            }
            let side = &holder.held.sides[link];
            under_way |= side.complete < side.posted;
        }
        under_way
    }

    /// Destroys all queue pairs, when nobody is left to use them.
    pub fn destroy_pairs(&self, all: &mut Contexts<'_, Context>, service: &mut Context) {
        self.each_lane(all, service, |holder| {
            holder.held.links.clear();
            holder.held.sides.iter_mut().for_each(|side| side.pair = None);
        });
        // And those that no lane has taken.
        for peer in self.peers() {
            peer.all().iter().for_each(|link| drop(link.take()));
        }
    }

    /// Holds each lane, as the first of its contexts.
    fn each_lane(
        &self,
        all: &mut Contexts<'_, Context>,
        service: &mut Context,
        mut run: impl FnMut(&mut Holder<'_>),
    ) {
        (0..self.place.lanes).for_each(|number| all.enter(number.into()).hold(&mut run));
        service.hold(run);
    }
}
