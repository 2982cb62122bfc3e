//! Opening: makes the process's memory and its device, and publishes how both are reached.

use crate::agent::Agent;
use crate::area::{Area, MAX_CONTEXTS};
use crate::module::{Context, FabricModule};
use crate::nic::Nic;
use crate::params::{COUNTS, Offered, Settings};
use crate::pins::Pins;
use crate::wire::{Address, VERSION};
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Component, Host, OpenError, Params, ProcName, Status};
use rustix::event::{EventfdFlags, eventfd};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

pub struct FabricComponent;

impl Component for FabricComponent {
    type Module = BtlModule;
    const NAME: &'static str = "fabric";

    /// No module where there is nobody to talk to: an only process of a job may name this component without harm.
    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params);
        let job = host.job();
        if job.job_size < 2 {
            return Ok((0, Vec::new()));
        }
        let (eager, max) = (settings.eager_limit, settings.max_send_size);
        if eager > max || max + 8 > settings.ring_size {
            let numbers = [eager.to_string(), max.to_string(), settings.ring_size.to_string()];
            host.help("sizes", &[&numbers[0], &numbers[1], &numbers[2]]);
            let why = "btl_fabric_eager_limit, max_send_size and ring_size do not fit each other";
            return Err(OpenError::new(Status::BAD_PARAM, why));
        }
        let failed =
            |what: &str, e: rustix::io::Errno| OpenError::new(Status::INTERNAL, format!("{what}: {e}"));
        let contexts = settings.contexts.min(host.num_cris()).min(MAX_CONTEXTS as u32);
        let process = std::hash::RandomState::new().build_hasher().finish() | 1;
        let area = Area::make(job.job_size, contexts, settings.ring_size, process, settings.by_descriptor)
            .map_err(|e| failed("cannot make the device's memory", e))?;
        let descriptors = (0..contexts)
            .map(|_| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| failed("cannot make a descriptor", e))?;
        let mut name = ProcName::default();
        let status = (host.services().name_of)(host.table().instance, job.rank, &mut name);
        if status.is_err() {
            return Err(OpenError::new(status, "this process has no name"));
        }
        let address = Address {
            version: VERSION,
            pid: std::process::id(),
            fd: area.fd() as u32,
            contexts,
            senders: job.job_size,
            ring: settings.ring_size as u32,
            process,
            name,
        };
        let status = host.exchange_put(&address.bytes());
        if status.is_err() {
            return Err(OpenError::new(status, "cannot publish the address"));
        }
        let pins = if settings.pinned { Some(Pins::new()) } else { None };
        let pins = pins.transpose().map_err(|e| failed("cannot pin memory by io_uring", e))?;
        let nic = Arc::new(Nic::new(settings, area, address, job.rank as usize, descriptors, pins));
        let counts = Some(params.text(COUNTS)).filter(|path| !path.is_empty());
        let counts = counts.map(|path| format!("{path}.{}", job.rank).into());
        let agent = Agent::new(nic.clone());
        let thread =
            std::thread::Builder::new().name("btl-fabric".into()).spawn(move || agent.run()).map_err(
                |e| OpenError::new(Status::INTERNAL, format!("cannot start the device's thread: {e}")),
            )?;
        let contexts = (0..contexts).map(|ctx| Context::new(ctx, settings.seed));
        let mut module = oxmpi_btl::module(FabricModule::new(host, nic, thread, counts), contexts).sleep();
        if matches!(settings.verbs, Offered::All | Offered::GetAlone) {
            module = module.get();
        }
        if matches!(settings.verbs, Offered::All | Offered::PutAlone) {
            module = module.put().flush();
        }
        if settings.verbs == Offered::All {
            module = module.atomics();
        }
        if settings.verbs != Offered::Nothing {
            module = module.memory();
        }
        Ok((0, vec![module.build()]))
    }
}
