//! One copy between this process and a peer's memory, by mapping or by system call, and the status of one that failed.

use crate::device::Shm;
use crate::segment::map::Identity;
use crate::sys::{Direction, copy_between};
use oxmpi_btl::RmaDesc;
use oxmpi_mca::Status;
use rustix::io::Errno;

impl Shm {
    /// Reads `rma` from a peer's memory without its help; complete on return.
    pub(crate) fn read_alone(&self, ctx: u32, peer: u32, rma: &RmaDesc) -> Status {
        let Some(who) = self.segment().identity(peer) else { return Status::UNREACHABLE };
        // SAFETY: the caller's buffer is valid for `len` bytes until the read has ended.
        let read = unsafe { self.copy(Direction::Read, (ctx, peer), &who, rma.local, rma.remote, rma.len) };
        match read {
            Ok(()) => Status::OK,
            Err(errno) => status_of(errno),
        }
    }

    /// Copies `len` bytes between `local` and address `remote` of a peer: through an XPMEM mapping if there is one to
    /// be had, else by system call.
    ///
    /// # Safety
    /// As [`copy_between`].
    pub(crate) unsafe fn copy(
        &self,
        direction: Direction,
        (ctx, peer): (u32, u32),
        who: &Identity,
        local: *mut u8,
        remote: u64,
        len: u64,
    ) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.copy_attached(direction, (ctx, peer), who, local, remote, len) {
                return Ok(());
            }
            copy_between(direction, who.pid, local, remote, len)
        }
    }
}

/// The status that stands for an error of the kernel in a copy between processes.
pub(crate) fn status_of(errno: Errno) -> Status {
    match errno {
        Errno::PERM | Errno::ACCESS => Status::NO_PERMISSION,
        // The number is nobody's: we do not see the peer's processes as it does.
        Errno::NOSYS | Errno::SRCH => Status::NOT_SUPPORTED,
        Errno::FAULT | Errno::INVAL => Status::BAD_PARAM,
        Errno::NOMEM => Status::OUT_OF_MEMORY,
        _ => Status::INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_ask_for_copies() {
        for errno in [Errno::PERM, Errno::ACCESS] {
            assert_eq!(status_of(errno), Status::NO_PERMISSION);
        }
        for errno in [Errno::NOSYS, Errno::SRCH] {
            assert_eq!(status_of(errno), Status::NOT_SUPPORTED);
        }
        assert_eq!(status_of(Errno::FAULT), Status::BAD_PARAM);
    }
}
