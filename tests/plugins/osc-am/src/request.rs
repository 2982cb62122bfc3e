//! Requests of MPI_Rput and the like, in a pool that never shrinks.

use oxmpi_mca::{Host, RequestHeader, Status};

#[repr(C)]
pub struct Request {
    pub header: RequestHeader,
    /// The host is done with it, though it is pending.
    pub released: bool,
}

/// All requests that were ever made, and those that are free.
#[derive(Default)]
pub struct Pool {
    #[allow(clippy::vec_box, reason = "the host keeps their addresses")]
    pub all: Vec<Box<Request>>,
    pub free: Vec<*mut Request>,
}

// SAFETY: the pointers are to the boxes beside them.
unsafe impl Send for Pool {}

impl Pool {
    /// Ends a pending request. A released one is free again.
    pub fn complete(&mut self, request: *mut Request, host: &Host, status: Status) {
        // SAFETY: a pending request of the pool.
        unsafe {
            (*request).header.status.error = status;
            if (*request).released {
                self.free.push(request);
                return;
            }
            RequestHeader::complete(request.cast(), host, host.threaded());
        }
    }
}
