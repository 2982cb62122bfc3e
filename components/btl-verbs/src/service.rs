//! Service links: requests from an ordinary lane to the service lane of a process, and the replies.
//!
//! A request that finds no connection yet, or no room, waits in its link and goes out in a later turn of its lane.
//! No more than [`SERVICE_ROOM`] requests of a link are without a reply, and each has reserved a receive buffer for it, so a
//! reply needs no credit. One for which there is no send buffer waits here, and goes out in a later turn, in order.

use crate::context::{Asked, Context, Holder, Turns};
use crate::link::{Link, Peer, SERVICE_ROOM};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::{Frame, Kind, Purpose};
use oxmpi_btl::{Entered, Message};
use oxmpi_mca::Status;
use std::collections::VecDeque;
use std::sync::Arc;

/// The service context.
pub struct Service {
    pub context: Context,
    /// The request whose receiver is running, until it is answered.
    current: Option<Asked>,
    /// Replies for which there was no room: to which request, tag, bytes.
    unsent: VecDeque<(Asked, u8, Box<[u8]>)>,
}

impl Service {
    /// Makes a service context of a context of its lane.
    pub fn new(context: Context) -> Service {
        Service { context, current: None, unsent: VecDeque::new() }
    }
}

impl Turns for Service {
    fn context(&mut self) -> &mut Context {
        &mut self.context
    }
    fn serves(&mut self, request: Option<Asked>) {
        self.current = request;
    }
}

impl Rail {
    fn service_link<'a>(&self, peer: &'a Peer, lane: usize) -> Option<&'a Arc<Link>> {
        let slot = peer.service.get(lane)?;
        if let Some(link) = slot.get() {
            return Some(link);
        }
        let theirs = peer.core.place.get()?.lanes;
        Some(slot.get_or_init(|| peer.link((Purpose::Service, lane as u16, theirs))))
    }

    /// Sends a request, at once or when there is room.
    pub fn request(&self, at: &mut Entered<'_, Context>, peer: &Peer, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let (ctx, tag) = (at.number() as u16, msg.tag());
        let Some(link) = self.service_link(peer, at.lane.number.into()) else { return Status::BAD_PARAM };
        at.hold(|holder| {
            let link = holder.held.number(link);
            let side = &holder.held.sides[link];
            if side.asked >= SERVICE_ROOM {
                return Status::NO_RESOURCE;
            }
            if side.waiting.is_empty() {
                let frame = Frame::of(Kind::Request, tag, ctx);
                match self.push(holder, link, frame, Body::Message(msg)) {
                    Status::NO_RESOURCE => {}
                    status => {
                        holder.held.sides[link].asked += u32::from(status.is_ok());
                        return status;
                    }
                }
                holder.held.waiting.push(link);
            }
            let side = &mut holder.held.sides[link];
            side.waiting.push_back((ctx, tag, copy(msg)));
            side.asked += 1;
            Status::OK
        })
    }

    /// Sends requests that wait.
    pub fn send_requests(&self, holder: &mut Holder<'_>) {
        for link in core::mem::take(&mut holder.held.waiting) {
            while let Some((ctx, tag, bytes)) = holder.held.sides[link].waiting.pop_front() {
                let frame = Frame::of(Kind::Request, tag, ctx);
                if self.push(holder, link, frame, Body::Bytes(&bytes)) == Status::NO_RESOURCE {
                    holder.held.sides[link].waiting.push_front((ctx, tag, bytes));
                    holder.held.waiting.push(link);
                    break;
                }
            }
        }
    }

    /// Answers the request whose receiver is running.
    pub fn reply(&self, service: &mut Service, request: u64, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let Some(asked) = service.current.take_if(|asked| asked.name() == request) else {
            return Status::BAD_PARAM;
        };
        let Service { context, unsent, .. } = service;
        context.hold(|holder| {
            if holder.held.sides[asked.link].pair.is_none() {
                return Status::PEER_FAILED;
            }
            if unsent.is_empty() {
                let frame = Frame::of(Kind::Reply, msg.tag(), asked.ctx);
                let status = self.push(holder, asked.link, frame, Body::Message(msg));
                if status != Status::NO_RESOURCE {
                    return status;
                }
            }
            unsent.push_back((asked, msg.tag(), copy(msg)));
            Status::OK
        })
    }

    /// Sends replies that wait. How many.
    pub fn send_replies(&self, service: &mut Service) -> i32 {
        let Service { context, unsent, .. } = service;
        if unsent.is_empty() {
            return 0;
        }
        context.hold(|holder| {
            let mut sent = 0;
            while let Some((asked, tag, bytes)) = unsent.front() {
                let frame = Frame::of(Kind::Reply, *tag, asked.ctx);
                if self.push(holder, asked.link, frame, Body::Bytes(bytes)) == Status::NO_RESOURCE {
                    break;
                }
                // Also where the requester is gone: nobody waits for it.
                unsent.pop_front();
                sent += 1;
            }
            sent
        })
    }
}

/// Header and payload.
fn copy(msg: &Message<'_>) -> Box<[u8]> {
    let mut bytes = vec![0; msg.total_len()];
    msg.write(&mut bytes);
    bytes.into()
}
