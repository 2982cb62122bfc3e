//! Starting persistent requests; freeing and cancelling any.

use crate::call::entry::Inside;
use crate::call::memory::{Out, read, write};
use crate::call::process::{self, Process};
use crate::complete::arguments;
use crate::constants::*;
use crate::error::{ErrorObject, Res, call, raise_on, raise_without_call};
use crate::request;
use crate::request::second_lookup::find_or_wrong;
use crate::types::Request;
use core::ffi::c_int;
use oxmpi_mca::Entry;

mpi_fn! {
    fn MPI_Request_free(request: Out<Request>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let handle = read(request, "request")?;
            let req = find_or_wrong(process, handle)?;
            request::may_be_freed(req)?;
            let freed = request::free(req, entry);
            write(request, "request", Request(MPI_REQUEST_NULL))?;
            freed
        })
    }
}
mpi_fn! {
    fn MPI_Cancel(request: Out<Request>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let handle = read(request, "request")?;
            request::cancel(request::find_either(process, handle).ok_or_else(|| request::wrong(handle))?, entry)
        })
    }
}
mpi_fn! {
    fn MPI_Start(request: Out<Request>) -> c_int |here| {
        match read(request, "request") {
            Ok(handle) => start_all(here, NAME, &[handle]),
            Err(failure) => call(here, NAME, None, |_, _| Err(failure)),
        }
    }
}
mpi_fn! {
    fn MPI_Startall(count: c_int, array_of_requests: Out<Request>) -> c_int |here| {
        // SAFETY: the standard has the caller pass `array_of_requests` with `count` elements.
        match unsafe { arguments(count, array_of_requests) } {
            Ok(requests) => start_all(here, NAME, requests),
            Err(failure) => call(here, NAME, None, |_, _| Err(failure)),
        }
    }
}

/// Starts persistent requests in order; an error goes to the communicator of the one it is about.
fn start_all(here: Inside, name: &'static str, requests: &[Request]) -> c_int {
    let process = match process::require() {
        Ok(process) => process,
        Err(_) if requests.is_empty() => return MPI_SUCCESS,
        Err(failure) => return raise_without_call(name, ErrorObject::Nothing, failure),
    };
    let mut entry = here.of(process).entry;
    for handle in requests {
        let on = request::on(process, *handle);
        if let Err(failure) = start(process, &mut entry, *handle) {
            return raise_on(&mut entry, name, on, failure);
        }
    }
    MPI_SUCCESS
}

fn start(process: &Process, entry: &mut Entry, handle: Request) -> Res {
    let req = find_or_wrong(process, handle)?;
    request::start(req, entry)?;
    if let Some(made) = oxmpi_runtime::host_requests::of(req) {
        process.instance.run_first_work(entry, made);
    }
    Ok(())
}
