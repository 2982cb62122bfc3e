//! Wait and Test, one and all of many (`complete_some` has the rest).
//!
//! The common cases go straight: one look-up per handle, no allocation, the status copied only where
//! the user wants it. Several requests are waited for one after another (all have to complete, so the
//! order does not matter); with several threads the last one first, and what is not ready then in portions, so
//! that a sleeping thread is not woken once per request.

use crate::call::counting::{self, Counter};
use crate::call::entry::{CallContext, Inside};
use crate::call::memory::{Out, read, slice_mut, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::codes;
use crate::error::{Failure, Res, call, class_of, raise, raise_on};
use crate::request::second_lookup::{find_again, find_or_null};
use crate::request::{self, Outcome, collect, find, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use oxmpi_mca::Entry;

mpi_fn! {
    hot fn MPI_Wait(request: Out<Request>, status: Out<Status>) -> c_int |here| {
        match here.quick_if(!request.is_null()) {
            Ok(here) => wait(here, NAME, request, status),
            Err(inside) => slow_wait(inside, NAME, request, status),
        }
    }
}

/// The handle at a place that is not null.
#[inline(always)]
fn handle_at(place: Out<Request>) -> Request {
    place.get().unwrap_or(Request(MPI_REQUEST_NULL))
}

#[inline(always)]
fn wait(mut here: CallContext, name: &'static str, request: Out<Request>, status: Out<Status>) -> c_int {
    let handle = handle_at(request);
    if handle == here.process.done.sent() {
        end_sent(request, status);
        return MPI_SUCCESS;
    }
    let Some(req) = find(here.process, handle) else {
        return wait_other(here, name, request, status);
    };
    if !ready(req) {
        here.process.instance.wait(&mut here.entry, req);
    }
    let outcome = collect(req, request, status, &mut here.entry);
    finish(here.entry, name, outcome)
}

/// For a handle that is null, good again, or wrong.
#[cold]
#[inline(never)]
fn wait_other(here: CallContext, name: &'static str, request: Out<Request>, status: Out<Status>) -> c_int {
    let handle = handle_at(request);
    match find_again(here.process, handle) {
        Some(_) => wait(here, name, request, status),
        None => not_found(here.entry, name, handle, status),
    }
}

#[cold]
#[inline(never)]
fn slow_wait(here: Inside, name: &'static str, request: Out<Request>, status: Out<Status>) -> c_int {
    counting::call(Counter::Wait);
    match here.context_if(!request.is_null()) {
        Ok(here) => wait(here, name, request, status),
        Err(inside) => call(inside, name, None, |_, _| read(request, "request").map(|_| ())),
    }
}

/// The call's result, with which it ends.
#[inline(always)]
pub fn finish(entry: Entry, name: &'static str, outcome: Outcome) -> c_int {
    match outcome.is_err() {
        true => failed(entry, name, outcome),
        false => {
            // There is nothing to drop, and the path of a message need not look whether there is.
            core::mem::forget(outcome);
            MPI_SUCCESS
        }
    }
}

#[cold]
#[inline(never)]
fn failed(mut entry: Entry, name: &'static str, outcome: Outcome) -> c_int {
    raise_on(&mut entry, name, outcome.on(), outcome.failure())
}

/// Ends the handle, at its place, of a send that was complete before its call returned.
#[inline(always)]
fn end_sent(place: Out<Request>, status: Out<Status>) {
    Status::store_status(status, &Status::EMPTY);
    place.set(Request(MPI_REQUEST_NULL));
}

/// MPI_REQUEST_NULL is complete with an empty status; anything else is an error.
#[cold]
fn not_found(mut entry: Entry, name: &'static str, handle: Request, status: Out<Status>) -> c_int {
    if handle.0 != MPI_REQUEST_NULL {
        return raise(&mut entry, name, None, request::wrong(handle));
    }
    Status::store_status(status, &Status::EMPTY);
    MPI_SUCCESS
}

mpi_fn! {
    hot fn MPI_Test(request: Out<Request>, flag: Out<c_int>, status: Out<Status>) -> c_int |here| {
        match here.quick_if(!(request.is_null() || flag.is_null())) {
            Ok(here) => test(here, NAME, request, flag, status),
            Err(inside) => slow_test(inside, NAME, request, flag, status),
        }
    }
}

#[inline(always)]
fn test(
    mut here: CallContext,
    name: &'static str,
    request: Out<Request>,
    flag: Out<c_int>,
    status: Out<Status>,
) -> c_int {
    let handle = handle_at(request);
    if handle == here.process.done.sent() {
        flag.set(1);
        end_sent(request, status);
        return MPI_SUCCESS;
    }
    let Some(req) = find(here.process, handle) else {
        return test_other(here, name, request, flag, status);
    };
    if !ready(req) {
        here.process.instance.poll(&mut here.entry);
        if !ready(req) {
            flag.set(0);
            return MPI_SUCCESS;
        }
    }
    flag.set(1);
    let outcome = collect(req, request, status, &mut here.entry);
    finish(here.entry, name, outcome)
}

/// For a handle that is null, good again, or wrong.
#[cold]
#[inline(never)]
fn test_other(
    here: CallContext,
    name: &'static str,
    request: Out<Request>,
    flag: Out<c_int>,
    status: Out<Status>,
) -> c_int {
    let handle = handle_at(request);
    if find_again(here.process, handle).is_some() {
        return test(here, name, request, flag, status);
    }
    flag.set(1);
    not_found(here.entry, name, handle, status)
}

#[cold]
#[inline(never)]
fn slow_test(
    here: Inside,
    name: &'static str,
    request: Out<Request>,
    flag: Out<c_int>,
    status: Out<Status>,
) -> c_int {
    counting::call(Counter::Test);
    match here.context_if(!request.is_null() && !flag.is_null()) {
        Ok(here) => test(here, name, request, flag, status),
        Err(inside) => call(inside, name, None, |_, _| {
            read(request, "request")?;
            write(flag, "flag", 0)
        }),
    }
}

mpi_fn! {
    hot fn MPI_Waitall(count: c_int, array_of_requests: Out<Request>, array_of_statuses: Out<Status>) -> c_int |here| {
        match here.quick_if(is_array(count, array_of_requests)) {
            Ok(here) => wait_all(here, NAME, (count, array_of_requests), array_of_statuses),
            Err(inside) => slow_wait_all(inside, NAME, (count, array_of_requests), array_of_statuses),
        }
    }
}

/// Requests as the program gives them: how many, and where the first is.
pub type Requests<'a> = (c_int, Out<'a, Request>);

#[inline(always)]
pub fn is_array(count: c_int, requests: Out<Request>) -> bool {
    count >= 0 && (count == 0 || !requests.is_null())
}

#[cold]
#[inline(never)]
fn slow_wait_all(
    here: Inside,
    name: &'static str,
    (count, requests): Requests<'_>,
    statuses: Out<Status>,
) -> c_int {
    counting::call(Counter::Waitall);
    match here.context_if(is_array(count, requests)) {
        Ok(here) => wait_all(here, name, (count, requests), statuses),
        // SAFETY: an argument of a C function, which promises as many.
        Err(inside) => call(inside, name, None, |_, _| unsafe { arguments(count, requests) }.map(|_| ())),
    }
}

#[inline(always)]
fn wait_all(
    CallContext { process, mut entry }: CallContext,
    name: &'static str,
    (count, requests): Requests<'_>,
    statuses: Out<Status>,
) -> c_int {
    let count = count as usize;
    let together = count > 1 && process.instance.threaded();
    // SAFETY: arguments of a C function, which promises `count` handles, and as many statuses or none. They are asked for below `count`, and `is_array` has
    // refused a null place for one handle or more.
    let place_at = move |i: usize| unsafe { requests.nth(i) };
    // SAFETY: as many statuses, or none.
    let status_at = move |i: usize| unsafe { statuses.at(i) };
    if together {
        entry.apart(|entry| wait_for_last(process, entry, count, place_at));
    }
    let mut errors = Errors::default();
    for i in 0..count {
        let (place, status) = (place_at(i), status_at(i));
        let handle = handle_at(place);
        if handle == process.done.sent() {
            end_sent(place, status);
            continue;
        }
        let Some(req) = find(process, handle).or_else(|| find_again(process, handle)) else {
            if handle.0 != MPI_REQUEST_NULL {
                return wrong(entry, name, handle);
            }
            Status::store_status(status, &Status::EMPTY);
            continue;
        };
        if !ready(req) {
            if together {
                let portion = (count - i).min(PORTION);
                entry.apart(|entry| wait_for_portion(process, entry, portion, move |n| place_at(i + n)));
            } else {
                process.instance.wait(&mut entry, req);
            }
        }
        let outcome = collect(req, place, status, &mut entry);
        if outcome.is_err() {
            errors.note(i, outcome);
        }
    }
    errors.report(entry, name, count, status_at)
}

/// A handle that is none, among several. The call ends with it.
#[cold]
#[inline(never)]
pub fn wrong(mut entry: Entry, name: &'static str, handle: Request) -> c_int {
    raise(&mut entry, name, None, request::wrong(handle))
}

/// The arguments of a function on many requests.
///
/// # Safety
/// The caller of the C function has promised `count` handles, which nobody uses but by the result.
pub unsafe fn arguments<'a>(count: c_int, requests: Out<'a, Request>) -> Res<&'a mut [Request]> {
    let Ok(count) = usize::try_from(count) else {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    };
    // SAFETY: the caller's promise.
    unsafe { slice_mut(requests, count, "array_of_requests") }
}

