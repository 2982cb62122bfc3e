//! Jobs that are planned and wait for their daemons on other machines.
//!
//! Starting a daemon elsewhere takes seconds. mpirun's loop goes on meanwhile: it waits for the events of each such job's
//! [`Hub`] beside all others and gives it turns; the answer to the process that asked is owed. Slots of the plan count as in use, so
//! several such jobs do not plan with the same ones.
//!
//! **Logins are few at a time.** sshd drops connections at random where more than some have not proved themselves yet (`MaxStartups`, usually 10), and
//! many processes may ask at once. Beyond [`AT_ONCE`] jobs wait for their turn before anything is started for them.
//!
//! Daemons that nobody wants any more, because the one who asked has ended, or mpirun ends its jobs, find their links closed, and end. The
//! programs that started them (ssh) then end by themselves, and are ended where they do not; nobody waits for that before mpirun's own end.

use super::running::Birth;
use crate::plan::spawned::Prepared;
use crate::remote::agents::Agents;
use crate::remote::hub::{Gathered, Hub};
use oxmpi_wireup::jobs::SpawnRequest;
use rustix::event::PollFd;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::time::Instant;

/// Jobs whose daemons are being started at the same time, at most: each logs in to a machine once.
const AT_ONCE: usize = 8;

/// A job whose daemons are being started, and why.
#[derive(Debug)]
pub(super) struct Coming {
    pub(super) birth: Birth,
    pub(super) request: SpawnRequest,
    pub(super) prepared: Prepared,
    pub(super) hub: Hub,
}

/// A job that waits until fewer others wait for daemons.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) birth: Birth,
    pub(super) request: SpawnRequest,
    pub(super) prepared: Prepared,
}

/// A job that waits no more: its daemons are there, or one does not come, as a paragraph says.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) birth: Birth,
    pub(super) request: SpawnRequest,
    pub(super) prepared: Prepared,
    pub(super) outcome: Result<Gathered, String>,
}

/// All jobs that wait for daemons, and agents of jobs that are over.
#[derive(Debug, Default)]
pub(super) struct Underway {
    jobs: Vec<Coming>,
    queue: VecDeque<Queued>,
    /// With the time at which they are ended.
    retired: Vec<(Agents, Instant)>,
}

impl Underway {
    /// A job waits for its daemons from now on.
    pub(super) fn await_daemons(&mut self, job: Coming) {
        self.jobs.push(job);
    }

    /// Whether the daemons of one more job may be started.
    pub(super) fn has_room(&self) -> bool {
        self.jobs.len() < AT_ONCE
    }

    /// A job waits for its turn.
    pub(super) fn queue(&mut self, job: Queued) {
        self.queue.push_back(job);
    }

    /// The job whose turn it is.
    pub(super) fn take_queued(&mut self) -> Option<Queued> {
        self.has_room().then(|| self.queue.pop_front()).flatten()
    }

    pub(super) fn plans(&self) -> impl Iterator<Item = &Prepared> {
        self.jobs.iter().map(|job| &job.prepared).chain(self.queue.iter().map(|job| &job.prepared))
    }

    /// The daemons of these agents end or have ended.
    pub(super) fn retire(&mut self, mut agents: Agents) {
        if !agents.is_empty() {
            let until = agents.retire();
            self.retired.push((agents, until));
        }
    }

    /// Gives up jobs that nobody waits for any more.
    pub(super) fn keep_wanted(&mut self, wanted: impl Fn(&Birth) -> bool) {
        self.queue.retain(|job| wanted(&job.birth));
        let all = std::mem::take(&mut self.jobs);
        let (kept, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| wanted(&job.birth));
        self.jobs = kept;
        others.into_iter().for_each(|job| self.retire(job.hub.give_up()));
    }

    /// Gives all a turn. Returns those that wait no more.
    pub(super) fn advance(&mut self) -> Vec<Arrived> {
        let now = Instant::now();
        self.retired.retain_mut(|(agents, until)| now < *until && !agents.have_ended());
        let mut arrived = Vec::new();
        let mut at = 0;
        while at < self.jobs.len() {
            let there = self.jobs[at].hub.turn();
            if there == Ok(false) {
                at += 1;
                continue;
            }
            let Coming { birth, request, prepared, hub } = self.jobs.remove(at);
            let outcome = match there {
                Ok(_) => Ok(hub.gathered()),
                Err(why) => {
                    self.retire(hub.give_up());
                    Err(why)
                }
            };
            arrived.push(Arrived { birth, request, prepared, outcome });
        }
        arrived
    }

    /// These daemons have nothing to do.
    pub(super) fn give_back(&mut self, gathered: Gathered) {
        let Gathered { nodes, agents, .. } = gathered;
        drop(nodes);
        self.retire(agents);
    }

    /// When there is something to do whatever happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let hubs = self.jobs.iter().filter_map(|job| job.hub.deadline());
        hubs.chain(self.retired.iter().map(|(_, until)| *until)).min()
    }

    /// Events to wait for.
    pub(super) fn fds(&self) -> Vec<PollFd<'_>> {
        let hubs = self.jobs.iter().flat_map(|job| job.hub.fds());
        hubs.chain(self.retired.iter().flat_map(|(agents, _)| agents.fds())).collect()
    }

    /// Children of mpirun's that are no orphans.
    pub(super) fn pids(&self) -> Vec<Pid> {
        let hubs = self.jobs.iter().flat_map(|job| job.hub.pids());
        hubs.chain(self.retired.iter().flat_map(|(agents, _)| agents.pids())).collect()
    }

    /// mpirun ends: nothing is wanted any more, and all agents have their time to end.
    pub(super) fn finish(&mut self) {
        self.keep_wanted(|_| false);
        self.retired.drain(..).for_each(|(mut agents, _)| agents.finish());
    }
}
