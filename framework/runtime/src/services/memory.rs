//! Memory of other processes of the node: read and written by the kernel (process_vm_readv, process_vm_writev).
//!
//! Each process publishes its number and pid namespace ([`super::card`]). A process of another node, or one whose number means somebody
//! else here, is NOT_SUPPORTED; what Yama or a filter refuses is NO_PERMISSION. A rank of this very process is a copy.

use super::caller::caller;
use crate::objects::Instance;
use oxmpi_mca::Status;
use rustix::io::Errno;
use std::ffi::c_void;

/// Whether a peer's memory is read or written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Instance {
    /// The process id, valid here, of rank `proc` of this node; that of this process where the rank lives in it.
    /// `NOT_SUPPORTED`: another node or pid namespace.
    fn pid_of(&self, proc: u32) -> Result<u32, Status> {
        if proc >= self.job().job_size {
            return Err(Status::NOT_FOUND);
        }
        if self.place_of(proc).local == 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let card = self.card_of(proc)?.ok_or(Status::NOT_SUPPORTED)?;
        let ours = self.own_card();
        if card.namespace != ours.namespace || card.namespace == 0 {
            Err(Status::NOT_SUPPORTED)
        } else {
            Ok(card.pid)
        }
    }
}

/// Copies all `bytes` bytes between `local` and address `remote` of process `pid`, by as many system calls as that
/// takes.
///
/// # Safety
/// `local` has so many bytes, writable by nobody else if it is written.
unsafe fn copy(pid: u32, direction: Direction, remote: u64, local: *mut u8, bytes: u64) -> Result<(), Errno> {
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

impl Instance {
    /// Copies `bytes` bytes between `local` and address `remote` of rank `proc` of this node.
    ///
    /// # Safety
    /// `local` has so many bytes: readable ones, or where they are read from the rank, writable by nobody else.
    pub(crate) unsafe fn peer_copy(
        &self,
        direction: Direction,
        proc: u32,
        remote: u64,
        local: *mut u8,
        bytes: u64,
    ) -> Status {
        if remote.checked_add(bytes).is_none() || (local.is_null() && bytes > 0) {
            return Status::BAD_PARAM;
        }
        let pid = match self.pid_of(proc) {
            Ok(pid) => pid,
            Err(status) => return status,
        };
        // SAFETY: the caller's promise.
        match unsafe { copy(pid, direction, remote, local, bytes) } {
            Ok(()) => Status::OK,
            Err(Errno::PERM | Errno::ACCESS) => Status::NO_PERMISSION,
            Err(Errno::NOSYS | Errno::SRCH) => Status::NOT_SUPPORTED,
            Err(Errno::NOMEM) => Status::OUT_OF_MEMORY,
            Err(_) => Status::BAD_PARAM,
        }
    }

    /// The address here of memory of rank `proc`, which lives in this very process. `NOT_SUPPORTED`: it lives in
    /// another.
    pub(crate) fn peer_pointer(&self, proc: u32, remote: u64, bytes: u64) -> Result<*mut u8, Status> {
        if remote.checked_add(bytes).is_none() {
            return Err(Status::BAD_PARAM);
        }
        if self.pid_of(proc)? == std::process::id() {
            Ok(remote as usize as *mut u8)
        } else {
            Err(Status::NOT_SUPPORTED)
        }
    }
}

/// Copies memory of a process of this node to `local`; in the table as `HostServices::peer_read`.
pub(super) extern "C" fn peer_read(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    let instance = caller!(ctx).1;
    // SAFETY: the component's own memory, which it may write.
    unsafe { instance.peer_copy(Direction::Read, proc, remote, local, bytes) }
}

/// Copies from `local` to the memory of a process of this node; in the table as `HostServices::peer_write`.
pub(super) extern "C" fn peer_write(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    let instance = caller!(ctx).1;
    // SAFETY: the component's own memory, which is only read.
    unsafe { instance.peer_copy(Direction::Write, proc, remote, local.cast_mut(), bytes) }
}

/// Writes the address of memory of a rank in this very process to `out`; in the table as `HostServices::peer_pointer`.
pub(super) extern "C" fn peer_pointer(
    ctx: *mut c_void,
    proc: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    match caller!(ctx).1.peer_pointer(proc, remote, bytes) {
        Ok(pointer) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = pointer };
            Status::OK
        }
        Err(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_go_both_ways_and_faults_are_told() {
        let (mut near, mut far) = ([1u8; 5000], [2u8; 5000]);
        let pid = std::process::id();
        let copy = |direction, remote, local: &mut [u8], bytes| {
            assert!(bytes <= local.len() as u64);
            // SAFETY: the slice has as many.
            unsafe { copy(pid, direction, remote, local.as_mut_ptr(), bytes) }
        };
        copy(Direction::Read, far.as_ptr() as u64, &mut near, 4000).expect("our own memory");
        assert!(near[..4000].iter().all(|&b| b == 2) && near[4000..].iter().all(|&b| b == 1));
        copy(Direction::Write, far.as_mut_ptr() as u64, &mut near, 5000).expect("our own memory");
        assert_eq!(far[4999], 1);
        assert_eq!(copy(Direction::Read, 8, &mut near, 8), Err(Errno::FAULT));
    }
}
