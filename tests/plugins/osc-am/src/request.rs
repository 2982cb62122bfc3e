//! Requests of MPI_Rput and the like, in a pool that never shrinks.

use crate::state::Am;
use core::ffi::c_void;
use oxmpi_mca::{Completion, Host, MsgStatus, RequestHeader, RequestOps, Status, ThreadCtx};

#[repr(C)]
pub struct Request {
    header: RequestHeader,
    /// The host is done with it, though it is pending.
    released: bool,
}

static OPS: RequestOps =
    RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel, start };

/// All requests that were ever made, and those that are free.
#[derive(Default)]
pub struct Pool {
    #[allow(clippy::vec_box, reason = "the host keeps their addresses")]
    all: Vec<Box<Request>>,
    free: Vec<*mut Request>,
}

// SAFETY: the pointers are to the boxes beside them.
unsafe impl Send for Pool {}

impl Pool {
    /// A pending request.
    pub fn take(&mut self, am: &Am) -> Result<*mut Request, Status> {
        let request = match self.free.pop() {
            Some(request) => request,
            None => {
                let owner: *mut c_void = (&raw const *am).cast_mut().cast();
                let header = RequestHeader::new(RequestHeader::OTHER, &OPS, owner);
                let mut made = Box::new(Request { header, released: false });
                let request: *mut Request = &mut *made;
                // SAFETY: the box stays in the pool, which lives as long as the component.
                let status = unsafe { am.host.request_slot(request.cast()) };
                if status.is_err() {
                    return Err(status);
                }
                self.all.push(made);
                request
            }
        };
        // SAFETY: free, so nobody else knows it.
        unsafe {
            (*request).released = false;
            (*request).header.status = MsgStatus::EMPTY;
            (*request).header.completion.rearm();
        }
        Ok(request)
    }

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

extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: a request of ours, whose owner is the component's state.
    let am = unsafe { &*(*req).owner.cast::<Am>() };
    let mut shared = am.lock();
    // SAFETY: as above; the word is atomic, and completing happens under the lock.
    let completion: &Completion = unsafe { &(*req).completion };
    if completion.is_complete() {
        shared.requests.free.push(req.cast());
    } else {
        // SAFETY: as above, under the lock.
        unsafe { (*req.cast::<Request>()).released = true };
    }
}

/// One-sided operations cannot be cancelled (MPI 5.0 §3.8.4).
extern "C" fn cancel(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn start(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
