//! The verbs, as the host calls them.

use crate::amo::{OPS, operands};
use crate::context::Context;
use crate::link::{Routes, UgniEndpoint};
use crate::memory::{HANDLE, Handle};
use crate::outbound::Body;
use crate::rail::Rail;
use crate::rma::PUT_LIMIT;
use crate::service::Service;
use crate::wire::{BadCard, Card, Kind, VERSION};
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPut, BtlService, BtlServiceSleep,
    BtlSleep, Completion, Contexts, Entered, Memory, Message, Peer, ProcInfo, RmaDesc, Vouched, WaitSet,
};
use oxmpi_btl_support::Helper;
use oxmpi_mca::{MemKind, Status};
use std::sync::Arc;

pub struct Ugni {
    pub rail: Arc<Rail>,
    pub connecting: Helper,
}

type At<'a> = Entered<'a, Context>;

impl Ugni {
    /// How a process is reached; `None`: it is not.
    fn card_of(&self, proc: u32) -> Result<Option<Card>, Status> {
        let rail = &self.rail;
        // Domains are a job's own, and so are offers of mailboxes (`connect.rs`): what is offered by another job is not taken.
        if proc >= rail.host.job().job_size {
            return Ok(None);
        }
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

    /// The link by which messages of a context go, or its requests: one that the context has met. `None`: the process is lost.
    #[inline]
    fn link_of(&self, at: &mut At<'_>, to: &Peer<Ugni>, request: bool) -> Option<u32> {
        let routes = at.lane(to);
        let known = if request { routes.requests } else { routes.messages };
        known.or_else(|| self.first_link_of(at, to, request))
    }

    #[cold]
    fn first_link_of(&self, at: &mut At<'_>, to: &Peer<Ugni>, request: bool) -> Option<u32> {
        let rail = &self.rail;
        let (ours, contexts) = (at.number() as u16, to.process.core.card.get()?.contexts);
        let theirs = if request { contexts } else { ours % contexts };
        let link = match rail.link(&to.process, ours, theirs) {
            Ok(link) => link.index,
            Err(why) => {
                rail.fail(&to.process.core, &why);
                return None;
            }
        };
        let (context, routes) = at.with_lane(to);
        context.meet(&rail.lanes[usize::from(ours)]);
        *(if request { &mut routes.requests } else { &mut routes.messages }) = Some(link);
        Some(link)
    }

    /// Ends the thread, and gives the device back.
    pub fn end(&self) {
        self.rail.stop.store(true, Ordering::Release);
        self.connecting.join(&self.rail.host);
        self.rail.close();
    }
}

impl Btl for Ugni {
    type Context = Context;
    type Endpoint = UgniEndpoint;
    type Lane = Routes;

    fn attrs(&self) -> BtlAttrs {
        let (settings, mut attrs) = (&self.rail.settings, BtlAttrs::new());
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

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<UgniEndpoint>, Status> {
        let rail = &self.rail;
        if proc.proc == rail.host.job().rank {
            return Ok(None);
        }
        let Some(card) = self.card_of(proc.proc)? else { return Ok(None) };
        let process = rail.process_of(proc.proc);
        // It may be there from before, the same.
        let _ = process.core.card.set(card);
        Ok(Some(UgniEndpoint { process }))
    }

    fn lane(&self, _: &UgniEndpoint, _ctx: u32) -> Routes {
        Routes::default()
    }

    fn send(&self, at: &mut At<'_>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        let rail = &*self.rail;
        if msg.total_len() > rail.settings.max_send_size() {
            return Status::BAD_PARAM;
        }
        let Some(link) = self.link_of(at, to, false) else { return Status::PEER_FAILED };
        rail.push(rail.lane_of(at), at, link, Kind::Message, msg.tag(), &Body::Message(msg))
    }

    fn progress(&self, at: &mut At<'_>) -> i32 {
        self.rail.turn(at)
    }
}

impl BtlPut for Ugni {
    fn put(&self, at: &mut At<'_>, to: &Peer<Self>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rail.transfer(at, to, rma, done, true)
    }
}
impl BtlGet for Ugni {
    fn get(&self, at: &mut At<'_>, to: &Peer<Self>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rail.transfer(at, to, rma, done, false)
    }
}
impl BtlAtomics for Ugni {
    fn atomic(
        &self,
        at: &mut At<'_>,
        to: &Peer<Self>,
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status {
        self.rail.update(at, to, op, done)
    }
}
impl BtlFlush for Ugni {
    fn flush(&self, at: &mut At<'_>, to: Option<&Peer<Self>>, done: Completion) -> Status {
        at.operations.flush(to.map(|to| to.process.core.proc), done)
    }
}

impl BtlMemory for Ugni {
    const HANDLE_SIZE: usize = HANDLE;

    fn register(&self, memory: Memory, access: u32, handle: &mut [u8]) -> Status {
        if memory.kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        match self.rail.memory.add(memory.addr as u64, memory.len, access, handle) {
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

impl BtlSleep for Ugni {
    fn arm(&self, at: &mut At<'_>, set: &mut WaitSet) -> Status {
        self.rail.arm(at, set)
    }
    fn disarm(&self, _at: &mut At<'_>) {}
}

impl BtlService for Ugni {
    type Service = Service;

    /// It is there from the start.
    fn open(&self) -> Status {
        Status::OK
    }
    fn request(&self, at: &mut At<'_>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.rail.settings.max_send_size() {
            return Status::BAD_PARAM;
        }
        let Some(link) = self.link_of(at, to, true) else { return Status::PEER_FAILED };
        self.rail.request(at, link, msg)
    }
    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        self.rail.turn(at)
    }
    fn reply(&self, at: &mut Entered<'_, Service>, link: u64, msg: &Message<'_>) -> Status {
        self.rail.reply(at, link, msg)
    }
    fn finalize_serving(&self, all: &mut Contexts<'_, Context>, service: &mut Entered<'_, Service>) {
        self.rail.part(all, service);
        self.end();
    }
}

impl BtlServiceSleep for Ugni {
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        self.rail.arm(at, set)
    }
    fn disarm_service(&self, _at: &mut Entered<'_, Service>) {}
}
