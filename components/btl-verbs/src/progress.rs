//! A turn of a context: links that were made, what the device reports, and what is handed up.
//!
//! Reports are taken by the holder of the lane and sorted into the queues of its contexts; then what is in the context's own queue is handed
//! up one by one, with nothing of the context borrowed and no lock held, since a receiver may send. A message lies in its receive buffer meanwhile,
//! which goes back to the device behind it.

use crate::context::{Asked, Event, Holder, Turns};
use crate::lane::{Buffer, Held};
use crate::outbound::Body;
use crate::queue::number_of;
use crate::rail::Rail;
use crate::wire::{FRAME, Frame, Kind, Purpose};
use core::sync::atomic::Ordering;
use oxmpi_btl::{Arrival, Bytes, Entered};
use oxmpi_mca::Status;
use oxmpi_verbs_abi::Wc;
use oxmpi_verbs_abi::numbers::wc_status;

/// Things handed up in one turn at most, so that other transports get theirs.
const BATCH: i32 = 64;

impl Rail {
    /// Takes and hands up; how much.
    pub fn turn<C: Turns>(&self, at: &mut Entered<'_, C>) -> i32 {
        let mut handled = 0;
        while handled < BATCH {
            match at.context().next() {
                Some(event) => {
                    handled += 1;
                    if self.hand_up(at, event) {
                        break;
                    }
                }
                None => match at.context().hold(|holder| self.take(holder)) {
                    0 => break,
                    // Reports count once: as what they bring to be handed up, or not at all.
                    _ if at.context().is_empty() => handled += 1,
                    _ => {}
                },
            }
        }
        handled
    }

    /// Takes what is there for a lane. How many reports.
    pub fn take(&self, holder: &mut Holder<'_>) -> usize {
        let count = self.look(holder);
        if !holder.held.owing.is_empty() {
            self.give_credits(holder);
        }
        if !holder.held.waiting.is_empty() {
            self.send_requests(holder);
        }
        count
    }

    /// Takes what the device reports, and hands nothing up: a sender in want of room may do so, too.
    pub fn look(&self, holder: &mut Holder<'_>) -> usize {
        let lane = holder.lane;
        if lane.news.load(Ordering::Acquire) {
            self.take_over_links(holder);
        }
        if !holder.held.listed.is_empty() {
            self.post_listed(holder);
        }
        let mut entries = core::mem::take(&mut holder.held.entries);
        let mut others = Vec::new();
        let got = lane.queue.take(lane.number, &mut holder.held.reports, &mut entries, &mut others);
        others.iter().for_each(|lane| self.wake(usize::from(*lane)));
        let count = got.unwrap_or_else(|()| {
            self.fail_all(&format!("a completion queue of {} is lost", self.port.name));
            0
        });
        for wc in &entries[..count] {
            self.report(holder, wc);
        }
        holder.held.entries = entries;
        if holder.held.rings.is_empty() { count } else { count + self.look_into_rings(holder) }
    }

    /// Takes over links that were made, and lets go of those whose peer is lost.
    #[cold]
    pub fn take_over_links(&self, holder: &mut Holder<'_>) {
        let lane = holder.lane;
        for link in lane.news() {
            let Some(made) = link.take() else { continue };
            let held = &mut *holder.held;
            if link.is_over() {
                lane.end(&mut held.reports, made.pair);
                continue;
            }
            let number = held.number(&link);
            let side = &mut held.sides[number];
            side.up = made.called;
            (side.credits, side.granted) = (made.credits, made.granted);
            held.links.insert(made.pair.number(), number);
            side.pair = Some(made.pair);
            if link.purpose == Purpose::Memory {
                self.issue_again(holder, number);
            } else if made.called && !link.peer.is_out() {
                self.say_hello(lane, side);
            }
        }
        let Held { sides, links, memory, .. } = &*holder.held;
        let all = links.values().chain(memory).copied();
        let lost: Vec<usize> = all.filter(|number| sides[*number].link.is_over()).collect();
        lost.into_iter().for_each(|link| self.drop_pair(holder, link));
    }

