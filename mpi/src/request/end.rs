//! The end of requests: results are taken, handles end; and what else a program can do with one, start it or cancel it.

use super::generalized;
use super::owner::{Outcome, owner_of};
use super::word::{
    ACTIVE, COUNTED, FREED, GENERALIZED, Header, PERSISTENT, SHARED, clear_flags, flags, inactive, let_go,
    ready, set_flags,
};
use crate::call::memory::Out;
use crate::call::{counting, process};
use crate::constants::*;
use crate::error::{Failure, Res, check};
use crate::types::{Request, Status};
use oxmpi_mca::{Entry, MsgStatus, Status as Code};

/// A receive of the user's was started: its bytes are counted when it is waited for, if calls are counted.
pub fn count(req: Header) {
    if counting::on() {
        // SAFETY: nobody else knows it yet.
        unsafe { set_flags(req, COUNTED) }
    }
}

/// Takes the result of a request that is ready: fills the status, and ends the handle at `place`, which is the request's,
/// unless the request is persistent.
#[inline(always)]
pub fn collect(req: Header, place: Out<Request>, status: Out<Status>, entry: &mut Entry) -> Outcome {
    if flags(req) != 0 {
        return entry.apart(|entry| collect_special(req, place, status, entry));
    }
    // SAFETY: complete, so the component is done with the status.
    let result = unsafe { req.status() };
    Status::store(status, &result);
    place.set(Request(MPI_REQUEST_NULL));
    let outcome = Outcome::of(&result, owner_of(req));
    let_go(req, 0, entry);
    outcome
}

#[cold]
fn collect_special(req: Header, place: Out<Request>, status: Out<Status>, entry: &mut Entry) -> Outcome {
    if flags(req) & GENERALIZED != 0 {
        return generalized::collect(req, place, status, entry);
    }
    if flags(req) & COUNTED != 0 {
        // SAFETY: the thread that completes a request has it.
        unsafe { clear_flags(req, COUNTED) };
        // SAFETY: complete, so the component is done with the status.
        let received = unsafe { req.status() }.bytes;
        if let Some(process) = process::current() {
            // SAFETY: requests that are counted are receives, whose communicator counts as used until they are given back.
            let comm = unsafe { owner_of(req).comm() }.map(|object| &*object.comm);
            counting::received(process, comm, received);
        }
        // An ordinary one now.
        return collect(req, place, status, entry);
    }
    let empty = inactive(req);
    // SAFETY: complete or inactive, the component does not write now.
    let result = if empty { MsgStatus::EMPTY } else { unsafe { req.status() } };
    Status::store(status, &result);
    if flags(req) & PERSISTENT == 0 {
        // The shared request stays as it is.
        place.set(Request(MPI_REQUEST_NULL));
    } else {
        // SAFETY: the thread that completes a request has it.
        unsafe { clear_flags(req, ACTIVE) };
    }
    Outcome::of(&result, owner_of(req))
}

/// The status of a ready request, without ending anything. Asks the user for that of a generalized one.
pub fn peek(req: Header, entry: &mut Entry) -> MsgStatus {
    if flags(req) & GENERALIZED != 0 {
        return generalized::query(req, entry);
    }
    // SAFETY: ready, the component does not write now.
    if inactive(req) { MsgStatus::EMPTY } else { unsafe { req.status() } }
}

/// The request of a nonblocking or persistent collective.
fn is_collective(req: Header) -> bool {
    oxmpi_runtime::host_requests::of(req).is_some_and(oxmpi_runtime::host_requests::schedule::is_collective)
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
pub fn free(req: Header, entry: &mut Entry) -> Res {
    if flags(req) & SHARED != 0 {
        return Ok(());
    }
    if flags(req) & GENERALIZED != 0 {
        return generalized::free(req, entry);
    }
    // SAFETY: the thread that frees a request has it.
    unsafe { clear_flags(req, COUNTED) };
    let owner = owner_of(req).word();
    let_go(req, if owner == 0 { 0 } else { owner | FREED }, &mut Entry::among());
    Ok(())
}

/// Starts a persistent request.
pub fn start(req: Header, entry: &mut Entry) -> Res {
    if flags(req) & PERSISTENT == 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is not persistent");
    }
    if flags(req) & ACTIVE != 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is active already");
    }
    // SAFETY: the thread that starts a request has it; it is persistent and inactive.
    let result = unsafe {
        set_flags(req, ACTIVE);
        check(req.start(entry))
    };
    if result.is_err() {
        // SAFETY: it was not started, so it is still this thread's.
        unsafe { clear_flags(req, ACTIVE) };
    }
    result
}

/// MPI_Cancel: an attempt; the request is to be completed in any case.
pub fn cancel(req: Header, entry: &mut Entry) -> Res {
    if flags(req) & GENERALIZED != 0 {
        return generalized::cancel(req, entry);
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
    // SAFETY: the thread that cancels a request has it; it is started.
    match unsafe { req.cancel(entry) } {
        // The standard lets an operation that cannot be cancelled complete as if nobody had asked.
        Code::NOT_SUPPORTED | Code::NOT_FOUND | Code::PENDING => Ok(()),
        other => check(other),
    }
}
