//! Waits, tests, MPI_Request_free and MPI_Cancel of a generalized request: they call the user's functions (`grequest`
//! says when which).

use super::owner::{Outcome, Owner};
use super::word::{GENERALIZED, Header, let_go};
use crate::call::gate;
use crate::call::local_requests::{Functions, LocalOperation, LocalRequest, of};
use crate::call::memory::Out;
use crate::constants::*;
use crate::error::{Failure, Res, of_user};
use crate::types::{Request, Status};
use core::ffi::c_int;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, Status as Code};

/// The functions of a request, if it is a generalized one.
pub fn functions(req: Header) -> Option<(&'static LocalRequest, Functions)> {
    let own = of(req)?;
    match own.operation() {
        LocalOperation::Generalized(functions) => Some((own, *functions)),
        _ => None,
    }
}

/// A request that is complete and freed.
pub fn end_freed(req: Header, functions: &Functions, entry: &mut Entry) -> Res {
    // SAFETY: the user's function with the user's state.
    let code = gate::run_outside(entry, || unsafe { (functions.free)(functions.extra) });
    let_go(req, 0, &mut Entry::among());
    said(code)
}

fn said(code: c_int) -> Res {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Failure::err(code, "a callback function of a generalized request returned it"),
    }
}

/// Asks for the status of a completed request.
pub fn query(req: Header, entry: &mut Entry) -> MsgStatus {
    let Some((_, functions)) = functions(req) else { return MsgStatus::EMPTY };
    let mut status = Status::EMPTY;
    // SAFETY: the user's function with the user's state.
    let code = gate::run_outside(entry, || unsafe { (functions.query)(functions.extra, &mut status) });
    MsgStatus {
        source: status.source,
        tag: status.tag,
        error: of_user(code),
        cancelled: status.internal[2] as u32 & 1,
        bytes: status.bytes(),
    }
}

/// Ends a completed request in a wait or test, and its handle at `place`.
pub fn collect(req: Header, place: Out<Request>, status: Out<Status>, entry: &mut Entry) -> Outcome {
    let mut result = query(req, entry);
    Status::store(status, &result);
    place.set(Request(MPI_REQUEST_NULL));
    if let Some((_, functions)) = functions(req) {
        // SAFETY: the user's function with the user's state.
        let code = gate::run_outside(entry, || unsafe { (functions.free)(functions.extra) });
        if result.error == Code::OK {
            result.error = of_user(code);
        }
    }
    let_go(req, 0, &mut Entry::among());
    Outcome::of(&result, Owner::NOBODY)
}

/// MPI_Request_free. The handle of one that is not complete stays good for MPI_Grequest_complete.
pub fn free(req: Header, entry: &mut Entry) -> Res {
    match functions(req) {
        Some((own, functions)) if own.set_freed() => end_freed(req, &functions, entry),
        _ => Ok(()),
    }
}

/// MPI_Cancel.
pub fn cancel(req: Header, entry: &mut Entry) -> Res {
    let Some((_, functions)) = functions(req) else { return Ok(()) };
    let complete = req.is_complete();
    // SAFETY: the user's function with the user's state.
    said(gate::run_outside(entry, || unsafe { (functions.cancel)(functions.extra, complete as c_int) }))
}

const _: () = assert!(GENERALIZED & (RequestHeader::PERSISTENT | RequestHeader::ACTIVE) == 0);
