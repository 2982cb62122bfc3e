//! The verbs of a rail, as the host calls them.

use crate::link::VerbsEndpoint;
use crate::memory::{HANDLE, Handle};
use crate::outbound::Body;
use crate::pairs::partner;
use crate::rail::Rail;
use crate::rma::{AMO_OPERANDS, AMO_OPS};
use crate::wire::{BadCard, Card, Frame, Kind, Place, VERSION};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPartner, BtlPut, BtlService,
    BtlServiceSleep, BtlSleep, FlushDesc, Message, ProcInfo, RmaDesc, WaitSet,
};
use oxmpi_btl_support::Helper;
use oxmpi_mca::{MemKind, Status};
use std::sync::Arc;

pub struct Verbs {
    pub rail: Arc<Rail>,
    pub connecting: Helper,
}

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
    type Endpoint = VerbsEndpoint;

    fn attrs(&self) -> BtlAttrs {
        let (rail, mut attrs) = (&self.rail, BtlAttrs::new());
        let settings = &rail.settings;
        attrs.contexts = rail.place.contexts.into();
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

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<VerbsEndpoint>>, Status> {
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
        Ok(Some(Box::new(VerbsEndpoint { partner, peer })))
    }

    fn send(&self, endpoint: &VerbsEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        let rail = &*self.rail;
        if msg.total_len() > rail.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let peer = &endpoint.peer;
        let lane = &rail.lanes[rail.contexts[ctx as usize].lane];
        let Some(link) = rail.message_link(peer, usize::from(lane.number)) else { return Status::BAD_PARAM };
        let theirs = peer.core.place.get().map_or(1, |p| p.contexts);
        let frame = Frame::of(Kind::Message, msg.tag(), ctx as u16 % theirs);
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        match rail.push(lane, held, link, frame, Body::Message(msg)) {
            // Credits may have come, or completions.
            Status::NO_RESOURCE if rail.look(lane, held) > 0 => {
                rail.push(lane, held, link, frame, Body::Message(msg))
            }
            status => status,
        }
    }

    fn progress(&self, ctx: u32) -> i32 {
        self.rail.turn(ctx, core::ptr::from_ref(self).cast_mut().cast::<c_void>())
    }

    fn finalize(&self) {
        self.rail.part();
        self.rail.stop.store(true, Ordering::Release);
        self.rail.bell.ring();
        self.connecting.join(&self.rail.host);
        self.rail.destroy_pairs();
    }
}

impl BtlPartner for Verbs {
    fn partner(&self, endpoint: &VerbsEndpoint) -> u32 {
        endpoint.partner
    }
}

impl BtlPut for Verbs {
    fn put(&self, endpoint: &VerbsEndpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.rail.transfer(endpoint, ctx, rma, true)
    }
}
impl BtlGet for Verbs {
    fn get(&self, endpoint: &VerbsEndpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.rail.transfer(endpoint, ctx, rma, false)
    }
}
impl BtlAtomics for Verbs {
    fn atomic(&self, endpoint: &VerbsEndpoint, ctx: u32, op: &AtomicDesc) -> Status {
        self.rail.update(endpoint, ctx, op)
    }
}
impl BtlFlush for Verbs {
    fn flush(&self, endpoint: Option<&VerbsEndpoint>, ctx: u32, flush: &FlushDesc) -> Status {
        self.rail.flush(endpoint, ctx, flush)
    }
}

impl BtlMemory for Verbs {
    const HANDLE_SIZE: usize = HANDLE;

    fn register(&self, addr: *mut u8, len: u64, access: u32, kind: MemKind, handle: &mut [u8]) -> Status {
        if kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        match self.rail.memory.add(addr, len, access, handle) {
            Ok(()) => Status::OK,
            Err((status, why)) => {
                self.rail.host.debug(&why);
                status
            }
        }
    }
    fn deregister(&self, handle: &[u8]) -> Status {
        // SAFETY: as many bytes as a handle has.
        self.rail.memory.remove(&unsafe { Handle::read(handle.as_ptr()) })
    }
}

/// The lane's completion channel and the context's bell wake a sleeper.
impl BtlSleep for Verbs {
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        self.rail.arm(ctx, set)
    }
    fn disarm(&self, ctx: u32) {
        self.rail.disarm(ctx);
    }
}

impl BtlService for Verbs {
    /// It is there from the start.
    fn open(&self) -> Status {
        Status::OK
    }
    fn request(&self, endpoint: &VerbsEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        self.rail.request(&endpoint.peer, ctx, msg)
    }
    fn serve(&self) -> i32 {
        let sent = self.rail.send_replies();
        sent + self.progress(self.rail.service_context())
    }
    fn reply(&self, link: u64, msg: &Message<'_>) -> Status {
        self.rail.reply(link, msg)
    }
}

impl BtlServiceSleep for Verbs {
    fn arm_service(&self, set: &mut WaitSet) -> Status {
        self.rail.arm(self.rail.service_context(), set)
    }
    fn disarm_service(&self) {
        self.rail.disarm(self.rail.service_context());
    }
}
