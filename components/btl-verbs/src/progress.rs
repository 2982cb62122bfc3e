//! A turn of a context: links that were made, what the device reports, and what is handed up.
//!
//! Reports are taken by the holder of the lane and sorted into the queues of its contexts; then what is in the context's own queue is handed
//! up one by one, with nothing borrowed and no lock held, since a receiver may send. A message lies in its receive buffer meanwhile, which goes
//! back to the device behind it.

use crate::lane::{Context, Event, Held, Lane, PREFIX};
use crate::link::{Link, Side};
use crate::outbound::Body;
use crate::queue::{number_of, unmarked};
use crate::rail::Rail;
use crate::wire::{FRAME, Frame, Kind, Purpose};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_mca::host::receive;
use oxmpi_mca::{RecvDesc, Status};
use oxmpi_verbs_abi::Wc;
use oxmpi_verbs_abi::numbers::wc_status;
use std::sync::Arc;

/// Things handed up in one turn at most, so that other transports get theirs.
const BATCH: i32 = 64;

impl Rail {
    /// Takes and hands up; how much. `module`: what messages name.
    pub fn turn(&self, number: u32, module: *mut c_void) -> i32 {
        let context = &self.contexts[number as usize];
        let lane = &self.lanes[context.lane];
        let mut handled = 0;
        while handled < BATCH {
            match context.next() {
                Some(event) => {
                    handled += 1;
                    if self.hand_up(context, event, module) == receive::STOP {
                        break;
                    }
                }
                None => match self.take(lane) {
                    0 => break,
                    // Reports count once: as what they bring to be handed up, or not at all.
                    _ if context.is_empty() => handled += 1,
                    _ => {}
                },
            }
        }
        handled
    }

    /// Takes what is there for a lane. How many reports.
    pub fn take(&self, lane: &Lane) -> usize {
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        let count = self.look(lane, held);
        if !held.owing.is_empty() {
            self.give_credits(lane, held);
        }
        if !held.waiting.is_empty() {
            self.send_requests(lane, held);
        }
        count
    }

    /// Takes what the device reports, and hands nothing up: a sender in want of room may do so, too.
    pub fn look(&self, lane: &Lane, held: &mut Held) -> usize {
        if lane.news.load(Ordering::Acquire) {
            self.take_over_links(lane, held);
        }
        if !held.listed.is_empty() {
            self.post_listed(lane, held);
        }
        let mut entries = core::mem::take(&mut held.entries);
        let mut others = Vec::new();
        let got = lane.queue.take(lane.number, &mut entries, &mut others);
        others.iter().for_each(|lane| self.wake(usize::from(*lane)));
        let count = got.unwrap_or_else(|()| {
            self.fail_all(&format!("a completion queue of {} is lost", self.port.name));
            0
        });
        for wc in &entries[..count] {
            self.report(lane, held, wc);
        }
        held.entries = entries;
        if held.rings.is_empty() { count } else { count + self.look_into_rings(lane, held) }
    }

    /// Takes over links that were made, and lets go of those whose peer is lost.
    #[cold]
    pub fn take_over_links(&self, lane: &Lane, held: &mut Held) {
        for link in lane.news() {
            let Some(made) = link.take() else { continue };
            if link.is_over() {
                lane.end(made.pair);
                continue;
            }
            {
                let mut side = link.side.borrow_mut();
                side.up = made.called;
                (side.credits, side.granted) = (made.credits, made.granted);
                held.links.insert(made.pair.number(), link.clone());
                side.pair = Some(made.pair);
            }
            if link.purpose == Purpose::Memory {
                self.issue_again(lane, held, &link);
            } else if made.called && !link.peer.is_out() {
                self.say_hello(lane, &link);
            }
        }
        let lost: Vec<Arc<Link>> =
            held.links.values().chain(&held.memory).filter(|l| l.is_over()).cloned().collect();
        lost.iter().for_each(|link| self.drop_pair(lane, held, link));
    }

    /// The pair of a lost peer goes, and with it all that is under way.
    fn drop_pair(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        let pair = {
            let mut side = link.side.borrow_mut();
            let posted = side.posted;
            Rail::complete(lane, held, &mut side, posted);
            side.ring_out = None;
            side.pair.take()
        };
        if let Some(pair) = &pair {
            held.links.remove(&pair.number());
        }
        // Its memory stays: what was taken out of it may not be handed up yet.
        held.rings.retain(|l| !Arc::ptr_eq(l, link));
        if let Some(pair) = pair {
            lane.end(pair);
        }
        self.fail_operations(lane, held, link);
    }

