//! The verbs, as the host calls them.

use crate::amo::{OPS, operands};
use crate::link::UgniEndpoint;
use crate::memory::{HANDLE, Handle};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::rma::PUT_LIMIT;
use crate::wire::{BadCard, Card, Kind, VERSION};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPut, BtlService, BtlServiceSleep,
    BtlSleep, FlushDesc, Message, ProcInfo, RmaDesc, WaitSet,
};
use oxmpi_btl_support::Helper;
use oxmpi_mca::{MemKind, Status};
use std::sync::Arc;

pub struct Ugni {
    pub rail: Arc<Rail>,
    pub connecting: Helper,
}

impl Ugni {
    /// How a process is reached; `None`: it is not.
    fn card_of(&self, proc: u32) -> Result<Option<Card>, Status> {
        let rail = &self.rail;
        let blob = match rail.host.exchange_get(proc) {
            Ok(blob) => blob,
            // It does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let why = match Card::decode(&blob) {
            Ok(card) => {
                let theirs = (card.message_size, card.credits);
                let ours = (rail.settings.message_size as u32, rail.settings.credits);
                if theirs == ours {
                    return Ok(Some(card));
                }
                format!(
                    "btl_ugni_smsg_limit and btl_ugni_smsg_max_credits are {} and {} there, {} and {} here; they have to be equal",
                    theirs.0, theirs.1, ours.0, ours.1
                )
            }
            Err(BadCard::Version(theirs)) => format!("it speaks version {theirs}, we speak {VERSION}"),
            Err(BadCard::Damaged) => "its address is damaged".to_owned(),
        };
        rail.host.warn(&format!("process {proc} is not reached: {why}"));
        Ok(None)
    }

    fn state(&self) -> *mut c_void {
        core::ptr::from_ref(self).cast_mut().cast()
    }
}

impl Btl for Ugni {
    type Endpoint = UgniEndpoint;

    fn attrs(&self) -> BtlAttrs {
        let (settings, mut attrs) = (&self.rail.settings, BtlAttrs::new());
        attrs.contexts = self.rail.service_lane() as u32;
        attrs.service_limit = settings.max_send_size() as u32;
        attrs.eager_limit = settings.eager_limit as u64;
        attrs.rndv_eager_limit = settings.rndv_eager_limit as u64;
        attrs.max_send_size = settings.max_send_size() as u64;
        attrs.exclusivity = settings.exclusivity;
        attrs.latency = settings.latency;
        attrs.bandwidth = settings.bandwidth;
        attrs.min_get_size = settings.min_rma_size as u64;
        attrs.min_put_size = settings.min_rma_size as u64;
        attrs.get_limit = settings.get_limit;
        attrs.put_limit = PUT_LIMIT;
        attrs.registration_handle_size = HANDLE as u32;
        attrs.flags = BtlAttrs::PUT_DONE_IS_REMOTE;
        if settings.device_atomics {
            attrs.amo_ops = OPS;
            attrs.amo_operands = operands(self.rail.kind);
        }
        attrs.device[..4].copy_from_slice(b"ugni");
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<UgniEndpoint>>, Status> {
        let rail = &self.rail;
        if proc.proc == rail.host.job().rank {
            return Ok(None);
        }
        let Some(card) = self.card_of(proc.proc)? else { return Ok(None) };
        let peer = rail.peer_of(proc.proc);
        // It may be there from before, the same.
        let _ = peer.core.card.set(card);
        Ok(Some(Box::new(UgniEndpoint { peer })))
    }

    fn send(&self, endpoint: &UgniEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        let rail = &*self.rail;
        if msg.total_len() > rail.settings.max_send_size() {
            return Status::BAD_PARAM;
        }
        let Some(link) = rail.link_of(&endpoint.peer, ctx, false) else { return Status::PEER_FAILED };
        let lane = &rail.lanes[ctx as usize];
        rail.push(lane, &mut lane.held.borrow_mut(), link, Kind::Message, msg.tag(), &Body::Message(msg))
    }

    fn progress(&self, ctx: u32) -> i32 {
        self.rail.turn(ctx as usize, self.state())
    }

    fn finalize(&self) {
        self.rail.part();
        self.rail.stop.store(true, Ordering::Release);
        self.connecting.join(&self.rail.host);
        self.rail.close();
    }
}

impl BtlPut for Ugni {
    fn put(&self, endpoint: &UgniEndpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.rail.transfer(endpoint, ctx, rma, true)
    }
}
impl BtlGet for Ugni {
    fn get(&self, endpoint: &UgniEndpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.rail.transfer(endpoint, ctx, rma, false)
    }
}
impl BtlAtomics for Ugni {
    fn atomic(&self, endpoint: &UgniEndpoint, ctx: u32, op: &AtomicDesc) -> Status {
        self.rail.update(endpoint, ctx, op)
    }
}
impl BtlFlush for Ugni {
    fn flush(&self, endpoint: Option<&UgniEndpoint>, ctx: u32, flush: &FlushDesc) -> Status {
        self.rail.flush(endpoint, ctx, flush)
    }
}

impl BtlMemory for Ugni {
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

impl BtlSleep for Ugni {
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        self.rail.arm(ctx as usize, set)
    }
    fn disarm(&self, _ctx: u32) {}
}

impl BtlService for Ugni {
    /// It is there from the start.
    fn open(&self) -> Status {
        Status::OK
    }
    fn request(&self, endpoint: &UgniEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        self.rail.request(&endpoint.peer, ctx, msg)
    }
    fn serve(&self) -> i32 {
        self.rail.turn(self.rail.service_lane(), self.state())
    }
    fn reply(&self, link: u64, msg: &Message<'_>) -> Status {
        self.rail.reply(link, msg)
    }
}

impl BtlServiceSleep for Ugni {
    fn arm_service(&self, set: &mut WaitSet) -> Status {
        self.rail.arm(self.rail.service_lane(), set)
    }
    fn disarm_service(&self) {}
}
