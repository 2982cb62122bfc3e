//! One instance is one rank: everything an MPI process has hangs on it, nothing is outside.
//!
//! **Start**, in this order, and why:
//! 1. wire-up: who am I (one round trip to the node daemon, or alone);
//! 2. parameters from all sources; the host declares its own;
//! 3. choice: component files are found, the allowed ones loaded and checked; each declares its
//!    parameters, so that a wrong value stops the start before anything is opened;
//! 4. the instance itself comes to be (components get pointers into it, so it does not move: `Arc`);
//! 5. `open` of the BTLs, then the PMLs (the best stays), then the collectives and the one-sided components;
//! 6. addresses, if a component published any: commit, and wait for all;
//! 7. the PML gets the BTLs, best first, and becomes the progress function;
//! 8. MPI_COMM_SELF and MPI_COMM_WORLD. No message is sent: a start costs one round trip.
//!
//! **End**: what is queued is sent (`flush`), windows and communicators are closed, then one-sided components,
//! collectives, PML and BTLs finalized, the keeper told. Components are never unloaded. A start that fails half-way closes what
//! was open. An instance that nobody finalizes stays (world and instance hold each other).
//!
//! **Rest.** State that peers know of a rank (its rings, its numbers of communicators) cannot be taken back
//! and made again while they run. So a process that may use MPI again does not end its instance: it
//! lets it `rest` (queued messages are sent, communicators closed, the keeper told, as at the end) and
//! lets it `wake` later, with the same transports. The end comes with the process.
//!
//! **fork.** The child of a rank owns nothing: `finalize` and drop do nothing in another process than the
//! one that started the instance.
//!
//! **Ownership.** Communicators hold the instance; the instance holds world and self until it is
//! finalized, and knows the others weakly, to close them then.

use crate::am_table::AmTable;
use crate::byte_type::ByteType;
use crate::gid::{self, Gid};
use crate::group::{Group, ProcId};
use crate::objects::{BeforeAbort, Communicator, Instance, Makers, Parts, Predefined};
use crate::plan::Plan;
use crate::reached::Transports;
use crate::request::Table;
use crate::services::card::{self, Cards};
use crate::services::failed::Failures;
use crate::services::pieces::NodeMemories;
use crate::{cri_locks, spc};
use oxmpi_datatype::TypeDesc;
use oxmpi_loading::Level;
use oxmpi_loading::accept::accepted::{CollComponent, OscComponent, Pml};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_loading::in_force::{self, InForce, Process};
use oxmpi_loading::log::Logger;
use oxmpi_loading::params::{self, LIVE};
use oxmpi_loading::select::Chooser;
use oxmpi_loading::values::HostParams;
use oxmpi_loading::{help, registry};
use oxmpi_mca::host::{ProgressFn, cri_mode};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Cri, Descriptor, JobInfo, SliceRef};
use oxmpi_mca_params::{CannotSet, Places, Reader, Resolved, Resolver, Sources};
use oxmpi_pml as pml_contract;
use oxmpi_system::locks::{Mutex, RwLock};
use oxmpi_system::membarrier::can_stop;
use oxmpi_waiting::gate::Gate;
use oxmpi_waiting::patience::Patience;
use oxmpi_waiting::thread::Threads;
use oxmpi_waiting::yield_limit::YieldLimit;
use oxmpi_waiting::{Settings, Waiting};
use oxmpi_wireup as wireup;
use oxmpi_wireup::other_launcher;
use std::ffi::c_void;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The configuration that an instance is started with.
#[derive(Debug, Default)]
pub struct Config {
    /// Searched first to last, behind `mca_base_component_path`.
    pub component_dirs: Vec<PathBuf>,
    /// Linked-in components. A linked-in one wins over a file of the same name.
    pub builtin: Vec<*const Descriptor>,
    /// The thread level asked for.
    pub level: Level,
    pub wireup: wireup::Source,
    /// Where the installation's parameter files are, for a process that no launcher has read them for.
    pub places: Places,
    /// Set on top of all other sources but the site's override file.
    pub params: Vec<(String, String)>,
    /// Where the threads that call this instance are marked. With a gate of the host's an instance at level
    /// MULTIPLE takes no locks before a second thread asks to get in.
    pub gate: Option<&'static Gate>,
}

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

