//! Performance variables that are bound to a window: calls by kind, the locks that its one-sided component took, and how it reaches ranks.

use oxmpi_osc::WinCounts;
use oxmpi_runtime::Window;
use oxmpi_runtime::window::CallKind;

/// Kinds of locks that a component counts; see [`WinCounts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    ExclusiveAttempts,
    SharedAttempts,
    Retries,
    Accumulate,
    AccumulateRetries,
    Put,
}

impl Lock {
    fn of(self, counts: &WinCounts) -> u64 {
        match self {
            Lock::ExclusiveAttempts => counts.exclusive_attempts,
            Lock::SharedAttempts => counts.shared_attempts,
            Lock::Retries => counts.lock_retries,
            Lock::Accumulate => counts.accumulate_locks,
            Lock::AccumulateRetries => counts.accumulate_retries,
            Lock::Put => counts.put_locks,
        }
    }
}

/// Kinds of paths to ranks; see [`WinCounts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    Mapped,
    Transport,
    Requests,
    Messages,
}

impl Path {
    fn of(self, counts: &WinCounts) -> u64 {
        match self {
            Path::Mapped => counts.ranks_mapped,
            Path::Transport => counts.ranks_by_transport,
            Path::Requests => counts.ranks_by_requests,
            Path::Messages => counts.ranks_by_messages,
        }
    }
}

/// The number that a variable shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    Calls(CallKind),
    Locks(Lock),
    /// Ranks that are reached so: a level, not a count of events.
    Ranks(Path),
}

impl Count {
    pub fn of(self, window: &Window) -> u64 {
        match self {
            Count::Calls(kind) => window.calls(kind),
            Count::Locks(lock) => lock.of(&window.counts()),
            Count::Ranks(path) => path.of(&window.counts()),
        }
    }
}

/// Name, number and description of each variable.
pub const ROWS: [(&str, Count, &str); 17] = [
    (
        "osc_win_exclusive_lock_attempts",
        Count::Locks(Lock::ExclusiveAttempts),
        "Attempts at exclusive locks of ranks of a window; more than there were calls of MPI_Win_lock where some were refused at first",
    ),
    (
        "osc_win_shared_lock_attempts",
        Count::Locks(Lock::SharedAttempts),
        "Attempts at shared locks of a window: of a rank, by MPI_Win_lock or when it is first operated on, or of all ranks, by MPI_Win_lock_all",
    ),
    (
        "osc_win_lock_retries",
        Count::Locks(Lock::Retries),
        "Attempts at locks of a window that another rank's lock refused, after which the caller tried again",
    ),
    (
        "osc_win_accumulate_locks",
        Count::Locks(Lock::Accumulate),
        "Locks of a target that were taken to make an accumulate on a window atomic; none where the elements are updated by atomics",
    ),
    (
        "osc_win_accumulate_lock_retries",
        Count::Locks(Lock::AccumulateRetries),
        "Attempts at locks that make accumulates atomic which were refused, and made again",
    ),
    (
        "osc_win_put_locks",
        Count::Locks(Lock::Put),
        "Locks that threads share taken on the way of MPI_Put's on a window: of communication resource instances and of pools; divided by osc_win_puts the locks for each put",
    ),
    (
        "osc_win_puts",
        Count::Calls(CallKind::Put),
        "MPI_Put's on a window, those with a request or a notification included",
    ),
    (
        "osc_win_gets",
        Count::Calls(CallKind::Get),
        "MPI_Get's on a window, those with a request or a notification included",
    ),
    (
        "osc_win_accumulates",
        Count::Calls(CallKind::Accumulate),
        "MPI_Accumulate's on a window, those with a request included",
    ),
    (
        "osc_win_get_accumulates",
        Count::Calls(CallKind::GetAccumulate),
        "MPI_Get_accumulate's on a window, those with a request included",
    ),
    ("osc_win_fetch_and_ops", Count::Calls(CallKind::FetchAndOp), "MPI_Fetch_and_op's on a window"),
    (
        "osc_win_compare_and_swaps",
        Count::Calls(CallKind::CompareAndSwap),
        "MPI_Compare_and_swap's on a window",
    ),
    (
        "osc_win_flushes",
        Count::Calls(CallKind::Flush),
        "Flushes of a window, of one rank or of all, local ones included",
    ),
    (
        "osc_win_ranks_mapped",
        Count::Ranks(Path::Mapped),
        "Ranks of a window that were met and whose memory is loaded and stored",
    ),
    (
        "osc_win_ranks_by_transport",
        Count::Ranks(Path::Transport),
        "Ranks of a window that were met and are reached by verbs of a transport, atomics included",
    ),
    (
        "osc_win_ranks_by_requests",
        Count::Ranks(Path::Requests),
        "Ranks of a window that were met and whose process carries out atomics, and what else the transport to them lacks",
    ),
    (
        "osc_win_ranks_by_messages",
        Count::Ranks(Path::Messages),
        "Ranks of a window that are reached by messages",
    ),
];
