//! Failed processes, and those who want to hear of them.

use core::ffi::c_void;
use oxmpi_mca::Status;
use oxmpi_mca::services::PeerFailed;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32};
use oxmpi_system::locks::Mutex;

/// An instance's knowledge of failed processes.
#[derive(Default)]
pub(crate) struct Failures {
    pub(crate) state: Mutex<FailureState>,
    pub(crate) survive: AtomicBool,
    /// `told` of the state, for waits that look at each turn.
    pub(crate) told: AtomicU32,
}

/// The processes that have failed, and the functions to be told.
#[derive(Default)]
pub(crate) struct FailureState {
    /// In the order of failing; those before `told` have been told to all.
    pub(crate) failed: Vec<(u32, Status)>,
    pub(crate) told: usize,
    pub(crate) subscribers: Vec<Subscriber>,
}

/// A component's function that is told of failures, and its argument.
#[derive(Clone, Copy)]
pub(crate) struct Subscriber {
    pub(crate) f: PeerFailed,
    pub(crate) ctx: *mut c_void,
}

// SAFETY: a component's function and argument may be used from any thread (contract of `on_peer_failure`).
unsafe impl Send for Subscriber {}

impl Subscriber {
    /// Whether this is the subscriber with function `f` and an argument of that address.
    pub(crate) fn is(&self, f: PeerFailed, ctx: usize) -> bool {
        std::ptr::fn_addr_eq(self.f, f) && self.ctx.addr() == ctx
    }
}