    fn report(&self, lane: &Lane, held: &mut Held, wc: &Wc) {
        let mut link = held.links.get(&wc.qp_num).cloned();
        if link.is_none() && lane.news.load(Ordering::Acquire) {
            // The first message may be faster than the news.
            self.take_over_links(lane, held);
            link = held.links.get(&wc.qp_num).cloned();
        }
        let is_send = wc.wr_id & 1 != 0;
        let Some(link) = link else {
            // Of a pair that is gone.
            if !is_send {
                lane.post_receive(unmarked(wc.wr_id));
            }
            return;
        };
        match (is_send, link.purpose) {
            (true, Purpose::Memory) => self.operation_report(lane, held, &link, wc),
            (true, _) => self.sent(lane, held, &link, wc),
            (false, _) => self.received(lane, held, &link, wc),
        }
    }

    fn sent(&self, lane: &Lane, held: &mut Held, link: &Link, wc: &Wc) {
        {
            let mut side = link.side.borrow_mut();
            let number = number_of(wc.wr_id, side.posted);
            Rail::complete(lane, held, &mut side, number);
        }
        if wc.status != wc_status::SUCCESS {
            self.lost(link, wc);
        }
    }

    fn received(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>, wc: &Wc) {
        let (buffer, len) = (unmarked(wc.wr_id), wc.byte_len as usize);
        if wc.status != wc_status::SUCCESS {
            lane.post_receive(buffer);
            // Flushed with its pair; whatever else is the end of the connection.
            if wc.status != wc_status::WR_FLUSH_ERR {
                self.lost(link, wc);
            }
            return;
        }
        if len == 0 {
            link.side.borrow_mut().up = true;
            lane.post_receive(buffer);
            return;
        }
        let base = (buffer as usize + PREFIX) as *const [u8; FRAME];
        // SAFETY: a receive buffer of this lane, of a frame at least.
        let frame = if len < FRAME { None } else { Frame::decode(unsafe { &*base }) };
        let Some(frame) = frame.filter(|f| self.is_due(lane, link, f)) else {
            lane.post_receive(buffer);
            return self.fail(&link.peer, "it sent what no honest peer sends");
        };
        match frame.kind {
            Kind::Credits => {}
            Kind::Bye => {
                // All that was written before lies in its slot.
                while self.take_from_ring(lane, link) {}
                link.peer.gone.store(true, Ordering::Release);
            }
            Kind::Ring | Kind::Hold | Kind::Held => {
                let at = (buffer as usize + PREFIX + FRAME) as *const u8;
                // SAFETY: a receive buffer of this lane with so many bytes behind its frame.
                let body = unsafe { core::slice::from_raw_parts(at, len - FRAME) };
                if !Rail::hear_of_ring(held, link, frame.kind, body) {
                    self.fail(&link.peer, "it says of a ring what no honest peer says");
                }
            }
            kind => {
                if kind == Kind::Message && !self.is_next(lane, link, frame.seq) {
                    lane.post_receive(buffer);
                    return self.fail(&link.peer, "a message of it is missing");
                }
                self.sort(lane, held, link, frame, buffer, (len - FRAME) as u32);
                if kind == Kind::Message {
                    self.may_offer(lane, held, link);
                }
                return;
            }
        }
        lane.post_receive(buffer);
    }

    /// Takes the messages that were written before one that was sent. False: they are not there.
    fn is_next(&self, lane: &Lane, link: &Arc<Link>, seq: u32) -> bool {
        while link.side.borrow().heard != seq {
            if !self.take_from_ring(lane, link) {
                return false;
            }
        }
        let mut side = link.side.borrow_mut();
        side.heard = side.heard.wrapping_add(1);
        true
    }

    /// A message into the queue of its context.
    fn sort(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>, frame: Frame, buffer: u64, len: u32) {
        let asked = frame.kind == Kind::Request;
        let number = if asked { self.service_context() as usize } else { usize::from(frame.ctx) };
        let context = &self.contexts[number];
        if lane.is_shared() {
            return context.push_foreign(Event::Message { link: Arc::as_ptr(link), frame, buffer, len });
        }
        if context.lane == usize::from(lane.number) {
            return context.push_own(Event::Message { link: Arc::as_ptr(link), frame, buffer, len });
        }
        // Of a context that this lane's holder does not hold: its peer has fewer lanes.
        let at = (buffer as usize + PREFIX + FRAME) as *const u8;
        // SAFETY: a receive buffer of this lane with so many bytes behind its frame.
        let bytes = unsafe { core::slice::from_raw_parts(at, len as usize) };
        context.push_foreign(Event::Copied { proc: link.peer.proc, tag: frame.tag, bytes: bytes.into() });
        lane.post_receive(buffer);
        Rail::owe(held, link, &mut link.side.borrow_mut());
    }