/// Failures of some of many requests: kept until all are done, then told as MPI_ERR_IN_STATUS.
#[derive(Default)]
pub struct Errors(Vec<(usize, Outcome)>);

impl Errors {
    #[cold]
    pub fn note(&mut self, index: usize, outcome: Outcome) {
        self.0.push((index, outcome));
    }

    /// With an error anywhere the field MPI_ERROR of the first `count` statuses, which `status_at` gives, is filled. The call ends with it.
    #[inline(always)]
    pub fn report<'a>(
        self,
        entry: Entry,
        name: &'static str,
        count: usize,
        status_at: impl Fn(usize) -> Out<'a, Status>,
    ) -> c_int {
        if self.0.is_empty() { MPI_SUCCESS } else { self.tell(entry, name, count, status_at) }
    }

    #[cold]
    fn tell<'a>(
        self,
        mut entry: Entry,
        name: &'static str,
        count: usize,
        status_at: impl Fn(usize) -> Out<'a, Status>,
    ) -> c_int {
        for i in 0..count {
            let found = self.0.iter().find(|(at, _)| *at == i);
            let class = found.map_or(MPI_SUCCESS, |(_, outcome)| {
                codes::note(name, &outcome.failure());
                class_of(outcome.error())
            });
            Status::store_error(status_at(i), class);
        }
        let (_, first) = &self.0[0];
        let sentence =
            format!("{} of {count} operations failed; the first: {}", self.0.len(), first.failure().message);
        raise_on(&mut entry, name, first.on(), Failure::new(MPI_ERR_IN_STATUS, sentence))
    }
}

