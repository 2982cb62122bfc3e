//! Slots of processes that are about to end.
//!
//! A slot is free when mpirun hears that its process has ended. A program that starts a job, parts from it and starts the next one asks before that, and before all ranks
//! on both sides have told that they have parted. So a question that is refused for want of other jobs' slots waits for the ends of processes, up to
//! [`PATIENCE`], and is answered then.

use super::running::Birth;
use oxmpi_wireup::jobs::SpawnRequest;
use std::time::{Duration, Instant};

/// How long slots of other jobs are waited for. Such a job may as well run for long.
const PATIENCE: Duration = Duration::from_secs(10);

/// A question that waits for slots.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) birth: Birth,
    pub(super) request: SpawnRequest,
    until: Instant,
    /// Why it has been refused so far.
    pub(super) why: String,
}

impl Waiting {
    /// Whether it may wait on at this time.
    pub(super) fn has_time(&self, now: Instant) -> bool {
        now < self.until
    }
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

    /// From now on a question waits that has been refused so far.
    pub(super) fn add(&mut self, birth: Birth, request: SpawnRequest, why: String) {
        self.all.push(Waiting { birth, request, until: Instant::now() + PATIENCE, why });
    }

    /// A question waits on.
    pub(super) fn keep_waiting(&mut self, waiting: Waiting) {
        self.all.push(waiting);
    }

    /// Takes out all questions, where processes have ended or time has passed; none otherwise.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Waiting> {
        let news = std::mem::take(&mut self.news);
        if !news && self.all.iter().all(|waiting| waiting.has_time(now)) {
            return Vec::new();
        }
        std::mem::take(&mut self.all)
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
    /// Those of the job that has asked.
    Own,
}
