//! Service links: requests on a stream of their own to the peer's service context, and their replies back.
//!
//! A request that finds no connection waits in the stream's ring, which has room for all that may be without a reply
//! ([`ROOM`]); so has the server's for its replies: the next request says that an earlier reply has come.

use crate::context::Context;
use crate::frame::Kind;
use crate::hello::SERVICE;
use crate::params::ROOM;
use crate::rail::Tcp;
use crate::streams::StreamName;
use crate::turn::InTurn;
use oxmpi_btl::{Arrival, Completion, Entered, Message, Peer};
use oxmpi_mca::{Host, Status};

/// The service context.
pub struct Service {
    pub(crate) context: Context,
    /// The stream whose request is being served.
    pub(crate) serving: Option<StreamName>,
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
        let name = self.context.streams.name(slot);
        self.serving = Some(name);
        let answer = self.deliver(host, Arrival { link: name.token(), ..message });
        if self.serving.take().is_some() {
            host.error(&format!("a request with tag {tag} was not answered by its receiver"));
        }
        answer.stops()
    }

    fn tell_end(&mut self, done: Completion, status: Status) {
        Entered::complete(self, done, status);
    }
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
        let slot = match lane.service.and_then(|name| cx.streams.slot(name)) {
            Some(slot) => slot,
            None => match self.first_use(cx, &to.core, SERVICE) {
                Ok((slot, name)) => {
                    lane.service = Some(name);
                    slot
                }
                Err(status) => return status,
            },
        };
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
        let asked = service.serving.filter(|name| name.token() == link);
        let Some(slot) = asked.and_then(|name| service.context.streams.slot(name)) else {
            return Status::BAD_PARAM;
        };
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
