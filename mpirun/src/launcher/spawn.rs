//! Jobs that processes ask for (MPI 5.0 §11.8), and names of services.
//!
//! A job that is asked for has daemons of its own on its nodes, so that its processes end, and are ended, without those of any
//! other job: the kernel hands what they leave behind to their own daemon. It is planned from the slots that are left (`plan::spawned`), shares the
//! secret, the output and the time limit, and its processes are numbered behind all that were started before.
//!
//! **Birth.** Until the process that asked is connected with the job, whatever goes wrong with it is the answer to the question, and
//! no failure of anything else. From then on it is a job like any other, connected with the one that asked.

use super::nodes;
use super::running::{Birth, Running};
use super::state::{GRACE_AFTER_FAILURE, Launcher, milliseconds};
use super::suspects::Suspects;
use super::verdict::Verdict;
use crate::help::{paragraph, unframed};
use crate::link::{Ending, FromNode, Mpi, ToNode, portion};
use crate::plan::Plan;
use crate::plan::spawned::{self, Known};
use oxmpi_wireup::jobs::{JobsReply, JobsRequest, NameVerb, SpawnRequest};
use std::collections::BTreeMap;

/// Most names of services.
const SERVICES: usize = 1 << 16;

impl Launcher {
    /// A rank's words about other jobs.
    pub(super) fn hear_of_jobs(&mut self, at: usize, rank: u32, request: JobsRequest) {
        match request {
            JobsRequest::Spawn { id, request } => {
                if let Err(why) = self.spawn(at, rank, id, &request) {
                    self.answer(
                        self.jobs[at].id,
                        rank,
                        JobsReply::NotStarted { id, why: unframed(&why).to_owned() },
                    );
                }
            }
            JobsRequest::Met { id } => {
                let asked = Birth { job: self.jobs[at].id, rank, question: id };
                if let Some(job) = self.jobs.iter_mut().find(|job| job.birth == Some(asked)) {
                    job.birth = None;
                }
            }
            JobsRequest::Linked { job, on } => {
                let own = &mut self.jobs[at];
                own.link(rank, job, on);
                // Its own word may come before that of the one who asked for it.
                own.birth.take_if(|birth| on && birth.job == job);
            }
            JobsRequest::Name { id, verb, service, port } => {
                let port = self.name(verb, service, port);
                self.answer(self.jobs[at].id, rank, JobsReply::Name { id, port });
            }
        }
    }

    /// Publishes, takes back or looks up the name of a service.
    fn name(&mut self, verb: NameVerb, service: String, port: String) -> Option<String> {
        match verb {
            NameVerb::Lookup => self.services.get(&service).cloned(),
            NameVerb::Unpublish => self.services.remove(&service).map(|_| String::new()),
            NameVerb::Publish if self.services.contains_key(&service) || self.services.len() >= SERVICES => {
                None
            }
            NameVerb::Publish => {
                self.services.insert(service, port);
                Some(String::new())
            }
        }
    }

    /// Tells a rank of a job, if that is still there.
    fn answer(&mut self, job: u64, rank: u32, reply: JobsReply) {
        if let Some(job) = self.jobs.iter_mut().find(|other| other.id == job) {
            job.nodes.tell_of(rank, &ToNode::Jobs { rank, reply });
        }
    }

    /// Plans and starts a job; an error is a paragraph for the user.
    fn spawn(&mut self, at: usize, rank: u32, question: u32, request: &SpawnRequest) -> Result<(), String> {
        let asking = &self.jobs[at];
        if self.interrupted || asking.stillborn {
            return Err("mpirun is ending its jobs".into());
        }
        let mut in_use: BTreeMap<String, u32> = BTreeMap::new();
        for (name, count) in self.jobs.iter().flat_map(|job| &job.on_nodes) {
            *in_use.entry(name.clone()).or_default() += count;
        }
        let app = asking.program_of(rank).or(self.line.apps.first()).ok_or("the job has no program")?;
        let known = Known {
            first: &self.line,
            app,
            names: &self.universe.names,
            granted: &self.universe.granted,
            in_use: &in_use,
            universe: self.universe.size,
            tree: self.universe.tree,
            secret: &self.universe.secret,
            interactive: self.interactive,
        };
        let (plan, counts) = spawned::plan(&known, request)?;
        let apps = (0..counts.len()).map(|_| app.clone());
        let programs = apps.zip(counts.iter().copied()).collect();
        let birth = Birth { job: asking.id, rank, question };
        for warning in plan.warnings.clone() {
            self.report(&warning);
        }
        self.launch(plan, programs, birth)
    }

