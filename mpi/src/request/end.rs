//! The end of requests: results are taken, handles end; and what else a program can do with one, start it or cancel it.

use super::generalized;
use super::owner::{Outcome, WINDOW, comm_of};
use super::word::{
    ACTIVE, BITS, COUNTED, FREED, GENERALIZED, Header, PERSISTENT, SHARED, comm_word, flags, inactive,
    let_go, ready,
};
use crate::call::{counting, process};
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{Failure, Res, check};
use crate::types::{Request, Status};
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use oxmpi_mca::{MsgStatus, RequestHeader, Status as Code, ThreadCtx};

/// A receive of the user's was started: its bytes are counted when it is waited for, if calls are counted.
pub fn count(req: *mut RequestHeader) {
    if counting::on() {
        // SAFETY: a live request that nobody else knows yet.
        unsafe { (*req).flags |= COUNTED }
    }
}

/// Takes the result of a request that is ready: fills the status, and ends the handle at `place`
/// unless the request is persistent. `thread`: the caller's context, or null.
///
/// # Safety
/// `place` must point to the request's handle, `status` be MPI_STATUS_IGNORE or point to a status.
#[inline(always)]
pub unsafe fn collect(
    req: Header,
    place: *mut Request,
    status: *mut Status,
    thread: *mut ThreadCtx,
) -> Outcome {
    if flags(req) != 0 {
        // SAFETY: the caller's promise.
        return unsafe { collect_special(req, place, status, thread) };
    }
    // SAFETY: complete, so the component is done with the status.
    let result = unsafe { (*req.as_ptr()).status };
    // SAFETY: the caller's promise.
    unsafe {
        Status::store(status, &result);
        *place = Request(MPI_REQUEST_NULL);
    }
    let outcome = Outcome::of(&result, comm_of(req));
    let_go(req, 0, thread);
    outcome
}

/// # Safety
/// As [`collect`].
#[cold]
unsafe fn collect_special(
    req: Header,
    place: *mut Request,
    status: *mut Status,
    thread: *mut ThreadCtx,
) -> Outcome {
    if flags(req) & GENERALIZED != 0 {
        // SAFETY: the caller's promise.
        return unsafe { generalized::collect(req, place, status) };
    }
    if flags(req) & COUNTED != 0 {
        // SAFETY: complete; the thread that completes a request holds it.
        let received = unsafe {
            (*req.as_ptr()).flags &= !COUNTED;
            (*req.as_ptr()).status.bytes
        };
        if let Some(process) = process::current() {
            let at = comm_word(req).load(Ordering::Relaxed);
            let object = (at & WINDOW == 0).then_some((at & !BITS) as *const CommObject);
            // SAFETY: requests that are counted are receives, whose communicator counts as used until they are given back.
            let comm = object.and_then(|object| unsafe { object.as_ref() }).map(|object| &*object.comm);
            counting::received(process, comm, received);
        }
        // SAFETY: the caller's promise; an ordinary one now.
        return unsafe { collect(req, place, status, thread) };
    }
    let empty = inactive(req);
    // SAFETY: complete or inactive, the component does not write now.
    let result = if empty { MsgStatus::EMPTY } else { unsafe { (*req.as_ptr()).status } };
    // SAFETY: the caller's promise.
    unsafe { Status::store(status, &result) };
    if flags(req) & PERSISTENT == 0 {
        // SAFETY: the caller's promise. The shared request stays as it is.
        unsafe { *place = Request(MPI_REQUEST_NULL) };
    } else {
        // SAFETY: the thread that completes a request holds it.
        unsafe { (*req.as_ptr()).flags &= !ACTIVE };
    }
    Outcome::of(&result, comm_of(req))
}

/// The status of a ready request, without ending anything. Asks the user for that of a generalized one.
pub fn peek(req: Header) -> MsgStatus {
    if flags(req) & GENERALIZED != 0 {
        return generalized::query(req);
    }
    // SAFETY: ready, the component does not write now.
    if inactive(req) { MsgStatus::EMPTY } else { unsafe { (*req.as_ptr()).status } }
}

/// The request of a nonblocking or persistent collective.
fn is_collective(req: Header) -> bool {
    // SAFETY: a request of the running instance.
    unsafe { oxmpi_runtime::host_requests::of(req.as_ptr()) }
        .is_some_and(oxmpi_runtime::host_requests::schedule::is_collective)
}

/// Whether the program may free it: it has to wait for nonblocking collectives (MPI 5.0 §6.12).
pub fn may_be_freed(req: Header) -> Res {
    if flags(req) & PERSISTENT == 0 && is_collective(req) {
        return Failure::err(
            MPI_ERR_REQUEST,
            "request is that of a nonblocking collective; it is to be waited for",
        );
    }
    Ok(())
}

/// MPI_Request_free: the operation goes on, the handle ends.
pub fn free(req: Header) -> Res {
    if flags(req) & SHARED != 0 {
        return Ok(());
    }
    if flags(req) & GENERALIZED != 0 {
        return generalized::free(req);
    }
    // SAFETY: the thread that frees a request holds it.
    unsafe { (*req.as_ptr()).flags &= !COUNTED };
    let comm = comm_of(req) as usize;
    let_go(req, if comm == 0 { 0 } else { comm | FREED }, null_mut());
    Ok(())
}

/// Starts a persistent request.
pub fn start(req: Header) -> Res {
    if flags(req) & PERSISTENT == 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is not persistent");
    }
    if flags(req) & ACTIVE != 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is active already");
    }
    // SAFETY: the thread that starts a request holds it; `ops` is the owner's table.
    let start = unsafe {
        (*req.as_ptr()).flags |= ACTIVE;
        (*(*req.as_ptr()).ops).start
    };
    let result = check(start(req.as_ptr()));
    if result.is_err() {
        // SAFETY: as above.
        unsafe { (*req.as_ptr()).flags &= !ACTIVE };
    }
    result
}

/// MPI_Cancel: an attempt; the request is to be completed in any case.
pub fn cancel(req: Header) -> Res {
    if flags(req) & GENERALIZED != 0 {
        return generalized::cancel(req);
    }
    if is_collective(req) {
        return Failure::err(MPI_ERR_REQUEST, "request is that of a collective, which cannot be cancelled");
    }
    if inactive(req) {
        return Failure::err(MPI_ERR_REQUEST, "request is persistent and not active");
    }
    if ready(req) {
        return Ok(());
    }
    // SAFETY: the owner's table, valid as long as the request.
    let cancel = unsafe { (*(*req.as_ptr()).ops).cancel };
    match cancel(req.as_ptr()) {
        // The standard lets an operation that cannot be cancelled complete as if nobody had asked.
        Code::NOT_SUPPORTED | Code::NOT_FOUND | Code::PENDING => Ok(()),
        other => check(other),
    }
}
