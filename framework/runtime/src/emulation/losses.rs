//! Processes that a transport has lost while it emulates verbs.

use crate::objects::Instance;
use oxmpi_btl::BtlHandle;
use oxmpi_mca::Status;

/// The host, which hears of processes that a transport has lost.
pub trait Losses {
    /// Notes that `raw` can send nothing to process `proc` any more. Called under the lock of a CRI; does not return where
    /// the job ends with its first failure.
    fn lost(&self, raw: &BtlHandle, proc: u32);
}

impl Losses for Instance {
    fn lost(&self, raw: &BtlHandle, proc: u32) {
        self.process_failed("btl", raw.name(), proc, Status::PEER_FAILED, "no request reaches it any more");
    }
}
