//! Values in force: which value a parameter really has in a process, and how it follows from what is set.
//!
//! Components tell theirs through `Descriptor::resolve`, by the functions with which they open; the host's own are told here, by
//! the functions that an instance is made with. The process for which they are looked at is a running one ([`Process::of`]) or one
//! that `mpi-info` is asked about ([`Process::like`]), described alike.

use crate::accept::accepted::Accepted;
use crate::level::Level;
use crate::values::{HostParams, LeavePinned, Values};
use oxmpi_mca::abi::ResolveArgs;
pub use oxmpi_mca::resolve::bytes;
use oxmpi_mca::{JobInfo, SliceRef, Status, StrRef};
use oxmpi_mca_params::{Declaration, Resolved, Value};
use oxmpi_system::userfaultfd::events_there;
use oxmpi_wireup::JobFacts;
use std::ffi::c_void;

/// A value in force.
#[derive(Clone, Debug, PartialEq)]
pub struct InForce {
    pub value: Value,
    /// As a user would write it.
    pub text: String,
    /// How it follows, as one sentence; empty: it is what is set.
    pub because: String,
}

impl InForce {
    /// Takes the value that is set, without an explanation.
    pub fn as_set(r: &Resolved) -> InForce {
        InForce { value: r.value.clone(), text: r.text.clone(), because: String::new() }
    }

    /// Makes the value in force of a text and an explanation. An empty text is the value as set, and so is a text that
    /// is no value of the parameter, which is its component's mistake.
    pub fn told(r: &Resolved, text: &str, because: &str) -> InForce {
        let told = if text.is_empty() { None } else { r.declaration.parse(text).ok() };
        let (value, text) = match told {
            Some(value) => (value, text),
            None => (r.value.clone(), r.text.as_str()),
        };
        InForce { value, text: text.to_owned(), because: because.to_owned() }
    }
}

/// A process, as far as values depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    job: JobInfo,
    bound: bool,
    /// More processes than cores run on some node of the job.
    crowded: bool,
    level: Level,
    /// Communication resources, where they are made.
    cris: Option<u32>,
}

impl Process {
    /// Describes a process of a job of `ranks` processes on this machine that all may use `cores` processors, or `own`
    /// each if they are bound.
    pub fn like(ranks: u32, cores: u32, own: Option<u32>, level: Level) -> Process {
        let job = JobInfo {
            size: size_of::<JobInfo>() as u32,
            rank: 0,
            job_size: ranks,
            node: 0,
            local_rank: 0,
            local_size: ranks,
            job_id: 0,
            segment_fd: -1,
            oversubscribed: 0,
            cores: own.unwrap_or(cores),
            keeper_pid: 0,
        };
        Process { job, bound: own.is_some_and(|own| own < cores), crowded: ranks > cores, level, cris: None }
    }

    /// Changes the description to a job in which some node has more processes than cores, or (false) none has.
    pub fn crowded(self, crowded: bool) -> Process {
        Process { crowded, ..self }
    }

    /// Changes the description to a job that has a process on another node, too.
    pub fn with_another_node(mut self) -> Process {
        self.job.job_size = self.job.local_size + 1;
        self
    }

    /// Describes this rank of a running job.
    pub fn of(facts: &JobFacts, level: Level) -> Process {
        let job = JobInfo {
            rank: facts.rank,
            job_size: facts.size,
            node: facts.node,
            local_rank: facts.local_rank,
            local_size: facts.local_size(),
            cores: facts.cores,
            ..Process::like(facts.size, facts.cores, None, level).job
        };
        Process { job, bound: facts.bound, crowded: facts.oversubscribed, level, cris: None }
    }

    /// Changes the description to a process that has made its CRIs, and how many.
    pub fn with_cris(self, cris: u32) -> Process {
        Process { cris: Some(cris), ..self }
    }

    /// The number of cores that each of the node's processes has to itself, at least one.
    pub fn own_cores(&self) -> u32 {
        let JobInfo { cores, local_size, .. } = self.job;
        if self.bound { cores.max(1) } else { (cores / local_size.max(1)).max(1) }
    }