/// Refuses to start a process alone that another launcher has started among several. The first of them says what to do, the
/// others a sentence.
fn refuse_other_launcher() -> Result<(), Error> {
    let Some(other) = other_launcher::find(|name| std::env::var(name).ok()) else { return Ok(()) };
    let text = match other.rank {
        Some(rank) if rank > 0 => {
            let evidence = &other.evidence;
            format!("process {rank} was not started by mpirun ({evidence}); process 0 says what to do")
        }
        _ => help::paragraph(help::HOST, "another-launcher", &[&other.evidence]).unwrap_or(other.evidence),
    };
    Err(Error::new(ErrorKind::Other, text))
}

/// Origin of an end that is the library's own.
const FAILURE: &str = "a failure inside the library";

impl Instance {
    /// Starts a rank: wire-up, parameters, choice and opening of components, the world (the steps at the top of the
    /// file).
    pub fn start(config: Config) -> Result<Arc<Instance>, Error> {
        let alone = config.wireup.is_without_launcher();
        let client = config.wireup.client()?;
        let facts = client.facts();
        let sources = Sources::read(Reader::Process, std::env::vars_os(), &config.places, &[]);
        if !sources.errors.is_empty() {
            let problems: Vec<String> = sources.errors.iter().map(ToString::to_string).collect();
            return Err(Error::new(ErrorKind::Other, problems.join("\n")));
        }
        let settings = sources.resolver.with(config.params);
        let mut resolver = settings.clone();
        let logger = Logger::new(&mut resolver, &facts.hostname, facts.rank)?;
        let params = params::host_params(&mut resolver)?;
        if alone && !params.permit_singletons {
            refuse_other_launcher()?;
        }
        // The warnings of the choice are among those below.
        let quiet = |_: &str, _: &[&str]| {};
        let mut chooser = Chooser { resolver: &mut resolver, params: &params, logger: &logger, help: &quiet };
        // SAFETY: `Config::builtin` holds descriptors of linked-in components.
        let chosen = unsafe { chooser.choose(&config.builtin, &config.component_dirs)? };
        let mut components = Vec::new();
        for c in chosen {
            let values = params::component_params(&mut resolver, &c.component)?;
            components.push((c, values));
        }
        // Every rank finds the same, so one of them says it, if the launcher has not.
        if facts.rank == 0 && !sources.checked {
            // SAFETY: as above.
            let warnings = unsafe { registry::warnings(&settings, &config.component_dirs, &config.builtin) };
            for warning in warnings {
                let args: Vec<&str> = warning.args.iter().map(String::as_str).collect();
                show_help(&client, "runtime", help::HOST, warning.topic, &args);
            }
        }
        let instance = Instance::assemble(client, resolver, params, logger, config.level, config.gate);
        let instance = Arc::new(instance);
        instance.am.report_to(Arc::as_ptr(&instance).cast());
        instance.take_requests();
        let parts = Parts::open(&instance, components)?;
        if instance.parts.set(parts).is_err() {
            return Err(Error::new(ErrorKind::Intern, "the components were opened twice"));
        }
        instance.connect()?;
        Ok(instance)
    }

