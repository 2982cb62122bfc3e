//! Performance variables (MPI 5.0 §15.3.7): which there are, and where their values come from.
//!
//! | variables | from | cost |
//! |---|---|---|
//! | `runtime_spc_OMPI_SPC_<call>` | the runtime's counters, words of each thread's context | counted from the first start of a handle on |
//! | `runtime_spc_…UNEXPECTED…`, `pml_ob1_…` | the PML's counts, words of a matching shard | always counted, not on the way of a message that finds its receive |
//! | `runtime_spc_OMPI_SPC_MATCH_TIME` | the PML's watches | measured from the first start of a handle on |
//! | `runtime_comm_…` | words of a communicator's handle | counted from the first start of a handle on |
//! | `runtime_cri_…` | the CRIs, one element each | where several threads may make calls, words of the CRI's lock |
//! | `osc_win_…` of locks | the one-sided component's counts of a window | always counted, where locks are taken |
//! | `osc_win_ranks_…` | the one-sided component's paths to ranks of a window | a level |
//! | `osc_win_…` of calls | the window | counted from the first start of a handle on |
//! | `rcache_base_…` | the registration cache | always counted, in words of what is used anyway |
//! | `runtime_waits_…` | the list of waiting threads, words of each thread's context | where a thread is about to sleep, where a wait ends |
//! | `runtime_files_…` | words of the instance | always counted, for each open and each list of pieces |
//! | `coll_…` | the runtime's counters of algorithms, words of the instance, once components are open (`pvar_list`) | counted from the first start of a handle on |
//! | `runtime_thread_level` | the instance | none |
//!
//! Where Open MPI has a variable of the same meaning it has the same name.

use super::enumeration;
use super::users::{Res, instance};
use super::window_pvar::{self, Count};
use crate::constants::*;
use core::ffi::c_int;
use oxmpi_runtime::file::FileCounters;
use oxmpi_runtime::{Communicator, CriCounts, OfComm, RegistrationCounts, WaitCounts, Window, spc};
use std::borrow::Cow;
use std::sync::Weak;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueSource {
    Counter(usize),
    Unexpected,
    UnexpectedNow,
    UnexpectedMost,
    Posted,
    PostedNow,
    MatchTime,
    OutOfSequence,
    OutOfSequenceNow,
    OutOfSequenceMost,
    /// One of [`CriCounts::named`].
    Cri(usize),
    Spreads,
    /// Of a communicator, as its calls are counted.
    Comm(OfComm),
    /// Of a window.
    Window(Count),
    /// One of [`RegistrationCounts::named`].
    Registrations(usize),
    /// One of [`WaitCounts::named`].
    Waits(usize),
    /// One of [`FileCounters::named`].
    Files(usize),
    ThreadLevel,
    /// Of the algorithm that the variable is named for.
    Algorithm,
}

/// The kind of object that handles of a variable are bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    Nothing,
    Comm,
    Win,
}

/// The object that a handle is bound to.
#[derive(Debug)]
pub enum Object {
    Nothing,
    Comm(Weak<Communicator>),
    Win(Weak<Window>),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub category: Cow<'static, str>,
    pub desc: String,
    pub level: u32,
    pub class: c_int,
    pub source: ValueSource,
    pub bound: Binding,
    pub readonly: bool,
    pub continuous: bool,
}

impl Variable {
    /// Handles count from a start or reset of their own.
    pub fn counts(&self) -> bool {
        matches!(self.class, MPI_T_PVAR_CLASS_COUNTER | MPI_T_PVAR_CLASS_AGGREGATE | MPI_T_PVAR_CLASS_TIMER)
    }

    /// Handles have as many elements.
    pub fn elements(&self) -> usize {
        if !matches!(self.source, ValueSource::Cri(_)) {
            return 1;
        }
        match instance() {
            Some(instance) => instance.cri_counts().len(),
            None => {
                let param = super::cvar::resolved("runtime_num_cris");
                param.and_then(|p| p.value.as_i64()).and_then(|n| usize::try_from(n).ok()).unwrap_or(1).max(1)
            }
        }
    }