    /// The pair of a lost peer goes, and with it all that is under way.
    fn drop_pair(&self, holder: &mut Holder<'_>, link: usize) {
        Rail::complete(holder, link, holder.held.sides[link].posted);
        let held = &mut *holder.held;
        let side = &mut held.sides[link];
        side.ring_out = None;
        // The memory of our ring stays: what was taken out of it may not be handed up yet.
        held.rings.retain(|ring| *ring != link);
        if let Some(pair) = side.pair.take() {
            held.links.remove(&pair.number());
            holder.lane.end(&mut held.reports, pair);
        }
        self.fail_operations(holder, link);
    }

    fn report(&self, holder: &mut Holder<'_>, wc: &Wc) {
        let mut link = holder.held.links.get(&wc.qp_num).copied();
        if link.is_none() && holder.lane.news.load(Ordering::Acquire) {
            // The first message may be faster than the news.
            self.take_over_links(holder);
            link = holder.held.links.get(&wc.qp_num).copied();
        }
        if wc.wr_id & 1 == 0 {
            // SAFETY: the lane's queue has given this report, once, of a receive; the rail has its lanes as long as anything is taken from them.
            let buffer = unsafe { Buffer::of(wc) };
            match link {
                Some(link) => self.received(holder, link, wc, buffer),
                // Of a pair that is gone.
                None => _ = holder.lane.post_receive(buffer),
            }
        } else if let Some(link) = link {
            match holder.held.sides[link].link.purpose {
                Purpose::Memory => self.operation_report(holder, link, wc),
                _ => self.sent(holder, link, wc),
            }
        }
    }

    fn sent(&self, holder: &mut Holder<'_>, link: usize, wc: &Wc) {
        let number = number_of(wc.wr_id, holder.held.sides[link].posted);
        Rail::complete(holder, link, number);
        if wc.status != wc_status::SUCCESS {
            self.lost(&holder.held.sides[link].link, wc);
        }
    }

    fn received(&self, holder: &mut Holder<'_>, link: usize, wc: &Wc, buffer: Buffer) {
        let lane = holder.lane;
        let side = &mut holder.held.sides[link];
        if wc.status != wc_status::SUCCESS {
            lane.post_receive(buffer);
            // Flushed with its pair; whatever else is the end of the connection.
            if wc.status != wc_status::WR_FLUSH_ERR {
                self.lost(&side.link, wc);
            }
            return;
        }
        if wc.byte_len == 0 {
            side.up = true;
            lane.post_receive(buffer);
            return;
        }
        let frame = buffer.bytes().first_chunk::<FRAME>().and_then(Frame::decode);
        let Some(frame) = frame.filter(|f| self.is_due(lane, side, f)) else {
            lane.post_receive(buffer);
            return self.fail(&side.link.peer, "it sent what no honest peer sends");
        };
        match frame.kind {
            Kind::Credits => {}
            Kind::Bye => {
                // All that was written before lies in its slot.
                while self.take_from_ring(holder, link) {}
                holder.held.sides[link].link.peer.gone.store(true, Ordering::Release);
            }
            Kind::Ring | Kind::Hold | Kind::Held => {
                if !Rail::hear_of_ring(holder.held, link, frame.kind, buffer.body()) {
                    let peer = &holder.held.sides[link].link.peer;
                    self.fail(peer, "it says of a ring what no honest peer says");
                }
            }
            kind => {
                if kind == Kind::Message && !self.is_next(holder, link, frame.seq) {
                    lane.post_receive(buffer);
                    return self.fail(&holder.held.sides[link].link.peer, "a message of it is missing");
                }
                self.sort(holder, link, frame, buffer);
                if kind == Kind::Message {
                    self.may_offer(holder, link);
                }
                return;
            }
        }
        lane.post_receive(buffer);
    }

    /// Takes the messages that were written before one that was sent. False: they are not there.
    fn is_next(&self, holder: &mut Holder<'_>, link: usize, seq: u32) -> bool {
        while holder.held.sides[link].heard != seq {
            if !self.take_from_ring(holder, link) {
                return false;
            }
        }
        let side = &mut holder.held.sides[link];
        side.heard = side.heard.wrapping_add(1);
        true
    }

