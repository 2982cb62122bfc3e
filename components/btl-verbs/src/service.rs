//! Service links: requests from an ordinary lane to the service lane of a process, and the replies.
//!
//! A request that finds no connection yet, or no room, waits in its link and goes out in a later turn of its lane.
//! No more than [`SERVICE_ROOM`] requests of a link are without a reply, and each has reserved a receive buffer for it, so a
//! reply needs no credit. One for which there is no send buffer waits here, and goes out in a later turn, in order.

use crate::lane::{Held, Lane};
use crate::link::{Link, Peer, SERVICE_ROOM};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::{Frame, Kind, Purpose};
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use std::sync::Arc;

impl Rail {
    fn service_link<'a>(&self, peer: &'a Peer, lane: usize) -> Option<&'a Arc<Link>> {
        let slot = peer.service.get(lane)?;
        if let Some(link) = slot.get() {
            return Some(link);
        }
        let theirs = peer.core.place.get()?.lanes;
        Some(slot.get_or_init(|| peer.link((Purpose::Service, lane as u16, theirs))))
    }

    pub fn request(&self, peer: &Peer, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let lane = &self.lanes[self.contexts[ctx as usize].lane];
        let Some(link) = self.service_link(peer, usize::from(lane.number)) else { return Status::BAD_PARAM };
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        if link.side.borrow().asked >= SERVICE_ROOM {
            return Status::NO_RESOURCE;
        }
        let (tag, ctx) = (msg.tag(), ctx as u16);
        if link.side.borrow().waiting.is_empty() {
            let frame = Frame::of(Kind::Request, tag, ctx);
            match self.push(lane, held, link, frame, Body::Message(msg)) {
                Status::NO_RESOURCE => {}
                status => {
                    link.side.borrow_mut().asked += u32::from(status.is_ok());
                    return status;
                }
            }
            held.waiting.push(link.clone());
        }
        let mut side = link.side.borrow_mut();
        side.waiting.push_back((ctx, tag, copy(msg)));
        side.asked += 1;
        Status::OK
    }

    /// Sends requests that wait.
    pub fn send_requests(&self, lane: &Lane, held: &mut Held) {
        for link in core::mem::take(&mut held.waiting) {
            loop {
                let Some((ctx, tag, bytes)) = link.side.borrow_mut().waiting.pop_front() else { break };
                let frame = Frame::of(Kind::Request, tag, ctx);
                if self.push(lane, held, &link, frame, Body::Bytes(&bytes)) == Status::NO_RESOURCE {
                    link.side.borrow_mut().waiting.push_front((ctx, tag, bytes));
                    held.waiting.push(link);
                    break;
                }
            }
        }
    }

    /// Answers the request whose receiver is running.
    pub fn reply(&self, request: u64, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let Some((at, ctx)) = self.service.current.get().filter(|(link, _)| *link as u64 == request) else {
            return Status::BAD_PARAM;
        };
        self.service.current.set(None);
        let lane = &self.lanes[usize::from(self.service_lane())];
        let mut guard = lane.enter();
        // SAFETY: links live as long as the rail.
        let number = unsafe { &*at }.side.borrow().pair.as_ref().map(|p| p.number());
        let Some(link) = number.and_then(|n| guard.held.links.get(&n)).cloned() else {
            return Status::PEER_FAILED;
        };
        let frame = Frame::of(Kind::Reply, msg.tag(), ctx);
        let mut unsent = self.service.unsent.borrow_mut();
        if unsent.is_empty() {
            let status = self.push(lane, &mut guard.held, &link, frame, Body::Message(msg));
            if status != Status::NO_RESOURCE {
                return status;
            }
        }
        unsent.push_back((link, ctx, msg.tag(), copy(msg)));
        Status::OK
    }

    /// Sends replies that wait. How many.
    pub fn send_replies(&self) -> i32 {
        let mut unsent = self.service.unsent.borrow_mut();
        if unsent.is_empty() {
            return 0;
        }
        let lane = &self.lanes[usize::from(self.service_lane())];
        let mut guard = lane.enter();
        let mut sent = 0;
        while let Some((link, ctx, tag, bytes)) = unsent.front() {
            let frame = Frame::of(Kind::Reply, *tag, *ctx);
            if self.push(lane, &mut guard.held, link, frame, Body::Bytes(bytes)) == Status::NO_RESOURCE {
                break;
            }
            // Also where the requester is gone: nobody waits for it.
            unsent.pop_front();
            sent += 1;
        }
        sent
    }
}

/// Header and payload.
fn copy(msg: &Message<'_>) -> Box<[u8]> {
    let mut bytes = vec![0; msg.total_len()];
    let header = msg.header();
    bytes[..header.len()].copy_from_slice(header);
    // SAFETY: so many bytes are behind the header.
    unsafe { msg.write_payload(bytes[header.len()..].as_mut_ptr()) };
    bytes.into()
}