    /// A message has been taken.
    fn owe(held: &mut Held, link: &Arc<Link>, side: &mut Side) {
        side.owed += 1;
        if side.owed * 2 >= side.granted && !side.owing {
            side.owing = true;
            held.owing.push(link.clone());
        }
    }

    /// Tells peers that do not get them with a message of ours what we have taken.
    fn give_credits(&self, lane: &Lane, held: &mut Held) {
        for link in core::mem::take(&mut held.owing) {
            link.side.borrow_mut().owing = false;
            let (owes, leaves) = {
                let side = link.side.borrow();
                (side.owes(self.settings.eager_rdma_num), side.leaves_ring)
            };
            if !owes {
                continue;
            }
            let frame = Frame::of(if leaves { Kind::Held } else { Kind::Credits }, 0, 0);
            if self.push(lane, held, &link, frame, Body::Nothing) == Status::NO_RESOURCE {
                link.side.borrow_mut().owing = true;
                held.owing.push(link);
            } else {
                link.side.borrow_mut().leaves_ring = false;
            }
        }
    }

    /// Gives an event to its receiver, and returns the receiver's answer.
    fn hand_up(&self, context: &Context, event: Event, module: *mut c_void) -> u32 {
        let closing = self.closing.load(Ordering::Relaxed);
        let call = |proc, tag, data: *const u8, len: u64, link| {
            if closing {
                return receive::CONTINUE;
            }
            let row = self.host.am(tag);
            let desc = RecvDesc { data, len, proc, ctx: context.number, module, link };
            (row.receive)(row.ctx, &desc)
        };
        match event {
            Event::Done { done, ctx, status } => {
                if let Some(done) = done {
                    done(ctx, status);
                }
                receive::CONTINUE
            }
            Event::Copied { proc, tag, bytes } => call(proc, tag, bytes.as_ptr(), bytes.len() as u64, 0),
            Event::Slot { link: from, frame, at, len } => {
                // SAFETY: links live as long as the rail.
                let link = unsafe { &*from };
                let answer = call(link.peer.proc, frame.tag, at.wrapping_add(FRAME), len.into(), 0);
                self.emptied(link);
                answer
            }
            Event::Message { link: at, frame, buffer, len } => {
                // SAFETY: links live as long as the rail.
                let link = unsafe { &*at };
                let data = (buffer as usize + PREFIX + FRAME) as *const u8;
                let is_request = frame.kind == Kind::Request;
                if is_request {
                    self.service.current.set(Some((at, frame.ctx)));
                }
                let request = if is_request { at as u64 } else { 0 };
                let answer = call(link.peer.proc, frame.tag, data, len.into(), request);
                if is_request {
                    self.service.current.set(None);
                }
                self.took(link, buffer, frame.kind);
                answer
            }
        }
    }

    /// The slot of a message may be written again.
    fn emptied(&self, link: &Link) {
        let lane = &self.lanes[usize::from(link.ours)];
        let mut guard = lane.enter();
        let mut side = link.side.borrow_mut();
        side.emptied += 1;
        if side.emptied * 2 >= self.settings.eager_rdma_num && !side.owing {
            let number = side.pair.as_ref().map(|p| p.number());
            if let Some(link) = number.and_then(|n| guard.held.links.get(&n)).cloned() {
                side.owing = true;
                guard.held.owing.push(link);
            }
        }
    }

    /// The buffer of a message goes back to the device.
    fn took(&self, link: &Link, buffer: u64, kind: Kind) {
        let lane = &self.lanes[usize::from(link.ours)];
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        lane.post_receive(buffer);
        if kind == Kind::Reply {
            // It took the place that its request had reserved.
            return;
        }
        let mut side = link.side.borrow_mut();
        side.owed += 1;
        if side.owed * 2 >= side.granted && !side.owing {
            let number = side.pair.as_ref().map(|p| p.number());
            if let Some(link) = number.and_then(|n| held.links.get(&n)).cloned() {
                side.owing = true;
                held.owing.push(link);
            }
        }
    }
}
