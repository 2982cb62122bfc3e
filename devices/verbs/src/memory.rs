//! Registered memory of the process, and the device's only way to it: every access looks the key up and copies under the table's
//! lock, so that nobody reaches memory whose deregistration has returned.

use oxmpi_verbs_abi::Sge;
use oxmpi_verbs_abi::numbers::access;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

struct Region {
    addr: u64,
    len: u64,
    access: u32,
    /// Number of its protection domain.
    pd: u64,
}

#[derive(Default)]
struct Table {
    regions: HashMap<u32, Region>,
    made: u32,
}

#[derive(Default)]
pub struct Memory {
    table: RwLock<Table>,
}

/// The access that an operation needs is not there.
#[derive(Debug, PartialEq, Eq)]
pub struct Denied;

impl Memory {
    /// A key for memory; keys of memory that is gone come back late. `None`: as many as there may be.
    pub fn add(&self, pd: u64, addr: u64, len: u64, access: u32, most: u32) -> Option<u32> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if table.regions.len() >= most as usize {
            return None;
        }
        let key = loop {
            table.made = table.made.wrapping_add(1);
            // Not in sequence, so that an arithmetic slip finds nothing.
            let key = table.made.wrapping_mul(0x9e37_79b1) | 1;
            if !table.regions.contains_key(&key) {
                break key;
            }
        };
        table.regions.insert(key, Region { addr, len, access, pd });
        Some(key)
    }

    pub fn remove(&self, key: u32) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.regions.remove(&key).is_some()
    }

    /// Runs `at` while the memory stays reachable.
    pub fn reach<R>(
        &self,
        pd: u64,
        key: u32,
        addr: u64,
        len: u64,
        wanted: u32,
        at: impl FnOnce(*mut u8) -> R,
    ) -> Result<R, Denied> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let region = table.regions.get(&key).ok_or(Denied)?;
        let inside =
            addr >= region.addr && addr.checked_add(len).is_some_and(|end| end <= region.addr + region.len);
        if !inside || region.pd != pd || region.access & wanted != wanted {
            return Err(Denied);
        }
        Ok(at(addr as *mut u8))
    }

    /// Copies bytes from `offset` of a list on to `out`.
    pub fn gather(&self, pd: u64, list: &[Sge], offset: u64, out: &mut [u8]) -> Result<(), Denied> {
        pieces(list, offset, out.len() as u64, |sge, at, len, done| {
            let to = out[done as usize..].as_mut_ptr();
            self.reach(pd, sge.lkey, at, len, 0, |from| {
                // SAFETY: registered memory, which its owner keeps mapped; the lengths are those of the pieces.
                unsafe { core::ptr::copy_nonoverlapping(from, to, len as usize) }
            })
        })
    }

    /// Copies bytes to a list, from `offset` of it on.
    pub fn scatter(&self, pd: u64, list: &[Sge], offset: u64, from: &[u8]) -> Result<(), Denied> {
        pieces(list, offset, from.len() as u64, |sge, at, len, done| {
            let bytes = from[done as usize..].as_ptr();
            self.reach(pd, sge.lkey, at, len, access::LOCAL_WRITE, |to| {
                // SAFETY: as above.
                unsafe { core::ptr::copy_nonoverlapping(bytes, to, len as usize) }
            })
        })
    }
}

/// Calls `take` with each piece of a list that lies in `len` bytes from `offset` on: entry, address, length, bytes before.
fn pieces(
    list: &[Sge],
    offset: u64,
    len: u64,
    mut take: impl FnMut(&Sge, u64, u64, u64) -> Result<(), Denied>,
) -> Result<(), Denied> {
    let (mut skip, mut done) = (offset, 0);
    for sge in list {
        let room = u64::from(sge.length);
        if skip >= room {
            skip -= room;
            continue;
        }
        let n = (room - skip).min(len - done);
        if n == 0 {
            break;
        }
        take(sge, sge.addr + skip, n, done)?;
        done += n;
        skip = 0;
    }
    if done == len { Ok(()) } else { Err(Denied) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_registered_is_reached() {
        let (memory, bytes) = (Memory::default(), [7u8; 64]);
        let at = bytes.as_ptr() as u64;
        let key = memory.add(1, at, 64, access::REMOTE_READ, 2).expect("room");
        let sge = |addr, length| [Sge { addr, length, lkey: key }];
        let mut out = [0; 40];
        assert_eq!(memory.gather(1, &sge(at + 8, 40), 0, &mut out), Ok(()));
        assert_eq!(out, [7; 40]);
        assert_eq!(memory.gather(1, &sge(at + 32, 40), 0, &mut out), Err(Denied), "beyond the end");
        assert_eq!(memory.gather(2, &sge(at, 40), 0, &mut out), Err(Denied), "another domain's");
        assert_eq!(memory.scatter(1, &sge(at, 40), 0, &out), Err(Denied), "not to be written");
        assert!(memory.add(1, at, 1, 0, 1).is_none(), "the limit");
        assert!(memory.remove(key) && !memory.remove(key));
        let again = memory.add(1, at, 64, 0, 2).expect("room");
        assert_ne!(key, again);
        assert_eq!(memory.gather(1, &sge(at, 40), 0, &mut out), Err(Denied), "the old key");
    }
}
