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
//! 7. the progress engine polls the BTLs, best first, and the PML gets them, whose hook runs behind their turns;
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

use crate::coll::preparing::prepare_first;
use crate::coll::services::SERVICES;
use crate::gid::{self};
use crate::group::{Group, ProcId};
use crate::host_requests::makers;
use crate::objects::{Callbacks, Communicator, ComponentSources, Instance, Parts, Predefined, Settings};
use crate::plan::Plan;
use crate::services::card::{self};
use crate::spc;
use crate::telling::show_help;
use crate::turning;
use oxmpi_btl::BtlHandle;
use oxmpi_loading::Level;
use oxmpi_loading::accept::accepted::{Framework, Pml};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_loading::in_force::{self, InForce, Process};
use oxmpi_loading::log::Logger;
use oxmpi_loading::params::{self, LIVE};
use oxmpi_loading::select::Chooser;
use oxmpi_loading::{help, registry};
use oxmpi_mca::Descriptor;
use oxmpi_mca::host::cri_mode;
use oxmpi_mca_params::{CannotSet, Places, Reader, Resolved, Sources};
use oxmpi_pml::PmlModule;
use oxmpi_progress::{Crowding, Served};
use oxmpi_system::locks::RwLock;
use oxmpi_waiting::gate::Gate;
use oxmpi_wireup as wireup;
use oxmpi_wireup::other_launcher;
use std::path::PathBuf;
use std::sync::Arc;

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
        let chosen =
            unsafe { chooser.choose(&Framework::AT_START, &config.builtin, &config.component_dirs)? };
        // Their components are chosen when the first file is opened.
        for framework in Framework::FOR_FILES {
            resolver.selection(framework.name())?;
        }
        let mut components = Vec::new();
        for c in chosen {
            let values = params::component_params(&mut resolver, &c.component)?;
            components.push((c, values));
        }
        // Every rank finds the same, so one of them says it, if the launcher has not.
        if facts.rank == 0 && !sources.checked {
            // SAFETY: `Config::builtin` holds descriptors of linked-in components, which do not go.
            let warnings = unsafe { registry::warnings(&settings, &config.component_dirs, &config.builtin) };
            for warning in warnings {
                let args: Vec<&str> = warning.args.iter().map(String::as_str).collect();
                show_help(&client, "runtime", help::HOST, warning.topic, &args);
            }
        }
        let callbacks = Callbacks {
            unclaimed: crate::host::unclaimed,
            makers: makers(),
            coll_services: SERVICES,
            coll_preparer: prepare_first,
        };
        let sources = ComponentSources { dirs: config.component_dirs, builtin: config.builtin };
        let launcher = config.places.prefix.map(|prefix| prefix.join("bin").join("mpirun"));
        let settings = Settings { resolver: RwLock::new(resolver), params, sources, logger, launcher };
        let instance = Instance::assemble(client, settings, config.level, config.gate, callbacks);
        let instance = Arc::new(instance);
        // SAFETY: `unclaimed` takes an instance, which goes with its table.
        unsafe { instance.am_table().report_to(Arc::as_ptr(&instance).cast()) };
        instance.take_requests();
        let parts = Parts::open(&instance, components)?;
        if !instance.set_parts(parts) {
            return Err(Error::new(ErrorKind::Intern, "the components were opened twice"));
        }
        instance.connect()?;
        Ok(instance)
    }

    /// Exchanges addresses, enables the PML with the opened BTLs and makes the world and self communicators (steps 6 to
    /// 8 of the start).
    fn connect(self: &Arc<Instance>) -> Result<(), Error> {
        if self.has_published() {
            self.client().put(card::KEY, &self.own_card().encode());
            self.client().commit()?;
            self.client().fence()?;
        }
        let Some(parts) = self.parts() else {
            return Err(Error::new(ErrorKind::Intern, "there are no components"));
        };
        let pml = &parts.pml;
        self.poll_transports(pml, parts.btls())?;
        if spc::asks_match_time(&self.host_params().spc_attach, self.host_params().spc_dump) {
            self.ask_match_time(true);
        }
        if self.threaded() {
            let status = self.tell_threads_begin();
            if status.is_err() {
                return Err(Error::status(status, "a component does not take several threads"));
            }
        }
        let (job_id, me) = (self.job().job_id, self.me());
        let members = (0..self.job().job_size).map(|proc| ProcId { proc, endpoint: 0 }).collect();
        let plan = |gid, members, name: &str, index| Plan {
            name: name.to_owned(),
            fixed_index: Some(index),
            ..Plan::new(gid, Group::new(members, me))
        };
        let world = Communicator::make(self, plan(gid::world(job_id), members, "MPI_COMM_WORLD", 0))?;
        let own = gid::self_comm(job_id, me.proc, me.endpoint);
        let self_comm = Communicator::make(self, plan(own, vec![me], "MPI_COMM_SELF", 1))?;
        *self.life().predefined.lock() = Some(Predefined { world, self_comm });
        Ok(())
    }

    /// Has the progress engine poll the transports, and enables the PML with them, whose hook runs behind their turns.
    fn poll_transports(&self, pml: &Pml, btls: &[BtlHandle]) -> Result<(), Error> {
        let crowding = Crowding {
            oversubscribed: self.job().oversubscribed != 0,
            cores: self.job().cores / self.job().local_size.max(1),
            anywhere: self.host_params().cri_modes & (cri_mode::DEDICATED | cri_mode::ROUND_ROBIN) != 0,
        };
        let served = Served {
            cris: self.cris(),
            btls: &btls.iter().collect::<Vec<_>>(),
            dormant: &|number| self.parts().is_some_and(|parts| parts.is_dormant(number)),
            services: self.btl_services(),
            rule: turning::rule(self.host_params()),
            crowding,
        };
        let module = PmlModule {
            size: size_of::<PmlModule>() as u32,
            max_tag: pml.max_tag,
            state: pml.state,
            table: &raw const pml.table,
        };
        // SAFETY: the instance has CRIs, transports and services, and clears its engine before it goes; the module was accepted and is enabled here.
        let status = unsafe { self.waiting().engine().serve(&served, &module) };
        if status.is_err() {
            return Err(Error::status(status, "the point-to-point layer does not start"));
        }
        if self.threaded() {
            self.waiting().engine().begin_threads();
        }
        Ok(())
    }

    /// MPI_COMM_WORLD of this rank.
    ///
    /// # Panics
    /// After `finalize`, when it is gone.
    pub fn world(&self) -> Arc<Communicator> {
        match &*self.life().predefined.lock() {
            Some(p) => p.world.clone(),
            None => panic!("the world communicator was asked for after finalize"),
        }
    }
    /// MPI_COMM_SELF of this rank.
    ///
    /// # Panics
    /// After `finalize`, when it is gone.
    pub fn self_comm(&self) -> Arc<Communicator> {
        match &*self.life().predefined.lock() {
            Some(p) => p.self_comm.clone(),
            None => panic!("the self communicator was asked for after finalize"),
        }
    }

    /// A parameter by its full name or a synonym.
    pub fn param(&self, full_name: &str) -> Option<Resolved> {
        self.settings().resolver.read().get(full_name).cloned()
    }
    /// All parameters, in order of declaration; neither order nor number changes any more.
    pub fn params(&self) -> Vec<Resolved> {
        self.settings().resolver.read().iter().cloned().collect()
    }
    /// Which value a parameter really has here, and how it follows from what is set.
    pub fn in_force(&self, full_name: &str) -> Option<InForce> {
        let r = self.param(full_name)?;
        let process = Process::of(self.client().facts(), self.level()).with_cris(self.cris().len() as u32);
        let of_files =
            self.opened_file_parts().and_then(|parts| parts.in_force(&r, self.host_params(), &process));
        let told = of_files
            .or_else(|| self.parts().and_then(|parts| parts.in_force(&r, self.host_params(), &process)));
        told.or_else(|| {
            Some(in_force::of_host(&r, &params::read_host(&self.settings().resolver.read()), &process))
        })
    }
    /// Writes a parameter while the instance runs (MPI 5.0 §15.3.6). Only what is looked at again can
    /// be written: how much frameworks say, and how patiently threads wait.
    pub fn write_param(&self, full_name: &str, text: &str) -> Result<Resolved, CannotSet> {
        let mut resolver = self.settings().resolver.write();
        let now = resolver.get(full_name).ok_or(CannotSet::Unknown)?;
        let name = now.declaration.full_name.clone();
        let verbosity = self.logger().says(&name);
        if now.declaration.is_writable() && !verbosity && !LIVE.contains(&name.as_str()) {
            return Err(CannotSet::NotNow);
        }
        let written = resolver.set(&name, text)?.clone();
        if verbosity {
            self.logger().set(&name, written.value.as_i64().unwrap_or(0));
        } else {
            let p = params::read_host(&resolver);
            let crowded = self.client().facts().oversubscribed || p.yield_when_idle;
            self.waiting().set_patience(p.spins, p.yields, crowded, p.yield_limit);
        }
        Ok(written)
    }
    /// Largest tag users may give.
    pub fn max_tag(&self) -> i32 {
        self.pml().map_or(32767, |pml| pml.max_tag)
    }
    /// Opened components, as framework and name.
    pub fn components(&self) -> Vec<(&'static str, &'static str)> {
        let of_files = self.opened_file_parts().map_or_else(Vec::new, |parts| parts.components());
        self.parts().map_or_else(Vec::new, |p| p.components()).into_iter().chain(of_files).collect()
    }
    /// The text that MPI_Get_library_version returns.
    pub fn library_version(&self) -> String {
        format!("oxmpi {} (MPI 5.0, standard ABI)", env!("CARGO_PKG_VERSION"))
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}, level {:?}", self.job().rank, self.job().job_size, self.level())
    }
}
