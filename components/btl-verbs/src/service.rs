//! Service links: requests from an ordinary lane to the service lane of a process, and the replies.
//!
//! No more than [`SERVICE_ROOM`] requests of a link are without a reply, and each has reserved a receive buffer for it, so a
//! reply needs no credit. One for which there is no send buffer waits here, and goes out in a later turn, in order.

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
        if link.side.borrow().asked >= SERVICE_ROOM {
            return Status::NO_RESOURCE;
        }
        let frame = Frame { kind: Kind::Request, tag: msg.tag(), ctx: ctx as u16, credits: 0 };
        let status = self.push(lane, &mut guard.held, link, frame, Body::Message(msg));
        if status.is_ok() {
            link.side.borrow_mut().asked += 1;
        }
        status
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
        let frame = Frame { kind: Kind::Reply, tag: msg.tag(), ctx, credits: 0 };
        let mut unsent = self.service.unsent.borrow_mut();
        if unsent.is_empty() {
            let status = self.push(lane, &mut guard.held, &link, frame, Body::Message(msg));
            if status != Status::NO_RESOURCE {
                return status;
            }
        }
        let mut bytes = vec![0; msg.total_len()];
        let header = msg.header();
        bytes[..header.len()].copy_from_slice(header);
        // SAFETY: so many bytes are behind the header.
        unsafe { msg.write_payload(bytes[header.len()..].as_mut_ptr()) };
        unsent.push_back((link, ctx, msg.tag(), bytes.into()));
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
            let frame = Frame { kind: Kind::Reply, tag: *tag, ctx: *ctx, credits: 0 };
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
