//! Frames that came, checked: whether an honest peer sends such a one now, on this link.

use crate::lane::Lane;
use crate::link::Side;
use crate::rail::Rail;
use crate::wire::{Frame, Kind, Purpose};

impl Rail {
    /// Whether an honest peer sends such a frame now. Takes its credits.
    pub fn is_due(&self, lane: &Lane, side: &mut Side, frame: &Frame) -> bool {
        side.credits += u32::from(frame.credits);
        let slots = match &mut side.ring_out {
            Some(ring) => ring.gets_back(frame.slots),
            None => frame.slots == 0,
        };
        if !slots {
            return false;
        }
        let known = frame.ctx < self.place.contexts;
        let (serves, asks) = match side.link.purpose {
            Purpose::Service => (lane.number == self.service_lane(), lane.number != self.service_lane()),
            _ => (false, false),
        };
        let fits = match frame.kind {
            Kind::Message => side.link.purpose == Purpose::Messages && known,
            Kind::Credits | Kind::Bye => true,
            Kind::Ring | Kind::Hold | Kind::Held => side.link.purpose == Purpose::Messages,
            Kind::Request => serves,
            Kind::Reply => asks && side.asked > 0 && known,
        };
        if fits && frame.kind == Kind::Reply {
            side.asked -= 1;
        }
        fits && side.credits <= u32::from(u16::MAX)
    }
}
