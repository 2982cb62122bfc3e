//! Slots of processes that are about to end.
//!
//! A slot is free when mpirun hears that its process has ended. A process that has parted from all other jobs is often about to do so: a program
//! that starts a job, parts from it and starts the next one asks before that. So a question that is refused for want of such a process's slot waits for
//! the ends of processes, up to [`PATIENCE`], and is answered then.

use super::running::{Birth, connected};
use super::state::Launcher;
use oxmpi_wireup::jobs::SpawnRequest;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long slots of jobs that are connected with nobody are waited for. Such a job may as well run for long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A question that waits for slots.
#[derive(Debug)]
pub(super) struct Waiting {
    birth: Birth,
    request: SpawnRequest,
    until: Instant,
    /// Why it has been refused so far.
    why: String,
}

/// All of them, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    all: Vec<Waiting>,
    /// Processes have ended since they were looked at.
    news: bool,
}

impl Queue {
    /// A process has ended.
    pub(super) fn note_ended(&mut self) {
        self.news = true;
    }

    /// Drops questions that nobody waits for any more.
    pub(super) fn keep_wanted(&mut self, wanted: impl Fn(&Birth) -> bool) {
        self.all.retain(|waiting| wanted(&waiting.birth));
    }

    /// When there is something to do whatever happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.all.iter().map(|waiting| waiting.until).min()
    }
}

/// Processes whose slots count as in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    All,
    /// All but those of jobs that are connected with no other and have not asked.
    WithoutParted,
}

impl Launcher {
    /// Processes on each node, of jobs that run and that are on their way.
    pub(super) fn in_use(&self, asking: u64, count: Count) -> BTreeMap<String, u32> {
        let counts = |at: &usize| match count {
            Count::All => true,
            Count::WithoutParted => self.jobs[*at].id == asking || connected(&self.jobs, *at).len() > 1,
        };
        let running = (0..self.jobs.len()).filter(counts).map(|at| self.jobs[at].on_nodes.clone());
        let coming = self.underway.plans().map(|prepared| prepared.plan.on_nodes());
        let mut in_use = BTreeMap::new();
        for (name, count) in running.chain(coming).flatten() {
            *in_use.entry(name).or_default() += count;
        }
        in_use
    }

    /// Plans a job, and starts it or the daemons that it needs first. One that lacks slots of processes that may be about to end waits for
    /// those. An error is a paragraph for the user.
    pub(super) fn spawn(&mut self, birth: Birth, request: SpawnRequest) -> Result<(), String> {
        let why = match self.plan(birth, &request, Count::All) {
            Ok(prepared) => {
                self.universe.names = prepared.plan.names.clone();
                return self.begin(birth, request, prepared);
            }
            Err(why) => why,
        };
        // With no limit of slots there is nothing to wait for, and no second plan differs from the first.
        if self.in_use(birth.job, Count::All) == self.in_use(birth.job, Count::WithoutParted) {
            return Err(why);
        }
        self.plan(birth, &request, Count::WithoutParted).map_err(|_| why.clone())?;
        self.waiting.all.push(Waiting { birth, request, until: Instant::now() + PATIENCE, why });
        Ok(())
    }

    /// Looks at questions that wait, where processes have ended or time has passed.
    pub(super) fn serve_waiting(&mut self) {
        let now = Instant::now();
        let news = std::mem::take(&mut self.waiting.news);
        if self.waiting.all.is_empty() || !news && self.waiting.all.iter().all(|waiting| now < waiting.until)
        {
            return;
        }
        for waiting in std::mem::take(&mut self.waiting.all) {
            match self.plan(waiting.birth, &waiting.request, Count::All) {
                Ok(prepared) => {
                    let Waiting { birth, request, .. } = waiting;
                    self.universe.names = prepared.plan.names.clone();
                    if let Err(why) = self.begin(birth, request, prepared) {
                        self.refuse(birth, &why);
                    }
                }
                Err(_) if now < waiting.until => self.waiting.all.push(waiting),
                Err(_) => self.refuse(waiting.birth, &waiting.why),
            }
        }
    }
}
