//! One job that runs: its daemons, what became of it, and with which jobs it is connected.

use super::nodes::Nodes;
use super::suspects::Suspects;
use super::verdict::Verdict;
use crate::cli::App;
use crate::daemon::feed::Feed;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// A job of this mpirun.
#[derive(Debug)]
pub struct Running {
    pub nodes: Nodes,
    pub verdict: Verdict,
    pub suspects: Suspects,
    /// Standard input for ranks of several nodes.
    pub feed: Option<Feed>,
    /// Its random number.
    pub id: u64,
    /// Number of its first process among all that mpirun has started, and how many it has.
    pub base: u32,
    pub size: u32,
    /// Written output is made known to the daemons in portions of so many bytes.
    pub portion: usize,
    /// Processes by rank, until all run.
    pub started: BTreeMap<u32, u32>,
    /// Options of its programs, and how many ranks each has.
    pub programs: Vec<(App, u32)>,
    /// Processes on each node that have not ended.
    pub on_nodes: BTreeMap<String, u32>,
    /// Some process asked for it, and is not connected with it yet.
    pub birth: Option<Birth>,
    /// Until when it may take to start: the first job to run, a later one to be connected with the process that asked for it.
    pub start_by: Option<Instant>,
    /// It came to nothing, which the one who asked for it has been told; mpirun's own status does not follow from it.
    pub stillborn: bool,
    /// Jobs, by their random numbers, and the ranks of this one that are connected with each.
    pub links: BTreeMap<u64, BTreeSet<u32>>,
}

/// The question that a job answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// The job that asks, its rank, and the number of its question.
    pub job: u64,
    pub rank: u32,
    pub question: u32,
}

impl Running {
    /// The command line's job.
    pub fn is_first(&self) -> bool {
        self.base == 0
    }

    /// Whether a process, by its number among all, is of this job.
    pub fn has(&self, process: u32) -> bool {
        process.checked_sub(self.base).is_some_and(|rank| rank < self.size)
    }

    /// The program that a rank runs.
    pub fn program_of(&self, rank: u32) -> Option<&App> {
        let mut first = 0_u32;
        self.programs.iter().find_map(|(app, ranks)| {
            first = first.saturating_add(*ranks);
            (rank < first).then_some(app)
        })
    }

    /// Nothing of it runs, and nothing of it is still to be found out.
    pub fn is_over(&self) -> bool {
        self.nodes.done() && self.suspects.deadline().is_none()
    }

    /// It has failed, or come to nothing.
    pub fn is_ending(&self) -> bool {
        self.stillborn || self.verdict.decided().is_some() || self.nodes.done()
    }

    /// Notes that a rank is connected with processes of another job, or with none any more.
    pub fn link(&mut self, rank: u32, job: u64, on: bool) {
        let ranks = self.links.entry(job).or_default();
        match on {
            true => _ = ranks.insert(rank),
            false => _ = ranks.remove(&rank),
        }
        if ranks.is_empty() {
            self.links.remove(&job);
        }
    }

    /// A rank has ended: it is connected with nobody, and its slot is free.
    pub fn note_ended(&mut self, rank: u32) {
        self.links.retain(|_, ranks| {
            ranks.remove(&rank);
            !ranks.is_empty()
        });
        if let Some(count) = self.on_nodes.get_mut(self.nodes.name_of(rank)) {
            *count = count.saturating_sub(1);
        }
    }
}

/// A job and the process that asked for it are connected, as one of both says: it is a job like any other. The other's word is on its way, and until it is here
/// one of them may fail, so the first word counts for both.
pub fn note_met(all: &mut [Running], born: usize) {
    let job = &mut all[born];
    let Some(birth) = job.birth.take() else { return };
    job.start_by = None;
    // The first process of a job is connected as long as any is.
    job.link(0, birth.job, true);
    let id = job.id;
    if let Some(asking) = all.iter_mut().find(|job| job.id == birth.job) {
        asking.link(birth.rank, id, true);
    }
}

/// The jobs whose fate a job shares (MPI 5.0 §11.10): itself, those with which some rank of it is connected as both say, those with which
/// they are, and so on. By their places in the list.
pub fn connected(all: &[Running], first: usize) -> Vec<usize> {
    let mut found = vec![first];
    let mut next = 0;
    while let Some(&at) = found.get(next) {
        next += 1;
        let linked = |other: &Running| {
            all[at].links.contains_key(&other.id) && other.links.contains_key(&all[at].id)
                || other.birth.is_some_and(|birth| birth.job == all[at].id)
        };
        let more: Vec<usize> = (0..all.len()).filter(|n| !found.contains(n) && linked(&all[*n])).collect();
        found.extend(more);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that rank 1 of another one has asked for, if that is named.
    fn job(id: u64, asking: Option<u64>) -> Running {
        Running {
            nodes: Nodes::none(4),
            verdict: Verdict::new(Vec::new(), 4, false),
            suspects: Suspects::default(),
            feed: None,
            id,
            base: 0,
            size: 4,
            portion: 1,
            started: BTreeMap::new(),
            programs: Vec::new(),
            on_nodes: BTreeMap::new(),
            birth: asking.map(|job| Birth { job, rank: 1, question: 9 }),
            start_by: None,
            stillborn: false,
            links: BTreeMap::new(),
        }
    }

    fn is_one(all: &[Running]) -> bool {
        let both = [connected(all, 0).len(), connected(all, 1).len()];
        assert_eq!(both[0], both[1], "it is the same for both");
        both[0] == 2
    }

    /// Of a job and the one that asked for it one may fail as soon as the first has said that they are connected; the other ends with it.
    #[test]
    fn the_first_word_counts_for_both() {
        // The later job speaks first, by any of its processes; or the one who asked does.
        for first in [Some(2), Some(0), None] {
            let mut all = [job(7, None), job(8, Some(7))];
            if let Some(rank) = first {
                all[1].link(rank, 7, true);
            }
            note_met(&mut all, 1);
            assert!(is_one(&all), "{first:?}");
            assert_eq!(all[1].birth, None);
            // Words that come later change nothing, and the last of a side that parts does.
            all[0].link(1, 8, true);
            (0..4).for_each(|rank| all[1].link(rank, 7, true));
            note_met(&mut all, 1);
            (1..4).for_each(|rank| all[1].link(rank, 7, false));
            assert!(is_one(&all), "{first:?}: rank 0 is still connected");
            all[0].link(1, 8, false);
            assert!(!is_one(&all), "{first:?}: the one who asked has parted");
            all[0].link(1, 8, true);
            all[1].link(0, 7, false);
            assert!(!is_one(&all), "{first:?}: all of the later job have parted");
        }
    }

    /// Jobs that meet later are connected when both say so.
    #[test]
    fn others_say_it_themselves() {
        let mut all = [job(7, None), job(8, None)];
        all[0].link(3, 8, true);
        note_met(&mut all, 1);
        assert!(!is_one(&all));
        all[1].link(0, 7, true);
        assert!(is_one(&all));
    }
}
