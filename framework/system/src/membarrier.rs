//! The barrier on all cores of a process, by which one thread stops others without their help.

use rustix::thread::{MembarrierCommand, membarrier};

/// Whether this kernel has the barrier on all cores (membarrier) by which a thread is stopped at the gate; registers
/// the process for it.
pub fn can_stop() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Makes a full barrier on every core that runs a thread of this process. False: this kernel cannot.
pub fn fence_all() -> bool {
    can_stop() && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
}
