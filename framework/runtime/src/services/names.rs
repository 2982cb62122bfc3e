//! Indices, wire names and places of processes.
//!
//! An index is the process's rank in the job, or behind those that of a process of another job (`dynamic/strangers.rs`). A process's name
//! has its job's random number, its rank there, and bits that fail on damage.

use super::caller::caller;
use crate::dynamic::profile::{job_of, rank_of};
use crate::gid;
use crate::group::ProcId;
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

/// The wire name of a rank of a job.
pub(crate) fn wire_name(job: u64, rank: u32) -> ProcName {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&job.to_le_bytes());
    bytes[8..12].copy_from_slice(&rank.to_le_bytes());
    bytes[12..].copy_from_slice(&check(job, rank).to_le_bytes());
    ProcName { bytes }
}

impl Instance {
    /// The wire name of a process; `None`: there is no such process.
    pub(crate) fn name_of(&self, proc: u32) -> Option<ProcName> {
        let job = self.job();
        match proc < job.job_size {
            true => Some(wire_name(job.job_id, proc)),
            false => self.strangers().name(proc),
        }
    }

    /// The index of the process with that wire name; `None`: the name is damaged, or that of a process that is not known.
    pub(crate) fn index_of(&self, name: &ProcName) -> Option<u32> {
        let rank = u32::from_le_bytes(*name.bytes[8..].first_chunk()?);
        match wire_name(self.job().job_id, rank) == *name {
            true => (rank < self.job().job_size).then_some(rank),
            false => self.strangers().index(name),
        }
    }

    /// A rank as a word that is the same in all processes, and different for all ranks of a job; those of different jobs have
    /// the same with a probability of 2^-64.
    pub(crate) fn mark(&self, member: ProcId) -> u64 {
        let of_own = |proc: u32| u64::from(proc) << 16 | u64::from(member.endpoint);
        match self.is_stranger(member.proc).then(|| self.name_of(member.proc)).flatten() {
            None => gid::mark(self.job().job_id, of_own(member.proc)),
            Some(name) => gid::mark(job_of(&name), of_own(rank_of(&name))),
        }
    }

    /// A rank's place in an order that is the same in all processes: by job, rank and endpoint.
    pub(crate) fn order(&self, member: ProcId) -> (u64, u32, u16) {
        let name = self.name_of(member.proc).unwrap_or_default();
        (job_of(&name), rank_of(&name), member.endpoint)
    }

    /// Node, local rank and shared hardware of a process of the job.
    pub(crate) fn place_of(&self, proc: u32) -> ProcPlace {
        let facts = self.facts();
        if self.is_stranger(proc) {
            // Memory of a node by key ends at the job, so no process of another one is near.
            let at = self.strangers().whereabouts(proc);
            let (node, local_rank) = at.map_or((u32::MAX, 0), |at| (at.node, at.local_rank));
            return ProcPlace { node, local_rank, local: 0, distance: 0 };
        }
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
    if instance.name_of(proc).is_none() {
        return Status::NOT_FOUND;
    }
    // SAFETY: the component's out pointer.
    unsafe { *out = instance.place_of(proc) };
    Status::OK
}
