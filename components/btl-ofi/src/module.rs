//! The verbs, as the host calls them.

use crate::context::Context;
use crate::link::{OfiEndpoint, Routes};
use crate::memory::{HANDLE, Handle};
use crate::rail::Rail;
use crate::service::Service;
use crate::wire::{BadCard, Card, VERSION, published};
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPut, BtlService, BtlServiceSleep,
    BtlSleep, Completion, Contexts, Entered, Memory, Message, Peer, ProcInfo, RmaDesc, Vouched, WaitSet,
};
use oxmpi_mca::{MemKind, Status};
use std::sync::Arc;

pub struct Ofi {
    pub rail: Arc<Rail>,
}

type At<'a> = Entered<'a, Context>;

impl Ofi {
    /// How a process is reached; `None`: it is not.
    fn card_of(&self, proc: u32) -> Result<Option<Card>, Status> {
        let rail = &self.rail;
        let blob = match rail.host.exchange_get(proc) {
            Ok(blob) => blob,
            // It does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let why = match published(&blob) {
            Ok(cards) => {
                // It does not use this domain.
                let Some(card) = rail.card_for_this(cards) else { return Ok(None) };
                let ours = &rail.card;
                if (&card.provider, card.format, card.buffer) == (&ours.provider, ours.format, ours.buffer) {
                    return Ok(Some(card));
                }
                format!(
                    "it uses provider {} with buffers of {} bytes (addresses of form {}), this process {} with {} (form {}); these have to be equal",
                    card.provider, card.buffer, card.format, ours.provider, ours.buffer, ours.format
                )
            }
            Err(BadCard::Version(theirs)) => format!("it speaks version {theirs}, we speak {VERSION}"),
            Err(BadCard::Damaged) => "its address is damaged".to_owned(),
        };
        rail.host.warn(&format!("process {proc} is not reached: {why}"));
        Ok(None)
    }

    /// The link by which messages of a context go, or its requests. `None`: the process is lost.
    #[inline]
    fn link_of(&self, at: &mut At<'_>, to: &Peer<Ofi>, request: bool) -> Option<u32> {
        let routes = at.lane(to);
        let known = if request { routes.requests } else { routes.messages };
        known.or_else(|| self.first_link_of(at, to, request))
    }

    #[cold]
    fn first_link_of(&self, at: &mut At<'_>, to: &Peer<Ofi>, request: bool) -> Option<u32> {
        let card = to.core.card.get()?;
        let theirs = if request { card.service() } else { at.lane % card.contexts };
        match self.rail.out_link(at, &to.core, theirs) {
            Ok(link) => {
                let routes = at.lane(to);
                *(if request { &mut routes.requests } else { &mut routes.messages }) = Some(link);
                Some(link)
            }
            Err(why) => {
                self.rail.fail(&to.core, &why);
                None
            }
        }
    }
}

impl Ofi {
    /// Number of a process's target in the address vector of the context's domain. `None`: it has none.
    fn target_of(&self, at: &mut At<'_>, to: &Peer<Ofi>) -> Option<u64> {
        let device = at.device;
        let routes = at.lane(to);
        if let Some(target) = routes.target {
            return Some(target);
        }
        let card = to.core.card.get().filter(|card| card.rma)?;
        match self.rail.number_of(&to.core, device, card.target()) {
            Ok(number) => {
                routes.target = Some(number);
                Some(number)
            }
            Err(why) => {
                self.rail.fail(&to.core, &why);
                None
            }
        }
    }
}

impl Btl for Ofi {
    type Context = Context;
    type Endpoint = OfiEndpoint;
    type Lane = Routes;

