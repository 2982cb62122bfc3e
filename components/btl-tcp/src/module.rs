//! A rail: one interface (or one link of it) with its contexts, as the host sees it.

use crate::card::{BadCard, Card, peer_addresses};
use crate::context::Context;
use crate::door::Doors;
use crate::endpoint::{Peer, TcpEndpoint};
use crate::frame::{Kind, room};
use crate::lobby::Lobby;
use crate::params::Settings;
use crate::peer::{Core, Route};
use crate::stream::{Link, Stream};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use oxmpi_btl::{Btl, BtlAttrs, BtlPartner, BtlSleep, Loss, Message, ProcInfo, WaitSet};
use oxmpi_mca::{Host, ProcName, Status};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Messages join others that wait for the socket, or for the end of the turn, up to so many bytes: what waits goes by one call of
/// the system. Beyond that it is known that the network takes no more.
pub(crate) const JOINED: u64 = 32 << 10;

pub struct Tcp {
    pub(crate) host: Host,
    pub(crate) settings: Arc<Settings>,
    /// Our number among the rails of the card.
    pub(crate) rail: u16,
    pub(crate) name: ProcName,
    pub(crate) card: Arc<Card>,
    pub(crate) doors: Arc<Doors>,
    pub(crate) device: String,
    /// Mb/s.
    pub(crate) speed: u32,
    pub(crate) lobby: Lobby,
    pub(crate) contexts: Box<[Context]>,
    pub(crate) service: Context,
    /// By process. A leaf, off a message's path.
    pub(crate) peers: Mutex<HashMap<u32, Arc<Peer>>>,
}

impl Tcp {
    pub(crate) fn index_of(&self, name: &ProcName) -> Option<u32> {
        let mut index = 0;
        let find = self.host.services().index_of;
        find(self.host.table().instance, name, &mut index).is_ok().then_some(index)
    }

    pub(crate) fn name_of(host: &Host, proc: u32) -> Option<ProcName> {
        let mut name = ProcName::default();
        let find = host.services().name_of;
        find(host.table().instance, proc, &mut name).is_ok().then_some(name)
    }

    fn peer_of(&self, proc: u32, name: ProcName) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(|poison| poison.into_inner());
        let make = || {
            let core = Core {
                proc,
                name,
                first: self.name.bytes < name.bytes,
                route: OnceLock::new(),
                loss: Loss::default(),
                gone: AtomicBool::new(false),
                way: AtomicUsize::new(0),
                carried: AtomicBool::new(false),
                told: AtomicBool::new(false),
            };
            Arc::new(Peer::new(core, self.contexts.len()))
        };
        peers.entry(proc).or_insert_with(make).clone()
    }

    pub(crate) fn core_of(&self, proc: u32, name: ProcName) -> Arc<Core> {
        self.peer_of(proc, name).core.clone()
    }

    /// Where a process is, as it has published; `None`: it is not reached by this rail.
    fn route_to(&self, proc: u32, first: bool) -> Result<Option<Route>, Status> {
        let blob = match self.host.exchange_get(proc) {
            Ok(blob) => blob,
            // It does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let theirs = match Card::decode(&blob) {
            Ok(card) => card,
            Err(why) => {
                let why = match why {
                    BadCard::Version(theirs) => {
                        format!("it speaks version {theirs}, we speak {}", crate::hello::VERSION)
                    }
                    BadCard::Damaged => "its address is damaged".to_owned(),
                };
                self.host.warn(&format!("process {proc} is not reached: {why}"));
                return Ok(None);
            }
        };
        let found = peer_addresses(&self.card, self.rail.into(), &theirs, first)
            .filter(|(_, addresses)| !addresses.is_empty());
        Ok(found.map(|(rail, addresses)| Route { contexts: theirs.contexts, rail, addresses }))
    }

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
