//! The way of a message to its stream.

use crate::context::Context;
use crate::frame::{Kind, room};
use crate::links::JOINED;
use crate::rail::Tcp;
use crate::stream::Link;
use core::sync::atomic::Ordering;
use oxmpi_btl::Message;
use oxmpi_mca::Status;

impl Tcp {
    /// Puts a message on a stream; NO_RESOURCE where there is no room, or no connection and `kept` does not say that it may wait
    /// for one.
    pub(crate) fn push(
        &self,
        cx: &mut Context,
        slot: usize,
        kind: Kind,
        msg: &Message<'_>,
        kept: bool,
    ) -> Status {
        if !cx.streams[slot].is_up() {
            let status = self.wants_connection(cx, slot);
            if !kept || status == Status::PEER_FAILED {
                return status;
            }
        }
        let waits = cx.streams[slot].out.unsent();
        if !kept && waits > 0 && waits + room(msg.total_len()) as u64 > JOINED {
            self.flush(cx, slot);
            if cx.streams[slot].out.unsent() > 0 {
                return Status::NO_RESOURCE;
            }
        }
        let s = &mut cx.streams[slot];
        let at = s.at();
        if !s.out.push(kind, msg, at) {
            return Status::NO_RESOURCE;
        }
        s.told = at;
        self.flush_soon(cx, slot);
        Status::OK
    }

    /// A message waits for a connection.
    #[cold]
    fn wants_connection(&self, cx: &mut Context, slot: usize) -> Status {
        let s = &cx.streams[slot];
        let core = &s.core;
        if s.is_shut() || core.loss.is_declared() || core.gone.load(Ordering::Acquire) {
            return Status::PEER_FAILED;
        }
        if matches!(s.link, Link::Idle) {
            self.call(cx, slot);
        }
        Status::NO_RESOURCE
    }
}