    /// The values now, `elements` of them; of nothing where nothing was started yet.
    pub fn now(&self, object: &Object, elements: usize) -> Res<Vec<u64>> {
        let Some(instance) = instance() else { return Ok(vec![0; elements]) };
        let counts = || match object {
            Object::Comm(comm) => comm.upgrade().and_then(|c| c.counts()).ok_or(MPI_T_ERR_NOT_ACCESSIBLE),
            _ => Ok(instance.message_counts()),
        };
        let window = || match object {
            Object::Win(window) => window.upgrade().ok_or(MPI_T_ERR_NOT_ACCESSIBLE),
            _ => Err(MPI_T_ERR_INVALID_HANDLE),
        };
        let one = match self.source {
            ValueSource::Counter(i) => instance.all_counters().get(i).copied().unwrap_or(0),
            ValueSource::Unexpected => counts()?.unexpected,
            ValueSource::UnexpectedNow => counts()?.waiting,
            ValueSource::UnexpectedMost => counts()?.most_waiting,
            ValueSource::Posted => counts()?.posted,
            ValueSource::PostedNow => counts()?.posted_now,
            ValueSource::MatchTime => spc::in_microseconds(counts()?.match_time),
            ValueSource::Spreads => counts()?.spreads,
            ValueSource::Comm(what) => match object {
                Object::Comm(comm) => comm.upgrade().ok_or(MPI_T_ERR_NOT_ACCESSIBLE)?.noted(what),
                _ => return Err(MPI_T_ERR_INVALID_HANDLE),
            },
            ValueSource::Window(count) => count.of(&*window()?),
            ValueSource::Registrations(which) => instance.registration_counts().named()[which].1,
            ValueSource::Waits(which) => instance.wait_counts().named()[which].1,
            ValueSource::Files(which) => instance.file_counters().named()[which].1,
            ValueSource::ThreadLevel => instance.level() as u64,
            ValueSource::Algorithm => {
                instance.algorithms_taken().find(|(name, _)| *name == self.name).map_or(0, |(_, taken)| taken)
            }
            ValueSource::OutOfSequence => counts()?.out_of_sequence,
            ValueSource::OutOfSequenceNow => counts()?.out_of_sequence_now,
            ValueSource::OutOfSequenceMost => counts()?.most_out_of_sequence,
            ValueSource::Cri(which) => {
                let mut all: Vec<u64> = instance.cri_counts().iter().map(|c| c.named()[which].1).collect();
                all.resize(elements, 0);
                return Ok(all);
            }
        };
        Ok(vec![one])
    }

    pub fn enumtype(&self) -> usize {
        const LEVELS: [(c_int, &str); 4] = [
            (0, "MPI_THREAD_SINGLE"),
            (1, "MPI_THREAD_FUNNELED"),
            (2, "MPI_THREAD_SERIALIZED"),
            (3, "MPI_THREAD_MULTIPLE"),
        ];
        match self.source {
            ValueSource::ThreadLevel => enumeration::of("thread_level", LEVELS.into_iter()),
            _ => MPI_T_ENUM_NULL,
        }
    }

    /// Values are of MPI_INT, else of MPI_UNSIGNED_LONG_LONG.
    pub fn is_int(&self) -> bool {
        self.source == ValueSource::ThreadLevel
    }
}

/// The variables that are always there; their places are the indices.
pub fn fixed() -> Vec<Variable> {
    let mut all: Vec<Variable> = (0..spc::NAMES.len()).map(counter).collect();
    all.extend(of_messages());
    all.extend(of_communicators());
    all.extend(of_cris());
    all.extend(of_windows());
    all.extend(of_registrations());
    all.extend(of_waits());
    all.extend(of_files());
    all.push(Variable {
        name: "runtime_thread_level".into(),
        category: "runtime".into(),
        desc: "Level of thread support the library works at; it rises where sessions ask for more".into(),
        level: 3,
        class: MPI_T_PVAR_CLASS_STATE,
        source: ValueSource::ThreadLevel,
        bound: Binding::Nothing,
        readonly: true,
        continuous: true,
    });
    all
}

fn counter(i: usize) -> Variable {
    let bytes = spc::NAMES[i].contains("BYTES");
    Variable {
        name: format!("runtime_spc_{}", spc::NAMES[i]),
        category: "runtime_spc".into(),
        desc: spc::DESCRIPTIONS[i].to_owned(),
        level: 4,
        class: if bytes { MPI_T_PVAR_CLASS_AGGREGATE } else { MPI_T_PVAR_CLASS_COUNTER },
        source: ValueSource::Counter(i),
        bound: Binding::Nothing,
        readonly: false,
        continuous: false,
    }
}

/// Of a communicator, by its calls: an endpoint's are its own.
fn of_communicators() -> impl Iterator<Item = Variable> {
    const ROWS: [(&str, OfComm, &str); 5] = [
        (
            "sends",
            OfComm::Sends,
            "Messages that sends on a communicator's handle started, persistent ones not counted",
        ),
        (
            "receives",
            OfComm::Receives,
            "Receives on a communicator's handle that brought a message, persistent ones not counted",
        ),
        (
            "collectives",
            OfComm::Collectives,
            "Collective operations called, begun or prepared on a communicator's handle",
        ),
        ("bytes_sent", OfComm::BytesSent, "Bytes given to the sends of a communicator's handle"),
        ("bytes_received", OfComm::BytesReceived, "Bytes that receives of a communicator's handle brought"),
    ];
    ROWS.into_iter().map(|(name, what, desc)| Variable {
        name: format!("runtime_comm_{name}"),
        category: "runtime_comm".into(),
        desc: format!("{desc}; an endpoint has a handle of its own"),
        level: 4,
        class: if name.starts_with("bytes") { MPI_T_PVAR_CLASS_AGGREGATE } else { MPI_T_PVAR_CLASS_COUNTER },
        source: ValueSource::Comm(what),
        bound: Binding::Comm,
        readonly: false,
        continuous: false,
    })
}

