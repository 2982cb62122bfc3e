//! Opening: the library, the ports, and what of each is published.

use crate::category::{arrange, service_lane};
use crate::connect::Desk;
use crate::context::{Context, Inbox, Lent};
use crate::datagrams::Datagrams;
use crate::device::{NoPort, Port, ports};
use crate::in_force::tell;
use crate::lane::{Held, Lane};
use crate::library::Api;
use crate::memory::Memory;
use crate::module::Verbs;
use crate::objects::Domain;
use crate::params::{LIBRARY, Settings};
use crate::rail::{Parts, Rail};
use crate::service::Service;
use crate::sys;
use crate::wire::{Card, Place};
use oxmpi_btl::BtlModule;
use oxmpi_btl_support::{Bell, Helper};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

pub struct VerbsComponent;

/// The card counts ports in a byte.
const MOST_PORTS: usize = 64;

impl Component for VerbsComponent {
    type Module = BtlModule;
    const NAME: &'static str = "verbs";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params).map_err(|why| OpenError::new(Status::BAD_PARAM, why))?;
        // Nobody to talk to; a job that this one starts or meets is reached by this network where it is named.
        if host.job().job_size < 2 && !host.is_named() {
            return Ok((0, Vec::new()));
        }
        let api = library(&settings)?;
        let mut found = ports(&api, &settings).map_err(|why| no_port(&host, &settings, why))?;
        found.truncate(MOST_PORTS);
        let settings = Arc::new(settings);
        let mut modules = Vec::new();
        let published = Arc::new(OnceLock::new());
        for (number, port) in found.into_iter().enumerate() {
            let name = port.name.clone();
            let opened = open_port(host, &settings, number, port, &published);
            modules
                .push(opened.map_err(|why| OpenError::new(Status::NO_RESOURCE, format!("{name}: {why}")))?);
        }
        let card = Card { places: modules.iter().map(|m| m.verbs.rail.place).collect() };
        let status = host.exchange_put(&card.encode());
        published.get_or_init(|| card);
        if status.is_err() {
            return Err(OpenError::new(status, "cannot publish the address"));
        }
        let build = |opened: Opened| {
            let atomics = opened.verbs.rail.port.limits.atomics;
            let module = oxmpi_btl::module(opened.verbs, opened.contexts)
                .get()
                .put()
                .flush()
                .memory()
                .sleep()
                .service(opened.service)
                .service_sleep()
                .partner();
            if atomics { module.atomics().build() } else { module.build() }
        };
        Ok((0, modules.into_iter().map(build).collect()))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        // `open` says what is wrong with settings.
        let Ok(settings) = Settings::of(params) else { return Ok(()) };
        let found = library(&settings).map_err(|refused| refused.message).and_then(|api| {
            ports(&api, &settings).map_err(|why| match why {
                NoPort::Nothing(why) => why,
                NoPort::NotHere(text, _) => format!("{text} is not here"),
                NoPort::NoPartition(device, port) => {
                    format!("port {port} of {device} is not in the partition")
                }
            })
        });
        tell(process, &settings, found.as_deref().map_err(String::as_str), answers);
        Ok(())
    }
}

/// Opens the library, unless one look says that there is nothing to be had from it.
fn library(settings: &Settings) -> Result<Arc<Api>, OpenError> {
    let is_usual = settings.library == LIBRARY;
    if is_usual && !sys::kernel_has_devices() {
        let why = "this node has no RDMA device: the kernel lists none in /sys/class/infiniband_verbs. Where there is one, \
                   its driver is not loaded; another implementation of verbs is named by btl_verbs_library";
        return Err(OpenError::not_available(why));
    }
    Api::open(&settings.library).map_err(|why| {
        let why = format!(
            "the verbs library {} cannot be used: {why}. It comes with package libibverbs1 (rdma-core); \
             btl_verbs_library names another file",
            settings.library
        );
        match is_usual {
            true => OpenError::not_available(why),
            // Somebody has asked for it.
            false => OpenError::new(Status::NOT_FOUND, why),
        }
    })
}

