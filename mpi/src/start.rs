//! Starting persistent requests; freeing and cancelling any.

use crate::call::memory::{read, write};
use crate::call::process;
use crate::complete::arguments;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, call, call_on};
use crate::request;
use crate::request::second_lookup::find_or_wrong;
use crate::types::Request;
use core::ffi::c_int;

mpi_fn! {
    fn MPI_Request_free(request: *mut Request) -> c_int {
        call(NAME, None, |process| {
            let handle = read(request, "request")?;
            let req = find_or_wrong(process, handle)?;
            request::may_be_freed(req)?;
            let freed = request::free(req);
            write(request, "request", Request(MPI_REQUEST_NULL))?;
            freed
        })
    }
}
mpi_fn! {
    fn MPI_Cancel(request: *mut Request) -> c_int {
        call(NAME, None, |process| {
            let handle = read(request, "request")?;
            request::cancel(request::find_either(process, handle).ok_or_else(|| request::wrong(handle))?)
        })
    }
}
mpi_fn! {
    fn MPI_Start(request: *mut Request) -> c_int {
        // SAFETY: null, or the caller's handle.
        start_all(NAME, unsafe { request.as_ref() }.map_or(&[], core::slice::from_ref), "request", request.is_null())
    }
}
mpi_fn! {
    fn MPI_Startall(count: c_int, array_of_requests: *mut Request) -> c_int {
        match arguments(count, array_of_requests) {
            Ok(requests) => start_all(NAME, requests, "array_of_requests", false),
            Err(failure) => call(NAME, None, |_| Err(failure)),
        }
    }
}

/// Starts persistent requests in order; an error goes to the communicator of the one it is about.
fn start_all(name: &'static str, requests: &[Request], what: &str, null: bool) -> c_int {
    if null {
        return call(name, None, |_| Failure::err(MPI_ERR_ARG, format!("{what} is a null pointer")));
    }
    for handle in requests {
        let on = process::current().map_or(ErrorObject::Nothing, |process| request::on(process, *handle));
        let code = call_on(name, on, |process| {
            let req = find_or_wrong(process, *handle)?;
            request::start(req)?;
            // SAFETY: a request of the running instance.
            if let Some(made) = unsafe { oxmpi_runtime::host_requests::of(req.as_ptr()) } {
                process.instance.run_first_work(process.thread(), made);
            }
            Ok(())
        });
        if code != MPI_SUCCESS {
            return code;
        }
    }
    MPI_SUCCESS
}
