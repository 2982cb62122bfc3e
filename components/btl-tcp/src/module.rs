//! The verbs of a rail, as the host calls them, and the way of a message to its stream.

use crate::context::Context;
use crate::endpoint::{Peer, TcpEndpoint};
use crate::frame::{Kind, room};
use crate::links::JOINED;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use core::sync::atomic::Ordering;
use oxmpi_btl::{Btl, BtlAttrs, BtlPartner, BtlSleep, Message, ProcInfo, WaitSet};
use oxmpi_mca::Status;
use std::sync::Arc;

impl Tcp {
    /// Our stream to a process from an ordinary context.
    #[inline]
    fn plain<'a>(&self, peer: &'a Peer, ctx: u32) -> Option<&'a Arc<Stream>> {
        let slot = peer.plain.get(ctx as usize)?;
        match slot.get() {
            Some(stream) => Some(stream),
            None => {
                let theirs = ctx as u16 % peer.core.route.get()?.contexts;
                let cx = &self.contexts[ctx as usize];
                Some(slot.get_or_init(|| cx.stream(&peer.core, theirs, &self.settings)))
            }
        }
    }

    /// Puts a message on a stream; NO_RESOURCE where there is no room, or no connection and `kept` does not say that it may wait
    /// for one.
    pub(crate) fn push(
        &self,
        cx: &Context,
        s: &Arc<Stream>,
        kind: Kind,
        msg: &Message<'_>,
        kept: bool,
    ) -> Status {
        if !s.is_up() {
            let status = self.wants_connection(cx, s);
            if !kept || status == Status::PEER_FAILED {
                return status;
            }
        }
        let waits = s.out.borrow().unsent();
        if !kept && waits > 0 && waits + room(msg.total_len()) as u64 > JOINED {
            self.flush(cx, s);
            if s.out.borrow().unsent() > 0 {
                return Status::NO_RESOURCE;
            }
        }
        if !s.out.borrow_mut().push(kind, msg, s.at.get()) {
            return Status::NO_RESOURCE;
        }
        s.told.set(s.at.get());
        self.flush_soon(cx, s);
        Status::OK
    }

    /// A message waits for a connection.
    #[cold]
    fn wants_connection(&self, cx: &Context, s: &Arc<Stream>) -> Status {
        let core = &s.core;
        if s.is_shut() || core.loss.is_declared() || core.gone.load(Ordering::Acquire) {
            return Status::PEER_FAILED;
        }
        if matches!(*s.link.borrow(), Link::Idle) {
            self.call(cx, s);
        }
        Status::NO_RESOURCE
    }
}

impl Btl for Tcp {
    type Endpoint = TcpEndpoint;

    fn attrs(&self) -> BtlAttrs {
        let mut attrs = BtlAttrs::new();
        attrs.contexts = self.contexts.len() as u32;
        attrs.eager_limit = self.settings.eager_limit as u64;
        attrs.rndv_eager_limit = self.settings.rndv_eager_limit as u64;
        attrs.max_send_size = self.settings.max_send_size as u64;
        attrs.exclusivity = self.settings.exclusivity;
        attrs.latency = self.settings.latency;
        attrs.bandwidth = if self.settings.bandwidth > 0 { self.settings.bandwidth } else { self.speed };
        attrs.flags = BtlAttrs::STRIPES;
        attrs.service_limit = self.settings.service_limit() as u32;
        let device = self.device.as_bytes();
        let len = device.len().min(attrs.device.len() - 1);
        attrs.device[..len].copy_from_slice(&device[..len]);
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<TcpEndpoint>>, Status> {
        if proc.proc == self.host.job().rank {
            return Ok(None);
        }
        let name = Tcp::name_of(&self.host, proc.proc).ok_or(Status::NOT_FOUND)?;
        let peer = self.peer_of(proc.proc, name);
        if peer.core.route.get().is_none() {
            let Some(route) = self.route_to(proc.proc, peer.core.first)? else { return Ok(None) };
            // Another thread may have been faster, with the same.
            let _ = peer.core.route.set(route);
        }
        Ok(Some(Box::new(TcpEndpoint { peer })))
    }

    fn send(&self, endpoint: &TcpEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        match self.plain(&endpoint.peer, ctx) {
            Some(stream) => self.push(&self.contexts[ctx as usize], stream, Kind::Message, msg, false),
            None => Status::BAD_PARAM,
        }
    }

    fn progress(&self, ctx: u32) -> i32 {
        self.turn(&self.contexts[ctx as usize])
    }

    fn finalize(&self) {
        self.part();
    }
}

/// The partner follows from both cards (`card.rs`).
impl BtlPartner for Tcp {
    fn partner(&self, endpoint: &TcpEndpoint) -> u32 {
        // An endpoint is made once the route is known.
        endpoint.peer.core.route.get().map_or(oxmpi_btl::SAME_NUMBER, |route| route.rail.into())
    }
}

/// The set's descriptor wakes a sleeper, for connections, timers and the lobby, too.
impl BtlSleep for Tcp {
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        self.contexts[ctx as usize].arm(set)
    }
    fn disarm(&self, _ctx: u32) {}
}
