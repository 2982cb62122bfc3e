//! Opening: the library, the provider, its domains and endpoints, and what is published.

use crate::abi::{CONTEXT, CONTEXT2, CqEntry, MR_LOCAL, MR_VIRT_ADDR, PROGRESS_AUTO};
use crate::amo;
use crate::attendant::Attendant;
use crate::buffers::Buffers;
use crate::context::Context;
use crate::endpoints::Ep;
use crate::lanes::Lanes;
use crate::library::{Api, LIBRARY};
use crate::memory::{Making, Memory};
use crate::module::Ofi;
use crate::objects::{Av, Code, Cq, Domain};
use crate::params::{Settings, index};
use crate::provider::{Candidate, Network, candidates, choose};
use crate::rail::{Parts, Rail, Traits};
use crate::service::Service;
use crate::sys::has_card;
use crate::target::Target;
use crate::wire::Card;
use core::ptr::null_mut;
use oxmpi_btl::BtlModule;
use oxmpi_btl_support::Timer;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

pub struct OfiComponent;

/// Most bytes of a put or get.
const LONGEST: u64 = 1 << 30;
/// Priorities and latencies by the network behind the provider: where ours drives it, too, ours comes first.
const EXCLUSIVITY: [u32; 3] = [2048, 1000, 50];
const LATENCY: [u32; 3] = [2, 5, 110];

impl Component for OfiComponent {
    type Module = BtlModule;
    const NAME: &'static str = "ofi";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params).map_err(|refused| {
            host.help("bad-value", &[&refused.why]);
            OpenError::new(refused.status, refused.why)
        })?;
        let job = host.job();
        let is_named = host.is_named() || !settings.include.is_empty();
        // Nobody to talk to; or nobody who is not nearer by shared memory or as near by TCP, and looking takes a while. A job that this one
        // starts or meets is reached by a provider where that is named.
        if !is_named && (job.local_size == job.job_size || !has_card()) {
            return Ok((0, Vec::new()));
        }
        let api = library(&host, &settings)?;
        let chosen = provider(&host, &api, &settings, is_named)?;
        let name = Rail::name_of(&host, job.rank)
            .ok_or_else(|| OpenError::new(Status::INTERNAL, "this process has no name"))?;
        let opened = Opening { host: &host, api: &api, settings: &settings, chosen: &chosen }.open();
        let opened = opened.map_err(|why| {
            let text = format!("provider {}, domain {}: {why}", chosen.provider, chosen.domain);
            host.help("not-opened", &[&chosen.provider, &chosen.domain, &why]);
            OpenError::new(Status::NO_RESOURCE, text)
        })?;
        let status = host.exchange_put(&opened.card.encode());
        if status.is_err() {
            return Err(OpenError::new(status, "cannot publish the address"));
        }
        let what = format!("provider {}, domain {}", chosen.provider, chosen.domain);
        host.info(&what);
        Ok((0, vec![opened.module(host, api, settings, name)]))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let settings = Settings::of(params)?;
        // As in `open`: looking takes a while.
        if process.job.local_size < process.job.job_size {
            let (value, because) = survey(&settings);
            answers.tell(index::PROVIDER_INCLUDE, value, because);
        } else {
            answers.as_set(
                index::PROVIDER_INCLUDE,
                "all processes are on this node, so no provider is looked at",
            );
        }
        for (index, because) in [
            (index::PROVIDER_EXCLUDE, "empty: no provider is left out"),
            (index::DOMAIN, "empty: the first that does not loop back"),
        ] {
            if params.text(index).is_empty() {
                answers.as_set(index, because);
            }
        }
        for (index, value) in
            [(index::EAGER_LIMIT, settings.eager_limit), (index::RNDV_EAGER_LIMIT, settings.rndv_eager_limit)]
        {
            if params.size(index) == 0 {
                let because = "0: a buffer of btl_ofi_max_send_size less the head of a message";
                answers.tell(index, oxmpi_mca::resolve::bytes(value as u64), because);
            }
        }
        for (index, because) in [
            (index::NUM_CONTEXTS, "0: as many as there are CRIs"),
            (index::EXCLUSIVITY, "0: by the network behind the provider"),
            (index::LATENCY, "0: by the network behind the provider"),
            (index::BANDWIDTH, "0: what the provider says of the card, else 1000"),
        ] {
            if params.int(index) == 0 {
                answers.as_set(index, because);
            }
        }
        Ok(())
    }
}

/// Opens the library. Where it is missing and was not asked for by name nobody hears of that.
fn library(host: &Host, settings: &Settings) -> Result<Arc<Api>, OpenError> {
    Api::load(&settings.library).map_err(|why| {
        let text = format!("the library {} cannot be used: {why}", settings.library);
        if host.is_named() || settings.library != LIBRARY {
            host.help("no-library", &[&settings.library, &why]);
        }
        match settings.library == LIBRARY {
            true => OpenError::not_available(text),
            false => OpenError::new(Status::NOT_FOUND, text),
        }
    })
}