/// Of the resource instances, one element for each.
fn of_cris() -> impl Iterator<Item = Variable> {
    const WHAT: [&str; 4] = [
        "How often a thread found the lock of a communication resource instance taken and left its progress to the holder; one element for each instance",
        "How often threads progressed a communication resource instance, where several may make calls; one element for each instance",
        "Events (messages that came or went out) that progressing a communication resource instance brought, where several threads may make calls; one element for each instance",
        "How often the lock of a communication resource instance went to another thread than before, where messages go on several: writes to a line that another core had; one element for each instance",
    ];
    let names = CriCounts::default().named().map(|(name, _)| name);
    names.into_iter().zip(WHAT).enumerate().map(|(i, (name, what))| Variable {
        name: name.into(),
        category: "runtime_cri".into(),
        desc: what.into(),
        level: 7,
        class: MPI_T_PVAR_CLASS_COUNTER,
        source: ValueSource::Cri(i),
        bound: Binding::Nothing,
        readonly: false,
        continuous: true,
    })
}

/// Of threads that wait among others.
fn of_files() -> impl Iterator<Item = Variable> {
    const WHAT: [&str; 6] = [
        "Files opened",
        "Bytes read from files",
        "Bytes written to files",
        "Lists of pieces that were given to a component to transfer",
        "Pieces in these lists",
        "Collective accesses to files",
    ];
    let names = FileCounters::default().named().map(|(name, _)| name);
    names.into_iter().zip(WHAT).enumerate().map(|(i, (name, what))| Variable {
        name: name.into(),
        category: "runtime".into(),
        desc: what.into(),
        level: 4,
        class: if name.contains("bytes") { MPI_T_PVAR_CLASS_AGGREGATE } else { MPI_T_PVAR_CLASS_COUNTER },
        source: ValueSource::Files(i),
        bound: Binding::Nothing,
        readonly: false,
        continuous: true,
    })
}

fn of_waits() -> impl Iterator<Item = Variable> {
    const WHAT: [&str; 7] = [
        "Waits that began while another thread owned progress, and whose thread was parked until its own requests were complete",
        "Sleeps by timer of threads that wait for something that no request stands for (a blocking probe) while another thread owns progress",
        "Pieces of large packing, copying and reducing that other threads had to do and a waiting thread did (mpi_task_min_size)",
        "Turns of progress at full speed of waits that did not end in their first ones, counted when a wait ends (mpi_spin_count)",
        "Turns of progress between yields of threads that are more than cores, and looks of threads that wait for another one's progress",
        "How often waiting threads gave their cores away (mpi_yield_count, mpi_yield_when_idle)",
        "How often waiting threads slept, until something came or for a time",
    ];
    let names = WaitCounts::default().named().map(|(name, _)| name);
    names.into_iter().zip(WHAT).enumerate().map(|(i, (name, what))| Variable {
        name: name.into(),
        category: "runtime".into(),
        desc: what.into(),
        level: 7,
        class: MPI_T_PVAR_CLASS_COUNTER,
        source: ValueSource::Waits(i),
        bound: Binding::Nothing,
        readonly: false,
        continuous: true,
    })
}

fn of_windows() -> impl Iterator<Item = Variable> {
    window_pvar::ROWS.into_iter().map(|(name, count, desc)| Variable {
        name: name.into(),
        category: "osc".into(),
        desc: desc.into(),
        level: 4,
        class: if matches!(count, Count::Ranks(_)) {
            MPI_T_PVAR_CLASS_LEVEL
        } else {
            MPI_T_PVAR_CLASS_COUNTER
        },
        source: ValueSource::Window(count),
        bound: Binding::Win,
        readonly: matches!(count, Count::Ranks(_)),
        continuous: !matches!(count, Count::Calls(_)),
    })
}

