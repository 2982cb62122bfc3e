//! A pool that never shrinks lends requests of MPI_Rput and the like to the host, and takes them back.
//!
//! **States.** Free → pending (`take`) → complete (`complete`) → free (`release`), or pending → released (`release`) → free
//! (`complete`). Both ways out of pending are decided under the pool's lock, a leaf, so that whichever comes last puts the request among the free
//! ones.

use core::ffi::c_void;
use oxmpi_mca::{Host, MsgStatus, RequestHeader, RequestOps, Status, ThreadCtx};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The host sees a request by its header, which comes first.
#[repr(C)]
pub struct Request {
    header: RequestHeader,
    /// The host is done with it, though it is pending.
    released: bool,
}

const OPS: &RequestOps =
    &RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel: refuse, start: refuse };

/// The pool has all requests of a component's instance. The host knows their addresses, so the pool must live as long as the instance does.
pub struct RequestPool {
    /// Its address is the requests' owner.
    shared: Box<Shared>,
}

struct Shared {
    host: Host,
    lists: Mutex<Lists>,
}

/// One list has the requests that were ever made, the other those that are free.
#[derive(Default)]
struct Lists {
    #[allow(clippy::vec_box, reason = "the host keeps their addresses")]
    all: Vec<Box<Request>>,
    free: Vec<*mut Request>,
}

// SAFETY: the pointers are to the boxes beside them.
unsafe impl Send for Lists {}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestPool {
    /// Makes a pool without requests.
    pub fn new(host: Host) -> RequestPool {
        RequestPool { shared: Box::new(Shared { host, lists: Mutex::default() }) }
    }

    /// Lends a pending request. `win` becomes its `RequestHeader::comm`.
    pub fn take(&self, win: *mut c_void) -> Result<*mut Request, Status> {
        let mut lists = self.shared.lock();
        let request = match lists.free.pop() {
            Some(request) => request,
            None => {
                let owner: *mut c_void = (&raw const *self.shared).cast_mut().cast();
                let header = RequestHeader::new(RequestHeader::OTHER, OPS, owner);
                let mut made = Box::new(Request { header, released: false });
                let request: *mut Request = &raw mut *made;
                // SAFETY: the box stays in the pool, which lives as long as the component.
                let status = unsafe { self.shared.host.request_slot(request.cast()) };
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
            (*request).header.comm = win;
            (*request).header.status = MsgStatus::EMPTY;
            (*request).header.completion.rearm();
        }
        Ok(request)
    }

    /// Ends a pending request; one that the host has released is free again.
    ///
    /// # Safety
    /// The request must be from [`RequestPool::take`] of this pool and not have been completed since. It may be gone afterwards.
    pub unsafe fn complete(&self, request: *mut Request, status: Status) {
        let mut lists = self.shared.lock();
        // SAFETY: the caller's promise; requests change under the lock.
        unsafe {
            (*request).header.status.error = status;
            if (*request).released {
                lists.free.push(request);
                return;
            }
            RequestHeader::complete(request.cast(), &self.shared.host, self.shared.host.threaded());
        }
    }

    /// Frees a complete request that the host has not seen.
    ///
    /// # Safety
    /// The request must be from [`RequestPool::take`] of this pool and must not be used afterwards.
    pub unsafe fn forget(&self, request: *mut Request) {
        self.shared.lock().free.push(request);
    }
}

extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: a request of a pool, which is its owner.
    let pool = unsafe { &*(*req).owner.cast::<Shared>() };
    let mut lists = pool.lock();
    // SAFETY: as above, and requests complete under the lock.
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
