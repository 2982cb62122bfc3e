//! Service links: requests on a stream of their own to the peer's service context, and their replies back.
//!
//! A request that finds no connection waits in the stream's ring, which has room for all that may be without a reply
//! ([`ROOM`]); so has the server's for its replies: the next request says that an earlier reply has come.

use crate::context::Context;
use crate::frame::Kind;
use crate::hello::SERVICE;
use crate::params::ROOM;
use crate::rail::Tcp;
use crate::turn::InTurn;
use oxmpi_btl::{Arrival, Entered, Message, Peer};
use oxmpi_mca::{Host, Status};

/// The service context.
pub struct Service {
    context: Context,
    /// The stream whose request is being served.
    serving: Option<usize>,
}

impl Service {
    pub fn new(context: Context) -> Service {
        Service { context, serving: None }
    }
}

impl InTurn for Entered<'_, Service> {
    fn context(&mut self) -> &mut Context {
        &mut self.context
    }

    fn hand_up(&mut self, host: &Host, slot: usize, message: Arrival<'_>) -> bool {
        let tag = message.tag;
        self.serving = Some(slot);
        let answer = self.deliver(host, Arrival { link: link_of(slot), ..message });
        if self.serving.take().is_some() {
            host.error(&format!("a request with tag {tag} was not answered by its receiver"));
        }
        answer.stops()
    }
}

/// The name of a request's stream: not 0.
fn link_of(slot: usize) -> u64 {
    slot as u64 + 1
}

impl Tcp {
    /// Sends a request on the stream to the service context of a process.
    pub(crate) fn send_request(
        &self,
        at: &mut Entered<'_, Context>,
        to: &Peer<Self>,
        msg: &Message<'_>,
    ) -> Status {
        if msg.total_len() > self.settings.service_limit() {
            return Status::BAD_PARAM;
        }
        let (cx, lane) = at.with_lane(to);
        let slot = *lane.service.get_or_insert_with(|| cx.stream(&to.core, SERVICE, &self.settings));
        if cx.streams[slot].requests >= ROOM {
            return Status::NO_RESOURCE;
        }
        let status = match self.push(cx, slot, Kind::Request, msg, true) {
            // The requester makes turns until its reply is there.
            Status::PENDING => Status::OK,
            status => status,
        };
        if status.is_ok() {
            cx.streams[slot].requests += 1;
        }
        status
    }

    /// Answers the request of the stream that is being served.
    pub(crate) fn send_reply(&self, service: &mut Service, link: u64, msg: &Message<'_>) -> Status {
        let asked = service.serving.filter(|&slot| link_of(slot) == link);
        let Some(slot) = asked else { return Status::BAD_PARAM };
        if msg.total_len() > self.settings.service_limit() {
            return Status::BAD_PARAM;
        }
        service.serving = None;
        match self.push(&mut service.context, slot, Kind::Reply, msg, true) {
            // Somebody who asks for more than there may be without a reply waits for nothing that was promised.
            Status::NO_RESOURCE => {
                let proc = service.context.streams[slot].core.proc;
                self.host.error(&format!("process {proc} asks more than it may"));
                Status::INTERNAL
            }
            // A requester that is gone waits for nothing.
            _ => Status::OK,
        }
    }
}
