//! The one system call of this component: a barrier on all cores that run threads of this process (`biased.rs`). The
//! models have a fence on both sides in its place.

#[cfg(not(loom))]
use rustix::thread::{MembarrierCommand, membarrier};

/// Whether this kernel has it; the process is registered for it by asking.
#[cfg(not(loom))]
pub fn barrier_is_there() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// After [`barrier_is_there`] said yes.
#[cfg(not(loom))]
pub fn barrier_on_all_cores() {
    if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
        // A filter that came later. Without the barrier threads may meet where only one may be.
        eprintln!("oxmpi: the kernel refuses membarrier, which it granted before");
        std::process::abort();
    }
}

#[cfg(loom)]
pub fn barrier_is_there() -> bool {
    true
}
#[cfg(loom)]
pub fn barrier_on_all_cores() {
    oxmpi_mca::sync::fence(oxmpi_mca::sync::Ordering::SeqCst);
}
