//! Jobs that processes ask for (MPI 5.0 §11.8), and names of services.
//!
//! A job that is asked for has daemons of its own on its nodes, so that its processes end, and are ended, without those of any
//! other job: the kernel hands what they leave behind to their own daemon. It is planned from the slots that are left (`plan::spawned`), shares the
//! secret, the output and the time limit, and its processes are numbered behind all that were started before.
//!
//! **Birth.** Until the process that asked is connected with the job, whatever goes wrong with it is the answer to the question, and
//! no failure of anything else. From then on it is a job like any other, connected with the one that asked.

use super::coming::{Arrived, Coming};
use super::nodes;
use super::running::{Birth, Running};
use super::slots::Count;
use super::state::{GRACE_AFTER_FAILURE, Launcher, milliseconds};
use super::suspects::Suspects;
use super::verdict::Verdict;
use crate::help::{paragraph, unframed};
use crate::link::{Ending, FromNode, Mpi, ToNode, portion};
use crate::plan::spawned::{self, Known, Prepared};
use crate::remote::hub::Gathered;
use crate::remote::start;
use oxmpi_wireup::jobs::{JobsReply, JobsRequest, NameVerb, SpawnRequest};
use std::collections::BTreeMap;

/// Most names of services.
const SERVICES: usize = 1 << 16;

