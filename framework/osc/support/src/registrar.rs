//! A rank's memory is registered with the transports by which others reach it, which its registrar knows.

use crate::comm::Comm;
use crate::registration::{HANDLE, Registered, RemoteRegistration, Services, TRANSPORTS, module_key};
use oxmpi_btl::BtlHandle;
use oxmpi_mca::Status;
use std::collections::HashSet;

/// The transports that a rank's memory is registered with.
#[derive(Clone)]
pub struct Registrar {
    /// The host's.
    pub services: Services,
    /// At most [`TRANSPORTS`], each once.
    pub transports: Vec<&'static BtlHandle>,
}

impl Registrar {
    /// Registers memory with each; nothing where there is none. NOT_SUPPORTED: a handle has more than [`HANDLE`] bytes.
    ///
    /// # Safety
    /// The memory is there until all that this answers with is dropped.
    pub unsafe fn register(
        &self,
        at: *mut u8,
        len: u64,
        access: u32,
    ) -> Result<([RemoteRegistration; TRANSPORTS], Vec<Registered>), Status> {
        let (mut registrations, mut all) = ([RemoteRegistration::NONE; TRANSPORTS], Vec::new());
        if len == 0 {
            return Ok((registrations, all));
        }
        for (registration, btl) in registrations.iter_mut().zip(&self.transports) {
            // SAFETY: the caller's promise.
            let registered = unsafe { Registered::new(self.services, btl, at, len, access) }?;
            let bytes = registered.bytes();
            if bytes.len() > HANDLE {
                return Err(Status::NOT_SUPPORTED);
            }
            registration.module = module_key(btl);
            registration.handle[..bytes.len()].copy_from_slice(bytes);
            all.push(registered);
        }
        Ok((registrations, all))
    }
}

/// Ranks that speak for others of their kind: of this job one of this process (an endpoint), one of another on this node, and one of another node; of
/// other jobs one of each node, since a transport may reach the processes of one job on a node and not those of another there.
pub fn spokesmen(comm: &Comm) -> Vec<u32> {
    let (me, size) = (comm.rank(), comm.num_ranks());
    let job_size = comm.host().job().job_size;
    let (mut found, mut ranks) = (HashSet::new(), Vec::new());
    let Ok(own) = comm.place(me) else { return ranks };
    for step in 1..size {
        let rank = (me + step) % size;
        let kind = match comm.place(rank) {
            Ok(place) if place.proc == own.proc => Kind::SameProcess,
            Ok(place) if place.proc >= job_size => Kind::OtherJob(place.node),
            Ok(place) if place.local != 0 => Kind::SameNode,
            _ => Kind::OtherNode,
        };
        if found.insert(kind) {
            ranks.push(rank);
        }
    }
    ranks
}

/// The kind of a rank: what its memory is reached by is the same for all ranks of a kind.
#[derive(PartialEq, Eq, Hash)]
enum Kind {
    SameProcess,
    SameNode,
    OtherNode,
    /// Of another job, on this node.
    OtherJob(u32),
}

/// The transports of a kind that reach the ranks, each once.
pub fn transports(
    comm: &Comm,
    ranks: &[u32],
    is_fit: impl Fn(&BtlHandle) -> bool,
) -> Result<Vec<&'static BtlHandle>, Status> {
    let mut all: Vec<&'static BtlHandle> = Vec::new();
    for rank in ranks {
        for reach in comm.reach(*rank)? {
            let btl = reach.btl();
            let known = all.iter().any(|other| module_key(other) == module_key(btl));
            if is_fit(btl) && !known && all.len() < TRANSPORTS {
                all.push(btl);
            }
        }
    }
    Ok(all)
}
