//! Requests of MPI_Rput and the like, in a pool that never shrinks.
//!
//! A request is completed once, by whoever ends its operation, and may be given back before that. Both happen under the pool's lock, a
//! leaf, so that whichever comes last puts it among the free ones.

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
    RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel: refuse, start: refuse };

#[derive(Default)]
struct Lists {
    #[allow(clippy::vec_box, reason = "the host keeps their addresses")]
    all: Vec<Box<Request>>,
    free: Vec<*mut Request>,
}

// SAFETY: the pointers are to the boxes beside them.
unsafe impl Send for Lists {}

/// All requests that were ever made. Its address is the requests' owner: it does not move.
#[derive(Default)]
pub struct Requests {
    lists: Mutex<Lists>,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pending request.
    pub fn take(&self, host: &Host) -> Result<*mut Request, Status> {
        let mut lists = self.lock();
        let request = match lists.free.pop() {
            Some(request) => request,
            None => {
                let owner: *mut c_void = core::ptr::from_ref(self).cast_mut().cast();
                let header = RequestHeader::new(RequestHeader::OTHER, &OPS, owner);
                let mut made = Box::new(Request { header, released: false });
                let request: *mut Request = &raw mut *made;
                // SAFETY: the box stays in the pool, which lives as long as the component.
                let status = unsafe { host.request_slot(request.cast()) };
                if status.is_err() {
                    return Err(status);
                }
                lists.all.push(made);
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
    pub fn complete(&self, request: *mut Request, host: &Host, status: Status) {
        let mut lists = self.lock();
        // SAFETY: a pending request of the pool, under its lock.
        unsafe {
            (*request).header.status.error = status;
            if (*request).released {
                lists.free.push(request);
                return;
            }
            RequestHeader::complete(request.cast(), host, host.threaded());
        }
    }
}

impl Requests {
    /// A complete request that the host has not seen.
    pub fn forget(&self, request: *mut Request) {
        self.lock().free.push(request);
    }
}

extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: a request of ours, whose owner is the pool.
    let pool = unsafe { &*(*req).owner.cast::<Requests>() };
    let mut lists = pool.lock();
    // SAFETY: as above, under the lock.
    unsafe {
        if (*req).completion.is_complete() {
            lists.free.push(req.cast());
        } else {
            (*req.cast::<Request>()).released = true;
        }
    }
}

/// One-sided operations are neither cancelled (MPI 5.0 §3.8.4) nor persistent.
extern "C" fn refuse(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
