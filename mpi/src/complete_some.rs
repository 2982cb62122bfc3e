//! Wait and Test for any and for some of many requests.
//!
//! A program that keeps many operations under way asks for all of them over and over, and most often learns that none is
//! complete, or one. So what counts is what it takes to pass over a request that is pending
//! ([`request::pending_or_null`]); whatever is not plainly that is looked at with care.

use crate::call::entry::{Admission, CallContext, Inside};
use crate::call::memory::{Out, slice_mut, write};
use crate::call::process::Process;
use crate::complete::{Errors, PORTION, Requests, arguments, finish, is_array};
use crate::constants::*;
use crate::error::{Failure, Res, call, raise};
use crate::request::second_lookup::find_again;
use crate::request::{self, collect, find, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use oxmpi_mca::Entry;

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
    process: &Process,
    entry: &mut Entry,
    wait: bool,
    requests: &[Request],
    all: bool,
) -> Res<ListState> {
    let mut found = look(process, requests, all)?;
    while matches!(found, ListState::Pending) {
        if wait {
            entry.apart(|entry| block(process, entry, requests));
        } else if process.instance.poll(entry) == 0 {
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
fn block(process: &Process, entry: &mut Entry, requests: &[Request]) {
    let header = |request: &Request| find(process, *request).filter(|req| !request::inactive(*req));
    let mut few = [None; PORTION];
    if let Some(few) = few.get_mut(..requests.len()) {
        few.iter_mut().zip(requests).for_each(|(to, request)| *to = header(request));
        return process.instance.wait_any(entry, few);
    }
    let many: Vec<_> = requests.iter().map(header).collect();
    process.instance.wait_any(entry, &many);
}

/// Body of Waitany and Testany: `wait` tells which. Gives the flag of Testany.
#[inline(always)]
fn any(
    CallContext { process, mut entry }: CallContext,
    name: &'static str,
    wait: bool,
    (count, requests): Requests<'_>,
    (index, flag): (Out<c_int>, Out<c_int>),
    status: Out<Status>,
) -> c_int {
    // SAFETY: an argument of a C function, which promises `count` handles; they are used here alone.
    let requests = match unsafe { arguments(count, requests) } {
        Ok(requests) => requests,
        Err(failure) => return refused(entry, name, failure),
    };
    let found = match look_or_wait(process, &mut entry, wait, requests, false) {
        Ok(found) => found,
        Err(failure) => return refused(entry, name, failure),
    };
    let (at, done) = match found {
        ListState::Pending => (MPI_UNDEFINED, 0),
        ListState::NoneActive => {
            Status::store_status(status, &Status::EMPTY);
            (MPI_UNDEFINED, 1)
        }
        ListState::Ready(i) => (i as c_int, 1),
    };
    index.set(at);
    flag.set(done);
    if let ListState::Ready(i) = found
        && let Some(req) = find(process, requests[i])
    {
        let outcome = collect(req, (&mut requests[i]).into(), status, &mut entry);
        return finish(entry, name, outcome);
    }
    MPI_SUCCESS
}

/// A failure of a function on many requests. The call ends with it.
#[cold]
#[inline(never)]
fn refused(mut entry: Entry, name: &'static str, failure: Failure) -> c_int {
    raise(&mut entry, name, None, failure)
}

/// Whether all places that Waitany and Testany write are there.
#[inline(always)]
fn has_places((count, requests): Requests<'_>, (index, flag): (Out<c_int>, Out<c_int>)) -> bool {
    is_array(count, requests) && !index.is_null() && !flag.is_null()
}

#[cold]
#[inline(never)]
fn slow_any(
    here: Inside,
    name: &'static str,
    wait: bool,
    (count, requests): Requests<'_>,
    (index, flag): (Out<c_int>, Out<c_int>),
    status: Out<Status>,
) -> c_int {
    match here.context_if(has_places((count, requests), (index, flag))) {
        Ok(here) => any(here, name, wait, (count, requests), (index, flag), status),
        Err(inside) => call(inside, name, None, |_, _| {
            // SAFETY: an argument of a C function, which promises `count` handles.
            unsafe { arguments(count, requests) }?;
            write(index, "indx", MPI_UNDEFINED)?;
            write(flag, "flag", 0)
        }),
    }
}

/// Waitany and Testany, by the quick way where the arguments are there.
#[inline(always)]
fn any_of(
    here: Admission,
    name: &'static str,
    wait: bool,
    requests: Requests<'_>,
    places: (Out<c_int>, Out<c_int>),
    status: Out<Status>,
) -> c_int {
    match here.quick_if(has_places(requests, places)) {
        Ok(here) => any(here, name, wait, requests, places, status),
        Err(inside) => slow_any(inside, name, wait, requests, places, status),
    }
}

mpi_fn! {
    hot fn MPI_Waitany(count: c_int, array_of_requests: Out<Request>, indx: Out<c_int>, status: Out<Status>) -> c_int |here| {
        any_of(here, NAME, true, (count, array_of_requests), (indx, (&mut 0).into()), status)
    }
}
mpi_fn! {
    hot fn MPI_Testany(count: c_int, array_of_requests: Out<Request>, indx: Out<c_int>, flag: Out<c_int>, status: Out<Status>) -> c_int |here| {
        any_of(here, NAME, false, (count, array_of_requests), (indx, flag), status)
    }
}

/// Body of Waitsome and Testsome.
#[inline(always)]
fn some(
    here: Admission,
    name: &'static str,
    wait: bool,
    requests: Requests<'_>,
    outcount: Out<c_int>,
    (indices, statuses): (Out<c_int>, Out<Status>),
) -> c_int {
    let here = here.quick().or_else(|inside| inside.context_if(true));
    let CallContext { process, mut entry } = match here {
        Ok(here) => here,
        Err(inside) => return call(inside, name, None, |_, _| Ok(())),
    };
    // SAFETY: an argument of a C function, which promises as many statuses as requests, or none.
    let status_at = |i: usize| unsafe { statuses.at(i) };
    let mut errors = Errors::default();
    let done = collect_some((process, &mut entry), wait, requests, indices, status_at, &mut errors);
    match done.and_then(|done| write(outcount, "outcount", done).map(|()| done)) {
        Err(failure) => refused(entry, name, failure),
        Ok(done) => errors.report(entry, name, done.max(0) as usize, status_at),
    }
}

/// Ends those that are ready, and gives the outcount.
#[inline(always)]
fn collect_some<'a>(
    (process, entry): (&'static Process, &mut Entry),
    wait: bool,
    (count, requests): Requests<'_>,
    indices: Out<c_int>,
    status_at: impl Fn(usize) -> Out<'a, Status>,
    errors: &mut Errors,
) -> Res<c_int> {
    // SAFETY: an argument of a C function, which promises `count` handles; they are used here alone.
    let requests = unsafe { arguments(count, requests) }?;
    let found = look_or_wait(process, entry, wait, requests, true)?;
    if matches!(found, ListState::NoneActive) {
        return Ok(MPI_UNDEFINED);
    }
    // SAFETY: an argument of a C function, which promises as many indices.
    let indices = unsafe { slice_mut(indices, requests.len(), "array_of_indices") }?;
    let ListState::Ready(first) = found else { return Ok(0) };
    let mut done = 0;
    let mut i = first;
    while i < requests.len() {
        let req = find(process, requests[i]).filter(|req| !request::inactive(*req) && ready(*req));
        if let Some(req) = req {
            let outcome = collect(req, (&mut requests[i]).into(), status_at(done), entry);
            indices[done] = i as c_int;
            if outcome.is_err() {
                errors.note(done, outcome);
            }
            done += 1;
        } else {
            i += request::pending_or_null(process, &requests[i + 1..]);
        }
        i += 1;
    }
    Ok(done as c_int)
}

mpi_fn! {
    hot fn MPI_Waitsome(incount: c_int, array_of_requests: Out<Request>, outcount: Out<c_int>, array_of_indices: Out<c_int>, array_of_statuses: Out<Status>) -> c_int |here| {
        some(here, NAME, true, (incount, array_of_requests), outcount, (array_of_indices, array_of_statuses))
    }
}
mpi_fn! {
    hot fn MPI_Testsome(incount: c_int, array_of_requests: Out<Request>, outcount: Out<c_int>, array_of_indices: Out<c_int>, array_of_statuses: Out<Status>) -> c_int |here| {
        some(here, NAME, false, (incount, array_of_requests), outcount, (array_of_indices, array_of_statuses))
    }
}
