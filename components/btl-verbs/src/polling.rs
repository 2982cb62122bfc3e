//! Offering rings (`ring.rs`), taking what lies in them in its turn, and leaving them before a sleep.

use crate::context::{Event, Holder};
use crate::lane::Held;
use crate::outbound::Body;
use crate::rail::Rail;
use crate::ring::{RingIn, RingOut, State};
use crate::wire::{FRAME, Frame, Kind, Purpose};
use oxmpi_mca::Status;

impl Rail {
    /// Offers a ring behind enough messages of a link, where lanes have a context each on both sides: slots then come back in order.
    pub fn may_offer(&self, holder: &mut Holder<'_>, link: usize) {
        let (settings, lane, held) = (&self.settings, holder.lane, &mut *holder.held);
        let side = &mut held.sides[link];
        if !settings.use_eager_rdma || lane.is_shared || side.link.purpose != Purpose::Messages {
            return;
        }
        let offer = {
            side.hot += 1;
            let theirs = side.link.peer.place.get().is_some_and(|p| p.lanes == p.contexts);
            if side.hot < settings.eager_rdma_threshold || !theirs {
                return;
            }
            match &side.ring_in {
                Some(ring) if ring.state != State::Held => return,
                Some(ring) => ring.offer(),
                None if held.rings.len() >= settings.max_eager_rdma => return,
                None => {
                    match RingIn::new(&lane.protection, settings.eager_rdma_num, settings.eager_limit + FRAME)
                    {
                        Ok(mut ring) => {
                            let offer = ring.offer();
                            ring.state = State::Held;
                            side.ring_in = Some(ring);
                            held.rings.push(link);
                            offer
                        }
                        Err(why) => {
                            // Messages go on as they came.
                            self.host.debug(&format!("no ring for process {}: {why}", side.link.peer.proc));
                            side.hot = 0;
                            return;
                        }
                    }
                }
            }
        };
        let frame = Frame::of(Kind::Ring, 0, 0);
        if self.push(holder, link, frame, Body::Bytes(&offer)).is_ok()
            && let Some(ring) = &mut holder.held.sides[link].ring_in
        {
            ring.state = State::Open;
        }
    }

    /// The peer's word about rings. False: no honest peer says that.
    pub fn hear_of_ring(held: &mut Held, link: usize, kind: Kind, body: &[u8]) -> bool {
        let side = &mut held.sides[link];
        match kind {
            Kind::Ring => match (&mut side.ring_out, RingOut::read(body)) {
                (Some(ring), Some(again)) => {
                    ring.open = true;
                    ring.addr == again.addr
                }
                (none, Some(ring)) => {
                    *none = Some(ring);
                    true
                }
                (_, None) => false,
            },
            Kind::Hold => match &mut side.ring_out {
                Some(ring) => {
                    ring.open = false;
                    side.leaves_ring = true;
                    if !core::mem::replace(&mut side.owing, true) {
                        held.owing.push(link);
                    }
                    true
                }
                None => false,
            },
            _ => match &mut side.ring_in {
                Some(ring) if ring.state == State::Holding => {
                    (ring.state, side.hot) = (State::Held, 0);
                    true
                }
                _ => false,
            },
        }
    }

    /// Takes what lies in the rings of a lane. How many messages.
    pub fn look_into_rings(&self, holder: &mut Holder<'_>) -> usize {
        let rings = core::mem::take(&mut holder.held.rings);
        let mut count = 0;
        for link in &rings {
            // As many as it has slots, then the others.
            let most = self.settings.eager_rdma_num;
            count += (0..most).take_while(|_| self.take_from_ring(holder, *link)).count();
        }
        // No offer is made meanwhile.
        holder.held.rings = rings;
        count
    }

    /// Takes one message. False: none is due.
    pub fn take_from_ring(&self, holder: &mut Holder<'_>, link: usize) -> bool {
        let (lane, side) = (holder.lane, &mut holder.held.sides[link]);
        if side.link.peer.loss.is_declared() {
            return false;
        }
        let next = match side.ring_in.as_ref().map(RingIn::next) {
            None | Some(Ok(None)) => return false,
            Some(Ok(Some(written))) => {
                // One of the queue comes first.
                if written.frame.is_some_and(|f| f.kind == Kind::Message && f.seq != side.heard) {
                    return false;
                }
                written.frame.map(|frame| (frame, written.at, written.len))
            }
            Some(Err(())) => None,
        };
        let due = next.filter(|(frame, ..)| frame.kind == Kind::Message && self.is_due(lane, side, frame));
        let own = due.filter(|(f, ..)| self.inboxes[usize::from(f.ctx)].lane == usize::from(lane.number));
        let Some((frame, at, len)) = own else {
            self.fail(&side.link.peer, "it wrote what no honest peer writes");
            return false;
        };
        side.heard = side.heard.wrapping_add(1);
        if let Some(ring) = &mut side.ring_in {
            ring.taken += 1;
        }
        let proc = side.link.peer.proc;
        holder.own.push_back(Event::Slot { link, proc, frame, at, len: (len - FRAME) as u32 });
        true
    }

    /// Asks senders to leave the rings of a lane. Whether all have, so that its holder may sleep.
    pub fn leave_rings(&self, holder: &mut Holder<'_>) -> bool {
        let mut left = true;
        for link in holder.held.rings.clone() {
            let state = holder.held.sides[link].ring_in.as_ref().map(|ring| ring.state);
            if state == Some(State::Open) {
                let asked = self.push(holder, link, Frame::of(Kind::Hold, 0, 0), Body::Nothing);
                if let (Status::OK, Some(ring)) = (asked, &mut holder.held.sides[link].ring_in) {
                    ring.state = State::Holding;
                }
            }
            left &= state == Some(State::Held) || holder.held.sides[link].link.peer.is_out();
        }
        left
    }
}
