//! Opening a rail: a domain of a provider, its endpoints, its address, and the module over it.

use crate::abi::{CONTEXT, CONTEXT2, CqEntry, MR_LOCAL, MR_VIRT_ADDR, PROGRESS_AUTO};
use crate::amo;
use crate::attendant::Attendant;
use crate::buffers::Buffers;
use crate::context::Context;
use crate::endpoints::Ep;
use crate::lanes::Lanes;
use crate::library::Api;
use crate::memory::{Making, Memory};
use crate::module::Ofi;
use crate::objects::{Av, Cq, Domain};
use crate::params::Settings;
use crate::pause::Pause;
use crate::provider::{Candidate, Network};
use crate::rail::{Parts, Rail, Traits};
use crate::service::Service;
use crate::target::Target;
use crate::wire::Card;
use core::ptr::null_mut;
use oxmpi_btl::BtlModule;
use oxmpi_btl_support::Timer;
use oxmpi_mca::{Host, ProcName};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Most bytes of a put or get.
const LONGEST: u64 = 1 << 30;
/// Priorities and latencies by the network behind the provider: where ours drives it, too, ours comes first.
const EXCLUSIVITY: [u32; 3] = [2048, 1000, 50];
const LATENCY: [u32; 3] = [2, 5, 110];
/// Contexts that a process with fewer cores opens as well.
const FEW_CONTEXTS: usize = 4;

/// A rail that is being opened.
pub struct Opening<'a> {
    pub host: &'a Host,
    pub api: &'a Arc<Api>,
    pub settings: &'a Settings,
    pub chosen: &'a Candidate,
    pub number: u16,
}

/// One that is open, with the state of its contexts.
pub struct Opened {
    pub card: Card,
    traits: Traits,
    avs: Vec<Arc<Av>>,
    memory: Memory,
    target: Option<Arc<Target>>,
    contexts: Vec<Context>,
    service: Service,
    attendant: Option<Arc<Attendant>>,
}

/// Most contexts that are opened unless told otherwise: a layer like `ofi_rxm` has 75 MiB of buffers for each endpoint, and threads that share a
/// core have nothing of contexts of their own.
fn usable_contexts() -> usize {
    std::thread::available_parallelism().map_or(FEW_CONTEXTS, |cores| cores.get().max(FEW_CONTEXTS))
}