    /// Starts the daemons of a planned job and tells them what to do.
    fn launch(
        &mut self,
        plan: Plan,
        programs: Vec<(crate::cli::App, u32)>,
        birth: Birth,
    ) -> Result<(), String> {
        let (size, base) = (plan.launch.map.size(), self.universe.next);
        let next = base.checked_add(size).ok_or("mpirun has started more processes than it can number")?;
        let (map, names) = (plan.launch.map.clone(), plan.launch.node_names.clone());
        let name_of = |rank| map.node_of(rank).map(|node| names[node as usize].clone()).unwrap_or_default();
        let of_rank =
            |place: &crate::link::Place| plan.launch.programs[place.program as usize].program.clone();
        let of_ranks: Vec<_> = plan.launch.places.iter().map(of_rank).collect();
        let launches = plan.split();
        let libraries = (!self.line.job.no_prefix).then(crate::settings::own_libraries).flatten();
        let daemons =
            nodes::start(&launches, &names, &plan.machines, None, libraries.as_deref(), Some(self.mask));
        let daemons = daemons.map_err(|why| paragraph("no-daemon", &[&why.reason, &why.looked_at]))?;
        self.output
            .add_job(self.universe.jobs, base, size, &name_of)
            .map_err(|why| paragraph("output-file", &[&why]))?;
        let hosts: Vec<String> = (0..size).map(|_| plan.hostname.clone()).collect();
        self.table.add(&hosts, &of_ranks);
        let mut on_nodes: BTreeMap<String, u32> = BTreeMap::new();
        for (node, name) in (0..map.nodes()).zip(&names) {
            *on_nodes.entry(name.clone()).or_default() += map.count(node);
        }
        let portion = portion(launches.iter().map(|launch| launch.local_ranks.len()).max().unwrap_or(1));
        let id = plan.launch.job_id;
        let (nodes, feed) = daemons.launch(launches, map.clone())?;
        for (name, slots) in plan.granted {
            if !self.universe.granted.iter().any(|(known, _)| *known == name) {
                self.universe.granted.push((name, slots));
            }
        }
        self.universe.names = plan.names;
        (self.universe.next, self.universe.jobs) = (next, self.universe.jobs + 1);
        self.jobs.push(Running {
            nodes,
            verdict: Verdict::new(of_ranks, size, plan.permits_singletons),
            suspects: Suspects::default(),
            feed,
            id,
            base,
            size,
            portion,
            started: BTreeMap::new(),
            programs,
            on_nodes,
            birth: Some(birth),
            stillborn: false,
            links: BTreeMap::new(),
        });
        Ok(())
    }

    /// All processes of a job run: whoever asked for it is told.
    pub(super) fn note_born(&mut self, at: usize) {
        let job = &self.jobs[at];
        let Some(Birth { job: asking, rank, question }) = job.birth else { return };
        let counts = job.programs.iter().map(|(_, count)| *count).collect();
        let reply = JobsReply::Started { id: question, job: job.id, counts };
        self.answer(asking, rank, reply);
    }

    /// A message about a job that nobody is connected with yet. True: it was a failure, and who asked for the job has been told.
    pub(super) fn fail_birth(&mut self, at: usize, node: &str, message: &FromNode) -> bool {
        let Some(birth) = self.jobs[at].birth else { return self.jobs[at].stillborn };
        let job = &mut self.jobs[at];
        let why = match message {
            FromNode::Exited { rank, pid, ending: Ending::Exit(0), mpi: Mpi::Never | Mpi::Finalized } => {
                let arguments = [&*rank.to_string(), node, &pid.to_string()];
                Some(paragraph("spawn-ended", &arguments))
            }
            failure => job.verdict.consider(node, failure),
        };
        let Some(why) = why else { return false };
        job.verdict.decide(1);
        (job.birth, job.stillborn) = (None, true);
        job.nodes.tell_all(&ToNode::Terminate { grace_ms: milliseconds(GRACE_AFTER_FAILURE) });
        let why = unframed(&why).to_owned();
        self.answer(birth.job, birth.rank, JobsReply::NotStarted { id: birth.question, why });
        true
    }

    /// A rank has ended: nobody is connected with it, and a job that it asked for is nobody's any more.
    pub(super) fn note_ended(&mut self, at: usize, rank: u32) {
        self.jobs[at].unlink(rank);
        let asking = self.jobs[at].id;
        for job in &mut self.jobs {
            if job.birth.is_some_and(|birth| birth.job == asking && birth.rank == rank) {
                (job.birth, job.stillborn) = (None, true);
                job.verdict.decide(1);
                job.nodes.tell_all(&ToNode::Terminate { grace_ms: milliseconds(GRACE_AFTER_FAILURE) });
            }
        }
    }
}
