//! Indices, wire names and places of processes.
//!
//! An index is the process's rank in the job, since there is one job. Its name has the job's random number and the rank, and
//! bits that fail on damage.

use super::caller::caller;
use crate::objects::Instance;
use oxmpi_mca::{ProcName, ProcPlace, Status};
use std::ffi::c_void;

/// Mixed into the check bits: the layout's version.
const LAYOUT: u32 = 0x6f78_0001;

/// The check bits of a name, which fail on damage.
fn check(job: u64, rank: u32) -> u32 {
    let folded = (job as u32) ^ (job >> 32) as u32;
    (folded ^ rank.rotate_left(16) ^ LAYOUT).wrapping_mul(0x9e37_79b1)
}

impl Instance {
    /// The wire name of a process; `None`: there is no such process.
    fn name_of(&self, proc: u32) -> Option<ProcName> {
        let job = self.job();
        (proc < job.job_size).then(|| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&job.job_id.to_le_bytes());
            bytes[8..12].copy_from_slice(&proc.to_le_bytes());
            bytes[12..].copy_from_slice(&check(job.job_id, proc).to_le_bytes());
            ProcName { bytes }
        })
    }

    /// The index of the process with that wire name; `None`: the name is damaged or another job's.
    fn index_of(&self, name: &ProcName) -> Option<u32> {
        let rank = u32::from_le_bytes(*name.bytes[8..].first_chunk()?);
        (self.name_of(rank)? == *name).then_some(rank)
    }

    /// Node, local rank and shared hardware of a process of the job.
    pub(crate) fn place_of(&self, proc: u32) -> ProcPlace {
        let facts = self.facts();
        let node = facts.map.node_of(proc).unwrap_or(u32::MAX);
        let local_rank = facts.map.local_rank_of(proc).unwrap_or(0);
        let local = node == facts.node;
        let distance = if local { self.distance_to(proc) } else { 0 };
        ProcPlace { node, local_rank, local: local.into(), distance }
    }
}

/// Writes the wire name of process `proc` to `out`; in the table as `HostServices::name_of`.
pub(super) extern "C" fn name_of(ctx: *mut c_void, proc: u32, out: *mut ProcName) -> Status {
    let Some(name) = caller!(ctx).1.name_of(proc) else { return Status::NOT_FOUND };
    // SAFETY: the component's out pointer.
    unsafe { *out = name };
    Status::OK
}

/// Writes the index of the process with a wire name to `out`; in the table as `HostServices::index_of`.
pub(super) extern "C" fn index_of(ctx: *mut c_void, name: *const ProcName, out: *mut u32) -> Status {
    // SAFETY: the component's name is readable during the call.
    let Some(index) = caller!(ctx).1.index_of(unsafe { &*name }) else { return Status::BAD_PARAM };
    // SAFETY: the component's out pointer.
    unsafe { *out = index };
    Status::OK
}

/// Writes node, local rank and shared hardware of process `proc` to `out`; in the table as `HostServices::place_of`.
pub(super) extern "C" fn place_of(ctx: *mut c_void, proc: u32, out: *mut ProcPlace) -> Status {
    let instance = caller!(ctx).1;
    if proc >= instance.job().job_size {
        return Status::NOT_FOUND;
    }
    // SAFETY: the component's out pointer.
    unsafe { *out = instance.place_of(proc) };
    Status::OK
}
