//! Processes of other jobs that this process knows.
//!
//! **Indices.** A process of another job gets the next index behind those of the own job when it becomes known, and keeps it as long as it is
//! known. One that comes again gets another: components may keep things by index. So indices only grow in number.
//!
//! **Known** is a process while somebody holds it: a communicator that it is in, or a call that makes one. When the last
//! hold goes because a communicator was disconnected (MPI 5.0 §11.10.4), the process is known no more, its endpoints are given back,
//! and what becomes of it concerns nobody here. After MPI_Comm_free alone it stays: the standard promises nothing then.
//!
//! **Nodes.** Their nodes have numbers of their own behind those of the own job, also where it is the same machine: memory of the node by key
//! ends at the job. Transports learn of shared memory with a process by the segment in which both have a place.

use super::profile::{Profile, job_of, rank_of};
use oxmpi_mca::ProcName;
use oxmpi_system::locks::Mutex;
use oxmpi_wireup::Secret;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The processes of other jobs that an instance knows.
#[derive(Default)]
pub(crate) struct Strangers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By index; those that are known no more are not here.
    all: HashMap<u32, Stranger>,
    /// How many there were so far.
    met: u32,
    indices: HashMap<[u8; 16], u32>,
    /// By number, less 1.
    segments: Vec<Option<Meeting>>,
    /// Number of each known job, and of its known processes.
    jobs: HashMap<u64, (u32, u32)>,
    next_job: u32,
    /// Nodes of known jobs, by job and number there, and how many there were so far.
    nodes: HashMap<(u64, u32), u32>,
    met_nodes: u32,
}

/// A process of another job.
struct Stranger {
    profile: Arc<Profile>,
    /// Number of a segment and its place there.
    segment: Option<(u32, u32)>,
    /// By which both prove themselves to each other; `None`: by the secret of the own mpirun.
    bridge: Option<Secret>,
    node: u32,
    holds: u32,
}

/// Shared memory in which processes of several jobs have places.
struct Meeting {
    memory: Arc<OwnedFd>,
    place: u32,
    places: u32,
    strangers: u32,
}

/// Where a process of another job is, as transports are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whereabouts {
    pub job: u32,
    pub node: u32,
    pub local_rank: u32,
    /// Number of a segment and its place there.
    pub segment: Option<(u32, u32)>,
}

/// A segment in which this process has a place.
pub(crate) struct MeetingPlace {
    pub memory: Arc<OwnedFd>,
    pub place: u32,
    pub places: u32,
}

/// Outcome of a process's becoming known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Added {
    pub proc: u32,
    pub new: bool,
    /// It is the first of its job.
    pub first_of_job: bool,
}

/// Processes that are known no more, and jobs of which none is.
#[derive(Debug, Default)]
pub(crate) struct Parted {
    pub procs: Vec<u32>,
    pub jobs: Vec<u64>,
}

impl Strangers {
    /// Makes a process known and holds it once; `own`: how many processes the own job has, `nodes`: how many nodes.
    pub(crate) fn add(
        &self,
        (own, nodes): (u32, u32),
        profile: Profile,
        segment: Option<(u32, u32)>,
        bridge: Option<&Secret>,
    ) -> Added {
        let state = &mut *self.state.lock();
        if let Some(&proc) = state.indices.get(&profile.name.bytes) {
            if let Some(stranger) = state.all.get_mut(&proc) {
                stranger.holds += 1;
                // Both sides have the newest, whoever had forgotten the other.
                stranger.bridge = bridge.cloned().or(stranger.bridge.take());
            }
            return Added { proc, new: false, first_of_job: false };
        }
        let proc = own + state.met;
        state.met += 1;
        let job = profile.job();
        let next = &mut state.next_job;
        let (_, known) = state.jobs.entry(job).or_insert_with(|| {
            *next += 1;
            (*next, 0)
        });
        *known += 1;
        let first_of_job = *known == 1;
        let next_node = &mut state.met_nodes;
        let node = *state.nodes.entry((job, profile.node)).or_insert_with(|| {
            *next_node += 1;
            nodes + *next_node - 1
        });
        if let Some((number, _)) = segment
            && let Some(meeting) = state.meeting(number)
        {
            meeting.strangers += 1;
        }
        state.indices.insert(profile.name.bytes, proc);
        let (profile, bridge) = (Arc::new(profile), bridge.cloned());
        state.all.insert(proc, Stranger { profile, segment, bridge, node, holds: 1 });
        Added { proc, new: true, first_of_job }
    }

