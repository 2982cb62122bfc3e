//! Requests of MPI_Rput and the like, in a pool that never shrinks.
//!
//! **States.** Free → pending (`take`) → complete (`complete`) → free (`release`), or pending → released (`release`) → free
//! (`complete`). Both ways out of pending are decided under the pool's lock, which is taken behind a window's or alone.

use core::ffi::c_void;
use oxmpi_mca::{Host, MsgStatus, RequestHeader, RequestOps, Status, ThreadCtx};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[repr(C)]
pub struct Request {
    header: RequestHeader,
    /// The host is done with it, though it is pending.
    released: bool,
}

static OPS: RequestOps =
    RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel, start };

/// All requests of an instance.
pub struct Pool {
    host: Host,
    requests: Mutex<Requests>,
}

/// Those that were ever made, and those that are free.
#[derive(Default)]
struct Requests {
    #[allow(clippy::vec_box, reason = "the host keeps their addresses")]
    all: Vec<Box<Request>>,
    free: Vec<*mut Request>,
}

// SAFETY: the pointers are to the boxes beside them.
unsafe impl Send for Requests {}

impl Pool {
    pub fn new(host: Host) -> Pool {
        Pool { host, requests: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pending request. `win`: for `RequestHeader::comm`.
    pub fn take(&self, win: *mut c_void) -> Result<*mut Request, Status> {
        let mut requests = self.lock();
        let request = match requests.free.pop() {
            Some(request) => request,
            None => {
                let owner: *mut c_void = (&raw const *self).cast_mut().cast();
                let header = RequestHeader::new(RequestHeader::OTHER, &OPS, owner);
                let mut made = Box::new(Request { header, released: false });
                let request: *mut Request = &mut *made;
                // SAFETY: the box stays in the pool, which lives as long as the component.
                let status = unsafe { self.host.request_slot(request.cast()) };
                if status.is_err() {
                    return Err(status);
                }
                requests.all.push(made);
                request
            }
        };
        // SAFETY: free, so nobody else knows it.
        unsafe {
            (*request).released = false;
            (*request).header.comm = win;
            (*request).header.status = MsgStatus::EMPTY;
            (*request).header.completion.rearm();
        }
        Ok(request)
    }

    /// Ends a pending request. A released one is free again.
    pub fn complete(&self, request: *mut Request, status: Status) {
        let mut requests = self.lock();
        // SAFETY: a pending request of the pool, under its lock.
        unsafe {
            (*request).header.status.error = status;
            if (*request).released {
                requests.free.push(request);
                return;
            }
            RequestHeader::complete(request.cast(), &self.host, self.host.threaded());
        }
    }
}

extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: a request of ours, whose owner is the pool.
    let pool = unsafe { &*(*req).owner.cast::<Pool>() };
    let mut requests = pool.lock();
    // SAFETY: as above, and requests complete under the lock.
    unsafe {
        if (*req).completion.is_complete() {
            requests.free.push(req.cast());
        } else {
            (*req.cast::<Request>()).released = true;
        }
    }
}

/// One-sided operations cannot be cancelled (MPI 5.0 §3.8.4).
extern "C" fn cancel(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn start(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
