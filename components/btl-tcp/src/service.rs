//! Service links: requests on a stream of their own to the peer's service context, and their replies back.
//!
//! A request that finds no connection waits in the stream's ring, which has room for all that may be without a reply
//! ([`ROOM`]); so has the server's for its replies: the next request says that an earlier reply has come.

use crate::endpoint::TcpEndpoint;
use crate::frame::Kind;
use crate::hello::SERVICE;
use crate::params::ROOM;
use crate::rail::Tcp;
use oxmpi_btl::{BtlService, BtlServiceSleep, Message, WaitSet};
use oxmpi_mca::Status;

impl BtlService for Tcp {
    /// The service context has been there from the start: its connections come through the same lobby.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, endpoint: &TcpEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.service_limit() {
            return Status::BAD_PARAM;
        }
        let cx = &self.contexts[ctx as usize];
        let peer = &endpoint.peer;
        let s = peer.service[ctx as usize].get_or_init(|| cx.stream(&peer.core, SERVICE, &self.settings));
        if s.requests.get() >= ROOM {
            return Status::NO_RESOURCE;
        }
        let status = self.push(cx, s, Kind::Request, msg, true);
        if status.is_ok() {
            s.requests.set(s.requests.get() + 1);
        }
        status
    }

    fn serve(&self) -> i32 {
        self.turn(&self.service)
    }

    fn reply(&self, link: u64, msg: &Message<'_>) -> Status {
        let cx = &self.service;
        let asked = cx.serving.get().filter(|slot| *slot as u64 + 1 == link);
        let Some(s) = asked.and_then(|slot| cx.at_slot(slot)) else { return Status::BAD_PARAM };
        if msg.total_len() > self.settings.service_limit() {
            return Status::BAD_PARAM;
        }
        cx.serving.set(None);
        match self.push(cx, &s, Kind::Reply, msg, true) {
            // Somebody who asks for more than there may be without a reply waits for nothing that was promised.
            Status::NO_RESOURCE => {
                self.host.error(&format!("process {} asks more than it may", s.core.proc));
                Status::INTERNAL
            }
            // A requester that is gone waits for nothing.
            _ => Status::OK,
        }
    }
}

impl BtlServiceSleep for Tcp {
    fn arm_service(&self, set: &mut WaitSet) -> Status {
        self.service.arm(set)
    }
    fn disarm_service(&self) {}
}
