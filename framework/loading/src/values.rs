//! Resolved values: the host's own as it uses them, and a component's as it receives them.

use crate::file_params::FileParams;
use oxmpi_mca::ParamValue;
use oxmpi_mca_params::Resolved;
use std::path::PathBuf;

/// Values the host itself uses.
#[derive(Clone, Debug)]
pub struct HostParams {
    /// 0: as many as suit the cores.
    pub num_cris: u32,
    /// Bits of [`oxmpi_mca::host::cri_mode`].
    pub cri_modes: u32,
    pub progress: Progress,
    /// Threads that make progress at once; 0: any number.
    pub most_in_progress: u32,
    /// Threads that wait among others race for progress.
    pub race: bool,
    /// Processes of another launcher may each be alone in their job.
    pub permit_singletons: bool,
    pub yield_when_idle: bool,
    pub spins: u32,
    pub yields: u32,
    pub yield_limit: u32,
    /// Bytes from which on waiting threads are asked to help.
    pub task_min: u64,
    pub spc_dump: bool,
    /// Which counters are shown; empty if none was named.
    pub spc_attach: Vec<bool>,
    pub component_path: Vec<PathBuf>,
    pub show_load_errors: ShowLoadErrors,
    /// Collectives of a communicator before a component is prepared for it.
    pub prepare_after: u32,
    /// Before an abort: say where this process is, and wait for so many seconds (below 0: for ever).
    pub abort_stack: bool,
    pub abort_delay: i64,
    /// How long registered memory stays registered.
    pub keeping: Keeping,
    /// Seconds that MPI_Comm_connect waits where no hint says so; 0: as long as it takes.
    pub connect_timeout: u32,
    pub files: FileParams,
}

/// How threads progress CRIs among each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Each its own first, those of others while nobody is at them.
    #[default]
    Concurrent,
    /// One thread at a time, all; others go on.
    Serial,
    /// The same, and others wait.
    OneLock,
    /// Each its own, then all in turn.
    DedicatedThenAll,
    /// The next, then all in turn.
    RoundRobin,
}

/// How the program's memory is kept registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    pub leave_pinned: LeavePinned,
    pub entries: u32,
    /// 0: no limit but the device's.
    pub bytes: u64,
    /// Memory is believed to stay as it is.
    pub trusted: bool,
}

/// How `mpi_leave_pinned` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeavePinned {
    Never,
    /// Where changes of memory are told.
    Auto,
    /// And it is said where they are not.
    Asked,
}

/// For which components a failure to load is reported though nobody named them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShowLoadErrors {
    All,
    None,
    /// `framework` or `framework/component`; negated: all but these.
    Some {
        negated: bool,
        items: Vec<String>,
    },
}

impl ShowLoadErrors {
    /// Whether a failure to load this component is reported.
    pub fn wants(&self, framework: &str, component: &str) -> bool {
        match self {
            ShowLoadErrors::All => true,
            ShowLoadErrors::None => false,
            ShowLoadErrors::Some { negated, items } => {
                let full = format!("{framework}/{component}");
                items.iter().any(|i| *i == framework || *i == full) != *negated
            }
        }
    }
}

/// A component's resolved parameters: the values point into `resolved`, whose texts do not move.
pub struct Values {
    resolved: Box<[Resolved]>,
    pub values: Box<[ParamValue]>,
}

impl Values {
    /// Makes the values that a component receives of its resolved parameters, in the order of their declarations.
    pub fn new(resolved: Vec<Resolved>) -> Values {
        let resolved = resolved.into_boxed_slice();
        let values = resolved.iter().map(Resolved::to_abi).collect();
        Values { resolved, values }
    }
    /// The index of a parameter among the component's; `None`: it has no such one.
    pub fn place(&self, full_name: &str) -> Option<usize> {
        self.resolved.iter().position(|r| r.declaration.full_name == full_name)
    }
    /// The parameter at an index among the component's.
    pub fn at(&self, place: usize) -> Option<&Resolved> {
        self.resolved.get(place)
    }
}
