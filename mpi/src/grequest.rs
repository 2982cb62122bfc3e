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

use crate::call::local_requests::{CancelFn, FreeFn, Functions, LocalOperation, QueryFn};
use crate::call::memory::Out;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::p2p::place_of;
use crate::request;
use crate::request::generalized::{end_freed, functions};
use crate::request::word::GENERALIZED;
use crate::types::Request;
use core::ffi::{c_int, c_void};

fn function(f: usize, name: &str) -> Res<usize> {
    if f < 0x1000 { Failure::err(MPI_ERR_ARG, format!("{name} is {f:#x}, no function")) } else { Ok(f) }
}

mpi_fn! {
    fn MPI_Grequest_start(query_fn: usize, free_fn: usize, cancel_fn: usize, extra_state: *mut c_void, request: Out<Request>) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            place_of(request)?;
            let (query, free) = (function(query_fn, "query_fn")?, function(free_fn, "free_fn")?);
            let cancel = function(cancel_fn, "cancel_fn")?;
            // SAFETY: the user says they are functions of these types; null and sentinels are excluded.
            let functions = unsafe {
                Functions {
                    query: core::mem::transmute::<usize, QueryFn>(query),
                    free: core::mem::transmute::<usize, FreeFn>(free),
                    cancel: core::mem::transmute::<usize, CancelFn>(cancel),
                    extra: extra_state,
                }
            };
            let req = process.done.take(&process.instance, LocalOperation::Generalized(functions))?;
            // SAFETY: nobody else has it.
            unsafe { (*req.as_ptr()).flags = GENERALIZED };
            request::mark_live(req);
            crate::call::memory::write(request, "request", request::handle_of(req))
        })
    }
}
mpi_fn! {
    fn MPI_Grequest_complete(request: Request) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let req = request::find_either(process, request).ok_or_else(|| request::wrong(request))?;
            let Some((own, functions)) = functions(req) else {
                return Failure::err(MPI_ERR_REQUEST, "request is not a generalized request");
            };
            if own.set_complete()? {
                return end_freed(req, &functions, entry);
            }
            // SAFETY: pending until now: the bit just set says that nobody else completes it.
            unsafe { process.instance.complete_request(entry, req) };
            Ok(())
        })
    }
}