    /// Computes the number of CRIs. Below MULTIPLE more than one would be of no use. At MULTIPLE threads that share
    /// cores need them as well: each then takes its own messages when it is ready for them, as processes do, and not
    /// those of all. They cost memory for each pair of processes that uses them (docs/threads.md), so nodes with more
    /// than a few processes have fewer.
    pub fn cris(&self, params: &HostParams) -> u32 {
        match self.cris.unwrap_or(params.num_cris) {
            0 if self.level < Level::Multiple => 1,
            0 => self.shared_cris().min(ENOUGH_CRIS).max(self.own_cores()).min(MOST_CRIS),
            n => n,
        }
    }

    /// The process's part of the CRIs that all processes of a node share; 0: there are more processes than CRIs.
    fn shared_cris(&self) -> u32 {
        CRIS_OF_A_NODE / self.job.local_size.max(1)
    }

    /// Whether waiting threads give their cores away at once: the node is crowded, or `mpi_yield_when_idle` is set.
    pub fn yields(&self, params: &HostParams) -> bool {
        self.crowded || params.yield_when_idle
    }
}

/// For threads that are more than their cores.
const ENOUGH_CRIS: u32 = 16;
/// Of all processes of a node, where they have more than a core each.
const CRIS_OF_A_NODE: u32 = 64;
/// As many as messages go on.
const MOST_CRIS: u32 = 64;

/// The value in force of one of the host's own parameters.
pub fn of_host(r: &Resolved, params: &HostParams, process: &Process) -> InForce {
    let yes = |text: &str, because: &str| InForce::told(r, text, because);
    let empty = r.text.trim().is_empty();
    match r.declaration.full_name.as_str() {
        "runtime_num_cris" if params.num_cris == 0 => {
            let cris = process.cris(params);
            let because = match (process.level < Level::Multiple, process.own_cores()) {
                (true, _) => "0: one below MPI_THREAD_MULTIPLE".into(),
                (_, own) if cris == own && own > 1 => "0: as many as the process has cores".into(),
                _ if cris == ENOUGH_CRIS => "0: enough for threads that are more than their cores".into(),
                _ => format!("0: {CRIS_OF_A_NODE} shared among {} processes", process.job.local_size),
            };
            yes(&cris.to_string(), &because)
        }
        "runtime_max_threads_in_progress" if params.most_in_progress == 0 => yes("", "0: no limit"),
        "runtime_connect_timeout" if params.connect_timeout == 0 => {
            yes("", "0: MPI_Comm_connect waits as long as it takes")
        }
        "mpi_yield_when_idle" if process.crowded => yes("true", "more processes than cores run on a node"),
        "mpi_spin_count" | "mpi_yield_count" if process.yields(params) => {
            yes("", "used only in part, since mpi_yield_when_idle is in force")
        }
        "mpi_yield_count" if params.yields == 0 => yes("", "0: a thread sleeps after mpi_spin_count turns"),
        "mpi_yield_limit" if params.yield_limit == 0 => yes("", "0: a yield may take any time"),
        "mpi_task_min_size" => {
            let why = match () {
                () if params.task_min == u64::MAX => return yes("0", "0: never"),
                () if process.level < Level::Multiple => "the program does not run at MPI_THREAD_MULTIPLE",
                () if process.yields(params) => "waiting threads give their cores away (mpi_yield_when_idle)",
                () if process.own_cores() < 2 => "the process has one core",
                () => return InForce::as_set(r),
            };
            yes("0", &format!("never, because {why}"))
        }
        "mpi_leave_pinned" if params.keeping.leave_pinned != LeavePinned::Never => match events_there() {
            _ if params.keeping.trusted => yes("1", "rcache_base_watch is trusted"),
            Ok(()) => yes("1", "the system tells when memory is unmapped, by userfaultfd"),
            Err(why) => yes("0", &format!("the system does not tell when memory is unmapped: {why}")),
        },
        "rcache_base_max_bytes" if params.keeping.bytes == 0 => yes("", "0: as much as the device allows"),
        "opal_abort_delay" if params.abort_delay == 0 => yes("", "0: a process aborts at once"),
        "mpi_spc_attach" if empty => yes("", "empty: no counter is kept"),
        "io_ompio_num_aggregators" if params.files.num_aggregators.is_none() => {
            let nodes = process.job.job_size.div_ceil(process.job.local_size.max(1));
            yes(&nodes.to_string(), "-1: one on each node")
        }
        "io_ompio_bytes_per_agg" if params.files.buffer.is_none() => yes("16m", "0: 16m"),
        "io_ompio_verbose_info_parsing" if params.files.tells_hints == 0 => {
            yes("", "0: no rank reports hints")
        }
        "io_ompio_record_file_offset_info" => yes("", "nothing is recorded, whatever is set"),
        "opal_signal" if empty => yes("", "empty: no signal is caught"),
        "mca_base_component_path" if empty => yes("", "empty: the library's own directory alone"),
        _ => InForce::as_set(r),
    }
}

