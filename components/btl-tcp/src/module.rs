//! The verbs of a rail, as the host calls them.

use crate::context::Context;
use crate::endpoint::{Lane, TcpEndpoint};
use crate::frame::Kind;
use crate::kept::KEPT_FROM;
use crate::rail::Tcp;
use crate::service::Service;
use crate::turn::InTurn;
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    Btl, BtlAttrs, BtlKeeps, BtlPartner, BtlPlaces, BtlService, BtlServiceSleep, BtlSleep, Completion,
    Contexts, Entered, Message, Peer, Placer, ProcInfo, WaitSet,
};
use oxmpi_mca::Status;

impl Tcp {
    /// Our stream to a process from an ordinary context.
    #[inline]
    fn plain(&self, at: &mut Entered<'_, Context>, to: &Peer<Self>) -> Result<usize, Status> {
        let (cx, lane) = at.with_lane(to);
        if let Some(slot) = lane.plain.and_then(|name| cx.streams.slot(name)) {
            return Ok(slot);
        }
        let route = to.core.route.get().ok_or(Status::BAD_PARAM)?;
        let (slot, name) = self.first_use(cx, &to.core, cx.number % route.contexts)?;
        lane.plain = Some(name);
        Ok(slot)
    }
}

impl Btl for Tcp {
    type Context = Context;
    type Endpoint = TcpEndpoint;
    type Lane = Lane;

    fn attrs(&self) -> BtlAttrs {
        let settings = &self.settings;
        let mut attrs = BtlAttrs::new();
        attrs.eager_limit = settings.eager_limit as u64;
        attrs.rndv_eager_limit = settings.rndv_eager_limit as u64;
        attrs.max_send_size = settings.max_send_size as u64;
        attrs.exclusivity = settings.exclusivity;
        attrs.latency = settings.latency;
        attrs.bandwidth = if settings.bandwidth > 0 { settings.bandwidth } else { self.speed };
        attrs.flags = BtlAttrs::STRIPES | BtlAttrs::GATHERS;
        attrs.service_limit = settings.service_limit() as u32;
        let device = self.device.as_bytes();
        let len = device.len().min(attrs.device.len() - 1);
        attrs.device[..len].copy_from_slice(&device[..len]);
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<TcpEndpoint>, Status> {
        if proc.proc == self.host.job().rank {
            return Ok(None);
        }
        let name = Tcp::name_of(&self.host, proc.proc).ok_or(Status::NOT_FOUND)?;
        let core = self.core_of(proc.proc, name);
        core.parted.store(false, Ordering::Relaxed);
        if core.route.get().is_none() {
            let Some(route) = self.route_to(proc.proc, core.first)? else { return Ok(None) };
            // Another thread may have been faster, with the same.
            let _ = core.route.set(route);
        }
        Ok(Some(TcpEndpoint { core }))
    }

    /// Contexts end their streams to a process that is known no more.
    fn del_proc(&self, endpoint: &TcpEndpoint) {
        if self.has_parted(&endpoint.core) {
            self.doors.ring(self.rail);
        }
    }

    fn lane(&self, _endpoint: &TcpEndpoint, _ctx: u32) -> Lane {
        Lane::default()
    }

    fn send(&self, at: &mut Entered<'_, Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        match self.plain(at, to) {
            Ok(slot) => self.push(at, slot, Kind::Message, msg, false),
            Err(status) => status,
        }
    }

    fn progress(&self, at: &mut Entered<'_, Context>) -> i32 {
        self.turn(at)
    }
}

/// The partner follows from both cards (`card.rs`).
impl BtlPartner for Tcp {
    fn partner(&self, to: &Peer<Self>) -> u32 {
        // An endpoint is made once the route is known.
        to.core.route.get().map_or(oxmpi_btl::SAME_NUMBER, |route| route.rail.into())
    }
}

/// Long messages are sent from where they lie (`kept.rs`); the copy of a short one costs less than its acknowledgement.
impl BtlKeeps for Tcp {
    fn send_kept(
        &self,
        at: &mut Entered<'_, Context>,
        to: &Peer<Self>,
        msg: &Message<'_>,
        done: Completion,
    ) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        match self.plain(at, to) {
            Ok(slot) if msg.total_len() < KEPT_FROM => self.push(at, slot, Kind::Message, msg, false),
            Ok(slot) => self.push_kept(at, slot, msg, done),
            Err(status) => status,
        }
    }
}

/// Long messages are read to their place (`placed.rs`).
impl BtlPlaces for Tcp {
    fn place_by(&self, tag: u8, placer: Placer) -> Status {
        self.placers.add(tag, placer)
    }
}

/// The set's descriptor wakes a sleeper, for connections, timers and the lobby, too.
impl BtlSleep for Tcp {
    fn arm(&self, at: &mut Entered<'_, Context>, set: &mut WaitSet) -> Status {
        at.arm(set)
    }
    fn disarm(&self, _at: &mut Entered<'_, Context>) {}
}

impl BtlService for Tcp {
    type Service = Service;

    /// All contexts part together.
    fn finalize_serving(&self, all: &mut Contexts<'_, Context>, service: &mut Entered<'_, Service>) {
        self.courier.end(&self.host);
        self.watch.end(&self.host);
        self.part(|each| {
            (0..all.count()).for_each(|number| each(&mut all.enter(number)));
            each(service.context());
        });
    }

    /// The service context has been there from the start: its connections come through the same lobby.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, at: &mut Entered<'_, Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        self.send_request(at, to, msg)
    }
    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        self.turn(at)
    }
    fn reply(&self, at: &mut Entered<'_, Service>, link: u64, msg: &Message<'_>) -> Status {
        self.send_reply(at, link, msg)
    }
}

impl BtlServiceSleep for Tcp {
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        at.context().arm(set)
    }
    fn disarm_service(&self, _at: &mut Entered<'_, Service>) {}
}
