//! Requests that are nobody's but ours: those for MPI_PROC_NULL, persistent buffered sends, generalized
//! requests. They complete by a call of the user (at once, or MPI_Grequest_complete), not by progress.
//!
//! An object is made when the pool is empty and never freed, as handles demand. **Access:** the
//! maker writes `operation` until the handle is given out; it is constant after that, and the releaser's at the
//! end. `word` decides between a thread that completes a generalized request and one that frees it: each
//! sets its bit, and the thread that finds the other's bit is the last and cleans up.

use crate::call::memory::Address;
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{Failure, Res};
use crate::request::owner::give;
use crate::request::word::{Header, SHARED, handle_of, mark_live};
use crate::types::{Request, Status};
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_datatype::TypeRef;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::{MsgStatus, Owner, RequestHeader, Status as Code, ThreadCtx};
use oxmpi_runtime::Instance;
use parking_lot::Mutex;

/// The operation that a request of ours stands for.
#[derive(Default)]
pub enum LocalOperation {
    /// An operation with MPI_PROC_NULL.
    #[default]
    Nobody,
    Buffered(Persistent),
    Generalized(Functions),
}

/// A persistent buffered send.
pub struct Persistent {
    pub object: &'static CommObject,
    pub buf: Address,
    pub count: u64,
    pub dtype: TypeRef,
    pub dest: c_int,
    pub tag: c_int,
}

pub type QueryFn = unsafe extern "C-unwind" fn(*mut c_void, *mut Status) -> c_int;
pub type FreeFn = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
pub type CancelFn = unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int;

/// The user's callbacks of a generalized request.
#[derive(Clone, Copy)]
pub struct Functions {
    pub query: QueryFn,
    pub free: FreeFn,
    pub cancel: CancelFn,
    pub extra: *mut c_void,
}

/// A request of ours.
#[repr(C)]
pub struct LocalRequest {
    header: RequestHeader,
    pub operation: UnsafeCell<LocalOperation>,
    word: AtomicU32,
}

const COMPLETE: u32 = 1;
const FREED: u32 = 2;

static OPS: RequestOps =
    RequestOps { size: size_of::<RequestOps>() as u32, reserved: 0, release, cancel, start };

extern "C" fn release(req: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: our requests begin with their header and live for ever; nobody else has this one now.
    let own = unsafe { &*req.cast::<LocalRequest>() };
    // SAFETY: nobody else has it now, and `operation` is the releaser's.
    drop(core::mem::take(unsafe { &mut *own.operation.get() }));
    // SAFETY: the pool is leaked with the process.
    let pool = unsafe { &*(own.header.owner as *const Mutex<Vec<usize>>) };
    pool.lock().push(req as usize);
}

/// All but generalized requests, which do not come here, are complete since they were started.
extern "C" fn cancel(_: *mut RequestHeader) -> Code {
    Code::OK
}

extern "C" fn start(req: *mut RequestHeader) -> Code {
    // SAFETY: ours begin with their header and live for ever; the request is inactive and its handle alive, so nobody changes the operation.
    match unsafe { &*(*req.cast::<LocalRequest>()).operation.get() } {
        // SAFETY: a request's owner is called by `Header::start`, whose caller has lent its entry.
        LocalOperation::Buffered(send) => unsafe { send.start() },
        _ => Code::OK,
    }
}

/// The request of a header, if it is one of ours.
pub fn of(req: Header) -> Option<&'static LocalRequest> {
    // SAFETY: the object is there; `ops` tells whose it is. Ours begin with their header and are never given back.
    unsafe { core::ptr::eq((*req.as_ptr()).ops, &OPS).then(|| &*req.as_ptr().cast::<LocalRequest>()) }
}

impl LocalRequest {
    pub fn operation(&self) -> &LocalOperation {
        // SAFETY: constant while the handle is alive.
        unsafe { &*self.operation.get() }
    }
    /// The user completes it. True: it was freed before, so the caller cleans up.
    pub fn set_complete(&self) -> Res<bool> {
        // SYNC POINT with `set_freed`.
        let before = self.word.fetch_or(COMPLETE, Ordering::AcqRel);
        if before & COMPLETE != 0 {
            return Failure::err(MPI_ERR_REQUEST, "request was completed before");
        }
        Ok(before & FREED != 0)
    }
    /// The user frees it. True: it is complete, so the caller cleans up.
    pub fn set_freed(&self) -> bool {
        // SYNC POINT with `set_complete`.
        self.word.fetch_or(FREED, Ordering::AcqRel) & COMPLETE != 0
    }
}