/// Requests per portion.
pub const PORTION: usize = 64;

/// Waits for the last of `count` requests that is not ready: then most often the others are, too, so that a thread which
/// sleeps meanwhile is woken once, and one request has to know about it.
#[inline(never)]
fn wait_for_last<'a>(
    process: &Process,
    entry: &mut Entry,
    count: usize,
    place_at: impl Fn(usize) -> Out<'a, Request>,
) {
    for i in (0..count).rev() {
        let handle = handle_at(place_at(i));
        if handle == process.done.sent() {
            continue;
        }
        if let Some(req) = find(process, handle).filter(|req| !ready(*req)) {
            return process.instance.wait(entry, req);
        }
    }
}

/// Waits for all of the next `count` requests, at most [`PORTION`]. Handles that are not good are passed over.
#[inline(never)]
fn wait_for_portion<'a>(
    process: &Process,
    entry: &mut Entry,
    count: usize,
    place_at: impl Fn(usize) -> Out<'a, Request>,
) {
    let mut headers = [None; PORTION];
    for (i, header) in headers.iter_mut().enumerate().take(count) {
        *header = find(process, handle_at(place_at(i))).filter(|req| !ready(*req));
    }
    process.instance.wait_all(entry, &headers[..count]);
}

mpi_fn! {
    fn MPI_Testall(count: c_int, array_of_requests: Out<Request>, flag: Out<c_int>, array_of_statuses: Out<Status>) -> c_int |here| {
        match here.context_if(true) {
            Ok(here) => test_all(here, NAME, (count, array_of_requests), flag, array_of_statuses),
            Err(inside) => call(inside, NAME, None, |_, _| Ok(())),
        }
    }
}

fn test_all(
    CallContext { process, mut entry }: CallContext,
    name: &'static str,
    (count, requests): Requests<'_>,
    flag: Out<c_int>,
    statuses: Out<Status>,
) -> c_int {
    let mut errors = Errors::default();
    // SAFETY: arguments of a C function, which promises `count` handles, and as many statuses or none.
    let status_at = |i: usize| unsafe { statuses.at(i) };
    let mut ended = |entry: &mut Entry| {
        // SAFETY: as many handles, which are used here alone.
        let requests = unsafe { arguments(count, requests) }?;
        let mut first = first_pending(process, requests, 0)?;
        if first < requests.len() && process.instance.poll(entry) > 0 {
            first = first_pending(process, requests, first)?;
        }
        if first < requests.len() {
            return write(flag, "flag", 0);
        }
        write(flag, "flag", 1)?;
        for (i, place) in requests.iter_mut().enumerate() {
            match find(process, *place) {
                None => Status::store_status(status_at(i), &Status::EMPTY),
                Some(req) => {
                    let outcome = collect(req, place.into(), status_at(i), entry);
                    if outcome.is_err() {
                        errors.note(i, outcome);
                    }
                }
            }
        }
        Ok(())
    };
    match ended(&mut entry) {
        Ok(()) => errors.report(entry, name, count.max(0) as usize, status_at),
        Err(failure) => raise(&mut entry, name, None, failure),
    }
}

/// The first of the requests from `from` on that must be waited for, or their number. A caller that tests again and
/// again mostly learns that there is one, so a wrong handle behind it is an error only when its turn comes.
fn first_pending(process: &Process, requests: &[Request], from: usize) -> Res<usize> {
    for (i, request) in requests.iter().enumerate().skip(from) {
        if !find_or_null(process, *request)?.is_none_or(ready) {
            return Ok(i);
        }
    }
    Ok(requests.len())
}
