//! Memory of other processes of the node: read and written by the kernel (process_vm_readv, process_vm_writev).
//!
//! Each process publishes a [`Card`] with its number and pid namespace. A process of another node, or one whose number means somebody
//! else here, is NOT_SUPPORTED; what Yama or a filter refuses is NO_PERMISSION. A rank of this very process is a copy.

use super::at;
use crate::instance::Instance;
use oxmpi_mca::Status;
use rustix::io::Errno;
use std::ffi::c_void;

/// Key under which the card is published.
pub(crate) const KEY: &str = "host.process";

/// What a process tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pid: u32,
    namespace: u64,
}

impl Card {
    const BYTES: usize = 12;

    /// Of this process. A namespace that cannot be seen is nobody's.
    pub fn own() -> Card {
        use std::os::unix::fs::MetadataExt;
        let namespace = std::fs::metadata("/proc/self/ns/pid").map_or(0, |m| m.ino());
        Card { pid: std::process::id(), namespace }
    }

    pub fn encode(self) -> [u8; Card::BYTES] {
        let mut bytes = [0; Card::BYTES];
        bytes[..4].copy_from_slice(&self.pid.to_le_bytes());
        bytes[4..].copy_from_slice(&self.namespace.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Card> {
        let bytes: &[u8; Card::BYTES] = bytes.try_into().ok()?;
        let (pid, namespace) = (bytes.first_chunk()?, bytes.last_chunk()?);
        Some(Card { pid: u32::from_le_bytes(*pid), namespace: u64::from_le_bytes(*namespace) })
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

impl Instance {
    /// The number of a process here; this process's own where the rank lives in it.
    fn pid_of(&self, proc: u32) -> Result<u32, Status> {
        if proc >= self.job().job_size {
            return Err(Status::NOT_FOUND);
        }
        if self.place_of(proc).local == 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let blob = self.exchange_get(proc, KEY).map_err(|_| Status::PEER_FAILED)?;
        let card = blob.and_then(|blob| Card::decode(&blob)).ok_or(Status::NOT_SUPPORTED)?;
        let ours = Card::own();
        if card.namespace != ours.namespace || card.namespace == 0 {
            Err(Status::NOT_SUPPORTED)
        } else {
            Ok(card.pid)
        }
    }
}

/// Copies all of it, however much the kernel takes at once.
fn copy(pid: u32, direction: Direction, remote: u64, local: *mut u8, bytes: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < bytes {
        let here = libc::iovec {
            iov_base: local.wrapping_add(done as usize).cast(),
            iov_len: (bytes - done) as usize,
        };
        let there = libc::iovec {
            iov_base: (remote + done) as usize as *mut c_void,
            iov_len: (bytes - done) as usize,
        };
        // SAFETY: the local range is the caller's; the kernel checks the remote one.
        let moved = unsafe {
            match direction {
                Direction::Read => libc::process_vm_readv(pid as i32, &here, 1, &there, 1, 0),
                Direction::Write => libc::process_vm_writev(pid as i32, &here, 1, &there, 1, 0),
            }
        };
        match moved {
            0 => return Err(Errno::FAULT),
            n if n < 0 => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                errno => return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO))),
            },
            n => done += n as u64,
        }
    }
    Ok(())
}

fn transfer(
    instance: &Instance,
    direction: Direction,
    proc: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    if remote.checked_add(bytes).is_none() || (local.is_null() && bytes > 0) {
        return Status::BAD_PARAM;
    }
    let pid = match instance.pid_of(proc) {
        Ok(pid) => pid,
        Err(status) => return status,
    };
    match copy(pid, direction, remote, local, bytes) {
        Ok(()) => Status::OK,
        Err(Errno::PERM | Errno::ACCESS) => Status::NO_PERMISSION,
        Err(Errno::NOSYS | Errno::SRCH) => Status::NOT_SUPPORTED,
        Err(Errno::NOMEM) => Status::OUT_OF_MEMORY,
        Err(_) => Status::BAD_PARAM,
    }
}

pub(super) extern "C" fn peer_read(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    transfer(at(ctx).1, Direction::Read, proc, remote, local, bytes)
}

pub(super) extern "C" fn peer_write(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    transfer(at(ctx).1, Direction::Write, proc, remote, local.cast_mut(), bytes)
}

/// Only a rank that lives in this process.
pub(super) extern "C" fn peer_pointer(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    if remote.checked_add(bytes).is_none() {
        return Status::BAD_PARAM;
    }
    match at(ctx).1.pid_of(proc) {
        Ok(pid) if pid == std::process::id() => {
            // SAFETY: the component's out pointer.
            unsafe { *out = remote as usize as *mut u8 };
            Status::OK
        }
        Ok(_) => Status::NOT_SUPPORTED,
        Err(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_survive_the_way_and_damage_is_seen() {
        let card = Card::own();
        assert_eq!(Card::decode(&card.encode()), Some(card));
        assert_eq!(Card::decode(&card.encode()[1..]), None);
        assert_eq!(Card::decode(&[0; 13]), None);
    }

    #[test]
    fn copies_go_both_ways_and_faults_are_told() {
        let (mut near, mut far) = ([1u8; 5000], [2u8; 5000]);
        let pid = std::process::id();
        copy(pid, Direction::Read, far.as_ptr() as u64, near.as_mut_ptr(), 4000).expect("our own memory");
        assert!(near[..4000].iter().all(|&b| b == 2) && near[4000..].iter().all(|&b| b == 1));
        copy(pid, Direction::Write, far.as_mut_ptr() as u64, near.as_mut_ptr(), 5000)
            .expect("our own memory");
        assert_eq!(far[4999], 1);
        assert_eq!(copy(pid, Direction::Read, 8, near.as_mut_ptr(), 8), Err(Errno::FAULT));
    }
}
