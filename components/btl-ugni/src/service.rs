//! Service links: requests that a peer's service context answers, and the serving of our own.
//!
//! A link joins an ordinary lane to the service lane of a process. No more than [`ROOM`] requests on it are without a reply, so there is always
//! room for replies: one that finds the mailbox full waits in the service lane, as a request does in its own that finds the link not connected
//! yet. Requests are served and replies go out in the order of arrival.

use crate::context::{Context, Holder, Tracked, Unsent};
use crate::lane::Lane;
use crate::link::{Link, State};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::wire::Kind;
use oxmpi_btl::{Entered, Message};
use oxmpi_mca::Status;

/// Requests of a link without a reply at most.
const ROOM: u32 = 16;

/// The service context.
pub struct Service {
    pub context: Context,
    /// The link of the request whose receiver is running.
    pub current: Option<u32>,
}

impl Holder for Service {
    const SERVES: bool = true;

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }
    fn begin_request(&mut self, link: u32) {
        self.current = Some(link);
    }
    fn end_request(&mut self) -> bool {
        self.current.take().is_some()
    }
}

/// A message's bytes, for one that waits.
fn bytes_of(msg: &Message<'_>) -> Box<[u8]> {
    let mut bytes = vec![0; msg.total_len()].into_boxed_slice();
    msg.write(&mut bytes);
    bytes
}

impl Rail {
    /// Value of `RecvDesc::link`: the process, and its lane.
    pub fn request_number(link: &Link) -> u64 {
        u64::from(link.core.proc) << 16 | u64::from(link.theirs)
    }

    /// Sends a request, no longer than `Settings::max_send_size`, on a service link that the context has met; or has it wait.
    pub fn request(&self, at: &mut Entered<'_, Context>, index: u32, msg: &Message<'_>) -> Status {
        let (lane, context): (_, &mut Context) = (self.lane_of(at), at);
        let tracked = &context.links[index as usize];
        if tracked.asked.wrapping_sub(tracked.answered) >= ROOM {
            return Status::NO_RESOURCE;
        }
        let sent = match context.unsent.is_empty() {
            true => self.push(lane, context, index, Kind::Request, msg.tag(), &Body::Message(msg)),
            false if tracked.link.state() == State::Failed => Status::PEER_FAILED,
            // In order behind those that wait.
            false => Status::NO_RESOURCE,
        };
        match sent {
            Status::OK => {}
            Status::NO_RESOURCE => {
                self.call(context.link(index));
                let (kind, tag, bytes) = (Kind::Request, msg.tag(), bytes_of(msg));
                context.unsent.push_back(Unsent { link: index, kind, tag, bytes });
            }
            status => return status,
        }
        let tracked = &mut context.links[index as usize];
        tracked.asked = tracked.asked.wrapping_add(1);
        Status::OK
    }

    pub fn reply(&self, at: &mut Entered<'_, Service>, number: u64, msg: &Message<'_>) -> Status {
        let lane = self.lane_of(at);
        let Service { context, current, .. } = &mut **at;
        let asked = current.filter(|link| Rail::request_number(context.link(*link)) == number);
        let Some(link) = asked.filter(|_| msg.total_len() <= self.settings.max_send_size()) else {
            return Status::BAD_PARAM;
        };
        *current = None;
        let waits = context.unsent.iter().any(|u| u.link == link);
        let sent = match waits {
            true => Status::NO_RESOURCE,
            false => self.push(lane, context, link, Kind::Reply, msg.tag(), &Body::Message(msg)),
        };
        if sent == Status::NO_RESOURCE {
            let (kind, tag, bytes) = (Kind::Reply, msg.tag(), bytes_of(msg));
            context.unsent.push_back(Unsent { link, kind, tag, bytes });
        }
        // A requester that is gone waits for nothing.
        Status::OK
    }

    /// Sends what waits, each link's in order.
    pub fn send_unsent(&self, lane: &Lane, context: &mut Context) -> i32 {
        let mut sent = 0;
        let mut full: Vec<u32> = Vec::new();
        for _ in 0..context.unsent.len() {
            let Some(first) = context.unsent.pop_front() else { break };
            let status = match full.contains(&first.link) {
                true => Status::NO_RESOURCE,
                false => {
                    self.push(lane, context, first.link, first.kind, first.tag, &Body::Bytes(&first.bytes))
                }
            };
            if status == Status::NO_RESOURCE {
                full.push(first.link);
                context.unsent.push_back(first);
            } else {
                // Also where the process is gone: nobody waits for it.
                sent += 1;
            }
        }
        sent
    }
}

impl Tracked {
    /// A reply has come. False: none is due.
    pub fn take_reply(&mut self) -> bool {
        let due = self.answered != self.asked;
        if due {
            self.answered = self.answered.wrapping_add(1);
        }
        due
    }
}
