//! Transports that a rank's memory is registered with, and the registrations that peers read in its card.

use crate::local::{Registered, Services};
use crate::peer::is_fit;
use crate::wire::{HANDLE, RemoteRegistration, TRANSPORTS, module_key};
use oxmpi_btl::BtlHandle;
use oxmpi_mca::Status;
use oxmpi_osc_support::Comm;

/// The transports that a rank's memory is registered with.
#[derive(Clone)]
pub struct Registrar {
    pub services: Services,
    pub transports: Vec<&'static BtlHandle>,
}

impl Registrar {
    /// The same, or those that reach others where nothing needed any before.
    pub fn for_states(&self, comm: &Comm) -> Result<Registrar, Status> {
        if !self.transports.is_empty() {
            return Ok(self.clone());
        }
        let transports = transports(comm, &spokesmen(comm))?;
        Ok(Registrar { services: self.services, transports })
    }

    /// Registers memory with each; nothing where there is none.
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

/// Ranks that speak for others of their kind: one of this process (an endpoint), one of another on this node, and one of another node.
pub fn spokesmen(comm: &Comm) -> Vec<u32> {
    let (me, size) = (comm.rank(), comm.num_ranks());
    let mut found: [Option<u32>; 3] = [None; 3];
    let Ok(own) = comm.place(me) else { return Vec::new() };
    for step in 1..size {
        let rank = (me + step) % size;
        let kind = match comm.place(rank) {
            Ok(place) if place.proc == own.proc => 0,
            Ok(place) if place.local != 0 => 1,
            _ => 2,
        };
        found[kind].get_or_insert(rank);
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found.into_iter().flatten().collect()
}

/// The fit transports that reach the ranks, each once.
pub fn transports(comm: &Comm, ranks: &[u32]) -> Result<Vec<&'static BtlHandle>, Status> {
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
    if all.is_empty() { Err(Status::UNREACHABLE) } else { Ok(all) }
}