/// Generation of the requests that are complete for ever.
const UNLIKELY: u32 = 0xa7;

/// The pool, and the two requests that are complete for ever.
pub struct Pool {
    shared: Header,
    sent: Request,
    free: Box<Mutex<Vec<usize>>>,
}

impl Pool {
    pub fn new(instance: &Instance) -> Res<Pool> {
        let free = Box::new(Mutex::new(Vec::new()));
        let shared = || -> Res<Header> {
            let req = make(instance, &free)?;
            // SAFETY: just made.
            let header = unsafe { &mut *req.as_ptr() };
            header.flags = SHARED;
            // Never given back, so its handle is good for ever: not one that a wild number hits easily.
            header.generation.store(UNLIKELY, Ordering::Relaxed);
            header.completion.finish_alone();
            mark_live(req);
            Ok(req)
        };
        let (to_nobody, sent) = (shared()?, handle_of(shared()?));
        // SAFETY: nobody else knows it.
        unsafe { (*to_nobody.as_ptr()).status.source = MPI_PROC_NULL };
        Ok(Pool { shared: to_nobody, sent, free })
    }
    /// Stands for every operation with MPI_PROC_NULL.
    pub fn shared(&self) -> Header {
        self.shared
    }
    /// Stands for every send that was complete before its call returned.
    #[inline(always)]
    pub fn sent(&self) -> Request {
        self.sent
    }

    /// A request that stands for `operation`: pending, without flags, with an empty status.
    pub fn take(&self, instance: &Instance, operation: LocalOperation) -> Res<Header> {
        let used = self.free.lock().pop().map(|address| address as *mut RequestHeader);
        let req = match used.and_then(NonNull::new) {
            // SAFETY: one of ours, which are never given back.
            Some(req) => unsafe { Header::new(req) },
            None => make(instance, &self.free)?,
        };
        // SAFETY: nobody else has it.
        unsafe {
            let own = &mut *req.as_ptr().cast::<LocalRequest>();
            own.operation = UnsafeCell::new(operation);
            own.word = AtomicU32::new(0);
            own.header.completion.rearm();
            own.header.flags = 0;
            own.header.status = MsgStatus::EMPTY;
        }
        Ok(req)
    }

    /// A request that is complete, of an operation with MPI_PROC_NULL.
    pub fn take_complete(&self, instance: &Instance, operation: LocalOperation) -> Res<Header> {
        let req = self.take(instance, operation)?;
        // SAFETY: nobody else has it.
        let header = unsafe { &mut *req.as_ptr() };
        header.status.source = MPI_PROC_NULL;
        header.completion.finish_alone();
        mark_live(req);
        Ok(req)
    }

    /// A persistent request that is complete whenever it was started.
    pub fn persistent(
        &self,
        instance: &Instance,
        object: &'static CommObject,
        operation: LocalOperation,
    ) -> Res<Header> {
        let nobody = matches!(operation, LocalOperation::Nobody);
        let req = self.take(instance, operation)?;
        // SAFETY: nobody else has it.
        let header = unsafe { &mut *req.as_ptr() };
        header.completion.finish_alone();
        header.flags = RequestHeader::PERSISTENT;
        if nobody {
            header.status.source = MPI_PROC_NULL;
        }
        give(object, req);
        Ok(req)
    }
}

fn make(instance: &Instance, pool: &Mutex<Vec<usize>>) -> Res<Header> {
    let mut header = RequestHeader::new(RequestHeader::OTHER, &OPS, Owner::of(pool));
    header.comm = null_mut();
    let own =
        LocalRequest { header, operation: UnsafeCell::new(LocalOperation::Nobody), word: AtomicU32::new(0) };
    let own: *mut LocalRequest = Box::leak(Box::new(own));
    let no_memory = |_| Failure::new(MPI_ERR_NO_MEM, "too many requests");
    // SAFETY: just made, and never given back.
    unsafe {
        instance.requests().insert(own.cast()).map_err(no_memory)?;
        Ok(Header::new(NonNull::new_unchecked(own.cast())))
    }
}