fn no_port(host: &Host, settings: &Settings, why: NoPort) -> OpenError {
    match why {
        NoPort::Nothing(why) => OpenError::not_available(why),
        NoPort::NotHere(text, here) => {
            host.help("not-here", &[&text, &here.join(", ")]);
            let why = format!("{text} in btl_verbs_if_include or btl_verbs_if_exclude is not here");
            OpenError::new(Status::BAD_PARAM, why)
        }
        NoPort::NoPartition(device, port) => {
            let key = format!("{:#06x}", settings.partition);
            host.help("no-partition", &[&key, &device, &port.to_string()]);
            OpenError::new(Status::BAD_PARAM, format!("port {port} of {device} is not in partition {key}"))
        }
    }
}

/// A port that is open: its device, and the state of its contexts.
struct Opened {
    verbs: Verbs,
    contexts: Vec<Context>,
    service: Service,
}

/// The context of each in-box, with what it has of its lane. The last one, which serves, gets no messages by rings.
fn contexts(lanes: &[Arc<Lane>], inboxes: &[Arc<Inbox>], settings: &Settings) -> io::Result<Vec<Context>> {
    let share = |lane: &Arc<Lane>| Arc::new(Mutex::new(Held::new(lane)));
    let shared: Vec<_> = lanes.iter().map(|lane| lane.is_shared.then(|| share(lane))).collect();
    let of = |(number, inbox): (usize, &Arc<Inbox>)| {
        let lane = &lanes[inbox.lane];
        let lent = match &shared[inbox.lane] {
            Some(held) => Lent::Shared(held.clone()),
            None => Lent::Whole(Box::new(Held::new(lane))),
        };
        Context::new(lane, lent, inbox, settings.use_eager_rdma && number + 1 < inboxes.len())
    };
    inboxes.iter().enumerate().map(of).collect()
}

/// Makes a port's lanes and contexts, and its connecting thread.
fn open_port(
    host: Host,
    settings: &Arc<Settings>,
    number: usize,
    port: Port,
    card: &Arc<OnceLock<Card>>,
) -> Result<Opened, String> {
    let random = sys::random::<16>().map_err(|e| e.to_string())?;
    let half = |at: usize| random[at..].first_chunk().map_or(0, |w| u64::from_le_bytes(*w));
    // Keys of which the highest bit is set are of privileged programs.
    let key = (half(0) as u32 & 0x7fff_ffff) | 1;
    let datagrams = Datagrams::new(&port, key)?;
    let arranged = arrange(&port, settings, host.num_cris() as usize)?;
    if arranged.fell_back {
        let category = settings.category.name();
        host.help("no-domains", &[category, &port.name]);
    }
    let mut lanes = arranged.lanes;
    let ordinary = lanes.len();
    let cris = host.num_cris();
    lanes.push(service_lane(&port, settings, ordinary as u16)?);
    let of_lanes = (0..cris).map(|n| n as usize % ordinary).chain([ordinary]);
    let inboxes = of_lanes.map(Inbox::new).collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    let mut contexts = contexts(&lanes, &inboxes, settings).map_err(|e| e.to_string())?;
    let service = Service::new(contexts.pop().ok_or("there is no service context")?);
    for fd in lanes.iter().map(|l| l.device().async_fd()).chain([port.device.async_fd()]) {
        // SAFETY: open as long as its device.
        unsafe { sys::never_block(fd) }.map_err(|e| e.to_string())?;
    }
    let protections: Vec<Arc<Domain>> = lanes[..ordinary].iter().map(|l| l.protection.clone()).collect();
    let place = Place {
        ethernet: port.ethernet,
        mtu: port.mtu as u8,
        rd_atomic: port.limits.rd_atomic_in,
        lid: port.lid,
        gid: port.gid,
        qp: datagrams.pair_number(),
        key,
        lanes: ordinary as u16,
        contexts: cris as u16,
    };
    let name = Rail::name_of(&host, host.job().rank).ok_or("this process has no name")?;
    let rail = Arc::new(Rail::new(Parts {
        host,
        settings: settings.clone(),
        number,
        port,
        name,
        place,
        card: card.clone(),
        lanes,
        inboxes,
        memory: Memory::new(&protections, half(8)),
        bell: Bell::new().map_err(|e| e.to_string())?,
    }));
    let desk = Desk::new(rail.clone(), datagrams);
    let connecting = Helper::start("btl-verbs", "connecting", move || desk.run());
    let verbs = Verbs { rail, connecting: connecting.map_err(|e| e.to_string())? };
    Ok(Opened { verbs, contexts, service })
}