    /// Makes a segment known, and returns its number. It goes with the last process that is known by it; until there is one it stays.
    pub(crate) fn add_segment(&self, memory: OwnedFd, place: u32, places: u32) -> u32 {
        let state = &mut *self.state.lock();
        let meeting = Some(Meeting { memory: Arc::new(memory), place, places, strangers: 0 });
        match state.segments.iter().position(Option::is_none) {
            Some(at) => {
                state.segments[at] = meeting;
                at as u32 + 1
            }
            None => {
                state.segments.push(meeting);
                state.segments.len() as u32
            }
        }
    }

    /// Forgets a segment by which no process is known.
    pub(crate) fn drop_unused_segment(&self, number: u32) {
        let state = &mut *self.state.lock();
        if state.meeting(number).is_some_and(|meeting| meeting.strangers == 0) {
            state.segments[number as usize - 1] = None;
        }
    }

    /// A segment by its number.
    pub(crate) fn segment(&self, number: u32) -> Option<MeetingPlace> {
        let mut state = self.state.lock();
        let meeting = state.meeting(number)?;
        Some(MeetingPlace {
            memory: Arc::clone(&meeting.memory),
            place: meeting.place,
            places: meeting.places,
        })
    }

    /// Processes have no places in segments after all; segments that are nobody's go.
    pub(crate) fn leave_segments(&self, procs: &[u32]) {
        let state = &mut *self.state.lock();
        for &proc in procs {
            let segment = state.all.get_mut(&proc).filter(|s| s.holds == 1).and_then(|s| s.segment.take());
            if let Some((number, _)) = segment
                && let Some(meeting) = state.meeting(number)
            {
                meeting.strangers -= 1;
                if meeting.strangers == 0 {
                    state.segments[number as usize - 1] = None;
                }
            }
        }
    }

    /// Holds processes once more.
    pub(crate) fn hold(&self, procs: &[u32]) {
        let mut state = self.state.lock();
        for proc in procs {
            if let Some(stranger) = state.all.get_mut(proc) {
                stranger.holds += 1;
            }
        }
    }

    /// The jobs of which nobody would be known any more if these were released.
    pub(crate) fn jobs_that_would_go(&self, procs: &[u32]) -> Vec<u64> {
        let state = &mut *self.state.lock();
        let mut going = HashMap::new();
        for &proc in procs {
            if let Some(stranger) = state.all.get_mut(&proc)
                && stranger.holds <= 1
            {
                *going.entry(stranger.profile.job()).or_insert(0) += 1;
            }
        }
        going.retain(|job, count| state.jobs.get(job).is_some_and(|(_, known)| known == count));
        going.into_keys().collect()
    }

    /// Ends a hold on each. With `part` those that nobody holds any more are known no longer; without they stay.
    pub(crate) fn release(&self, procs: &[u32], part: bool) -> Parted {
        let state = &mut *self.state.lock();
        let mut parted = Parted::default();
        for &proc in procs {
            let Some(stranger) = state.all.get_mut(&proc) else { continue };
            if stranger.holds > 1 || !part {
                // The last hold of one that stays is nobody's.
                stranger.holds -= u32::from(stranger.holds > 1 || part);
                continue;
            }
            let (name, segment, job) = (stranger.profile.name, stranger.segment, stranger.profile.job());
            state.all.remove(&proc);
            state.indices.remove(&name.bytes);
            if let Some((number, _)) = segment
                && let Some(meeting) = state.meeting(number)
            {
                meeting.strangers -= 1;
                if meeting.strangers == 0 {
                    state.segments[number as usize - 1] = None;
                }
            }
            parted.procs.push(proc);
            if let Some((_, known)) = state.jobs.get_mut(&job) {
                *known -= 1;
                if *known == 0 {
                    state.jobs.remove(&job);
                    state.nodes.retain(|(of, _), _| *of != job);
                    parted.jobs.push(job);
                }
            }
        }
        parted
    }

