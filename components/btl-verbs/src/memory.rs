//! Registered memory: handles that travel, and the registrations behind them.
//!
//! A handle names memory by base, length and rights, so that what it does not allow is refused where it is used, without a word to the
//! other side; the device there checks the key all the same, which is dead once the registration has ended. Where the lanes have several
//! protection domains, memory is registered in each, and the keys are looked up.

use crate::link::held;
use crate::objects::{Domain, Region};
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_btl::access;
use oxmpi_mca::Status;
use oxmpi_verbs_abi::numbers::access as verbs;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A registration as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub base: u64,
    pub len: u64,
    /// Bits of [`access`].
    pub rights: u32,
    /// The key for peers.
    pub rkey: u32,
    /// The key for this process, where all lanes have the same.
    lkey: u32,
    /// Number of the registration in its process, of 56 bits, and a random number of that.
    number: u64,
    process: u64,
}

/// `BtlAttrs::registration_handle_size`.
pub const HANDLE: usize = 40;

impl Handle {
    fn write(&self, out: &mut [u8]) {
        let words = [
            self.base,
            self.len,
            u64::from(self.rights) & 0xff | (self.number & 0xff_ffff) << 8 | u64::from(self.rkey) << 32,
            u64::from(self.lkey) | self.number >> 24 << 32,
            self.process,
        ];
        for (to, word) in out.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    pub fn read(bytes: &[u8; HANDLE]) -> Handle {
        let word = |n: usize| {
            let (_, rest) = bytes.split_at(8 * n);
            rest.first_chunk().map_or(0, |w| u64::from_le_bytes(*w))
        };
        Handle {
            base: word(0),
            len: word(1),
            rights: word(2) as u32 & 0xff,
            rkey: (word(2) >> 32) as u32,
            lkey: word(3) as u32,
            number: word(2) >> 8 & 0xff_ffff | word(3) >> 32 << 24,
            process: word(4),
        }
    }

    /// Whether these bytes lie inside, and may be used so.
    pub fn allows(&self, addr: u64, len: u64, rights: u32) -> bool {
        let inside =
            addr >= self.base && addr.checked_add(len).is_some_and(|end| end - self.base <= self.len);
        inside && self.rights & rights == rights
    }
}

pub struct Memory {
    /// Protection domains, of which peers reach the first; and which one each lane has.
    domains: Box<[Arc<Domain>]>,
    of_lane: Box<[usize]>,
    process: u64,
    next: AtomicU64,
    all: Mutex<HashMap<u64, Box<[Region]>>>,
}

const KNOWN: u32 = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

impl Memory {
    /// `lanes`: the domain of each.
    pub fn new(lanes: &[Arc<Domain>], process: u64) -> Memory {
        let mut domains: Vec<Arc<Domain>> = Vec::new();
        let place = |domain: &Arc<Domain>| {
            let known = domains.iter().position(|d| Arc::ptr_eq(d, domain));
            known.unwrap_or_else(|| {
                domains.push(domain.clone());
                domains.len() - 1
            })
        };
        let of_lane = lanes.iter().map(place).collect();
        Memory { domains: domains.into(), of_lane, process, next: AtomicU64::new(1), all: Mutex::default() }
    }

    /// Any thread. The error is what the host is told; the sentence is for its log.
    pub fn add(&self, at: usize, len: u64, rights: u32, out: &mut [u8]) -> Result<(), (Status, String)> {
        if rights & !KNOWN != 0 || len == 0 || (at as u64).checked_add(len).is_none() {
            return Err((Status::BAD_PARAM, "what is to be registered is no memory".into()));
        }
        let bit = |ours: u32, theirs: u32| if rights & ours != 0 { theirs } else { 0 };
        // Devices demand the first for each that changes memory.
        let wanted =
            bit(access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC, verbs::LOCAL_WRITE)
                | bit(access::REMOTE_READ, verbs::REMOTE_READ)
                | bit(access::REMOTE_WRITE, verbs::REMOTE_WRITE)
                | bit(access::REMOTE_ATOMIC, verbs::REMOTE_ATOMIC);
        let regions: Result<Box<[Region]>, String> = self
            .domains
            .iter()
            // SAFETY: the caller keeps the memory until it deregisters it.
            .map(|domain| unsafe { Region::new(domain, at as *mut u8, len as usize, wanted) })
            .collect();
        let regions = regions.map_err(|why| (Status::NO_RESOURCE, why))?;
        let Some(first) = regions.first() else { return Err((Status::INTERNAL, "no domain".into())) };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let handle = Handle {
            base: at as u64,
            len,
            rights,
            rkey: first.rkey(),
            lkey: first.lkey(),
            number,
            process: self.process,
        };
        handle.write(out);
        held(&self.all).insert(number, regions);
        Ok(())
    }

    pub fn remove(&self, handle: &Handle) -> Status {
        if handle.process != self.process {
            return Status::NOT_FOUND;
        }
        // The keys are dead when the regions are dropped, which is here.
        match held(&self.all).remove(&handle.number) {
            Some(_) => Status::OK,
            None => Status::NOT_FOUND,
        }
    }

    /// The key of local memory for a lane.
    pub fn local_key(&self, handle: &Handle, lane: usize) -> Option<u32> {
        if handle.process != self.process {
            return None;
        }
        if self.domains.len() == 1 {
            return Some(handle.lkey);
        }
        let domain = *self.of_lane.get(lane)?;
        held(&self.all).get(&handle.number)?.get(domain).map(Region::lkey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_travel_and_say_what_they_allow() {
        let number = 0xfe_dcba_9876_5432;
        let h = Handle { base: 1000, len: 64, rights: 6, rkey: 0xffff_fffe, lkey: 7, number, process: 9 };
        let mut bytes = [0; HANDLE];
        h.write(&mut bytes);
        assert_eq!(Handle::read(&bytes), h);
        assert!(h.allows(1000, 64, access::REMOTE_READ) && h.allows(1063, 1, access::REMOTE_WRITE));
        assert!(!h.allows(999, 1, 0) && !h.allows(1000, 65, 0) && !h.allows(1064, 1, 0));
        assert!(!h.allows(1000, 1, access::REMOTE_ATOMIC) && !h.allows(u64::MAX, 2, 0));
    }
}