/// Chooses the domain that is used.
fn provider(
    host: &Host,
    api: &Arc<Api>,
    settings: &Settings,
    is_named: bool,
) -> Result<Candidate, OpenError> {
    let all = candidates(api, settings, is_named)
        .map_err(|code| OpenError::new(Status::INTERNAL, format!("listing providers: {}", api.text(code))))?;
    let Some(chosen) = choose(&all, settings) else {
        let why = refusals(&all);
        if is_named {
            host.help("no-provider", &[&why]);
        }
        let text = format!("no provider of libfabric is used: {why}");
        return Err(match settings.include.is_empty() && settings.domains.is_empty() {
            true => OpenError::not_available(text),
            // Somebody has asked for one.
            false => OpenError::new(Status::NOT_FOUND, text),
        });
    };
    let gone = || OpenError::new(Status::INTERNAL, "the provider is gone");
    let mut chosen = all.into_iter().nth(chosen).ok_or_else(gone)?;
    if settings.scales {
        chosen.info = chosen.info.with_named_contexts().unwrap_or(chosen.info);
    }
    Ok(chosen)
}

/// Why none of the domains is used: each reason once, behind the domains that it holds for.
fn refusals(all: &[Candidate]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for candidate in all {
        let why = candidate.against.as_deref().unwrap_or("not chosen");
        let at = reasons.iter().position(|(known, _)| *known == why).unwrap_or_else(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        let domain = format!("{} ({})", candidate.provider, candidate.domain);
        if !reasons[at].1.contains(&domain) {
            reasons[at].1.push(domain);
        }
    }
    if reasons.is_empty() {
        return "it has none with reliable messages in order".into();
    }
    let lines = reasons.iter().map(|(why, domains)| format!("{}: {why}", domains.join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

/// The provider that would be used where this component is named, and all there are, as parts of a sentence.
fn survey(settings: &Settings) -> (String, String) {
    let api = match Api::load(&settings.library) {
        Ok(api) => api,
        Err(why) => {
            return (String::new(), format!("the library {} cannot be used: {why}", settings.library));
        }
    };
    let release = api.release();
    let mut told = vec![format!("libfabric {}.{} ({})", release >> 16, release & 0xffff, settings.library)];
    let look = |is_named| candidates(&api, settings, is_named);
    let (all, named) = match (look(false), look(true)) {
        (Ok(all), Ok(named)) => (all, named),
        (Err(code), _) | (_, Err(code)) => {
            return (String::new(), format!("listing its providers fails: {}", api.text(code)));
        }
    };
    let (chosen, if_named) = (choose(&all, settings), choose(&named, settings));
    for (n, candidate) in all.iter().enumerate() {
        let has = match (candidate.rma, candidate.atomics) {
            (_, true) => "messages, remote memory, atomics",
            (true, _) => "messages, remote memory",
            _ => "messages",
        };
        let verdict = match (&candidate.against, chosen == Some(n), if_named == Some(n)) {
            (_, true, _) => "used".to_owned(),
            (Some(why), _, true) => format!("first choice where named, but {why}"),
            (Some(why), ..) => why.clone(),
            (None, ..) => "another one comes first".to_owned(),
        };
        let line = format!("{}, domain {} ({has}): {verdict}", candidate.provider, candidate.domain);
        // A domain comes once for each of its addresses.
        if !told.contains(&line) {
            told.push(line);
        }
    }
    if all.is_empty() {
        told.push("it has no provider with reliable messages in order".into());
    }
    let value = if_named.map_or(String::new(), |n| named[n].provider.clone());
    (value, told.join("; "))
}

/// A device that is being opened.
struct Opening<'a> {
    host: &'a Host,
    api: &'a Arc<Api>,
    settings: &'a Settings,
    chosen: &'a Candidate,
}

/// One that is open, with the state of its contexts.
struct Opened {
    card: Card,
    traits: Traits,
    avs: Vec<Arc<Av>>,
    memory: Memory,
    target: Option<Arc<Target>>,
    contexts: Vec<Context>,
    service: Service,
    attendant: Option<Arc<Attendant>>,
}

impl Opening<'_> {
    fn open(&self) -> Result<Opened, String> {
        let info = &self.chosen.info;
        let parts = info.parts();
        let mode = parts.info.mode | parts.tx.mode | parts.rx.mode;
        if mode & !(CONTEXT | CONTEXT2) != 0 {
            return Err(format!("it wants what this component does not do (mode bits {mode:#x})"));
        }
        let cris = self.host.num_cris() as usize;
        let ordinary = match self.settings.contexts {
            0 => cris,
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
            starved: 0,
            operations: Default::default(),
            timer: Timer::new().map_err(|e| e.to_string())?,
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
    fn module(self, host: Host, api: Arc<Api>, settings: Settings, name: oxmpi_mca::ProcName) -> BtlModule {
        let Opened { card, traits, avs, memory, target, mut contexts, mut service, attendant } = self;
        let (has_rma, has_atomics) = (target.is_some(), traits.amo_ops != 0);
        let sleeps = contexts.iter().all(|cx| cx.ep.cq.fd.is_some());
        let rail =
            Rail::new(Parts { host, api, settings, name, card, traits, avs, memory, target, attendant });
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
