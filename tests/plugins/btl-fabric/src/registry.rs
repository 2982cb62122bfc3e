//! Registered memory of a process, and the only way to it: every access by the device looks the registration up and copies
//! under the registry's lock, so that nobody reaches memory whose deregistration has returned.

use crate::wire::Handle;
use oxmpi_btl::access;
use oxmpi_mca::Status;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Region {
    base: u64,
    len: u64,
    access: u32,
}

#[derive(Default)]
struct Table {
    /// By slot: the life of the slot, and the region that is in it.
    slots: Vec<(u64, Option<Region>)>,
    bytes: u64,
}

pub struct Registry {
    table: Mutex<Table>,
    limit: u64,
    process: u64,
}

/// The lock is held as long as this is; the memory stays reachable.
pub struct Reached<'a>(#[expect(dead_code, reason = "held, not read")] MutexGuard<'a, Table>);

impl Registry {
    pub fn new(limit: u64, process: u64) -> Registry {
        Registry { table: Mutex::default(), limit, process }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, base: u64, len: u64, access: u32) -> Result<Handle, Status> {
        let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        if access & !all != 0 || base.checked_add(len).is_none() {
            return Err(Status::BAD_PARAM);
        }
        let mut table = self.table();
        if self.limit != 0 && table.bytes + len > self.limit {
            return Err(Status::NO_RESOURCE);
        }
        table.bytes += len;
        let free = table.slots.iter().position(|s| s.1.is_none());
        let slot = free.unwrap_or_else(|| {
            table.slots.push((0, None));
            table.slots.len() - 1
        });
        let entry = &mut table.slots[slot];
        entry.0 += 1;
        entry.1 = Some(Region { base, len, access });
        Ok(Handle { slot: slot as u64, life: entry.0, process: self.process })
    }

    pub fn remove(&self, handle: Handle) -> Status {
        let mut table = self.table();
        let found = table.slots.get_mut(handle.slot as usize).filter(|s| s.0 == handle.life);
        let Some(region) = found.filter(|_| handle.process == self.process).and_then(|s| s.1.take()) else {
            return Status::NOT_FOUND;
        };
        table.bytes -= region.len;
        Status::OK
    }

    /// Checks that the handle gives this access to all of the bytes.
    pub fn reach(&self, handle: Handle, addr: u64, len: u64, access: u32) -> Result<Reached<'_>, Status> {
        let table = self.table();
        let region = match table.slots.get(handle.slot as usize) {
            Some((life, Some(region))) if *life == handle.life && handle.process == self.process => region,
            _ => return Err(Status::NO_PERMISSION),
        };
        let inside =
            addr >= region.base && addr.checked_add(len).is_some_and(|end| end <= region.base + region.len);
        if !inside || region.access & access != access {
            return Err(Status::NO_PERMISSION);
        }
        Ok(Reached(table))
    }
}
