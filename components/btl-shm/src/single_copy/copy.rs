//! One copy between this process and a peer's memory, by mapping or by system call, and the status of one that failed.

use crate::device::Shm;
use crate::single_copy::stretch::{Owner, Stretch};
use crate::single_copy::xpmem::Attachments;
use crate::sys::{Direction, copy_between};
use oxmpi_mca::Status;
use rustix::io::Errno;

impl Shm {
    /// Reads bytes of a peer's memory without its help; complete on return.
    ///
    /// # Safety
    /// The bytes here are writable.
    pub(crate) unsafe fn read_alone(&self, attached: &mut Attachments, peer: u32, what: Stretch) -> Status {
        let Some(who) = self.identity(peer) else { return Status::UNREACHABLE };
        // SAFETY: the caller's promise.
        let read = unsafe { self.copy(attached, Direction::Read, &Owner { peer, who }, what) };
        match read {
            Ok(()) => Status::OK,
            Err(errno) => status_of(errno),
        }
    }

    /// Copies bytes between here and a peer: through an XPMEM mapping if there is one to be had, else by system call.
    ///
    /// # Safety
    /// As [`copy_between`].
    pub(crate) unsafe fn copy(
        &self,
        attached: &mut Attachments,
        direction: Direction,
        owner: &Owner,
        what: Stretch,
    ) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.copy_attached(attached, direction, owner, what) {
                return Ok(());
            }
            copy_between(direction, owner.who.pid, what.local(), what.remote, what.len)
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