/// Makes the value in force of the parameter that selects the components of a framework of files, which are chosen with the first file.
pub fn of_files(r: &Resolved) -> InForce {
    match &r.value {
        Value::List { negated: true, .. } => {
            InForce::told(r, "", "with the first file: all components but those behind the ^")
        }
        Value::List { items, .. } if items.is_empty() => {
            InForce::told(r, "", "empty: with the first file, all components there are")
        }
        _ => InForce::as_set(r),
    }
}

/// Makes the value in force of the parameter that selects a framework's components. Where it is empty or says what to
/// leave out (`^`), that is `names`, the components that were selected, sorted; a list of components is in force as it
/// is set.
pub fn of_selection(r: &Resolved, mut names: Vec<&str>) -> InForce {
    names.sort_unstable();
    let names = names.join(",");
    match &r.value {
        Value::List { negated: true, .. } => {
            InForce::told(r, &names, "all components but those behind the ^")
        }
        Value::List { items, .. } if items.is_empty() => {
            InForce::told(r, &names, "empty: all components there are")
        }
        _ => InForce::as_set(r),
    }
}

/// A component's answer.
#[derive(Default)]
pub struct Answers {
    /// By the index of the declaration.
    told: Vec<(usize, String, String)>,
    pub refused: Vec<(usize, Status, String)>,
}

impl Answers {
    /// The value in force of the parameter that stands at `at` among the component's.
    pub fn of(&self, at: usize, r: &Resolved) -> InForce {
        if let Some((_, _, why)) = self.refused.iter().find(|(param, ..)| *param == at) {
            return InForce { because: format!("refused at the start: {why}"), ..InForce::as_set(r) };
        }
        match self.told.iter().rev().find(|(param, ..)| *param == at) {
            Some((_, text, because)) => InForce::told(r, text, because),
            None => InForce::as_set(r),
        }
    }
}

/// Asks a component for the values in force of its parameters, by the `resolve` of its descriptor; no answers where it
/// has none or fails.
pub fn ask(component: &Accepted, values: &Values, params: &HostParams, process: &Process) -> Answers {
    let mut answers = Answers::default();
    let Some(resolve) = component.resolve else { return answers };
    let job = JobInfo { oversubscribed: process.yields(params).into(), ..process.job };
    let args = ResolveArgs {
        size: size_of::<ResolveArgs>() as u32,
        num_cris: process.cris(params),
        job: &job,
        values: SliceRef { ptr: values.values.as_ptr(), len: values.values.len() },
        ctx: (&raw mut answers).cast(),
        in_force,
        refuse,
    };
    // One that fails has told nothing.
    if resolve(&args).is_err() { Answers::default() } else { answers }
}

/// Called back by `resolve`: the component tells the value in force of a parameter and how it follows.
extern "C" fn in_force(ctx: *mut c_void, param: u32, value: StrRef, because: StrRef) {
    // SAFETY: a component passes back the `ctx` of its arguments, which nothing else uses meanwhile.
    let answers = unsafe { &mut *ctx.cast::<Answers>() };
    answers.told.push((param as usize, owned(value), owned(because)));
}

/// Called back by `resolve`: the component tells that it would not open with a parameter's value, and why.
extern "C" fn refuse(ctx: *mut c_void, param: u32, status: Status, why: StrRef) {
    // SAFETY: as above.
    let answers = unsafe { &mut *ctx.cast::<Answers>() };
    answers.refused.push((param as usize, status, owned(why)));
}

/// Copies a component's text; one that is not UTF-8 is replaced by a note.
fn owned(text: StrRef) -> String {
    // SAFETY: a component's text is readable during the call.
    unsafe { text.get() }.unwrap_or("(text that is not UTF-8)").to_owned()
}

/// The framework whose selection a parameter is; `None`: it is another parameter.
pub fn selects(d: &Declaration) -> Option<crate::accept::Framework> {
    crate::accept::Framework::by_name(&d.full_name)
}
