//! Opening: the library, the credentials, the virtual devices with their lanes, and what is published.

use crate::abi::{JOB_RES_MDD, JobRes, device, rc};
use crate::context::{Context, Pool};
use crate::desk::Desk;
use crate::device::Device;
use crate::lane::{Lane, Wish};
use crate::library::Api;
use crate::manager;
use crate::memory::Memory;
use crate::module::Ugni;
use crate::nic::{Credentials, Nic};
use crate::params::{LIBRARY, Settings, automatic_devices, automatic_message_size, index};
use crate::rail::{Parts, Rail};
use crate::service::Service;
use crate::wire::Card;
use oxmpi_btl::BtlModule;
use oxmpi_btl_support::Helper;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::sync::Arc;

pub struct UgniComponent;

/// Tag and cookie of processes that no manager has given any.
const NO_MANAGER: Credentials = Credentials { ptag: 10, cookie: 10, device: 0 };
/// Registrations of a node that are left alone, and how many it is taken to have where the library does not say.
const RESERVED: u64 = 20;
const UNKNOWN: u64 = 1200;
/// Bytes of mailboxes that are made together.
const CHUNK: usize = 2 << 20;

impl Component for UgniComponent {
    type Module = BtlModule;
    const NAME: &'static str = "ugni";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params, host.job(), host.threaded()).map_err(|refused| {
            host.help("bad-value", &[&refused.why]);
            OpenError::new(refused.status, refused.why)
        })?;
        // Nobody to talk to.
        if host.job().job_size < 2 {
            return Ok((0, Vec::new()));
        }
        let api = library(&host, &settings)?;
        let no_room = |why: String| OpenError::new(Status::NO_RESOURCE, why);
        let (who, nics) = domains(&host, &api, &settings)?;
        let (lanes, mut contexts) = lanes(&host, &settings, &nics).map_err(no_room)?;
        let Some(of_service) = contexts.pop() else {
            return Err(OpenError::new(Status::INTERNAL, "there is no service lane"));
        };
        let desk = Desk::new(&nics[0]).map_err(no_room)?;
        let most = most_registrations(&api, who, &settings, host.job().local_size);
        let memory = Memory::new(nics[0].clone(), most);
        let device = |nic| Device::new(nic, settings.local_rdma_cq_size, api.has_channels());
        let devices: Result<Vec<Device>, String> = nics.into_iter().map(device).collect();
        let devices = devices.map_err(no_room)?;
        let name = Rail::name_of(&host, host.job().rank)
            .ok_or_else(|| OpenError::new(Status::INTERNAL, "this process has no name"))?;
        let card = Card {
            address: devices[0].nic.address,
            message_size: settings.message_size as u32,
            credits: settings.credits,
            contexts: host.num_cris() as u16,
            insts: devices.iter().map(|d| d.nic.inst).collect(),
        };
        let mut kind = device::ARIES;
        // SAFETY: a place.
        unsafe { (api.get_device_type)(&mut kind) };
        let device_atomics = settings.device_atomics;
        let rail = Arc::new(Rail::new(Parts { host, settings, name, lanes, devices, kind, memory, desk }));
        let theirs = rail.clone();
        let connecting = Helper::start("btl-ugni", "connecting", move || theirs.connect())
            .map_err(|e| OpenError::new(Status::NO_RESOURCE, format!("a thread: {e}")))?;
        let ugni = Ugni { rail, connecting };
        let service = Service { context: of_service, current: None };
        let status = host.exchange_put(&card.encode());
        if status.is_err() {
            // There is nobody to say good-bye to.
            ugni.end();
            return Err(OpenError::new(status, "cannot publish the address"));
        }
        let sleeps = ugni.rail.lanes.iter().all(|lane| lane.channel.is_some());
        let module = oxmpi_btl::module(ugni, contexts).get().put().flush().memory().service(service);
        let module = if device_atomics { module.atomics() } else { module };
        let module = if sleeps { module.sleep().service_sleep() } else { module };
        Ok((0, vec![module.build()]))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let job = process.job;
        // Whether there are threads is not known here: the number with them is told.
        let settings = Settings::of(params, job, true)?;
        if params.int(index::VIRTUAL_DEVICE_COUNT) == 0 {
            let because = format!(
                "0: {} cores by {} processes of the node under MPI_THREAD_MULTIPLE, else 1",
                job.cores,
                job.local_size.max(1)
            );
            answers.tell(
                index::VIRTUAL_DEVICE_COUNT,
                automatic_devices(true, job.cores, job.local_size),
                because,
            );
        }
        if params.size(index::SMSG_LIMIT) == 0 {
            let because = format!("0: what is kept for each of {} processes", job.job_size);
            let bytes = oxmpi_mca::resolve::bytes(automatic_message_size(job.job_size) as u64);
            answers.tell(index::SMSG_LIMIT, bytes, because);
        }
        for (index, value) in
            [(index::EAGER_LIMIT, settings.eager_limit), (index::RNDV_EAGER_LIMIT, settings.rndv_eager_limit)]
        {
            if params.size(index) == 0 {
                let because = "0: a message of btl_ugni_smsg_limit less its head";
                answers.tell(index, oxmpi_mca::resolve::bytes(value as u64), because);
            }
        }
        for (index, unset, because) in [
            (index::MBOX_INC, "0", "0: as many mailboxes as fit into 2 MiB, at least one"),
            (index::LOCAL_RDMA_CQ_SIZE, "0", "0: 2048 with one device, 256 with several"),
            (index::MAX_MEM_REG, "0", "0: what the node has, less 20, by its processes"),
            (index::MAX_MEM_REG, "-1", "-1: as many as the library grants"),
        ] {
            if params.int(index).to_string() == unset {
                answers.as_set(index, because);
            }
        }
        if params.text(index::CDM_FLAGS).is_empty() {
            let because = "empty: the modes that Open MPI sets, fma-dedicated where fewer than 122 domains are on a node, else fma-shared";
            answers.as_set(index::CDM_FLAGS, because);
        }
        Ok(())
    }
}

