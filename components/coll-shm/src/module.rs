//! The component's state for one communicator.

use crate::area::Area;
use crate::params::Settings;
use crate::protocol::{Counters, Result};
use crate::tree::{Branch, is_in_order};
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm, part};
use oxmpi_mca::sync::unmodelled::{AtomicI32, AtomicPtr, Ordering};
use oxmpi_mca::{Host, Status, StrRef};
use std::sync::OnceLock;

/// No error.
const NO_ERROR: i32 = 0;

pub struct ShmModule {
    pub settings: Settings,
    pub counters: Counters,
    host: Host,
    ready: OnceLock<Ready>,
    /// The part of the communicator that a component below serves, once it was needed: all of its ranks.
    below: AtomicPtr<c_void>,
    /// The error with which this rank has left; 0: it has not.
    failed: AtomicI32,
}

/// A module's parts that are there from the first collective on.
#[derive(Debug)]
pub struct Ready {
    pub area: Area,
    /// Ranks read each other's memory.
    pub reads_peers: bool,
    pub trees: Trees,
}

/// This rank's places in trees.
#[derive(Debug)]
pub struct Trees {
    /// By which many meet.
    pub meeting: Branch,
    /// By which operands are combined: the same one where it keeps the order of ranks.
    pub combining: Branch,
}

impl Trees {
    /// Without groups.
    pub fn plain(rank: u32, ranks: u32) -> Trees {
        let branch = Branch::plain(rank, ranks);
        Trees { meeting: branch.clone(), combining: branch }
    }

    /// Of ranks in these groups of two levels.
    pub fn in_groups(rank: u32, groups: &[[u64; 2]]) -> Trees {
        let meeting = Branch::in_groups(rank, groups);
        let combining = match is_in_order(groups) {
            true => meeting.clone(),
            false => Branch::plain(rank, groups.len() as u32),
        };
        Trees { meeting, combining }
    }
}

impl ShmModule {
    pub fn new(host: Host, settings: Settings) -> ShmModule {
        ShmModule {
            settings,
            counters: Counters::new(),
            host,
            ready: OnceLock::new(),
            below: AtomicPtr::new(null_mut()),
            failed: AtomicI32::new(NO_ERROR),
        }
    }

    /// INTERNAL: it is not ready. The error with which this rank has left.
    pub fn ready(&self) -> Result<&Ready> {
        match self.failed.load(Ordering::Relaxed) {
            NO_ERROR => self.ready.get().ok_or(Status::INTERNAL),
            failed => Err(Status(failed)),
        }
    }

    /// Notes the error with which this rank leaves.
    pub fn fail(&self, why: Status) {
        self.failed.store(why.0, Ordering::Relaxed);
    }

    /// The host of the instance.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Notes that it is ready.
    pub fn set_ready(&self, ready: Ready) {
        // There is one preparation.
        let _ = self.ready.set(ready);
    }

    /// Runs collective number `which` by the component below, on a part of the communicator that has all of its ranks in their order. Called by all of them.
    pub fn run_below(&self, comm: &CollComm, which: u32, args: &CollArgs) -> Status {
        // SAFETY: the host's table, valid as long as the communicator.
        let services = unsafe { &*comm.services };
        let mut sub = self.below.load(Ordering::Relaxed);
        if sub.is_null() {
            let made = (services.sub_comm)(comm, part::NODE, StrRef::new("shm"), &mut sub);
            if made.is_err() {
                return made;
            }
            self.below.store(sub, Ordering::Relaxed);
        }
        let mut view = core::mem::MaybeUninit::<CollComm>::uninit();
        match (services.sub_view)(comm, sub, view.as_mut_ptr()) {
            // SAFETY: filled by the host.
            Status::OK => (services.call)(unsafe { view.assume_init_ref() }, which, args),
            status => status,
        }
    }
}