    /// Makes the instance of all that is known before components are opened (step 4 of the start).
    fn assemble(
        client: wireup::Client,
        resolver: Resolver,
        params: HostParams,
        logger: Logger,
        level: Level,
        gate: Option<&'static Gate>,
    ) -> Instance {
        let job = job_info(&client, &params);
        let before_abort = BeforeAbort::new(&params);
        let counting = params.spc_dump || !params.spc_attach.is_empty();
        let process = Process::of(client.facts(), level);
        let num_cris = process.cris(&params);
        let waiting = Settings {
            threaded: level == Level::Multiple && (gate.is_none() || !can_stop()),
            room: process.own_cores(),
            races: params.race,
            serial: params.cri_modes & cri_mode::SERIAL_PROGRESS != 0,
            patience: Patience::new(params.spins, params.yields, job.oversubscribed != 0),
            yield_limit: yield_limit(client.facts(), params.yield_limit),
        };
        let threads = Threads::new(num_cris, spc::NAMES.len());
        Instance {
            waiting: Waiting::new(waiting, threads, gate),
            level: AtomicU32::new(level as u32),
            parts: OnceLock::new(),
            requests: Table::new(),
            makers: Makers::default(),
            job,
            cris: (0..num_cris).map(|_| Cri::new(cri_locks::SERVICES)).collect(),
            am: AmTable::new(crate::host::unclaimed),
            transports: Transports::default(),
            failures: Failures::default(),
            node_memories: NodeMemories::default(),
            cards: Cards::default(),
            service: crate::service::contexts::Service::default(),
            emulation: crate::objects::Emulation::default(),
            byte: ByteType::new(),
            client,
            resolver: RwLock::new(resolver),
            params,
            logger,
            counting: AtomicU32::new(counting.into()),
            asking_match_time: Mutex::new(0),
            gone_counts: Mutex::default(),
            raising: Mutex::new(()),
            published: AtomicBool::new(false),
            fresh: AtomicU64::new(0),
            from_groups: Mutex::default(),
            pid: std::process::id(),
            resting: AtomicBool::new(false),
            finalized: AtomicBool::new(false),
            predefined: Mutex::new(None),
            live: Mutex::default(),
            windows: Mutex::default(),
            before_abort,
        }
    }

    /// Exchanges addresses, enables the PML with the opened BTLs and makes the world and self communicators (steps 6 to
    /// 8 of the start).
    fn connect(self: &Arc<Instance>) -> Result<(), Error> {
        if self.published.load(Ordering::Relaxed) {
            self.client.put(card::KEY, &self.own_card().encode());
            self.client.commit()?;
            self.client.fence()?;
        }
        let Some(parts) = self.parts.get() else {
            return Err(Error::new(ErrorKind::Intern, "there are no components"));
        };
        let (pml, btls) = (&parts.pml, parts.btl_pointers());
        let transports = pml_contract::Transports {
            size: size_of::<pml_contract::Transports>() as u32,
            reserved: 0,
            btls: SliceRef { ptr: btls.as_ptr(), len: btls.len() },
            services: self.btl_services(),
        };
        let mut polled = 0;
        let status = (pml.table.enable)(pml.state, &transports, &mut polled);
        if status.is_err() {
            return Err(Error::status(status, "the point-to-point layer does not start"));
        }
        if spc::asks_match_time(&self.params.spc_attach, self.params.spc_dump) {
            self.ask_match_time(true);
        }
        if self.threaded() {
            let status = self.tell_threads_begin();
            if status.is_err() {
                return Err(Error::status(status, "a component does not take several threads"));
            }
        }
        self.waiting.engine().register(pml.table.progress, pml.state, true);
        let (job_id, me) = (self.job.job_id, self.me());
        let members = (0..self.job.job_size).map(|proc| ProcId { proc, endpoint: 0 }).collect();
        let plan = |gid, members, name: &str, index| Plan {
            name: name.to_owned(),
            fixed_index: Some(index),
            ..Plan::new(gid, Group::new(members, me))
        };
        let world = Communicator::make(self, plan(gid::world(job_id), members, "MPI_COMM_WORLD", 0))?;
        let own = gid::self_comm(job_id, me.proc, me.endpoint);
        let self_comm = Communicator::make(self, plan(own, vec![me], "MPI_COMM_SELF", 1))?;
        *self.predefined.lock() = Some(Predefined { world, self_comm });
        Ok(())
    }

    /// This rank as a process and its endpoint 0.
    pub fn me(&self) -> ProcId {
        ProcId { proc: self.job.rank, endpoint: 0 }
    }
    /// The launcher's facts.
    pub fn facts(&self) -> &wireup::JobFacts {
        self.client.facts()
    }

    /// The job's facts as components see them.
    pub fn job(&self) -> &JobInfo {
        &self.job
    }

