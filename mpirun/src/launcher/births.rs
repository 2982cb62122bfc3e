//! Jobs that come after the first: how one is planned from the slots that are left, started or refused, and how a rank is answered.

use super::coming::{Coming, Queued};
use super::nodes;
use super::running::{Birth, Running};
use super::slots::Count;
use super::state::Launcher;
use super::suspects::Suspects;
use super::verdict::Verdict;
use crate::help::{paragraph, unframed};
use crate::link::{ToNode, portion};
use crate::plan::spawned::{self, Known, Prepared};
use crate::remote::hub::Gathered;
use crate::remote::start;
use oxmpi_wireup::jobs::{JobsReply, SpawnRequest};
use std::collections::BTreeMap;

impl Launcher {
    /// Processes on each node, of jobs that run and that are on their way.
    pub(super) fn in_use(&self, asking: u64, count: Count) -> BTreeMap<String, u32> {
        let counts = |at: &usize| match count {
            Count::All => true,
            Count::Own => self.jobs[*at].id == asking,
        };
        let running = (0..self.jobs.len()).filter(counts).map(|at| self.jobs[at].on_nodes.clone());
        let coming = self.underway.plans().map(|prepared| prepared.plan.on_nodes());
        let mut in_use = BTreeMap::new();
        for (name, count) in running.chain(coming).flatten() {
            *in_use.entry(name).or_default() += count;
        }
        in_use
    }

    /// Tells a rank of a job, if that is still there.
    pub(super) fn answer(&mut self, job: u64, rank: u32, reply: JobsReply) {
        if let Some(job) = self.jobs.iter_mut().find(|other| other.id == job) {
            job.nodes.tell_of(rank, &ToNode::Jobs { rank, reply });
        }
    }

    /// The job that a process has asked for comes to nothing; `why` is a paragraph for the user.
    pub(super) fn refuse(&mut self, birth: Birth, why: &str) {
        let why = unframed(why).to_owned();
        self.answer(birth.job, birth.rank, JobsReply::NotStarted { id: birth.question, why });
    }

    /// Starts a planned job, or the daemons that it needs elsewhere, unless many others wait for theirs.
    pub(super) fn begin(
        &mut self,
        birth: Birth,
        request: SpawnRequest,
        prepared: Prepared,
    ) -> Result<(), String> {
        let Some(daemons) = &prepared.request else { return self.launch(prepared, birth, None) };
        if !self.underway.has_room() {
            self.underway.queue(Queued { birth, request, prepared });
            return Ok(());
        }
        let hub = start::begin(daemons, self.universe.secret.clone(), Some(self.mask))?;
        self.underway.await_daemons(Coming { birth, request, prepared, hub });
        Ok(())
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
    pub(super) fn launch(
        &mut self,
        prepared: Prepared,
        birth: Birth,
        gathered: Option<Gathered>,
    ) -> Result<(), String> {
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
        let parts = plan.split();
        let libraries = (!self.line.job.no_prefix).then(crate::settings::own_libraries).flatten();
        let hosts: Vec<String> = match &gathered {
            None => (0..size).map(|_| plan.hostname.clone()).collect(),
            Some(_) => (0..size).map(name_of).collect(),
        };
        let daemons =
            nodes::start(&plan.launch, &plan.machines, gathered, libraries.as_deref(), Some(self.mask));
        let daemons = daemons.map_err(|why| paragraph("no-daemon", &[&why.reason, &why.looked_at]))?;
        self.output
            .add_job(self.universe.jobs, base, size, &name_of)
            .map_err(|why| paragraph("output-file", &[&why]))?;
        self.table.add(&hosts, &of_ranks);
        let on_nodes = plan.on_nodes();
        let portion = portion(parts.iter().map(|part| part.places.len()).max().unwrap_or(1));
        let id = plan.launch.job_id;
        let (nodes, feed) = daemons.launch(&plan.launch, parts)?;
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
}