impl Opening<'_> {
    /// Opens it. The error completes "… cannot be used: ".
    pub fn open(&self) -> Result<Opened, String> {
        let info = &self.chosen.info;
        let parts = info.parts();
        let mode = parts.info.mode | parts.tx.mode | parts.rx.mode;
        if mode & !(CONTEXT | CONTEXT2) != 0 {
            return Err(format!("it wants what this component does not do (mode bits {mode:#x})"));
        }
        let cris = self.host.num_cris() as usize;
        let ordinary = match self.settings.contexts {
            0 => cris.min(usable_contexts()),
            n => n.min(cris),
        };
        let lanes = Lanes::new(self.api, self.settings, info, ordinary)?;
        let domains = &lanes.domains;
        let registers_local = parts.domain.mr_mode & MR_LOCAL != 0;
        let memory = Memory::new(Making {
            domains: domains.clone(),
            mode: parts.domain.mr_mode,
            registers_local,
            key_size: parts.domain.mr_key_size,
        });
        let contexts = (0..=ordinary).map(|lane| self.context(lane, &lanes, &memory));
        let mut contexts = contexts.collect::<Result<Vec<_>, _>>()?;
        let service = contexts.pop().ok_or("there is no service context")?;
        let target = self.target(&domains[0], &lanes.avs[0])?;
        let attendant = self.attendant(contexts.iter().chain([&service]))?;
        let of_target = target.as_ref().map_or(&service.ep, |t| &t.ep);
        let eps = contexts.iter().map(|cx| &cx.ep).chain([&service.ep, of_target]);
        let addresses = eps.map(Ep::address).collect::<Result<Vec<_>, _>>();
        let addresses = addresses.map_err(|code| format!("its address: {}", self.api.text(code)))?;
        let (amo_ops, amo_operands) = match self.chosen.atomics && target.is_some() {
            true => amo::offered(&service.ep),
            false => (0, 0),
        };
        let network = self.chosen.network() as usize;
        let or = |set: u32, automatic: u32| if set == 0 { automatic } else { set };
        let speed = (info.speed() / 1_000_000) as u32;
        let traits = Traits {
            device: self.chosen.domain.clone(),
            of_node: self.chosen.is_of_node(),
            longest: (parts.ep.max_msg_size as u64).min(LONGEST),
            virtual_addresses: parts.domain.mr_mode & MR_VIRT_ADDR != 0,
            exclusivity: or(self.settings.exclusivity, EXCLUSIVITY[network]),
            latency: or(self.settings.latency, LATENCY[network]),
            bandwidth: or(self.settings.bandwidth, or(speed, 1000)),
            amo_ops,
            amo_operands,
        };
        let card = Card {
            rail: self.number,
            provider: self.chosen.provider.clone(),
            format: parts.info.addr_format,
            buffer: self.settings.buffer as u32,
            rma: target.is_some(),
            contexts: ordinary as u16,
            addresses,
        };
        let scalables = lanes.scalables();
        if scalables > 0 {
            self.host.info(&format!("{} contexts of {scalables} scalable endpoints", ordinary + 1));
        }
        let (service, avs) = (Service::new(service), lanes.avs);
        Ok(Opened { card, traits, avs, memory, target, contexts, service, attendant })
    }

    fn context(&self, lane: usize, lanes: &Lanes<'_>, memory: &Memory) -> Result<Context, String> {
        let (settings, parts) = (self.settings, self.chosen.info.parts());
        let receives = settings.recv_buffers.min(parts.rx.size.max(1));
        let sends = settings.send_buffers.min(parts.tx.size.max(1));
        let (device, ep) = (lanes.device(lane), lanes.endpoint(lane, parts.tx.size + parts.rx.size)?);
        let key = memory.new_key()?;
        let buffers =
            Buffers::new(&lanes.domains[device], &self.chosen.info, settings.buffer, receives, sends, key)?;
        let inject = if settings.injects { parts.tx.inject_size.min(settings.buffer) } else { 0 };
        let entry = CqEntry { context: null_mut(), flags: 0, len: 0 };
        Ok(Context {
            lane: lane as u16,
            device,
            ep,
            unposted: (0..buffers.receives()).rev().collect(),
            buffers,
            arrived: VecDeque::new(),
            kept: 0,
            ward: Arc::default(),
            blind: 0,
            inject,
            scratch: vec![0; inject].into(),
            entries: vec![entry; settings.cq_read].into(),
            outs: Vec::new(),
            out_of: HashMap::new(),
            ins: Vec::new(),
            challenged: VecDeque::new(),
            free_ins: Vec::new(),
            unsent: VecDeque::new(),
            proofs: VecDeque::new(),
            starved: 0,
            operations: Default::default(),
            timer: Timer::new().map_err(|e| e.to_string())?,
            pause: Pause::default(),
            is_busy: false,
        })
    }

    /// Whether the provider works while nobody calls it: those in software say so and yet wait for somebody who reads.
    fn works_alone(&self) -> bool {
        let progress = self.chosen.info.parts().domain.data_progress;
        progress == PROGRESS_AUTO && self.chosen.network() != Network::Soft
    }

    /// The thread that works for endpoints while their holders are elsewhere.
    fn attendant<'a>(
        &self,
        contexts: impl Iterator<Item = &'a Context>,
    ) -> Result<Option<Arc<Attendant>>, String> {
        if self.works_alone() {
            return Ok(None);
        }
        let wards = contexts.map(|cx| (cx.ward.clone(), cx.ep.cq.clone())).collect();
        let attendant = Attendant::new(wards).map_err(|e| e.to_string())?;
        Ok(Some(Arc::new(attendant)))
    }

    /// Where one-sided operations of peers arrive. `None`: the provider has none, or nobody would work for them while the process computes.
    fn target(&self, domain: &Arc<Domain>, av: &Arc<Av>) -> Result<Option<Arc<Target>>, String> {
        if !self.chosen.rma {
            return Ok(None);
        }
        let works_alone = self.works_alone();
        let cq = Cq::new(domain, 64, !works_alone);
        let cq = cq.map_err(|code| format!("a completion queue: {}", self.api.text(code)))?;
        if cq.fd.is_none() && !works_alone {
            return Ok(None);
        }
        let ep = Ep::new(&self.chosen.info, av, cq);
        let ep =
            ep.map_err(|code| format!("an endpoint for one-sided operations: {}", self.api.text(code)))?;
        let target = Target::new(ep, !works_alone).map_err(|e| e.to_string())?;
        Ok(Some(Arc::new(target)))
    }
}

impl Opened {
    /// The module over it, one of so many of the process of that name.
    pub fn module(
        self,
        host: Host,
        api: Arc<Api>,
        settings: Settings,
        (name, rails): (ProcName, usize),
    ) -> BtlModule {
        let Opened { card, traits, avs, memory, target, mut contexts, mut service, attendant } = self;
        let (has_rma, has_atomics) = (target.is_some(), traits.amo_ops != 0);
        let sleeps = contexts.iter().all(|cx| cx.ep.cq.fd.is_some());
        let rail = Rail::new(Parts {
            host,
            api,
            settings,
            name,
            rails,
            card,
            traits,
            avs,
            memory,
            target,
            attendant,
        });
        // Peers may send as soon as they know the address.
        contexts.iter_mut().chain([&mut service.context]).for_each(|cx| rail.post_receives(cx));
        let module = oxmpi_btl::module(Ofi { rail: Arc::new(rail) }, contexts).service(service);
        let module = if has_rma { module.get().put().flush().memory() } else { module };
        let module = if has_atomics { module.atomics() } else { module };
        let module = if sleeps { module.sleep().service_sleep() } else { module };
        module.build()
    }
}

const _: () = assert!(Network::Own as usize == 0 && Network::Soft as usize == 2);