/// Opens the library. Where it is missing and was not asked for by name nobody hears of that.
fn library(host: &Host, settings: &Settings) -> Result<Arc<Api>, OpenError> {
    Api::open(&settings.library).map_err(|why| {
        let text = format!("the library {} cannot be used: {why}", settings.library);
        if settings.library == LIBRARY {
            let hint = "it comes with Cray's package cray-ugni; btl_ugni_library names another file";
            return OpenError::not_available(format!("{text}; {hint}"));
        }
        host.help("no-library", &[&settings.library, &why]);
        OpenError::new(Status::NOT_FOUND, text)
    })
}

/// The job's credentials, and where they are from.
fn credentials(api: &Api) -> (Credentials, &'static str) {
    let device = manager::number("PMI_GNI_DEV_ID", 0).unwrap_or(0);
    let Some(cookie) = manager::number("PMI_GNI_COOKIE", 0) else {
        return (NO_MANAGER, "those of processes without a manager, since PMI_GNI_COOKIE is not set");
    };
    let given = manager::number("PMI_GNI_PTAG", 0).and_then(|n| u8::try_from(n).ok());
    let found = || {
        let mut ptag = 0;
        // SAFETY: a place.
        let code = unsafe { (api.get_ptag?)(device, cookie, &mut ptag) };
        (code == rc::SUCCESS).then_some(ptag)
    };
    match given.or_else(found) {
        Some(ptag) => (Credentials { ptag, cookie, device }, "those of the job's manager"),
        // The driver looks it up.
        None => (Credentials { ptag: 255, cookie, device }, "the job manager's cookie and any tag"),
    }
}

fn domains(
    host: &Host,
    api: &Arc<Api>,
    settings: &Settings,
) -> Result<(Credentials, Vec<Arc<Nic>>), OpenError> {
    let (who, from) = credentials(api);
    let first = std::process::id() << 8;
    let mut devices = Vec::new();
    for _ in 0..settings.devices {
        let nic = Nic::attach(api, who, settings.modes, first).map(Arc::new).map_err(|code| {
            let why = api.code_text(code);
            host.help("refused", &[&why, &who.ptag.to_string(), &who.cookie.to_string(), from]);
            let text = format!("attaching a domain to device {}: {why}", who.device);
            OpenError::new(Status::NO_RESOURCE, text)
        })?;
        let set = nic.lock().set_max_retransmits(settings.smsg_max_retries);
        set.map_err(|code| OpenError::new(Status::INTERNAL, api.code_text(code)))?;
        devices.push(nic);
    }
    Ok((who, devices))
}

/// How many registrations this process may have.
fn most_registrations(api: &Api, who: Credentials, settings: &Settings, local_size: u32) -> u64 {
    let mut node = JobRes::default();
    // SAFETY: a place.
    let code = unsafe { (api.get_job_res_info)(who.device, who.ptag, JOB_RES_MDD, &mut node) };
    let of_node = if code == rc::SUCCESS { node.limit.saturating_sub(RESERVED) } else { UNKNOWN };
    match settings.max_mem_reg {
        0 => (of_node / u64::from(local_size.max(1))).max(1),
        n => u64::try_from(n).unwrap_or(u64::MAX),
    }
}

/// One lane for each communication resource, and the service context's, with what their holders have.
fn lanes(
    host: &Host,
    settings: &Settings,
    devices: &[Arc<Nic>],
) -> Result<(Vec<Lane>, Vec<Context>), String> {
    let first = &devices[0];
    let size = first.mailbox_size(settings.credits, settings.message_size);
    let size = size.map_err(|c| format!("the size of a mailbox: {}", first.api.code_text(c)))?;
    // Consumers keep mailboxes on cache lines of their own.
    let size = (size as usize).next_multiple_of(64);
    let together = if settings.mbox_inc > 0 { settings.mbox_inc } else { (CHUNK / size).max(1) };
    let cris = host.num_cris() as usize;
    let make = |number: usize| {
        let device = if settings.smsg_on_each && number < cris { number % devices.len() } else { 0 };
        let pool = Pool::new(
            settings.message_size,
            settings.free_list_num,
            // As many as the library has requests.
            settings.free_list_max.min(settings.local_cq_size as usize),
            settings.free_list_inc,
        );
        let wish = Wish {
            remote_entries: settings.remote_cq_size,
            local_entries: settings.local_cq_size,
            mailbox: size,
            mailboxes: together,
            sleeps: first.api.has_channels(),
        };
        let lane = Lane::new(&devices[device], wish)?;
        Ok((lane, Context::new(pool).map_err(|e| e.to_string())?))
    };
    (0..=cris).map(make).collect()
}
