//! Offering rings (`ring.rs`), taking what lies in them in its turn, and leaving them before a sleep.

use crate::lane::{Event, Held, Lane};
use crate::link::Link;
use crate::outbound::Body;
use crate::rail::Rail;
use crate::ring::{RingIn, RingOut, State};
use crate::wire::{FRAME, Frame, Kind, Purpose};
use oxmpi_mca::Status;
use std::sync::Arc;

impl Rail {
    /// Offers a ring behind enough messages of a link, where lanes have a context each on both sides: slots then come back in order.
    pub fn may_offer(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        let settings = &self.settings;
        if !settings.use_eager_rdma || lane.is_shared() || link.purpose != Purpose::Messages {
            return;
        }
        let offer = {
            let mut side = link.side.borrow_mut();
            let side = &mut *side;
            side.hot += 1;
            let theirs = link.peer.place.get().is_some_and(|p| p.lanes == p.contexts);
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
                            held.rings.push(link.clone());
                            offer
                        }
                        Err(why) => {
                            // Messages go on as they came.
                            self.host.debug(&format!("no ring for process {}: {why}", link.peer.proc));
                            side.hot = 0;
                            return;
                        }
                    }
                }
            }
        };
        let frame = Frame::of(Kind::Ring, 0, 0);
        if self.push(lane, held, link, frame, Body::Bytes(&offer)).is_ok()
            && let Some(ring) = &mut link.side.borrow_mut().ring_in
        {
            ring.state = State::Open;
        }
    }

    /// The peer's word about rings. False: no honest peer says that.
    pub fn hear_of_ring(held: &mut Held, link: &Arc<Link>, kind: Kind, body: &[u8]) -> bool {
        let mut side = link.side.borrow_mut();
        let side = &mut *side;
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
                        held.owing.push(link.clone());
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
    pub fn look_into_rings(&self, lane: &Lane, held: &mut Held) -> usize {
        let rings = core::mem::take(&mut held.rings);
        let mut count = 0;
        for link in &rings {
            // As many as it has slots, then the others.
            let most = self.settings.eager_rdma_num;
            count += (0..most).take_while(|_| self.take_from_ring(lane, link)).count();
        }
        // No offer is made meanwhile.
        held.rings = rings;
        count
    }

    /// Takes one message. False: none is due.
    pub fn take_from_ring(&self, lane: &Lane, link: &Arc<Link>) -> bool {
        if link.peer.loss.is_declared() {
            return false;
        }
        let next = {
            let side = link.side.borrow();
            match side.ring_in.as_ref().map(RingIn::next) {
                None | Some(Ok(None)) => return false,
                Some(Ok(Some((at, len)))) => {
                    // SAFETY: of a frame at least.
                    let frame = Frame::decode(unsafe { &*at.cast::<[u8; FRAME]>() });
                    // One of the queue comes first.
                    if frame.is_some_and(|f| f.kind == Kind::Message && f.seq != side.heard) {
                        return false;
                    }
                    frame.map(|frame| (frame, at, len))
                }
                Some(Err(())) => None,
            }
        };
        let due = next.filter(|(frame, ..)| frame.kind == Kind::Message && self.is_due(lane, link, frame));
        let own = due.filter(|(f, ..)| self.contexts[usize::from(f.ctx)].lane == usize::from(lane.number));
        let Some((frame, at, len)) = own else {
            self.fail(&link.peer, "it wrote what no honest peer writes");
            return false;
        };
        let mut side = link.side.borrow_mut();
        side.heard = side.heard.wrapping_add(1);
        if let Some(ring) = &mut side.ring_in {
            ring.taken += 1;
        }
        let event = Event::Slot { link: Arc::as_ptr(link), frame, at, len: (len - FRAME) as u32 };
        self.contexts[usize::from(frame.ctx)].push_own(event);
        true
    }

    /// Asks senders to leave the rings of a lane. Whether all have, so that its holder may sleep.
    pub fn leave_rings(&self, lane: &Lane) -> bool {
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        let mut left = true;
        for link in held.rings.clone() {
            let state = link.side.borrow().ring_in.as_ref().map(|ring| ring.state);
            if state == Some(State::Open) {
                let asked = self.push(lane, held, &link, Frame::of(Kind::Hold, 0, 0), Body::Nothing);
                if let (Status::OK, Some(ring)) = (asked, &mut link.side.borrow_mut().ring_in) {
                    ring.state = State::Holding;
                }
            }
            left &= state == Some(State::Held) || link.peer.is_out();
        }
        left
    }
}
