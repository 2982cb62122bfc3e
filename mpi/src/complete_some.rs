//! Wait and Test for any and for some of many requests.
//!
//! A program that keeps many operations under way asks for all of them over and over, and most often learns that none is
//! complete, or one. So what counts is what it takes to pass over a request that is pending
//! ([`request::pending_or_null`]); whatever is not plainly that is looked at with care.

use crate::call::entry::{self, CallContext};
use crate::call::memory::{slice_mut, write};
use crate::call::process::Process;
use crate::complete::{Errors, PORTION, arguments, finish, is_array, status_at};
use crate::constants::*;
use crate::error::{Res, call, raise};
use crate::request::second_lookup::find_again;
use crate::request::{self, Header, collect, find, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use core::ptr::null_mut;
use oxmpi_mca::{RequestHeader, ThreadCtx};

/// Result of a look at many requests.
enum ListState {
    /// No active request among them.
    NoneActive,
    /// The first that is ready.
    Ready(usize),
    Pending,
}

/// Looks at the requests up to the first that is ready, and on to the last if `all`: then a wrong handle is an error
/// wherever it stands. A caller that tests many again and again mostly learns that none is ready, so one walk takes few
/// instructions for each, and no state is kept between calls.
#[inline(always)]
fn look(process: &Process, requests: &[Request], all: bool) -> Res<ListState> {
    let mut found = ListState::NoneActive;
    let mut i = 0;
    while i < requests.len() {
        match request_state(process, requests[i])? {
            RequestState::Inactive => {}
            RequestState::Ready if matches!(found, ListState::Ready(_)) => {}
            RequestState::Ready if all => found = ListState::Ready(i),
            RequestState::Ready => return Ok(ListState::Ready(i)),
            RequestState::Pending => {
                if matches!(found, ListState::NoneActive) {
                    found = ListState::Pending;
                }
                // One that was never started counts no more now.
                let rest = &requests[i + 1..];
                if !rest.is_empty() {
                    i += request::pending_or_null(process, rest);
                }
            }
        }
        i += 1;
    }
    Ok(found)
}

/// State of one of many requests.
enum RequestState {
    /// Or no request.
    Inactive,
    Pending,
    Ready,
}

#[inline(always)]
fn request_state(process: &Process, request: Request) -> Res<RequestState> {
    let req = match find(process, request) {
        Some(req) => req,
        None if request.0 == MPI_REQUEST_NULL => return Ok(RequestState::Inactive),
        None => find_again(process, request).ok_or_else(|| request::wrong(request))?,
    };
    Ok(match request::complete(req) {
        _ if request::inactive(req) => RequestState::Inactive,
        true => RequestState::Ready,
        false => RequestState::Pending,
    })
}

/// Looks ([`look`]) until there is something to tell, or has one turn of progress and looks again if that brought anything.
#[inline(always)]
fn look_or_wait(
    CallContext { process, thread }: CallContext,
    wait: bool,
    requests: &[Request],
    all: bool,
) -> Res<ListState> {
    let mut found = look(process, requests, all)?;
    while matches!(found, ListState::Pending) {
        if wait {
            block(process, thread, requests);
        } else if process.instance.poll(thread) == 0 {
            break;
        }
        found = look(process, requests, all)?;
        if !wait {
            break;
        }
    }
    Ok(found)
}

/// Waits until one of the requests is ready.
fn block(process: &Process, thread: *mut ThreadCtx, requests: &[Request]) {
    let header = |request: &Request| {
        let req = find(process, *request).filter(|req| !request::inactive(*req));
        req.map_or(null_mut(), Header::as_ptr)
    };
    let mut few = [null_mut::<RequestHeader>(); PORTION];
    if let Some(few) = few.get_mut(..requests.len()) {
        few.iter_mut().zip(requests).for_each(|(to, request)| *to = header(request));
        return process.instance.wait_any(thread, few);
    }
    let many: Vec<_> = requests.iter().map(header).collect();
    process.instance.wait_any(thread, &many);
}

/// Body of Waitany and Testany: `wait` tells which. Gives the flag of Testany.
#[inline(always)]
fn any(
    here: CallContext,
    name: &'static str,
    wait: bool,
    (count, requests): (c_int, *mut Request),
    (index, flag): (*mut c_int, *mut c_int),
    status: *mut Status,
) -> c_int {
    let requests = match count {
        0 => &mut [],
        // SAFETY: the caller promises `count` handles.
        count => unsafe { core::slice::from_raw_parts_mut(requests, count as usize) },
    };
    let found = match look_or_wait(here, wait, requests, false) {
        Ok(found) => found,
        Err(failure) => return raise(name, None, failure),
    };
    let (at, done) = match found {
        ListState::Pending => (MPI_UNDEFINED, 0),
        ListState::NoneActive => {
            // SAFETY: null or the caller's status.
            unsafe { Status::store_status(status, &Status::EMPTY) };
            (MPI_UNDEFINED, 1)
        }
        ListState::Ready(i) => (i as c_int, 1),
    };
    // SAFETY: not null; the caller's places.
    unsafe { (*index, *flag) = (at, done) };
    if let ListState::Ready(i) = found
        && let Some(req) = find(here.process, requests[i])
    {
        // SAFETY: ready; the pointers are the caller's.
        let outcome = unsafe { collect(req, &mut requests[i], status, here.thread) };
        return finish(name, outcome);
    }
    MPI_SUCCESS
}

/// Whether all places that Waitany and Testany write are there.
#[inline(always)]
fn has_places(count: c_int, requests: *mut Request, index: *mut c_int, flag: *mut c_int) -> bool {
    is_array(count, requests) && !index.is_null() && !flag.is_null()
}

#[cold]
#[inline(never)]
fn slow_any(
    name: &'static str,
    wait: bool,
    (count, requests): (c_int, *mut Request),
    (index, flag): (*mut c_int, *mut c_int),
    status: *mut Status,
) -> c_int {
    match entry::call_context().filter(|_| has_places(count, requests, index, flag)) {
        Some(here) => any(here, name, wait, (count, requests), (index, flag), status),
        None => call(name, None, |_| {
            arguments(count, requests)?;
            write(index, "indx", MPI_UNDEFINED)?;
            write(flag, "flag", 0)
        }),
    }
}

mpi_fn! {
    hot fn MPI_Waitany(count: c_int, array_of_requests: *mut Request, indx: *mut c_int, status: *mut Status) -> c_int |here| {
        let flag = &mut 0;
        let (Some(here), true) = (here, has_places(count, array_of_requests, indx, flag)) else {
            return slow_any(NAME, true, (count, array_of_requests), (indx, flag), status);
        };
        any(here, NAME, true, (count, array_of_requests), (indx, flag), status)
    }
}
mpi_fn! {
    hot fn MPI_Testany(count: c_int, array_of_requests: *mut Request, indx: *mut c_int, flag: *mut c_int, status: *mut Status) -> c_int |here| {
        let (Some(here), true) = (here, has_places(count, array_of_requests, indx, flag)) else {
            return slow_any(NAME, false, (count, array_of_requests), (indx, flag), status);
        };
        any(here, NAME, false, (count, array_of_requests), (indx, flag), status)
    }
}

/// Body of Waitsome and Testsome.
#[inline(always)]
fn some(
    here: Option<CallContext>,
    name: &'static str,
    wait: bool,
    requests: (c_int, *mut Request),
    outcount: *mut c_int,
    told: (*mut c_int, *mut Status),
) -> c_int {
    let Some(here) = here.or_else(entry::call_context) else { return call(name, None, |_| Ok(())) };
    let mut errors = Errors::default();
    match collect_some(here, wait, requests, told, &mut errors) {
        Err(failure) => raise(name, None, failure),
        Ok(done) => match write(outcount, "outcount", done) {
            Err(failure) => raise(name, None, failure),
            Ok(()) => errors.report(name, told.1, done.max(0) as usize),
        },
    }
}

/// Ends those that are ready, and gives the outcount.
#[inline(always)]
fn collect_some(
    here: CallContext,
    wait: bool,
    (count, requests): (c_int, *mut Request),
    (indices, statuses): (*mut c_int, *mut Status),
    errors: &mut Errors,
) -> Res<c_int> {
    let requests = arguments(count, requests)?;
    let found = look_or_wait(here, wait, requests, true)?;
    if matches!(found, ListState::NoneActive) {
        return Ok(MPI_UNDEFINED);
    }
    let indices = slice_mut(indices, requests.len(), "array_of_indices")?;
    let ListState::Ready(first) = found else { return Ok(0) };
    let mut done = 0;
    let mut i = first;
    while i < requests.len() {
        let req = find(here.process, requests[i]).filter(|req| !request::inactive(*req) && ready(*req));
        if let Some(req) = req {
            // SAFETY: ready; the pointers are the caller's.
            let outcome = unsafe { collect(req, &mut requests[i], status_at(statuses, done), here.thread) };
            indices[done] = i as c_int;
            if outcome.is_err() {
                errors.note(done, outcome);
            }
            done += 1;
        } else {
            i += request::pending_or_null(here.process, &requests[i + 1..]);
        }
        i += 1;
    }
    Ok(done as c_int)
}

mpi_fn! {
    hot fn MPI_Waitsome(incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut Status) -> c_int |here| {
        some(here, NAME, true, (incount, array_of_requests), outcount, (array_of_indices, array_of_statuses))
    }
}
mpi_fn! {
    hot fn MPI_Testsome(incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut Status) -> c_int |here| {
        some(here, NAME, false, (incount, array_of_requests), outcount, (array_of_indices, array_of_statuses))
    }
}
