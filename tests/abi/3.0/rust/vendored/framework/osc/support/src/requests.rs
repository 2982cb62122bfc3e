//! A pool that never shrinks lends requests of MPI_Rput and the like to the host, and takes them back.
//!
//! **States.** Free → pending (`take`) → complete (`complete`) → free (`release`), or pending → released (`release`) → free
//! (`complete`). Both ways out of pending are decided under the pool's lock, a leaf, so that whichever comes last puts the request among the free
//! ones. The right to end a pending request is a [`Pending`]: there is one of each, and ending uses it up.

use crate::address::Address;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use oxmpi_mca::{Host, MsgStatus, Object, Owner, RequestHeader, RequestOps, Status, ThreadCtx};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The host sees a request by its header, which comes first.
#[repr(C)]
pub struct Request {
    header: UnsafeCell<RequestHeader>,
    /// The host is done with it, though it is pending.
    released: Cell<bool>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Request {}
// SAFETY: who may touch the header when is the contract of requests, which host and pool keep (`RequestHeader`); `released` is looked at and changed under
// the pool's lock.
unsafe impl Sync for Request {}

// SAFETY: the header comes first, the type is `repr(C)`, and objects go with their pool, which the component keeps as `RequestPool::new` asks.
unsafe impl Object for Request {
    #[inline]
    fn header(&self) -> *mut RequestHeader {
        self.header.get()
    }
}

const OPS: &RequestOps =
    &RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel: refuse, start: refuse };

/// The pool has all requests of a component's instance. The host knows their addresses.
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
    all: Vec<Address<Request>>,
    free: Vec<&'static Request>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        self.free.clear();
        for request in self.all.drain(..) {
            // SAFETY: `make` has it from a box, and nobody knows it any more (`RequestPool::new`).
            drop(unsafe { Box::from_raw(request.get()) });
        }
    }
}

impl RequestPool {
    /// Makes a pool without requests.
    ///
    /// # Safety
    /// When it is dropped nothing has a [`Pending`] of it, and the host uses no request of it any more: the component's last call has come, and its windows are
    /// freed.
    pub unsafe fn new(host: Host) -> RequestPool {
        RequestPool { shared: Box::new(Shared { host, lists: Mutex::default() }) }
    }

    /// Lends a pending request. `win`, the host's name of the window, becomes its `RequestHeader::comm`.
    pub fn take(&self, win: Address<c_void>) -> Result<Pending, Status> {
        let mut lists = self.shared.lock();
        let request = match lists.free.pop() {
            Some(request) => request,
            None => {
                let made = self.make()?;
                lists.all.push(made);
                // SAFETY: it lives as long as the pool, whose end nobody sees who has one of its requests (`new`).
                unsafe { &*made.get() }
            }
        };
        request.released.set(false);
        // SAFETY: it was free, so nobody else uses the header.
        unsafe {
            let header = &mut *request.header();
            header.comm = win.get();
            header.status = MsgStatus::EMPTY;
            header.completion.rearm();
        }
        Ok(Pending(request))
    }

    /// Makes a request that the host has a slot for.
    fn make(&self) -> Result<Address<Request>, Status> {
        let owner = Owner::of(&*self.shared);
        let header = UnsafeCell::new(RequestHeader::new(RequestHeader::OTHER, OPS, owner));
        let made = Box::into_raw(Box::new(Request { header, released: Cell::new(false) }));
        // SAFETY: the box stays until the pool goes, which is behind the instance's use of it.
        let status = unsafe { self.shared.host.request_slot(made.cast()) };
        if status.is_err() {
            // SAFETY: made above; the host has refused it.
            drop(unsafe { Box::from_raw(made) });
            return Err(status);
        }
        // SAFETY: the pool's, whose lock says who changes it; `Request` is `Sync`.
        Ok(unsafe { Address::of(made) })
    }
}

/// The right to end a pending request, which uses it up. One that is dropped is forgotten: it is free again, as if it had not been taken; so the host does not
/// get to see the request of such a one.
#[must_use]
pub struct Pending(&'static Request);

impl Pending {
    /// Gives the request, for the host.
    #[inline]
    pub fn request(&self) -> &'static Request {
        self.0
    }

    /// Ends the request; if the host has released it, it is free again.
    pub fn complete(self, status: Status) {
        let request = self.0;
        core::mem::forget(self);
        let pool = request.pool();
        let mut lists = pool.lock();
        // SAFETY: it is pending, so the status is its owner's; the host reads it once it is complete.
        unsafe { (*request.header()).status.error = status };
        if request.released.get() {
            lists.free.push(request);
            return;
        }
        // SAFETY: a live header; it is completed once for each `take`, since that gave one `Pending`, which is used up here.
        unsafe { RequestHeader::complete(request.header(), &pool.host, pool.host.threaded()) };
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.pool().lock().free.push(self.0);
    }
}

impl Request {
    /// The pool that it is of.
    fn pool(&self) -> &Shared {
        // SAFETY: `make` has written the owner, which nobody changes, and which outlives its requests.
        unsafe { &*(*self.header()).owner.cast::<Shared>() }
    }
}

/// The host is done with a request.
extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: the host calls the function that a header names with that header, and only requests of a pool name this one.
    let request: &'static Request = unsafe { &*req.cast() };
    let mut lists = request.pool().lock();
    // SAFETY: the completion word is for all threads; requests complete under the lock.
    if unsafe { (*req).completion.is_complete() } {
        lists.free.push(request);
    } else {
        request.released.set(true);
    }
}

/// One-sided operations are neither cancelled (MPI 5.0 §3.8.4) nor persistent.
extern "C" fn refuse(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

/// Ending uses the right up:
///
/// ```compile_fail,E0382
/// use oxmpi_mca::Status;
/// fn twice(pending: oxmpi_osc_support::Pending) {
///     pending.complete(Status::OK);
///     pending.complete(Status::OK);
/// }
/// ```
#[allow(dead_code, reason = "its text is a test")]
struct ARequestEndsOnce;