    /// MPI_COMM_WORLD of this rank.
    ///
    /// # Panics
    /// After `finalize`, when it is gone.
    pub fn world(&self) -> Arc<Communicator> {
        match &*self.predefined.lock() {
            Some(p) => p.world.clone(),
            None => panic!("the world communicator was asked for after finalize"),
        }
    }
    /// MPI_COMM_SELF of this rank.
    ///
    /// # Panics
    /// After `finalize`, when it is gone.
    pub fn self_comm(&self) -> Arc<Communicator> {
        match &*self.predefined.lock() {
            Some(p) => p.self_comm.clone(),
            None => panic!("the self communicator was asked for after finalize"),
        }
    }

    /// The means by which handlers of signals that end the process report to the daemon; `None`: nobody would hear
    /// them.
    pub fn witness(&self) -> Option<&wireup::Witness> {
        self.client.witness()
    }

    /// Runs `f` behind the progress functions of every turn.
    pub(crate) fn follow_progress(&self, f: ProgressFn, ctx: *mut c_void) {
        self.waiting.engine().register_follower(f, ctx);
    }
    /// The table from slots to requests.
    pub fn requests(&self) -> &Table {
        &self.requests
    }
    /// A parameter by its full name or a synonym.
    pub fn param(&self, full_name: &str) -> Option<Resolved> {
        self.resolver.read().get(full_name).cloned()
    }
    /// All parameters, in order of declaration; neither order nor number changes any more.
    pub fn params(&self) -> Vec<Resolved> {
        self.resolver.read().iter().cloned().collect()
    }
    /// Which value a parameter really has here, and how it follows from what is set.
    pub fn in_force(&self, full_name: &str) -> Option<InForce> {
        let r = self.param(full_name)?;
        let process = Process::of(self.client.facts(), self.level()).with_cris(self.cris.len() as u32);
        self.parts
            .get()
            .and_then(|parts| parts.in_force(&r, &self.params, &process))
            .or_else(|| Some(in_force::of_host(&r, &params::read_host(&self.resolver.read()), &process)))
    }
    /// Writes a parameter while the instance runs (MPI 5.0 §15.3.6). Only what is looked at again can
    /// be written: how much frameworks say, and how patiently threads wait.
    pub fn write_param(&self, full_name: &str, text: &str) -> Result<Resolved, CannotSet> {
        let mut resolver = self.resolver.write();
        let now = resolver.get(full_name).ok_or(CannotSet::Unknown)?;
        let name = now.declaration.full_name.clone();
        let verbosity = self.logger.says(&name);
        if now.declaration.is_writable() && !verbosity && !LIVE.contains(&name.as_str()) {
            return Err(CannotSet::NotNow);
        }
        let written = resolver.set(&name, text)?.clone();
        if verbosity {
            self.logger.set(&name, written.value.as_i64().unwrap_or(0));
        } else {
            let p = params::read_host(&resolver);
            let crowded = self.client.facts().oversubscribed || p.yield_when_idle;
            self.waiting.set_patience(p.spins, p.yields, crowded, p.yield_limit);
        }
        Ok(written)
    }
    /// Largest tag users may give.
    pub fn max_tag(&self) -> i32 {
        self.pml().map_or(32767, |pml| pml.max_tag)
    }
    /// Opened components, as framework and name.
    pub fn components(&self) -> Vec<(&'static str, &'static str)> {
        self.parts.get().map_or_else(Vec::new, |p| p.components())
    }
    /// The host name that MPI_Get_processor_name returns.
    pub fn processor_name(&self) -> String {
        self.client.facts().hostname.clone()
    }
    /// The text that MPI_Get_library_version returns.
    pub fn library_version(&self) -> String {
        format!("oxmpi {} (MPI 5.0, standard ABI)", env!("CARGO_PKG_VERSION"))
    }