    /// The wire name of a process.
    pub(crate) fn name(&self, proc: u32) -> Option<ProcName> {
        self.state.lock().all.get(&proc).map(|stranger| stranger.profile.name)
    }

    /// The index of a wire name.
    pub(crate) fn index(&self, name: &ProcName) -> Option<u32> {
        self.state.lock().indices.get(&name.bytes).copied()
    }

    /// A process's description of itself.
    pub(crate) fn profile(&self, proc: u32) -> Option<Arc<Profile>> {
        self.state.lock().all.get(&proc).map(|stranger| Arc::clone(&stranger.profile))
    }

    /// Where a process is.
    pub(crate) fn whereabouts(&self, proc: u32) -> Option<Whereabouts> {
        let state = &mut *self.state.lock();
        let stranger = state.all.get_mut(&proc)?;
        let (node, segment, local_rank) = (stranger.node, stranger.segment, stranger.profile.local_rank);
        let job = stranger.profile.job();
        let (job, _) = state.jobs.get(&job)?;
        Some(Whereabouts { job: *job, node, local_rank, segment })
    }

    /// The secret that this process shares with one whose wire name is in a text.
    pub(crate) fn bridge_named_in(&self, text: &[u8]) -> Option<Secret> {
        let state = self.state.lock();
        if state.indices.is_empty() {
            return None;
        }
        text.windows(16).find_map(|window| {
            let proc = state.indices.get(window)?;
            state.all.get(proc)?.bridge.clone()
        })
    }

    /// "rank 3 of job 5…", for people.
    pub(crate) fn describe(&self, proc: u32) -> String {
        match self.name(proc) {
            Some(name) => format!("rank {} of job {:016x}", rank_of(&name), job_of(&name)),
            None => "a process of another job that is not connected any more".into(),
        }
    }
}

impl State {
    fn meeting(&mut self, number: u32) -> Option<&mut Meeting> {
        self.segments.get_mut((number as usize).checked_sub(1)?)?.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::names::wire_name;

    fn profile(job: u64, rank: u32) -> Profile {
        Profile { name: wire_name(job, rank), node: rank / 2, ..Profile::default() }
    }

    fn memory() -> OwnedFd {
        rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("memory")
    }

    #[test]
    fn they_are_known_while_somebody_holds_them() {
        let known = Strangers::default();
        let segment = known.add_segment(memory(), 1, 3);
        let add = |job, rank, segment| known.add((4, 2), profile(job, rank), segment, None);
        let (a, b) = (add(7, 0, Some((segment, 0))), add(7, 3, Some((segment, 2))));
        assert_eq!(
            (a, b),
            (
                Added { proc: 4, new: true, first_of_job: true },
                Added { proc: 5, new: true, first_of_job: false },
            )
        );
        assert_eq!(add(7, 0, None), Added { proc: 4, new: false, first_of_job: false });
        assert_eq!(known.index(&wire_name(7, 3)), Some(5));
        let at = known.whereabouts(5).expect("known");
        assert_eq!((at.job, at.node, at.segment), (1, 3, Some((segment, 2))));
        assert!(known.segment(segment).is_some_and(|place| (place.place, place.places) == (1, 3)));
        assert!(known.release(&[4, 5], true).procs == [5], "the other is held once more");
        assert!(known.release(&[4], false).procs.is_empty() && known.name(4).is_some(), "it stays");
        let parted = known.release(&[4], true);
        assert_eq!((parted.procs, parted.jobs), (vec![4], vec![7]));
        assert!(known.segment(segment).is_none() && known.index(&wire_name(7, 0)).is_none());
        let again = add(7, 0, None);
        assert_eq!(again.proc, 6, "another index");
        let at = known.whereabouts(6).expect("known");
        assert_eq!((at.job, at.node), (2, 4), "and other numbers of job and node");
        known.release(&[6], true);
        let state = known.state.lock();
        assert!(state.all.is_empty() && state.jobs.is_empty() && state.nodes.is_empty(), "nothing is kept");
        drop(state);
        assert_eq!(known.add_segment(memory(), 0, 2), segment, "a number comes again");
        known.drop_unused_segment(segment);
        assert!(known.segment(segment).is_none());
    }
}
