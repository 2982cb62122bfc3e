//! Jobs that processes ask for (MPI 5.0 §11.8), and names of services.
//!
//! A job that is asked for has daemons of its own on its nodes, so that its processes end, and are ended, without those of any
//! other job: the kernel hands what they leave behind to their own daemon. It is planned from the slots that are left (`plan::spawned`), shares the
//! secret, the output and the time limit, and its processes are numbered behind all that were started before.
//!
//! **Birth.** Until the process that asked is connected with the job, whatever goes wrong with it is the answer to the question, and
//! no failure of anything else. From then on it is a job like any other, connected with the one that asked.

use super::coming::{Arrived, Queued};
use super::running::{Birth, note_met};
use super::slots::{Count, Waiting};
use super::state::{GRACE_AFTER_FAILURE, Launcher, milliseconds};
use crate::help::paragraph;
use crate::link::{Ending, FromNode, Mpi, ToNode};
use crate::plan::spawned::Prepared;
use crate::remote::hub::Gathered;
use oxmpi_wireup::jobs::{JobsReply, JobsRequest, NameVerb, SpawnRequest};
use std::time::Instant;

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
                if let Some(born) = self.jobs.iter().position(|job| job.birth == Some(asked)) {
                    note_met(&mut self.jobs, born);
                }
            }
            JobsRequest::Linked { job, on } => {
                let own = &mut self.jobs[at];
                own.link(rank, job, on);
                if on && own.birth.is_some_and(|birth| birth.job == job) {
                    note_met(&mut self.jobs, at);
                }
            }
            JobsRequest::Name { id, verb, service, port } => {
                let port = self.name(verb, service, port);
                self.answer(self.jobs[at].id, rank, JobsReply::Name { id, port });
            }
        }
    }

    /// Plans a job, and starts it or the daemons that it needs first. One that lacks slots of other jobs, whose processes may be about to end, waits for
    /// those. An error is a paragraph for the user.
    fn spawn(&mut self, birth: Birth, request: SpawnRequest) -> Result<(), String> {
        let why = match self.plan(birth, &request, Count::All) {
            Ok(prepared) => {
                self.universe.names = prepared.plan.names.clone();
                return self.begin(birth, request, prepared);
            }
            Err(why) => why,
        };
        // With no limit of slots there is nothing to wait for, and no second plan differs from the first.
        if self.in_use(birth.job, Count::All) == self.in_use(birth.job, Count::Own) {
            return Err(why);
        }
        self.plan(birth, &request, Count::Own).map_err(|_| why.clone())?;
        self.waiting.add(birth, request, why);
        Ok(())
    }

    /// Looks at questions that wait, where processes have ended or time has passed.
    fn serve_waiting(&mut self) {
        let now = Instant::now();
        for waiting in self.waiting.take_due(now) {
            match self.plan(waiting.birth, &waiting.request, Count::All) {
                Ok(prepared) => {
                    let Waiting { birth, request, .. } = waiting;
                    self.universe.names = prepared.plan.names.clone();
                    if let Err(why) = self.begin(birth, request, prepared) {
                        self.refuse(birth, &why);
                    }
                }
                Err(_) if waiting.has_time(now) => self.waiting.keep_waiting(waiting),
                Err(_) => self.refuse(waiting.birth, &waiting.why),
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
        while let Some(Queued { birth, request, prepared }) = self.underway.take_queued() {
            if let Err(why) = self.begin(birth, request, prepared) {
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
