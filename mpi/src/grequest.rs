//! Generalized requests: operations of the user's own (MPI 5.0 §13.2).
//!
//! **When what is called.** `query_fn` by every call that tells the status of a completed request: the
//! waits and tests when they complete it, and the forms of MPI_Request_get_status; once per call and
//! request, also where the user ignores statuses. `free_fn` once: behind `query_fn` where a wait or test
//! ends the request; in MPI_Request_free if the operation is complete, and else in
//! MPI_Grequest_complete. `cancel_fn` in MPI_Cancel. No lock and no guard is alive meanwhile.
//!
//! A callback returns an error code of the user; it comes out of the call that made the
//! callback, or stands in the status where that call tells of several requests.

use crate::constants::*;
use crate::error::{Failure, Res, call, of_user};
use crate::gate;
use crate::own::{self, Own, What};
use crate::p2p::place_of;
use crate::request::{self, Header, Outcome};
use crate::types::{Request, Status};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use oxmpi_mca::{MsgStatus, RequestHeader, Status as Code};

type Query = unsafe extern "C-unwind" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int;

/// The user's callbacks.
#[derive(Clone, Copy)]
pub struct Functions {
    query: Query,
    free: Free,
    cancel: Cancel,
    extra: *mut c_void,
}

/// The functions of a request, if it is a generalized one.
fn functions(req: Header) -> Option<(&'static Own, Functions)> {
    let own = own::of(req)?;
    match own.what() {
        What::Generalized(functions) => Some((own, *functions)),
        _ => None,
    }
}

fn function(f: usize, name: &str) -> Res<usize> {
    if f < 0x1000 { Failure::err(MPI_ERR_ARG, format!("{name} is {f:#x}, no function")) } else { Ok(f) }
}

mpi_fn! {
    fn MPI_Grequest_start(query_fn: usize, free_fn: usize, cancel_fn: usize, extra_state: *mut c_void, request: *mut Request) -> c_int {
        call(NAME, None, |process| {
            place_of(request)?;
            let (query, free) = (function(query_fn, "query_fn")?, function(free_fn, "free_fn")?);
            let cancel = function(cancel_fn, "cancel_fn")?;
            // SAFETY: the user says they are functions of these types; null and sentinels are excluded.
            let functions = unsafe {
                Functions {
                    query: core::mem::transmute::<usize, Query>(query),
                    free: core::mem::transmute::<usize, Free>(free),
                    cancel: core::mem::transmute::<usize, Cancel>(cancel),
                    extra: extra_state,
                }
            };
            let req = process.done.take(&process.instance, What::Generalized(functions))?;
            // SAFETY: nobody else has it.
            unsafe { (*req.as_ptr()).flags = request::GENERALIZED };
            request::mark_live(req);
            crate::memory::write(request, "request", request::handle_of(req))
        })
    }
}
mpi_fn! {
    fn MPI_Grequest_complete(request: Request) -> c_int {
        call(NAME, None, |process| {
            let req = request::find_either(process, request).ok_or_else(|| request::wrong(request))?;
            let Some((own, functions)) = functions(req) else {
                return Failure::err(MPI_ERR_REQUEST, "request is not a generalized request");
            };
            if own.set_complete()? {
                return end_freed(req, &functions);
            }
            process.instance.complete_request(req.as_ptr());
            Ok(())
        })
    }
}

/// A request that is complete and freed.
fn end_freed(req: Header, functions: &Functions) -> Res {
    // SAFETY: the user's function with the user's state.
    let code = gate::outside(|| unsafe { (functions.free)(functions.extra) });
    request::let_go(req, 0, null_mut());
    said(code)
}

fn said(code: c_int) -> Res {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Failure::err(code, "a callback function of a generalized request returned it"),
    }
}

/// Asks for the status of a completed request.
pub fn query(req: Header) -> MsgStatus {
    let Some((_, functions)) = functions(req) else { return MsgStatus::EMPTY };
    let mut status = Status::EMPTY;
    // SAFETY: the user's function with the user's state.
    let code = gate::outside(|| unsafe { (functions.query)(functions.extra, &mut status) });
    MsgStatus {
        source: status.source,
        tag: status.tag,
        error: of_user(code),
        cancelled: status.internal[2] as u32 & 1,
        bytes: status.bytes(),
    }
}

/// Ends a completed request in a wait or test.
///
/// # Safety
/// As `request::collect`.
pub unsafe fn collect(req: Header, place: *mut Request, status: *mut Status) -> Outcome {
    let mut result = query(req);
    // SAFETY: the caller's promise.
    unsafe {
        Status::store(status, &result);
        *place = Request(MPI_REQUEST_NULL);
    }
    if let Some((_, functions)) = functions(req) {
        // SAFETY: the user's function with the user's state.
        let code = gate::outside(|| unsafe { (functions.free)(functions.extra) });
        if result.error == Code::OK {
            result.error = of_user(code);
        }
    }
    request::let_go(req, 0, null_mut());
    Outcome::of(&result, core::ptr::null())
}

/// MPI_Request_free. The handle of one that is not complete stays good for MPI_Grequest_complete.
pub fn free(req: Header) -> Res {
    match functions(req) {
        Some((own, functions)) if own.set_freed() => end_freed(req, &functions),
        _ => Ok(()),
    }
}

/// MPI_Cancel.
pub fn cancel(req: Header) -> Res {
    let Some((_, functions)) = functions(req) else { return Ok(()) };
    // SAFETY: live header.
    let complete = unsafe { req.as_ref() }.completion.is_complete();
    // SAFETY: the user's function with the user's state.
    said(gate::outside(|| unsafe { (functions.cancel)(functions.extra, complete as c_int) }))
}

const _: () = assert!(request::GENERALIZED & (RequestHeader::PERSISTENT | RequestHeader::ACTIVE) == 0);
