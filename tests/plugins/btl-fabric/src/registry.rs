//! Registered memory of a process, and the only way to it: every access by the device looks the registration up and copies
//! under the registry's lock, so that nobody reaches memory whose deregistration has returned. Bytes are copied by address, or by the pages
//! that were pinned (`pins.rs`).

use crate::pins::Pins;
use crate::wire::Handle;
use core::ptr::copy_nonoverlapping;
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
    pins: Option<Pins>,
}

/// Memory that stays reachable as long as this is: the lock is held.
pub struct Reached<'a> {
    _table: MutexGuard<'a, Table>,
    pins: Option<&'a Pins>,
    slot: usize,
    addr: u64,
}

impl Reached<'_> {
    /// Copies from the memory.
    ///
    /// # Safety
    /// As much was reached, and `to` has room for it.
    pub unsafe fn read(&self, to: *mut u8, n: usize) -> Status {
        let done = match self.pins {
            // SAFETY: the caller's promise.
            Some(pins) => unsafe { pins.read(self.slot, self.addr, to, n) },
            None => {
                // SAFETY: registered memory; the rest is the caller's promise.
                unsafe { copy_nonoverlapping(self.addr as *const u8, to, n) };
                true
            }
        };
        if done { Status::OK } else { Status::INTERNAL }
    }

    /// Copies to the memory.
    ///
    /// # Safety
    /// As much was reached, and `from` has it.
    pub unsafe fn write(&self, from: *const u8, n: usize) -> Status {
        let done = match self.pins {
            // SAFETY: the caller's promise.
            Some(pins) => unsafe { pins.write(self.slot, self.addr, from, n) },
            None => {
                // SAFETY: registered memory; the rest is the caller's promise.
                unsafe { copy_nonoverlapping(from, self.addr as *mut u8, n) };
                true
            }
        };
        if done { Status::OK } else { Status::INTERNAL }
    }
}

impl Registry {
    pub fn new(limit: u64, process: u64, pins: Option<Pins>) -> Registry {
        Registry { table: Mutex::default(), limit, process, pins }
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
        let free = table.slots.iter().position(|s| s.1.is_none());
        let slot = free.unwrap_or_else(|| {
            table.slots.push((0, None));
            table.slots.len() - 1
        });
        if let Some(pins) = &self.pins {
            pins.set(slot, base, len).ok()?;
        }
        table.bytes += len;
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
        if let Some(pins) = &self.pins {
            pins.unset(handle.slot as usize);
        }
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
        Ok(Reached { _table: table, pins: self.pins.as_ref(), slot: handle.slot as usize, addr })
    }
}
