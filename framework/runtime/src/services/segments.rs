//! Shared segments of this node, by number. A process has the one of its job, which is number 0, and those in which it has a place with processes
//! of other jobs.

use super::caller::caller;
use crate::objects::Instance;
use oxmpi_mca::{SharedSegment, Status};
use std::ffi::c_void;
use std::os::fd::AsRawFd;

impl Instance {
    /// Segment `number` of this node. NOT_FOUND: this process has no segment of that number.
    fn shared_segment(&self, number: u32) -> Result<SharedSegment, Status> {
        if number != 0 {
            let meeting = self.strangers().segment(number).ok_or(Status::NOT_FOUND)?;
            let bytes = rustix::fs::fstat(&meeting.memory).map_err(|_| Status::INTERNAL)?.st_size as u64;
            let (local_rank, local_size) = (meeting.place, meeting.places);
            // A keeper duplicates it; it stays open while a process is known by it.
            let fd = meeting.memory.as_raw_fd();
            return Ok(SharedSegment { fd, local_rank, local_size, reserved: 0, bytes });
        }
        let (fd, job) = (self.client().segment(), self.job());
        let bytes = rustix::fs::fstat(fd).map_err(|_| Status::INTERNAL)?.st_size as u64;
        let (local_rank, local_size) = (job.local_rank, job.local_size);
        Ok(SharedSegment { fd: fd.as_raw_fd(), local_rank, local_size, reserved: 0, bytes })
    }
}

/// Writes shared segment `number` of this node to `out`; in the table as `HostServices::segment`.
pub(super) extern "C" fn segment(ctx: *mut c_void, number: u32, out: *mut SharedSegment) -> Status {
    match caller!(ctx).1.shared_segment(number) {
        Ok(segment) => {
            // SAFETY: the component's out pointer, which is writable during the call.
            unsafe { *out = segment };
            Status::OK
        }
        Err(status) => status,
    }
}
