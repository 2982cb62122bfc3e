//! The verbs of a rail, as the host calls them.

use crate::context::Context;
use crate::link::VerbsEndpoint;
use crate::memory::{HANDLE, Handle};
use crate::outbound::Body;
use crate::pairs::partner;
use crate::rail::Rail;
use crate::rma::{AMO_OPERANDS, AMO_OPS};
use crate::service::Service;
use crate::wire::{BadCard, Card, Frame, Kind, Place, VERSION};
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPartner, BtlPut, BtlService,
    BtlServiceSleep, BtlSleep, Completion, Contexts, Entered, Memory, Message, Peer, ProcInfo, RmaDesc,
    Vouched, WaitSet,
};
use oxmpi_btl_support::Helper;
use oxmpi_mca::{MemKind, Status};
use std::sync::Arc;

pub struct Verbs {
    pub rail: Arc<Rail>,
    pub connecting: Helper,
}

type At<'a> = Entered<'a, Context>;
type To = Peer<Verbs>;

impl Verbs {
    /// The port by which a process is reached, and its number there; `None`: it is not. `first`: ours is the lower name.
    fn place_of(&self, proc: u32, first: bool) -> Result<Option<(u32, Place)>, Status> {
        let rail = &self.rail;
        let blob = match rail.host.exchange_get(proc) {
            Ok(blob) => blob,
            // It does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        match Card::decode(&blob) {
            Ok(theirs) => {
                let ours = rail.card.get().ok_or(Status::INTERNAL)?;
                let found = partner(ours, rail.number, &theirs, first);
                Ok(found.map(|number| (number as u32, theirs.places[number])))
            }
            Err(why) => {
                let why = match why {
                    BadCard::Version(theirs) => format!("it speaks version {theirs}, we speak {VERSION}"),
                    BadCard::Damaged => "its address is damaged".to_owned(),
                };
                rail.host.warn(&format!("process {proc} is not reached: {why}"));
                Ok(None)
            }
        }
    }
}

impl Btl for Verbs {
    type Context = Context;
    type Endpoint = VerbsEndpoint;
    /// The links of a context to a peer lie in the data of its lane, which several contexts may have.
    type Lane = ();

