//! The policy of turns of progress that an instance follows, from its parameters.

use oxmpi_loading::values::{HostParams, Progress};
use oxmpi_mca::LockServices;
use oxmpi_progress::policy::kind::{Kind, Rule};
use oxmpi_waiting::Concurrency;

/// Reads by which rule threads make turns (`runtime_progress`, `runtime_max_threads_in_progress`).
pub(crate) fn rule(params: &HostParams) -> Rule {
    let kind = match params.progress {
        Progress::Concurrent => Kind::OwnFirst,
        Progress::Serial => Kind::Serial,
        Progress::OneLock => Kind::OneLock,
        Progress::DedicatedThenAll => Kind::DedicatedThenAll,
        Progress::RoundRobin => Kind::RoundRobin,
    };
    Rule { kind, most_threads: params.most_in_progress }
}

/// Gives when waiting threads make turns beside the owner of progress.
pub(crate) fn concurrency(kind: Kind) -> Concurrency {
    match kind {
        _ if kind.is_serial() => Concurrency::Never,
        _ if kind.is_always_concurrent() => Concurrency::Always,
        _ => Concurrency::WhereSeveral,
    }
}

/// Gives the services of the locks of CRIs: those have no owners where the policy does not take locks from them.
pub(crate) fn locks(kind: Kind) -> &'static LockServices {
    if kind.takes_from_owners() { crate::cri_locks::SERVICES } else { LockServices::WITHOUT_OWNERS }
}
