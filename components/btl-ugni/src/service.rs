//! Service links: requests that a peer's service context answers, and the serving of our own.
//!
//! A link joins an ordinary lane to the service lane of a process. No more than [`ROOM`] requests on it are without a reply, so there is always
//! room for replies: one that finds the mailbox full waits in the service lane, as a request does in its own that finds the link not connected
//! yet. Requests are served and replies go out in the order of arrival.

use crate::lane::{Held, Lane, Unsent};
use crate::link::{Link, Peer, State};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::Kind;
use core::sync::atomic::Ordering;
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use std::sync::Arc;

/// Requests of a link without a reply at most.
const ROOM: u32 = 16;

/// A message's bytes, for one that waits.
fn bytes_of(msg: &Message<'_>) -> Box<[u8]> {
    let mut bytes = vec![0; msg.total_len()].into_boxed_slice();
    let (header, payload) = bytes.split_at_mut(msg.header().len());
    header.copy_from_slice(msg.header());
    // SAFETY: as many bytes as the payload has.
    unsafe { msg.write_payload(payload.as_mut_ptr()) };
    bytes
}

impl Rail {
    /// Value of `RecvDesc::link`: the process, and its lane.
    pub fn request_number(link: &Link) -> u64 {
        u64::from(link.core.proc) << 16 | u64::from(link.theirs)
    }

    pub fn request(&self, peer: &Peer, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size() {
            return Status::BAD_PARAM;
        }
        let Some(link) = self.link_of(peer, ctx, true) else { return Status::PEER_FAILED };
        let asked = link.asked.load(Ordering::Relaxed);
        if asked.wrapping_sub(link.answered.load(Ordering::Relaxed)) >= ROOM {
            return Status::NO_RESOURCE;
        }
        let lane = &self.lanes[ctx as usize];
        let mut held = lane.held.borrow_mut();
        let sent = match held.unsent.is_empty() {
            true => self.push(lane, &mut held, link, Kind::Request, msg.tag(), &Body::Message(msg)),
            false if link.state() == State::Failed => Status::PEER_FAILED,
            // In order behind those that wait.
            false => Status::NO_RESOURCE,
        };
        match sent {
            Status::OK => {}
            Status::NO_RESOURCE => {
                self.call(link);
                let (link, tag) = (link.clone(), msg.tag());
                held.unsent.push_back(Unsent { link, kind: Kind::Request, tag, bytes: bytes_of(msg) });
            }
            status => return status,
        }
        link.asked.store(asked.wrapping_add(1), Ordering::Relaxed);
        Status::OK
    }

    /// A reply has come. False: none is due.
    pub fn take_reply(&self, link: &Link) -> bool {
        let answered = link.answered.load(Ordering::Relaxed);
        let due = answered != link.asked.load(Ordering::Relaxed);
        if due {
            link.answered.store(answered.wrapping_add(1), Ordering::Relaxed);
        }
        due
    }

    pub fn reply(&self, number: u64, msg: &Message<'_>) -> Status {
        let Some(link) = self.service.current.take() else { return Status::BAD_PARAM };
        if Rail::request_number(&link) != number || msg.total_len() > self.settings.max_send_size() {
            self.service.current.set(Some(link));
            return Status::BAD_PARAM;
        }
        let lane = &self.lanes[self.service_lane()];
        let mut held = lane.held.borrow_mut();
        let waits = held.unsent.iter().any(|u| Arc::ptr_eq(&u.link, &link));
        let sent = match waits {
            true => Status::NO_RESOURCE,
            false => self.push(lane, &mut held, &link, Kind::Reply, msg.tag(), &Body::Message(msg)),
        };
        if sent == Status::NO_RESOURCE {
            held.unsent.push_back(Unsent { link, kind: Kind::Reply, tag: msg.tag(), bytes: bytes_of(msg) });
        }
        // A requester that is gone waits for nothing.
        Status::OK
    }

    /// Sends what waits, each link's in order.
    pub fn send_unsent(&self, lane: &Lane, held: &mut Held) -> i32 {
        let mut sent = 0;
        let mut full: Vec<*const Link> = Vec::new();
        for _ in 0..held.unsent.len() {
            let Some(first) = held.unsent.pop_front() else { break };
            let at = Arc::as_ptr(&first.link);
            let status = match full.contains(&at) {
                true => Status::NO_RESOURCE,
                false => {
                    self.push(lane, held, &first.link, first.kind, first.tag, &Body::Bytes(&first.bytes))
                }
            };
            if status == Status::NO_RESOURCE {
                full.push(at);
                held.unsent.push_back(first);
            } else {
                // Also where the process is gone: nobody waits for it.
                sent += 1;
            }
        }
        sent
    }
}