impl Launcher {
    /// A rank's words about other jobs.
    pub(super) fn hear_of_jobs(&mut self, at: usize, rank: u32, request: JobsRequest) {
        match request {
            JobsRequest::Spawn { id, request } => {
                let birth = Birth { job: self.jobs[at].id, rank, question: id };
                if let Err(why) = self.spawn(birth, request) {
                    self.refuse(birth, &why);
                }
            }
            JobsRequest::Met { id } => {
                let asked = Birth { job: self.jobs[at].id, rank, question: id };
                if let Some(job) = self.jobs.iter_mut().find(|job| job.birth == Some(asked)) {
                    job.note_connected();
                }
            }
            JobsRequest::Linked { job, on } => {
                let own = &mut self.jobs[at];
                own.link(rank, job, on);
                // Its own word may come before that of the one who asked for it.
                if on && own.birth.is_some_and(|birth| birth.job == job) {
                    own.note_connected();
                }
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

    /// The job that a process has asked for comes to nothing; `why` is a paragraph for the user.
    pub(super) fn refuse(&mut self, birth: Birth, why: &str) {
        let why = unframed(why).to_owned();
        self.answer(birth.job, birth.rank, JobsReply::NotStarted { id: birth.question, why });
    }

    /// Starts a planned job, or the daemons that it needs elsewhere.
    pub(super) fn begin(
        &mut self,
        birth: Birth,
        request: SpawnRequest,
        prepared: Prepared,
    ) -> Result<(), String> {
        let Some(daemons) = &prepared.request else { return self.launch(prepared, birth, None) };
        let hub = start::begin(daemons, self.universe.secret.clone(), Some(self.mask))?;
        self.underway.await_daemons(Coming { birth, request, prepared, hub });
        Ok(())
    }

    /// Gives jobs that wait for daemons a turn, and starts those that need not wait any more.
    pub(super) fn bring_jobs(&mut self) {
        let (jobs, interrupted) = (&self.jobs, self.interrupted);
        let goes_on = |birth: &Birth| jobs.iter().any(|job| job.id == birth.job && !job.is_ending());
        self.underway.keep_wanted(|birth| !interrupted && goes_on(birth));
        self.waiting.keep_wanted(|birth| !interrupted && goes_on(birth));
        self.serve_waiting();
        for Arrived { birth, request, prepared, outcome } in self.underway.advance() {
            let begun = outcome.and_then(|gathered| self.go_on(birth, request, prepared, gathered));
            if let Err(why) = begun {
                self.refuse(birth, &why);
            }
        }
    }

    /// The daemons of a job are there. Where their words were needed for the plan it is made again.
    fn go_on(
        &mut self,
        birth: Birth,
        request: SpawnRequest,
        prepared: Prepared,
        gathered: Gathered,
    ) -> Result<(), String> {
        self.universe.facts.extend(gathered.facts());
        let prepared = match prepared.is_guess {
            true => self.plan(birth, &request, Count::All),
            false => Ok(prepared),
        };
        if let Ok(prepared) = &prepared {
            self.universe.names = prepared.plan.names.clone();
        }
        let is_there = |node: &u32| gathered.nodes.contains_key(node);
        match prepared {
            Ok(prepared) if prepared.needs().all(|node| is_there(&node)) => {
                self.launch(prepared, birth, Some(gathered))
            }
            // Meanwhile mpirun has had more machines.
            Ok(prepared) => {
                self.underway.give_back(gathered);
                self.begin(birth, request, prepared)
            }
            Err(why) => {
                self.underway.give_back(gathered);
                Err(why)
            }
        }
    }

    /// Plans a job from the slots that are left, with these in use. A plan that is carried out makes the names of its nodes known.
    pub(super) fn plan(
        &self,
        birth: Birth,
        request: &SpawnRequest,
        count: Count,
    ) -> Result<Prepared, String> {
        let asking = self.jobs.iter().find(|job| job.id == birth.job);
        let Some(asking) = asking.filter(|job| !self.interrupted && !job.stillborn) else {
            return Err("mpirun is ending its jobs".into());
        };
        let in_use = self.in_use(birth.job, count);
        let app = asking.program_of(birth.rank).or(self.line.apps.first()).ok_or("the job has no program")?;
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
            facts: &self.universe.facts,
        };
        spawned::plan(&known, request)
    }

    /// Starts the daemons of a planned job that are not there yet, and tells all what to do.
    fn launch(&mut self, prepared: Prepared, birth: Birth, gathered: Option<Gathered>) -> Result<(), String> {
        let Prepared { plan, counts, .. } = prepared;
        let asking = self.jobs.iter().find(|job| job.id == birth.job);
        let app = asking.and_then(|job| job.program_of(birth.rank)).or(self.line.apps.first());
        let app = app.cloned().ok_or("the job has no program")?;
        let programs = counts.into_iter().map(|count| (app.clone(), count)).collect();
        for warning in &plan.warnings {
            self.report(warning);
        }
        let (size, base) = (plan.launch.map.size(), self.universe.next);
        let next = base.checked_add(size).ok_or("mpirun has started more processes than it can number")?;
        let (map, names) = (plan.launch.map.clone(), plan.launch.node_names.clone());
        let name_of = |rank| map.node_of(rank).map(|node| names[node as usize].clone()).unwrap_or_default();
        let of_rank =
            |place: &crate::link::Place| plan.launch.programs[place.program as usize].program.clone();
        let of_ranks: Vec<_> = plan.launch.places.iter().map(of_rank).collect();
        let launches = plan.split();
        let libraries = (!self.line.job.no_prefix).then(crate::settings::own_libraries).flatten();
        let hosts: Vec<String> = match &gathered {
            None => (0..size).map(|_| plan.hostname.clone()).collect(),
            Some(_) => (0..size).map(name_of).collect(),
        };
        let daemons =
            nodes::start(&launches, &names, &plan.machines, gathered, libraries.as_deref(), Some(self.mask));
        let daemons = daemons.map_err(|why| paragraph("no-daemon", &[&why.reason, &why.looked_at]))?;
        self.output
            .add_job(self.universe.jobs, base, size, &name_of)
            .map_err(|why| paragraph("output-file", &[&why]))?;
        self.table.add(&hosts, &of_ranks);
        let on_nodes = plan.on_nodes();
        let portion = portion(launches.iter().map(|launch| launch.local_ranks.len()).max().unwrap_or(1));
        let id = plan.launch.job_id;
        let (nodes, feed) = daemons.launch(launches, map.clone())?;
        for (name, slots) in plan.granted {
            if !self.universe.granted.iter().any(|(known, _)| *known == name) {
                self.universe.granted.push((name, slots));
            }
        }
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
            start_by: self.start_by(),
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
        let job = &mut self.jobs[at];
        if job.birth.is_none() {
            return job.stillborn;
        }
        let why = match message {
            FromNode::Exited { rank, pid, ending: Ending::Exit(0), mpi: Mpi::Never | Mpi::Finalized } => {
                let arguments = [&*rank.to_string(), node, &pid.to_string()];
                Some(paragraph("spawn-ended", &arguments))
            }
            failure => job.verdict.consider(node, failure),
        };
        why.is_some_and(|why| self.miscarry(at, &why))
    }

    /// Something has gone wrong with a job: where nobody is connected with it yet, it ends, and who asked for it is told. False: it is a job
    /// like any other.
    pub(super) fn miscarry(&mut self, at: usize, why: &str) -> bool {
        let job = &mut self.jobs[at];
        let Some(birth) = job.birth.take() else { return job.stillborn };
        job.verdict.decide(1);
        job.stillborn = true;
        job.nodes.tell_all(&ToNode::Terminate { grace_ms: milliseconds(GRACE_AFTER_FAILURE) });
        self.refuse(birth, why);
        true
    }

    /// A rank has ended: nobody is connected with it, and a job that it asked for is nobody's any more.
    pub(super) fn note_ended(&mut self, at: usize, rank: u32) {
        self.jobs[at].note_ended(rank);
        self.waiting.note_ended();
        let asking = self.jobs[at].id;
        let goes_on = |birth: &Birth| (birth.job, birth.rank) != (asking, rank);
        self.underway.keep_wanted(goes_on);
        self.waiting.keep_wanted(goes_on);
        for job in &mut self.jobs {
            if job.birth.is_some_and(|birth| birth.job == asking && birth.rank == rank) {
                (job.birth, job.stillborn) = (None, true);
                job.verdict.decide(1);
                job.nodes.tell_all(&ToNode::Terminate { grace_ms: milliseconds(GRACE_AFTER_FAILURE) });
            }
        }
    }
}
