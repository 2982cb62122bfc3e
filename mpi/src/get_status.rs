//! MPI_Request_get_status and its forms for many requests: Test that ends nothing.

use crate::call::memory::{slice, slice_mut, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res, call, class_of};
use crate::request::second_lookup::find_or_null;
use crate::request::{self, Header, peek, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use oxmpi_mca::MsgStatus;

/// The requests of an array, after one turn of progress if one of them is not ready.
fn all(process: &Process, count: c_int, requests: *const Request) -> Res<Vec<Option<Header>>> {
    let Ok(count) = usize::try_from(count) else {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    };
    let requests = slice(requests, count, "array_of_requests")?;
    let headers = requests.iter().map(|r| find_or_null(process, *r)).collect::<Res<Vec<_>>>()?;
    if headers.iter().flatten().any(|req| !ready(*req)) {
        process.instance.poll(process.thread());
    }
    Ok(headers)
}

/// Fills a status from what a request said, or the empty one from none.
fn tell(result: Option<&MsgStatus>, at: *mut Status, with_error: bool) {
    let Some(result) = result else {
        // SAFETY: null or the caller's status.
        return unsafe { Status::store_status(at, &Status::EMPTY) };
    };
    // SAFETY: null or the caller's status.
    unsafe {
        Status::store(at, result);
        if with_error {
            Status::store_error(at, class_of(result.error));
        }
    }
}

/// The error of a request that alone was asked about.
fn alone(result: Option<MsgStatus>) -> Res {
    result.map_or(Ok(()), |result| crate::error::check(result.error))
}

fn place(statuses: *mut Status, i: usize) -> *mut Status {
    if statuses.is_null() { statuses } else { statuses.wrapping_add(i) }
}

fn in_status<T>() -> Res<T> {
    Failure::err(MPI_ERR_IN_STATUS, "some operations failed; the statuses say which")
}

mpi_fn! {
    fn MPI_Request_get_status(request: Request, flag: *mut c_int, status: *mut Status) -> c_int {
        call(NAME, None, |process| {
            let req = all(process, 1, &request)?[0];
            let there = req.is_none_or(ready);
            write(flag, "flag", there as c_int)?;
            if !there {
                return Ok(());
            }
            let result = req.map(peek);
            tell(result.as_ref(), status, false);
            alone(result)
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_all(count: c_int, array_of_requests: *const Request, flag: *mut c_int, array_of_statuses: *mut Status) -> c_int {
        call(NAME, None, |process| {
            let headers = all(process, count, array_of_requests)?;
            let there = headers.iter().flatten().all(|req| ready(*req));
            write(flag, "flag", there as c_int)?;
            if !there {
                return Ok(());
            }
            let results: Vec<_> = headers.iter().map(|req| req.map(peek)).collect();
            let failed = results.iter().flatten().any(|result| result.error.is_err());
            for (i, result) in results.iter().enumerate() {
                tell(result.as_ref(), place(array_of_statuses, i), failed);
            }
            if failed { in_status() } else { Ok(()) }
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_any(count: c_int, array_of_requests: *const Request, indx: *mut c_int, flag: *mut c_int, status: *mut Status) -> c_int {
        call(NAME, None, |process| {
            let headers = all(process, count, array_of_requests)?;
            let active = |req: &Option<Header>| req.is_some_and(|req| !request::inactive(req));
            let found = headers.iter().position(|req| active(req) && req.is_some_and(ready));
            let none_active = !headers.iter().any(active);
            write(indx, "indx", found.map_or(MPI_UNDEFINED, |i| i as c_int))?;
            write(flag, "flag", (found.is_some() || none_active) as c_int)?;
            if found.is_none() && !none_active {
                return Ok(());
            }
            let result = found.and_then(|i| headers[i]).map(peek);
            tell(result.as_ref(), status, false);
            alone(result)
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_some(incount: c_int, array_of_requests: *const Request, outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut Status) -> c_int {
        call(NAME, None, |process| {
            let headers = all(process, incount, array_of_requests)?;
            let active: Vec<(usize, Header)> = headers
                .iter()
                .enumerate()
                .filter_map(|(i, req)| req.filter(|req| !request::inactive(*req)).map(|req| (i, req)))
                .collect();
            if active.is_empty() {
                return write(outcount, "outcount", MPI_UNDEFINED);
            }
            let finished: Vec<(usize, Header)> = active.into_iter().filter(|(_, req)| ready(*req)).collect();
            let indices = slice_mut(array_of_indices, headers.len(), "array_of_indices")?;
            let results: Vec<_> = finished.iter().map(|(_, req)| peek(*req)).collect();
            let failed = results.iter().any(|result| result.error.is_err());
            for (at, ((i, _), result)) in finished.iter().zip(&results).enumerate() {
                indices[at] = *i as c_int;
                tell(Some(result), place(array_of_statuses, at), failed);
            }
            write(outcount, "outcount", finished.len() as c_int)?;
            if failed { in_status() } else { Ok(()) }
        })
    }
}
