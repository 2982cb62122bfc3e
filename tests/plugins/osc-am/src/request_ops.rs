//! Requests in the hands of the host: it is given one, and gives it back; it can neither cancel nor start any.

use crate::request::{Pool, Request};
use crate::state::Am;
use core::ffi::c_void;
use oxmpi_mca::{Completion, MsgStatus, RequestHeader, RequestOps, Status, ThreadCtx};

static OPS: RequestOps =
    RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel, start };

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