    fn attrs(&self) -> BtlAttrs {
        let (settings, traits, mut attrs) = (&self.rail.settings, &self.rail.traits, BtlAttrs::new());
        attrs.service_limit = settings.max_send_size() as u32;
        attrs.eager_limit = settings.eager_limit as u64;
        attrs.rndv_eager_limit = settings.rndv_eager_limit as u64;
        attrs.max_send_size = settings.max_send_size() as u64;
        attrs.exclusivity = traits.exclusivity;
        attrs.latency = traits.latency;
        attrs.bandwidth = traits.bandwidth;
        attrs.flags = BtlAttrs::STRIPES;
        if self.rail.target.is_some() {
            attrs.min_get_size = settings.min_rma_size;
            attrs.min_put_size = settings.min_rma_size;
            attrs.get_limit = traits.longest;
            attrs.put_limit = traits.longest;
            attrs.registration_handle_size = HANDLE as u32;
            attrs.flags |= BtlAttrs::PUT_DONE_IS_REMOTE;
        }
        attrs.amo_ops = traits.amo_ops;
        attrs.amo_operands = traits.amo_operands;
        let device = traits.device.as_bytes();
        let len = device.len().min(attrs.device.len() - 1);
        attrs.device[..len].copy_from_slice(&device[..len]);
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<OfiEndpoint>, Status> {
        let rail = &self.rail;
        let is_out_of_reach = rail.traits.of_node && proc.local == 0;
        if proc.proc == rail.host.job().rank || is_out_of_reach {
            return Ok(None);
        }
        let Some(card) = self.card_of(proc.proc)? else { return Ok(None) };
        let core = rail.core(proc.proc);
        // It may be there from before, the same.
        let _ = core.card.set(card);
        Ok(Some(OfiEndpoint { core }))
    }

    fn lane(&self, _: &OfiEndpoint, _ctx: u32) -> Routes {
        Routes::default()
    }

    fn send(&self, at: &mut At<'_>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        let rail = &*self.rail;
        if msg.total_len() > rail.settings.max_send_size() {
            return Status::BAD_PARAM;
        }
        let Some(link) = self.link_of(at, to, false) else { return Status::PEER_FAILED };
        rail.send(at, link, msg)
    }

    fn progress(&self, at: &mut At<'_>) -> i32 {
        self.rail.turn(at)
    }
}

impl BtlPut for Ofi {
    fn put(&self, at: &mut At<'_>, to: &Peer<Self>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        let Some(target) = self.target_of(at, to) else { return Status::NOT_SUPPORTED };
        self.rail.transfer(at, (&to.core, target), rma, done, true)
    }
}
impl BtlGet for Ofi {
    fn get(&self, at: &mut At<'_>, to: &Peer<Self>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        let Some(target) = self.target_of(at, to) else { return Status::NOT_SUPPORTED };
        self.rail.transfer(at, (&to.core, target), rma, done, false)
    }
}
impl BtlAtomics for Ofi {
    fn atomic(
        &self,
        at: &mut At<'_>,
        to: &Peer<Self>,
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status {
        let Some(target) = self.target_of(at, to) else { return Status::NOT_SUPPORTED };
        self.rail.update(at, (&to.core, target), op, done)
    }
}
impl BtlFlush for Ofi {
    fn flush(&self, at: &mut At<'_>, to: Option<&Peer<Self>>, done: Completion) -> Status {
        at.operations.flush(to.map(|to| to.core.proc), done)
    }
}

impl BtlMemory for Ofi {
    const HANDLE_SIZE: usize = HANDLE;

    fn register(&self, memory: Memory, access: u32, handle: &mut [u8]) -> Status {
        if memory.kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        let rail = &self.rail;
        let Some(target) = &rail.target else { return Status::NOT_SUPPORTED };
        let registered = target
            .serve()
            .map_err(|why| (Status::NO_RESOURCE, why))
            .and_then(|()| rail.memory.add((memory.addr, memory.len), access, Some(&target.ep), handle));
        match registered {
            Ok(()) => Status::OK,
            Err((status, why)) => {
                rail.host.debug(&why);
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

impl BtlSleep for Ofi {
    fn arm(&self, at: &mut At<'_>, set: &mut WaitSet) -> Status {
        self.rail.arm(at, set)
    }
    fn disarm(&self, at: &mut At<'_>) {
        at.ward.wakes();
    }
}

impl BtlService for Ofi {
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
        let rail = &self.rail;
        rail.part(all, service);
        if let Some(attendant) = &rail.attendant {
            attendant.end(&rail.host);
        }
        if let Some(target) = &rail.target {
            target.end(&rail.host);
        }
        rail.memory.clear();
    }
}

impl BtlServiceSleep for Ofi {
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        self.rail.arm(at, set)
    }
    fn disarm_service(&self, at: &mut Entered<'_, Service>) {
        at.context.ward.wakes();
    }
}
