//! Opening: enter the node's segment, find out what the kernel permits, make the module.

use crate::device::{Facts, Shm as Module};
use crate::in_force::{Found, tell};
use crate::params::{Mechanism, Settings};
use crate::segment::doorbell::Barriers;
use crate::segment::map::{Identity, Segment};
use crate::segment::refused::explain;
use crate::service::ends::Service;
#[cfg(all(test, not(loom)))]
use crate::single_copy::attached::tests::{open_xpmem, own_pid};
use crate::single_copy::mapper::Device;
use crate::{sys, wire};
use oxmpi_btl::{BtlModule, module};
use oxmpi_mca::{Answers, Component, Host, JobInfo, OpenError, Params, Process, Refused, Status};
use rustix::io::Errno;
#[cfg(any(not(test), loom))]
use sys::pid as own_pid;

/// The component.
pub struct ShmComponent;

impl Component for ShmComponent {
    type Module = BtlModule;
    const NAME: &'static str = "shm";

    /// An only process of a node has a module, too: it may get to know processes of other jobs there.
    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::read(params)?;
        let job = *host.job();
        check(&job)?;
        let wish = contexts(&settings, host.num_cris());
        let refused = |error| {
            let (status, why) = explain(&host, (0, job.local_rank, job.local_size), error);
            OpenError::new(status, why)
        };
        let segment = Segment::open(job.segment_fd, job.local_size, wish).map_err(refused)?;
        let contexts = wish.min(segment.layout().fifos);
        let (pid, pid_namespace) = (own_pid(), sys::pid_namespace());
        let barriers = Barriers { membarrier: sys::register_for_membarrier() };
        if !barriers.membarrier {
            host.info("this kernel has no membarrier for us: each message costs a fence instead");
        }
        if settings.mechanism != Mechanism::None && job.keeper_pid != 0 {
            sys::permit_reads_by_descendants_of(job.keeper_pid);
        }
        let (xpmem, offer) = match offer_memory(&host, settings.mechanism) {
            Some((xpmem, offer)) => (Some(xpmem), offer),
            None => (None, 0),
        };
        let who = Identity { proc: job.rank, pid, contexts, pid_namespace, xpmem: offer };
        segment.enter(job.local_rank, who).map_err(refused)?;
        let facts = Facts { segment, settings, barriers, pid, pid_namespace, xpmem, offer, contexts };
        let device = Module::new(host, facts);
        let mut contexts = device.contexts();
        if !device.take_up_old_rings(&mut contexts) {
            device.segment().leave(job.local_rank);
            return Err(OpenError::new(Status::INTERNAL, "membarrier worked once and then no more"));
        }
        let built = module(device, contexts).sleep().hold().service(Service::default()).service_sleep();
        let built = if settings.mechanism != Mechanism::None {
            built.get().get_vector_if(true).put().flush()
        } else {
            built
        };
        Ok((0, vec![built.build()]))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let found = Found { xpmem: || open_xpmem().is_ok(), contexts };
        tell(process, params, &found, answers)
    }
}

/// Offers this process's memory to others through XPMEM, if the parameter permits and the device can be used: the
/// device, and the number under which the memory is offered.
fn offer_memory(host: &Host, mechanism: Mechanism) -> Option<(Box<dyn Device>, i64)> {
    if !matches!(mechanism, Mechanism::Auto | Mechanism::Xpmem) {
        return None;
    }
    match open_xpmem().and_then(|device| device.make().map(|offer| (device, offer))) {
        Ok(offered) => Some(offered),
        Err(errno) => {
            if mechanism == Mechanism::Xpmem {
                host.help("xpmem", &[&errno.to_string()]);
            } else if errno != Errno::NOENT {
                host.info(&format!("XPMEM is not used: {errno}"));
            }
            None
        }
    }
}

/// Opens the kernel's XPMEM device.
#[cfg(any(not(test), loom))]
fn open_xpmem() -> Result<Box<dyn Device>, Errno> {
    Ok(Box::new(sys::Xpmem::open()?))
}

/// Checks the launcher's facts about the node: there is a segment, and number and rank of processes are possible.
fn check(job: &JobInfo) -> Result<(), OpenError> {
    if job.segment_fd < 0 {
        return Err(OpenError::not_available(
            "the launcher gave no shared segment to the processes of this node",
        ));
    }
    if job.local_size > wire::MAX_RANKS {
        return Err(OpenError::not_available(format!(
            "{} processes on this node; shm serves up to {}",
            job.local_size,
            wire::MAX_RANKS
        )));
    }
    if job.local_rank >= job.local_size {
        return Err(OpenError::new(
            Status::BAD_PARAM,
            format!("local rank {} of {} does not exist", job.local_rank, job.local_size),
        ));
    }
    Ok(())
}

/// Number of contexts that this process wishes for: the parameter, at most `cris` and [`wire::MAX_FIFOS`].
fn contexts(settings: &Settings, cris: u32) -> u32 {
    let most = cris.clamp(1, wire::MAX_FIFOS);
    match settings.contexts {
        0 => most,
        n => n.min(most),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::copy::Limits;

    #[test]
    fn contexts_follow_the_runtime_and_the_parameter() {
        let settings = |contexts| Settings {
            eager_limit: 256,
            rndv_eager_limit: 256,
            max_send_size: 256,
            min_get_size: 1,
            latency: 0,
            bandwidth: 0,
            exclusivity: 0,
            contexts,
            ring_size: 0,
            watched: None,
            mechanism: Mechanism::Cma,
            limits: Limits { string: 1024, past: 4096 },
            assist_min: 1 << 16,
            answer_pause: 0,
        };
        assert_eq!(contexts(&settings(0), 1), 1);
        assert_eq!(contexts(&settings(0), 0), 1);
        assert_eq!(contexts(&settings(0), 8), 8);
        assert_eq!(contexts(&settings(0), 1000), wire::MAX_FIFOS);
        assert_eq!(contexts(&settings(3), 8), 3);
        assert_eq!(contexts(&settings(3), 2), 2);
    }
}
