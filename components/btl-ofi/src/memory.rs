//! Registered memory: handles that travel, and the registrations behind them.
//!
//! A handle names memory by base, length and rights, so that what it does not allow is refused where it is used, without a word to the other side. The
//! provider there knows the key alone, which is dead once the registration has ended. Keys that the provider leaves to us are random, so
//! that nobody guesses one.

use crate::abi::{MR_ENDPOINT, READ, RECV, REMOTE_READ, REMOTE_WRITE, SEND, WRITE, err};
use crate::endpoints::{Ep, Region};
use crate::link::held;
use crate::objects::{Code, Domain};
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::access;
use oxmpi_mca::Status;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A registration as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub base: u64,
    pub len: u64,
    /// Bits of [`access`].
    pub rights: u32,
    pub key: u64,
    /// Names the registration in its process.
    pub number: u64,
}

/// `BtlAttrs::registration_handle_size`.
pub const HANDLE: usize = 40;
const KNOWN: u32 = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
const REMOTE: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
/// Rights of memory that changes.
pub const CHANGES: u32 = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

impl Handle {
    fn write(&self, out: &mut [u8]) {
        let words = [self.base, self.len, self.rights.into(), self.key, self.number];
        for (to, word) in out.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    pub fn read(bytes: &[u8; HANDLE]) -> Handle {
        let word = |n: usize| {
            let (_, rest) = bytes.split_at(8 * n);
            rest.first_chunk().map_or(0, |w| u64::from_le_bytes(*w))
        };
        Handle { base: word(0), len: word(1), rights: word(2) as u32, key: word(3), number: word(4) }
    }

    /// Whether these bytes lie inside, and may be used so.
    pub fn allows(&self, addr: u64, len: u64, rights: u32) -> bool {
        let inside =
            addr >= self.base && addr.checked_add(len).is_some_and(|end| end - self.base <= self.len);
        inside && self.rights & rights == rights
    }
}

/// How registrations are made.
pub struct Making {
    pub domains: Vec<Arc<Domain>>,
    /// Bits of the provider's mode.
    pub mode: i32,
    pub registers_local: bool,
    /// Bytes of a key.
    pub key_size: usize,
}

pub struct Memory {
    making: Making,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    number: u64,
    regions: HashMap<u64, Registered>,
}

/// A registration: the first domain's, by which peers know it, and those of the others for local operations.
struct Registered {
    key: u64,
    regions: Vec<Region>,
}

impl Memory {
    pub fn new(making: Making) -> Memory {
        Memory { making, all: Mutex::default() }
    }

    /// A key that nobody guesses, as long as the provider's are.
    pub fn new_key(&self) -> Result<u64, String> {
        let key = crate::sys::random().map(u64::from_le_bytes).map_err(|e| format!("random numbers: {e}"))?;
        Ok(if self.making.key_size >= 8 { key } else { key & ((1 << (8 * self.making.key_size)) - 1) })
    }

    /// Registers memory from address `at` on, bound to `target` where the provider wants that. Any thread. The error is what the host is told; the
    /// sentence is for its log.
    pub fn add(
        &self,
        (at, len): (usize, u64),
        rights: u32,
        target: Option<&Ep>,
        out: &mut [u8],
    ) -> Result<(), (Status, String)> {
        if rights & !KNOWN != 0 || len == 0 || (at as u64).checked_add(len).is_none() {
            return Err((Status::BAD_PARAM, "what is to be registered is no memory".into()));
        }
        let remote = rights & REMOTE != 0;
        let mut regions = Vec::new();
        for (n, domain) in self.making.domains.iter().enumerate() {
            let is_remote = remote && n == 0;
            if is_remote || self.making.registers_local {
                regions.push(self.region(domain, (at, len), if is_remote { rights } else { 0 }, target)?);
            }
        }
        let key = regions.first().map_or(0, Region::key);
        let mut all = held(&self.all);
        all.number += 1;
        let number = all.number;
        all.regions.insert(number, Registered { key, regions });
        Handle { base: at as u64, len, rights, key, number }.write(out);
        Ok(())
    }

    fn region(
        &self,
        domain: &Arc<Domain>,
        (at, len): (usize, u64),
        rights: u32,
        target: Option<&Ep>,
    ) -> Result<Region, (Status, String)> {
        let api = &domain.fabric.api;
        let mut bits = SEND | RECV | READ | WRITE;
        if rights & (access::REMOTE_READ | access::REMOTE_ATOMIC) != 0 {
            bits |= REMOTE_READ;
        }
        if rights & (access::REMOTE_WRITE | access::REMOTE_ATOMIC) != 0 {
            bits |= REMOTE_WRITE;
        }
        let bound = target.filter(|_| rights != 0 && self.making.mode & MR_ENDPOINT != 0);
        let memory = (core::ptr::with_exposed_provenance::<c_void>(at), len as usize);
        // A key that somebody has is as good as never met twice.
        for _ in 0..4 {
            let key = self.new_key().map_err(|why| (Status::INTERNAL, why))?;
            // SAFETY: the host keeps the memory until it deregisters it.
            match unsafe { Region::new(domain, memory, bits, key, bound) } {
                Ok(region) => return Ok(region),
                Err(err::NOKEY) => {}
                Err(code) => {
                    return Err((status_of(code), format!("registering {len} bytes: {}", api.text(code))));
                }
            }
        }
        Err((Status::INTERNAL, "the provider takes no key".into()))
    }

    /// By this the library knows memory in local operations of a domain.
    pub fn desc(&self, handle: &Handle, domain: usize) -> *mut c_void {
        if !self.making.registers_local {
            return null_mut();
        }
        let all = held(&self.all);
        let region = all.regions.get(&handle.number).and_then(|r| r.regions.get(domain));
        region.map_or(null_mut(), Region::desc)
    }

    pub fn remove(&self, handle: &Handle) -> Status {
        let mut all = held(&self.all);
        match all.regions.get(&handle.number) {
            Some(registered) if registered.key == handle.key => {}
            _ => return Status::BAD_PARAM,
        }
        let removed = all.regions.remove(&handle.number);
        drop(all);
        drop(removed);
        Status::OK
    }

    /// Ends all registrations that nobody has ended.
    pub fn clear(&self) {
        held(&self.all).regions.clear();
    }
}

fn status_of(code: Code) -> Status {
    const NOSPC: Code = 28;
    match code {
        err::NOMEM | err::AGAIN | NOSPC => Status::NO_RESOURCE,
        err::ACCES => Status::NO_PERMISSION,
        _ => Status::BAD_PARAM,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn handles_travel_and_say_what_they_allow() {
        let h = Handle { base: 1000, len: 64, rights: 6, key: u64::MAX - 1, number: 7 };
        let mut bytes = [0; HANDLE];
        h.write(&mut bytes);
        assert_eq!(Handle::read(&bytes), h);
        assert!(h.allows(1000, 64, access::REMOTE_READ) && h.allows(1063, 1, access::REMOTE_WRITE));
        assert!(!h.allows(999, 1, 0) && !h.allows(1000, 65, 0) && !h.allows(1064, 1, 0));
        assert!(!h.allows(1000, 1, access::REMOTE_ATOMIC) && !h.allows(u64::MAX, 2, 0));
    }
}