    /// The printer of lines on the standard error.
    pub(crate) fn logger(&self) -> &Logger {
        &self.logger
    }
    /// The opened PML; `None` before the components are open.
    pub(crate) fn pml(&self) -> Option<&Pml> {
        self.parts.get().map(|p| &p.pml)
    }
    /// The opened collective components.
    pub(crate) fn coll_components(&self) -> &[CollComponent] {
        self.parts.get().map_or(&[], |p| &p.colls)
    }
    /// The opened one-sided components.
    pub(crate) fn osc_components(&self) -> &[OscComponent] {
        self.parts.get().map_or(&[], |p| &p.oscs)
    }
    /// The table of the receivers of active messages.
    pub(crate) fn am_table(&self) -> &AmTable {
        &self.am
    }
    /// The type of one byte, for the library's own messages.
    pub(crate) fn byte_type(&self) -> &TypeDesc {
        &self.byte.desc
    }
    /// Makes a communicator id that no other rank of the job makes, from this rank and a count of its own.
    pub(crate) fn fresh_gid(&self) -> Gid {
        let me = self.me();
        gid::fresh(self.job.job_id, me.proc, me.endpoint, self.fresh.fetch_add(1, Ordering::Relaxed))
    }
    /// Whether the calling process is a forked child of the one that started the instance.
    pub(crate) fn in_child(&self) -> bool {
        std::process::id() != self.pid
    }
    /// Adds a communicator to those that the end of the instance closes.
    pub(crate) fn remember(&self, communicator: &Arc<Communicator>) {
        let mut live = self.live.lock();
        if live.len() == live.capacity() {
            live.retain(|c| c.strong_count() > 0);
        }
        live.push(Arc::downgrade(communicator));
    }

    /// Puts a value under a key into the process's exchange of addresses, which the start publishes if there is any.
    pub(crate) fn exchange_put(&self, key: &str, value: &[u8]) {
        self.client.put(key, value);
        self.published.store(true, Ordering::Relaxed);
    }
    /// Gets the value that a process has published under a key, and waits for the daemon's answer; `None`: there is no
    /// such key.
    pub(crate) fn exchange_get(&self, proc: u32, key: &str) -> Result<Option<Vec<u8>>, wireup::Error> {
        self.client.get(proc, key)
    }

    /// Prints a paragraph of a help text once per job; `who` is the component in whose name it is said.
    pub(crate) fn show_help(&self, who: &str, text: &str, topic: &str, args: &[&str]) {
        show_help(&self.client, who, text, topic, args);
    }

    /// Reports that process `proc` broke the protocol or died: ends the job (`fatal`) or logs an error.
    pub(crate) fn peer_error(&self, framework: &str, name: &str, proc: u32, fatal: bool, message: &str) {
        let message = format!("{framework}:{name}: rank {proc}: {message}");
        if fatal {
            self.abort_for(1, FAILURE, &message, Some(proc));
        }
        self.logger.error(framework, &message);
    }

    /// Ends the job because something inside the library cannot go on.
    pub fn fail(&self, message: &str) -> ! {
        self.abort(1, FAILURE, message)
    }

    /// Reports an abort to the keeper and ends the process with `code`; the job ends with it. `origin` as in
    /// [`wireup::Client::abort`].
    pub fn abort(&self, code: i32, origin: &str, message: &str) -> ! {
        self.abort_for(code, origin, message, None)
    }

    /// Reports an abort to the keeper and ends the process with `code`; the job ends with it. With a `peer` that died
    /// or broke the protocol, the keeper may report that process's end instead of this message.
    fn abort_for(&self, code: i32, origin: &str, message: &str, peer: Option<u32>) -> ! {
        self.linger();
        if !self.client.abort_for(code, origin, message, peer) {
            self.logger.always(message);
        }
        // No destructors, no atexit handlers: other threads are still running.
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) }
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}, level {:?}", self.job.rank, self.job.job_size, self.level())
    }
}

/// Prints a paragraph of a help text once per job by way of mpirun, or to the standard error where there is no mpirun.
fn show_help(client: &wireup::Client, who: &str, text: &str, topic: &str, args: &[&str]) {
    let paragraph = help::paragraph(text, topic, args)
        .unwrap_or_else(|| format!("(no help text for topic {topic}: {})", args.join(", ")));
    if !client.help(who, topic, &paragraph) {
        let line = "-".repeat(74);
        eprintln!("{line}\n{paragraph}\n{line}");
    }
}
