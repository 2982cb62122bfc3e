//! The host's part of CRI locks: what components call to take one away or to keep it, and how those written in C enter one.

use oxmpi_mca::LockServices;
use oxmpi_mca::biased::System;
use oxmpi_system::clock::monotonic_now;
use oxmpi_system::membarrier::can_stop;
use rustix::thread::{MembarrierCommand, membarrier};

/// For the locks of CRIs and for those that components make.
pub(crate) const SERVICES: &LockServices = &LockServices::of::<Kernel>();

/// The barrier is membarrier.
struct Kernel;

impl System for Kernel {
    fn has_barrier() -> bool {
        can_stop()
    }

    fn barrier() {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // A filter that came later. Without the barrier threads may meet where only one may be.
            eprintln!("oxmpi: the kernel refuses membarrier, which it granted before");
            std::process::abort();
        }
    }

    fn now() -> u64 {
        u64::try_from(monotonic_now().as_nanos()).unwrap_or(u64::MAX)
    }
}
