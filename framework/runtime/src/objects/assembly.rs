//! Makes an instance of all that is known before components are opened.

use super::*;
use crate::turning;
use oxmpi_loading::Level;
use oxmpi_loading::in_force::Process;
use oxmpi_progress::thread::Threads;
use oxmpi_system::membarrier::can_stop;
use oxmpi_waiting::gate::Gate;
use oxmpi_waiting::patience::Patience;
use oxmpi_waiting::yield_limit::YieldLimit;
use std::os::fd::AsRawFd;

/// The job's facts as a component sees them.
fn job_info(client: &wireup::Client, params: &HostParams) -> JobInfo {
    let facts = client.facts();
    JobInfo {
        size: size_of::<JobInfo>() as u32,
        rank: facts.rank,
        job_size: facts.size,
        node: facts.node,
        local_rank: facts.local_rank,
        local_size: facts.local_size(),
        job_id: facts.job_id,
        segment_fd: client.segment().as_raw_fd(),
        oversubscribed: (facts.oversubscribed || params.yield_when_idle).into(),
        cores: facts.cores,
        keeper_pid: facts.keeper_pid,
    }
}

/// The limit of yields of a rank, in microseconds. Ranks that are bound, or that no daemon keeps, do not know who has the cores.
fn yield_limit(facts: &wireup::JobFacts, limit: u32) -> YieldLimit {
    let cores = if facts.bound || facts.keeper_pid == 0 { 0 } else { facts.cores };
    YieldLimit::new(limit, facts.keeper_pid, cores)
}

impl Instance {
    /// Makes the instance of all that is known before components are opened (step 4 of the start).
    pub(crate) fn assemble(
        client: wireup::Client,
        settings: Settings,
        level: Level,
        gate: Option<&'static Gate>,
        callbacks: Callbacks,
    ) -> Instance {
        let params = &settings.params;
        let job = job_info(&client, params);
        let before_abort = BeforeAbort {
            stack: params.abort_stack,
            delay: params.abort_delay,
            begun: AtomicBool::new(false),
            tell: OnceLock::new(),
        };
        let counting = params.spc_dump || !params.spc_attach.is_empty();
        let process = Process::of(client.facts(), level);
        let num_cris = process.cris(params);
        let kind = turning::rule(params).kind;
        let locks = turning::locks(kind);
        let waiting = oxmpi_waiting::Settings {
            threaded: level == Level::Multiple && (gate.is_none() || !can_stop()),
            room: process.own_cores(),
            races: params.race,
            concurrency: turning::concurrency(kind),
            patience: Patience::new(params.spins, params.yields, job.oversubscribed != 0),
            yield_limit: yield_limit(client.facts(), params.yield_limit),
        };
        let threads = Threads::new(num_cris, crate::spc::NAMES.len());
        Instance {
            waiting: Waiting::new(waiting, threads, gate),
            levels: Levels { level: AtomicU32::new(level as u32), ..Levels::default() },
            parts: OnceLock::new(),
            requests: Table::new(),
            makers: callbacks.makers,
            coll_services: callbacks.coll_services,
            coll_preparer: callbacks.coll_preparer,
            job,
            cris: (0..num_cris).map(|_| Cri::new(locks)).collect(),
            am: AmTable::new(callbacks.unclaimed),
            transports: Transports::default(),
            failures: Failures::default(),
            node_memories: NodeMemories::default(),
            cards: Cards::default(),
            strangers: Strangers::default(),
            ports: OpenPorts::default(),
            served_names: Default::default(),
            service: Service::default(),
            emulation: Emulation::default(),
            files: Files::default(),
            byte: ByteType::new(),
            client,
            published: AtomicBool::new(false),
            settings,
            counting: Counting { asking: AtomicU32::new(counting.into()), ..Counting::default() },
            births: Births::default(),
            life: Life {
                pid: std::process::id(),
                resting: AtomicBool::new(false),
                finalized: AtomicBool::new(false),
                predefined: Mutex::new(None),
                live: Mutex::default(),
                windows: Mutex::default(),
            },
            before_abort,
        }
    }
}
