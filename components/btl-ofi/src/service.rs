//! Service links: requests that a peer's service context answers, and the serving of our own.
//!
//! A request goes from an ordinary context's endpoint to the service endpoint of a process, and its reply comes back by the same link. No more than
//! [`ROOM`] requests on a link are without a reply, so there is always room for replies: one that the provider does not take waits in the service
//! context, as a request does in its own whose link is not open yet.

use crate::buffers::Route;
use crate::context::{Context, Holder};
use crate::post::Body;
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
    current: Option<u32>,
}

impl Service {
    pub fn new(context: Context) -> Service {
        Service { context, current: None }
    }
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
    /// Value of `RecvDesc::link`: the process, and the link; never 0.
    pub fn request_number(proc: u32, link: u32) -> u64 {
        u64::from(proc) << 32 | (u64::from(link) + 1)
    }

    /// Sends a request, no longer than `Settings::max_send_size`, or has it wait.
    pub fn request(&self, cx: &mut Context, link: u32, msg: &Message<'_>) -> Status {
        let out = &cx.outs[link as usize];
        if out.core.is_out() {
            return Status::PEER_FAILED;
        }
        if out.asked.wrapping_sub(out.answered) >= ROOM {
            return Status::NO_RESOURCE;
        }
        let waits = cx.unsent.iter().any(|u| u.via == Route::Out(link));
        let sent = match waits {
            true => Status::NO_RESOURCE,
            false => self.push(cx, link, Kind::Request, msg.tag(), Body::Message(msg)),
        };
        match sent {
            Status::OK => {}
            Status::NO_RESOURCE => {
                cx.wait(Route::Out(link), Kind::Request, msg.tag(), bytes_of(msg));
            }
            status => return status,
        }
        let out = &mut cx.outs[link as usize];
        out.asked = out.asked.wrapping_add(1);
        Status::OK
    }

    pub fn reply(&self, at: &mut Entered<'_, Service>, number: u64, msg: &Message<'_>) -> Status {
        let Service { context: cx, current } = &mut **at;
        let is_current = |link: &u32| Rail::request_number(cx.ins[*link as usize].core.proc, *link) == number;
        let asked = current.filter(is_current);
        let Some(link) = asked.filter(|_| msg.total_len() <= self.settings.max_send_size()) else {
            return Status::BAD_PARAM;
        };
        *current = None;
        let waits = cx.unsent.iter().any(|u| u.via == Route::In(link));
        let door = cx.ins[link as usize].door;
        let sent = match waits {
            true => Status::NO_RESOURCE,
            false => self.post(cx, door, Route::In(link), Kind::Reply, msg.tag(), Body::Message(msg)),
        };
        if sent == Status::NO_RESOURCE {
            cx.wait(Route::In(link), Kind::Reply, msg.tag(), bytes_of(msg));
        }
        // A requester that is gone waits for nothing.
        Status::OK
    }
}