    /// A message into the queue of its context.
    fn sort(&self, holder: &mut Holder<'_>, link: usize, frame: Frame, buffer: Buffer) {
        let lane = holder.lane;
        let asked = frame.kind == Kind::Request;
        let number = if asked { self.service_context() as usize } else { usize::from(frame.ctx) };
        let (inbox, proc) = (&self.inboxes[number], holder.held.sides[link].link.peer.proc);
        if lane.is_shared {
            return inbox.push(Event::Message { link, proc, frame, buffer });
        }
        if inbox.lane == usize::from(lane.number) {
            return holder.own.push_back(Event::Message { link, proc, frame, buffer });
        }
        // Of a context that this lane's holder does not hold: its peer has fewer lanes.
        inbox.push(Event::Copied { proc, tag: frame.tag, bytes: buffer.body().into() });
        lane.post_receive(buffer);
        Rail::owe(holder.held, link);
    }

    /// A message has been taken.
    fn owe(held: &mut Held, link: usize) {
        let side = &mut held.sides[link];
        side.owed += 1;
        if side.owed * 2 >= side.granted && !side.owing && side.pair.is_some() {
            side.owing = true;
            held.owing.push(link);
        }
    }

    /// Tells peers that do not get them with a message of ours what we have taken.
    fn give_credits(&self, holder: &mut Holder<'_>) {
        for link in core::mem::take(&mut holder.held.owing) {
            let side = &mut holder.held.sides[link];
            side.owing = false;
            if !side.owes(self.settings.eager_rdma_num) {
                continue;
            }
            let frame = Frame::of(if side.leaves_ring { Kind::Held } else { Kind::Credits }, 0, 0);
            let status = self.push(holder, link, frame, Body::Nothing);
            let side = &mut holder.held.sides[link];
            if status == Status::NO_RESOURCE {
                side.owing = true;
                holder.held.owing.push(link);
            } else {
                side.leaves_ring = false;
            }
        }
    }

    /// Gives an event to its receiver. Whether that wants the turn to end.
    fn hand_up<C: Turns>(&self, at: &mut Entered<'_, C>, event: Event) -> bool {
        let closing = self.closing.load(Ordering::Relaxed);
        let deliver = |at: &mut Entered<'_, C>, proc, tag, bytes, link| {
            !closing && at.deliver(&self.host, Arrival { proc, tag, bytes, link }).stops()
        };
        match event {
            Event::Done { done, status } => {
                at.complete(done, status);
                false
            }
            Event::Copied { proc, tag, bytes } => deliver(at, proc, tag, Bytes::from(&*bytes), 0),
            Event::Slot { link, proc, frame, at: slot, len } => {
                // SAFETY: so many bytes of a slot of the link's ring, which is there as long as the lane's data. The peer writes there again when it has
                // been told that the slot is empty, and whatever it writes before is its own bytes.
                let bytes = unsafe { Bytes::new((slot + FRAME) as *const u8, len.into()) };
                let stops = deliver(at, proc, frame.tag, bytes, 0);
                at.context().hold(|holder| self.emptied(holder.held, link));
                stops
            }
            Event::Message { link, proc, frame, buffer } => {
                let asked = (frame.kind == Kind::Request).then_some(Asked { link, ctx: frame.ctx });
                if asked.is_some() {
                    at.serves(asked);
                }
                let request = asked.map_or(0, Asked::name);
                let stops = deliver(at, proc, frame.tag, Bytes::from(buffer.body()), request);
                if asked.is_some() {
                    at.serves(None);
                }
                at.context().hold(|holder| {
                    holder.lane.post_receive(buffer);
                    // A reply took the place that its request had reserved.
                    if frame.kind != Kind::Reply {
                        Rail::owe(holder.held, link);
                    }
                });
                stops
            }
        }
    }

    /// The slot of a message may be written again.
    fn emptied(&self, held: &mut Held, link: usize) {
        let side = &mut held.sides[link];
        side.emptied += 1;
        if side.emptied * 2 >= self.settings.eager_rdma_num && !side.owing && side.pair.is_some() {
            side.owing = true;
            held.owing.push(link);
        }
    }
}