    fn attrs(&self) -> BtlAttrs {
        let (rail, mut attrs) = (&self.rail, BtlAttrs::new());
        let settings = &rail.settings;
        attrs.service_limit = settings.max_send_size as u32;
        attrs.eager_limit = settings.eager_limit as u64;
        attrs.rndv_eager_limit = settings.rndv_eager_limit as u64;
        attrs.max_send_size = settings.max_send_size as u64;
        attrs.exclusivity = settings.exclusivity;
        attrs.latency = settings.latency;
        attrs.bandwidth = if settings.bandwidth > 0 { settings.bandwidth } else { rail.port.rate };
        attrs.min_get_size = settings.min_rma_size as u64;
        attrs.min_put_size = settings.min_rma_size as u64;
        attrs.get_limit = rail.longest();
        attrs.put_limit = rail.longest();
        attrs.registration_handle_size = HANDLE as u32;
        attrs.flags = BtlAttrs::PUT_DONE_IS_REMOTE | BtlAttrs::STRIPES;
        if rail.port.limits.atomics {
            attrs.amo_ops = AMO_OPS;
            attrs.amo_operands = AMO_OPERANDS;
        }
        if rail.port.limits.coherent {
            attrs.flags |= BtlAttrs::AMO_COHERENT;
        }
        let device = rail.port.name.as_bytes();
        let len = device.len().min(attrs.device.len() - 1);
        attrs.device[..len].copy_from_slice(&device[..len]);
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<VerbsEndpoint>, Status> {
        let rail = &self.rail;
        if proc.proc == rail.host.job().rank {
            return Ok(None);
        }
        let name = Rail::name_of(&rail.host, proc.proc).ok_or(Status::NOT_FOUND)?;
        let first = rail.name.bytes < name.bytes;
        let Some((partner, place)) = self.place_of(proc.proc, first)? else { return Ok(None) };
        let peer = rail.peer_of(proc.proc, name);
        // It may have called before, with the same.
        let _ = peer.core.place.set(place);
        Ok(Some(VerbsEndpoint { partner, peer }))
    }

    fn lane(&self, _to: &VerbsEndpoint, _ctx: u32) {}

    fn send(&self, at: &mut At<'_>, to: &To, msg: &Message<'_>) -> Status {
        let rail = &*self.rail;
        if msg.total_len() > rail.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let (peer, ctx) = (&to.peer, at.number() as u16);
        let Some(link) = rail.message_link(peer, at.lane.number.into()) else { return Status::BAD_PARAM };
        let theirs = peer.core.place.get().map_or(1, |p| p.contexts);
        let frame = Frame::of(Kind::Message, msg.tag(), ctx % theirs);
        at.hold(|holder| {
            let link = holder.held.number(link);
            match rail.push(holder, link, frame, Body::Message(msg)) {
                // Credits may have come, or completions.
                Status::NO_RESOURCE if rail.look(holder) > 0 => {
                    rail.push(holder, link, frame, Body::Message(msg))
                }
                status => status,
            }
        })
    }

    fn progress(&self, at: &mut At<'_>) -> i32 {
        self.rail.turn(at)
    }
}

impl BtlPartner for Verbs {
    fn partner(&self, to: &To) -> u32 {
        to.partner
    }
}

impl BtlPut for Verbs {
    fn put(&self, at: &mut At<'_>, to: &To, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rail.transfer(at, to, rma, done, true)
    }
}
impl BtlGet for Verbs {
    fn get(&self, at: &mut At<'_>, to: &To, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rail.transfer(at, to, rma, done, false)
    }
}
impl BtlAtomics for Verbs {
    fn atomic(&self, at: &mut At<'_>, to: &To, op: Vouched<'_, AtomicDesc>, done: Completion) -> Status {
        self.rail.update(at, to, op, done)
    }
}
impl BtlFlush for Verbs {
    fn flush(&self, at: &mut At<'_>, to: Option<&To>, done: Completion) -> Status {
        self.rail.flush(at, to.map(|to| &**to), done)
    }
}

impl BtlMemory for Verbs {
    const HANDLE_SIZE: usize = HANDLE;

    fn register(&self, memory: Memory, access: u32, handle: &mut [u8]) -> Status {
        if memory.kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        match self.rail.memory.add(memory.addr, memory.len, access, handle) {
            Ok(()) => Status::OK,
            Err((status, why)) => {
                self.rail.host.debug(&why);
                status
            }
        }
    }
    fn deregister(&self, handle: &[u8]) -> Status {
        match handle.first_chunk() {
            Some(handle) => self.rail.memory.remove(&Handle::read(handle)),
            None => Status::BAD_PARAM,
        }
    }
}

/// The lane's completion channel and the context's bell wake a sleeper.
impl BtlSleep for Verbs {
    fn arm(&self, at: &mut At<'_>, set: &mut WaitSet) -> Status {
        self.rail.arm(at, set)
    }
    fn disarm(&self, at: &mut At<'_>) {
        self.rail.disarm(at);
    }
}

impl BtlService for Verbs {
    type Service = Service;

    /// It is there from the start.
    fn open(&self) -> Status {
        Status::OK
    }
    fn request(&self, at: &mut At<'_>, to: &To, msg: &Message<'_>) -> Status {
        self.rail.request(at, &to.peer, msg)
    }
    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        let sent = self.rail.send_replies(at);
        sent + self.rail.turn(at)
    }
    fn reply(&self, at: &mut Entered<'_, Service>, link: u64, msg: &Message<'_>) -> Status {
        self.rail.reply(at, link, msg)
    }
    fn finalize_serving(&self, all: &mut Contexts<'_, Context>, at: &mut Entered<'_, Service>) {
        self.rail.part(all, &mut at.context);
        self.rail.stop.store(true, Ordering::Release);
        self.rail.bell.ring();
        self.connecting.join(&self.rail.host);
        self.rail.destroy_pairs(all, &mut at.context);
    }
}

impl BtlServiceSleep for Verbs {
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        self.rail.arm(&mut at.context, set)
    }
    fn disarm_service(&self, at: &mut Entered<'_, Service>) {
        self.rail.disarm(&mut at.context);
    }
}
