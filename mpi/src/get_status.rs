//! MPI_Request_get_status and its forms for many requests: Test that ends nothing.

use crate::call::memory::{In, Out, slice, slice_mut, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res, call, class_of};
use crate::request::second_lookup::find_or_null;
use crate::request::{self, Header, peek, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use oxmpi_mca::{Entry, MsgStatus};

/// The requests of an array, after one turn of progress if one of them is not ready.
///
/// # Safety
/// As for [`slice()`].
unsafe fn all(
    process: &Process,
    entry: &mut Entry,
    count: c_int,
    requests: In<Request>,
) -> Res<Vec<Option<Header>>> {
    let Ok(count) = usize::try_from(count) else {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    };
    // SAFETY: the caller's promise.
    let requests = unsafe { slice(requests, count, "array_of_requests") }?;
    let headers = requests.iter().map(|r| find_or_null(process, *r)).collect::<Res<Vec<_>>>()?;
    if headers.iter().flatten().any(|req| !ready(*req)) {
        process.instance.poll(entry);
    }
    Ok(headers)
}

/// Fills a status from what a request said, or the empty one from none.
fn tell(result: Option<&MsgStatus>, at: Out<Status>, with_error: bool) {
    let Some(result) = result else {
        return Status::store_status(at, &Status::EMPTY);
    };
    Status::store(at, result);
    if with_error {
        Status::store_error(at, class_of(result.error));
    }
}

/// The error of a request that alone was asked about.
fn alone(result: Option<MsgStatus>) -> Res {
    result.map_or(Ok(()), |result| crate::error::check(result.error))
}

fn in_status<T>() -> Res<T> {
    Failure::err(MPI_ERR_IN_STATUS, "some operations failed; the statuses say which")
}

mpi_fn! {
    fn MPI_Request_get_status(request: Request, flag: Out<c_int>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            // SAFETY: one handle, which is here.
            let req = unsafe { all(process, entry, 1, In::from(&request)) }?[0];
            let there = req.is_none_or(ready);
            write(flag, "flag", there as c_int)?;
            if !there {
                return Ok(());
            }
            let result = req.map(|req| peek(req, entry));
            tell(result.as_ref(), status, false);
            alone(result)
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_all(count: c_int, array_of_requests: In<Request>, flag: Out<c_int>, array_of_statuses: Out<Status>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            // SAFETY: the standard has the caller pass `array_of_requests` with `count` elements.
            let headers = unsafe { all(process, entry, count, array_of_requests) }?;
            let there = headers.iter().flatten().all(|req| ready(*req));
            write(flag, "flag", there as c_int)?;
            if !there {
                return Ok(());
            }
            let results: Vec<_> = headers.iter().map(|req| req.map(|req| peek(req, entry))).collect();
            let failed = results.iter().flatten().any(|result| result.error.is_err());
            for (i, result) in results.iter().enumerate() {
                // SAFETY: one for each request, or none.
                tell(result.as_ref(), unsafe { array_of_statuses.at(i) }, failed);
            }
            if failed { in_status() } else { Ok(()) }
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_any(count: c_int, array_of_requests: In<Request>, indx: Out<c_int>, flag: Out<c_int>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            // SAFETY: the standard has the caller pass `array_of_requests` with `count` elements.
            let headers = unsafe { all(process, entry, count, array_of_requests) }?;
            let active = |req: &Option<Header>| req.is_some_and(|req| !request::inactive(req));
            let found = headers.iter().position(|req| active(req) && req.is_some_and(ready));
            let none_active = !headers.iter().any(active);
            write(indx, "indx", found.map_or(MPI_UNDEFINED, |i| i as c_int))?;
            write(flag, "flag", (found.is_some() || none_active) as c_int)?;
            if found.is_none() && !none_active {
                return Ok(());
            }
            let result = found.and_then(|i| headers[i]).map(|req| peek(req, entry));
            tell(result.as_ref(), status, false);
            alone(result)
        })
    }
}
mpi_fn! {
    fn MPI_Request_get_status_some(incount: c_int, array_of_requests: In<Request>, outcount: Out<c_int>, array_of_indices: Out<c_int>, array_of_statuses: Out<Status>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            // SAFETY: the standard has the caller pass `array_of_requests` with `incount` elements.
            let headers = unsafe { all(process, entry, incount, array_of_requests) }?;
            let active: Vec<(usize, Header)> = headers
                .iter()
                .enumerate()
                .filter_map(|(i, req)| req.filter(|req| !request::inactive(*req)).map(|req| (i, req)))
                .collect();
            if active.is_empty() {
                return write(outcount, "outcount", MPI_UNDEFINED);
            }
            let finished: Vec<(usize, Header)> = active.into_iter().filter(|(_, req)| ready(*req)).collect();
            // SAFETY: the standard has the caller pass `array_of_indices` with `headers.len()` elements.
            let indices = unsafe { slice_mut(array_of_indices, headers.len(), "array_of_indices") }?;
            let results: Vec<_> = finished.iter().map(|(_, req)| peek(*req, entry)).collect();
            let failed = results.iter().any(|result| result.error.is_err());
            for (at, ((i, _), result)) in finished.iter().zip(&results).enumerate() {
                indices[at] = *i as c_int;
                // SAFETY: there are as many as requests, or none.
                tell(Some(result), unsafe { array_of_statuses.at(at) }, failed);
            }
            write(outcount, "outcount", finished.len() as c_int)?;
            if failed { in_status() } else { Ok(()) }
        })
    }
}
