//! Registered memory: handles that travel, and the number of registrations, which the network limits.
//!
//! A handle names memory by base, length and rights, so that what it does not allow is refused where it is used, without a word to the
//! other side; the device there checks the library's handle all the same, which is dead once the registration has ended.

use crate::abi::{MemHandle, mem, rc};
use crate::nic::Nic;
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_btl::access;
use oxmpi_mca::Status;
use std::sync::Arc;

/// A registration as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub base: u64,
    pub len: u64,
    /// Bits of [`access`].
    pub rights: u32,
    pub gni: MemHandle,
}

/// `BtlAttrs::registration_handle_size`.
pub const HANDLE: usize = 40;

impl Handle {
    fn write(&self, out: &mut [u8]) {
        let words = [self.base, self.len, self.rights.into(), self.gni.qword1, self.gni.qword2];
        for (to, word) in out.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    pub fn read(bytes: &[u8; HANDLE]) -> Handle {
        let word = |n: usize| {
            let (_, rest) = bytes.split_at(8 * n);
            rest.first_chunk().map_or(0, |w| u64::from_le_bytes(*w))
        };
        let gni = MemHandle { qword1: word(3), qword2: word(4) };
        Handle { base: word(0), len: word(1), rights: word(2) as u32, gni }
    }

    /// Whether these bytes lie inside, and may be used so.
    pub fn allows(&self, addr: u64, len: u64, rights: u32) -> bool {
        let inside =
            addr >= self.base && addr.checked_add(len).is_some_and(|end| end - self.base <= self.len);
        inside && self.rights & rights == rights
    }
}

pub struct Memory {
    nic: Arc<Nic>,
    /// Registrations, and how many there may be.
    count: AtomicU64,
    most: u64,
}

const KNOWN: u32 = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
pub const CHANGES: u32 = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

impl Memory {
    /// `most` is how many registrations there may be.
    pub fn new(nic: Arc<Nic>, most: u64) -> Memory {
        Memory { nic, count: AtomicU64::new(0), most }
    }

    /// Registers memory from address `at` on. Any thread. The error is what the host is told; the sentence is for its log.
    pub fn add(&self, at: u64, len: u64, rights: u32, out: &mut [u8]) -> Result<(), (Status, String)> {
        if rights & !KNOWN != 0 || len == 0 || at.checked_add(len).is_none() {
            return Err((Status::BAD_PARAM, "what is to be registered is no memory".into()));
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.count.fetch_sub(1, Ordering::Relaxed);
            let why = format!("{} registrations are this process's share (btl_ugni_max_mem_reg)", self.most);
            return Err((Status::NO_RESOURCE, why));
        }
        let flags = if rights & CHANGES != 0 { mem::READWRITE } else { mem::READ_ONLY };
        // SAFETY: the caller keeps the memory until it deregisters it.
        let gni = unsafe { self.nic.lock().register(at, len, None, flags | mem::RELAXED_PI_ORDERING) };
        match gni {
            Ok(gni) => {
                Handle { base: at, len, rights, gni }.write(out);
                Ok(())
            }
            Err(code) => {
                self.count.fetch_sub(1, Ordering::Relaxed);
                let status = match code {
                    rc::ERROR_RESOURCE | rc::ERROR_NOMEM => Status::NO_RESOURCE,
                    rc::PERMISSION_ERROR => Status::NO_PERMISSION,
                    _ => Status::BAD_PARAM,
                };
                Err((status, format!("registering {len} bytes: {}", self.nic.api.code_text(code))))
            }
        }
    }

    pub fn remove(&self, handle: &Handle) -> Status {
        let ended = self.nic.lock().deregister(handle.gni);
        match ended {
            Ok(()) => {
                self.count.fetch_sub(1, Ordering::Relaxed);
                Status::OK
            }
            Err(_) => Status::NOT_FOUND,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_travel_and_say_what_they_allow() {
        let gni = MemHandle { qword1: u64::MAX - 1, qword2: 7 };
        let h = Handle { base: 1000, len: 64, rights: 6, gni };
        let mut bytes = [0; HANDLE];
        h.write(&mut bytes);
        assert_eq!(Handle::read(&bytes), h);
        assert!(h.allows(1000, 64, access::REMOTE_READ) && h.allows(1063, 1, access::REMOTE_WRITE));
        assert!(!h.allows(999, 1, 0) && !h.allows(1000, 65, 0) && !h.allows(1064, 1, 0));
        assert!(!h.allows(1000, 1, access::REMOTE_ATOMIC) && !h.allows(u64::MAX, 2, 0));
    }
}