/// Of the registration cache: counters, and the last two levels.
fn of_registrations() -> impl Iterator<Item = Variable> {
    const WHAT: [&str; 8] = [
        "How often memory was found registered from an earlier operation",
        "How often memory was registered because it was not found registered",
        "Registrations given up to make room for others",
        "Registrations ended because their memory was unmapped, moved or emptied",
        "How often memory was registered for one operation because a change of mappings was under way",
        "How often memory was registered for one operation because changes of it are not told: shared memory and files",
        "Registrations there now",
        "Bytes registered now by them",
    ];
    let names = RegistrationCounts::default().named().map(|(name, _)| name);
    names.into_iter().zip(WHAT).enumerate().map(|(i, (name, what))| {
        let level = i >= 6;
        Variable {
            name: name.into(),
            category: "rcache_base".into(),
            desc: what.into(),
            level: 5,
            class: if level { MPI_T_PVAR_CLASS_LEVEL } else { MPI_T_PVAR_CLASS_COUNTER },
            source: ValueSource::Registrations(i),
            bound: Binding::Nothing,
            readonly: level,
            continuous: true,
        }
    })
}

/// The PML's, of all communicators together and of one.
fn of_messages() -> Vec<Variable> {
    const LEVEL: c_int = MPI_T_PVAR_CLASS_LEVEL;
    const MARK: c_int = MPI_T_PVAR_CLASS_HIGHWATERMARK;
    const COUNTER: c_int = MPI_T_PVAR_CLASS_COUNTER;
    let rows = [
        (
            "runtime_spc_OMPI_SPC_UNEXPECTED",
            COUNTER,
            ValueSource::Unexpected,
            "Messages that came before a receive that fits them",
        ),
        (
            "runtime_spc_OMPI_SPC_UNEXPECTED_IN_QUEUE",
            LEVEL,
            ValueSource::UnexpectedNow,
            "Messages kept at present because no receive fits them",
        ),
        (
            "runtime_spc_OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE",
            MARK,
            ValueSource::UnexpectedMost,
            "Most messages that one communicator ever kept at once because no receive fits them",
        ),
        (
            "runtime_spc_OMPI_SPC_OUT_OF_SEQUENCE",
            COUNTER,
            ValueSource::OutOfSequence,
            "Messages that came before one that their sender had sent earlier, and were kept for that",
        ),
        (
            "runtime_spc_OMPI_SPC_OOS_IN_QUEUE",
            LEVEL,
            ValueSource::OutOfSequenceNow,
            "Messages kept at present because one sent earlier has not come",
        ),
        (
            "runtime_spc_OMPI_SPC_MAX_OOS_IN_QUEUE",
            MARK,
            ValueSource::OutOfSequenceMost,
            "Most messages of one source and communicator that were ever kept at once because one sent earlier had not come",
        ),
        (
            "runtime_spc_OMPI_SPC_MATCH_TIME",
            MPI_T_PVAR_CLASS_TIMER,
            ValueSource::MatchTime,
            "Microseconds spent on finding receives for messages that came, waiting for other threads that match included; measured while a handle is started",
        ),
        (
            "pml_ob1_posted_recvq_length",
            LEVEL,
            ValueSource::PostedNow,
            "Receives of a communicator posted at present",
        ),
        (
            "pml_ob1_unexpected_msgq_length",
            LEVEL,
            ValueSource::UnexpectedNow,
            "Messages of a communicator kept at present because no receive fits them",
        ),
        (
            "pml_ob1_unexpected_msgq_max",
            MARK,
            ValueSource::UnexpectedMost,
            "Most messages that a communicator ever kept at once",
        ),
        (
            "pml_ob1_unexpected_msgs",
            COUNTER,
            ValueSource::Unexpected,
            "Messages of a communicator that came before a receive that fits them",
        ),
        (
            "pml_ob1_posted_recvs",
            COUNTER,
            ValueSource::Posted,
            "Receives of a communicator that were posted because no message was there",
        ),
        (
            "pml_ob1_matching_spreads",
            COUNTER,
            ValueSource::Spreads,
            "How often the matching of a communicator was spread over several locks because several threads received",
        ),
    ];
    let made = rows.into_iter().map(|(name, class, source, desc)| {
        let of_comm = name.starts_with("pml_");
        Variable {
            name: name.into(),
            category: if of_comm { "pml_ob1" } else { "runtime_spc" }.into(),
            desc: desc.into(),
            level: 4,
            class,
            source,
            bound: if of_comm { Binding::Comm } else { Binding::Nothing },
            readonly: matches!(class, LEVEL | MARK),
            continuous: class != MPI_T_PVAR_CLASS_TIMER,
        }
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_different_and_marks_cannot_be_reset() {
        let fixed = fixed();
        let names: HashSet<&str> = fixed.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names.len(), fixed.len());
        assert!(names.contains("runtime_spc_OMPI_SPC_SEND"));
        for v in &fixed {
            assert_eq!(v.readonly, !v.counts(), "{}", v.name);
            assert!(v.continuous || v.counts(), "{}", v.name);
        }
    }
}
