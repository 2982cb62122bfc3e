//! Wait and Test, one and all of many (`complete_some` has the rest).
//!
//! The common cases go straight: one look-up per handle, no allocation, the status copied only where
//! the user wants it. Several requests are waited for one after another (all have to complete, so the
//! order does not matter); with several threads the last one first, and what is not ready then in portions, so
//! that a sleeping thread is not woken once per request.

use crate::call::counting::{self, Counter};
use crate::call::entry::{self, CallContext};
use crate::call::memory::{read, slice_mut, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::codes;
use crate::error::{Failure, Res, call, class_of, raise, raise_on};
use crate::request::second_lookup::{find_again, find_or_null};
use crate::request::{self, Outcome, collect, find, ready};
use crate::types::{Request, Status};
use core::ffi::c_int;
use core::ptr::null_mut;
use oxmpi_mca::{RequestHeader, ThreadCtx};

mpi_fn! {
    hot fn MPI_Wait(request: *mut Request, status: *mut Status) -> c_int |here| {
        let (Some(here), false) = (here, request.is_null()) else {
            return slow_wait(NAME, request, status);
        };
        wait(here, NAME, request, status)
    }
}

#[inline(always)]
fn wait(
    CallContext { process, thread }: CallContext,
    name: &'static str,
    request: *mut Request,
    status: *mut Status,
) -> c_int {
    // SAFETY: not null; the caller promises a handle.
    let handle = unsafe { *request };
    if handle == process.done.sent() {
        // SAFETY: the caller's places.
        unsafe { end_sent(request, status) };
        return MPI_SUCCESS;
    }
    let Some(req) = find(process, handle) else {
        return wait_other(CallContext { process, thread }, name, request, status);
    };
    if !ready(req) {
        process.instance.wait(thread, req.as_ptr());
    }
    // SAFETY: ready; the pointers are the caller's.
    let outcome = unsafe { collect(req, request, status, thread) };
    finish(name, outcome)
}

/// For a handle that is null, good again, or wrong.
#[cold]
#[inline(never)]
fn wait_other(here: CallContext, name: &'static str, request: *mut Request, status: *mut Status) -> c_int {
    // SAFETY: not null; the caller promises a handle.
    let handle = unsafe { *request };
    match find_again(here.process, handle) {
        Some(_) => wait(here, name, request, status),
        None => not_found(name, handle, status),
    }
}

#[cold]
#[inline(never)]
fn slow_wait(name: &'static str, request: *mut Request, status: *mut Status) -> c_int {
    counting::call(Counter::Wait);
    match entry::call_context().filter(|_| !request.is_null()) {
        Some(here) => wait(here, name, request, status),
        None => call(name, None, |_| read(request, "request").map(|_| ())),
    }
}

#[inline(always)]
pub fn finish(name: &'static str, outcome: Outcome) -> c_int {
    match outcome.is_err() {
        true => failed(name, outcome),
        false => {
            // There is nothing to drop, and the path of a message need not look whether there is.
            core::mem::forget(outcome);
            MPI_SUCCESS
        }
    }
}

#[cold]
#[inline(never)]
fn failed(name: &'static str, outcome: Outcome) -> c_int {
    raise_on(name, outcome.on(), outcome.failure())
}

/// Ends the handle of a send that was complete before its call returned.
///
/// # Safety
/// `place` is the caller's place of a handle; `status` is null or the caller's status.
#[inline(always)]
unsafe fn end_sent(place: *mut Request, status: *mut Status) {
    // SAFETY: the caller's promise.
    unsafe {
        Status::store_status(status, &Status::EMPTY);
        *place = Request(MPI_REQUEST_NULL);
    }
}

/// MPI_REQUEST_NULL is complete with an empty status; anything else is an error.
#[cold]
fn not_found(name: &'static str, handle: Request, status: *mut Status) -> c_int {
    if handle.0 != MPI_REQUEST_NULL {
        return raise(name, None, request::wrong(handle));
    }
    // SAFETY: MPI_STATUS_IGNORE or the caller's status.
    unsafe { Status::store_status(status, &Status::EMPTY) };
    MPI_SUCCESS
}

mpi_fn! {
    hot fn MPI_Test(request: *mut Request, flag: *mut c_int, status: *mut Status) -> c_int |here| {
        let (Some(here), false) = (here, request.is_null() || flag.is_null()) else {
            return slow_test(NAME, request, flag, status);
        };
        test(here, NAME, request, flag, status)
    }
}

#[inline(always)]
fn test(
    CallContext { process, thread }: CallContext,
    name: &'static str,
    request: *mut Request,
    flag: *mut c_int,
    status: *mut Status,
) -> c_int {
    // SAFETY: not null; the caller promises a handle.
    let handle = unsafe { *request };
    if handle == process.done.sent() {
        // SAFETY: the caller's places; none is null but perhaps the status.
        unsafe {
            *flag = 1;
            end_sent(request, status);
        }
        return MPI_SUCCESS;
    }
    let Some(req) = find(process, handle) else {
        return test_other(CallContext { process, thread }, name, request, flag, status);
    };
    if !ready(req) {
        process.instance.poll(thread);
        if !ready(req) {
            // SAFETY: as above.
            unsafe { *flag = 0 };
            return MPI_SUCCESS;
        }
    }
    // SAFETY: ready; the pointers are the caller's.
    let outcome = unsafe {
        *flag = 1;
        collect(req, request, status, thread)
    };
    finish(name, outcome)
}

/// For a handle that is null, good again, or wrong.
#[cold]
#[inline(never)]
fn test_other(
    here: CallContext,
    name: &'static str,
    request: *mut Request,
    flag: *mut c_int,
    status: *mut Status,
) -> c_int {
    // SAFETY: not null; the caller promises a handle.
    let handle = unsafe { *request };
    if find_again(here.process, handle).is_some() {
        return test(here, name, request, flag, status);
    }
    // SAFETY: not null; the caller's flag.
    unsafe { *flag = 1 };
    not_found(name, handle, status)
}

#[cold]
#[inline(never)]
fn slow_test(name: &'static str, request: *mut Request, flag: *mut c_int, status: *mut Status) -> c_int {
    counting::call(Counter::Test);
    match entry::call_context().filter(|_| !request.is_null() && !flag.is_null()) {
        Some(here) => test(here, name, request, flag, status),
        None => call(name, None, |_| {
            read(request, "request")?;
            write(flag, "flag", 0)
        }),
    }
}

/// The place of the status of request `i`.
#[inline(always)]
pub fn status_at(statuses: *mut Status, i: usize) -> *mut Status {
    if statuses.is_null() { null_mut() } else { statuses.wrapping_add(i) }
}

mpi_fn! {
    hot fn MPI_Waitall(count: c_int, array_of_requests: *mut Request, array_of_statuses: *mut Status) -> c_int |here| {
        let (Some(here), true) = (here, is_array(count, array_of_requests)) else {
            return slow_wait_all(NAME, count, array_of_requests, array_of_statuses);
        };
        wait_all(here, NAME, (count, array_of_requests), array_of_statuses)
    }
}

#[inline(always)]
pub fn is_array(count: c_int, requests: *mut Request) -> bool {
    count >= 0 && (count == 0 || !requests.is_null())
}

#[cold]
#[inline(never)]
fn slow_wait_all(name: &'static str, count: c_int, requests: *mut Request, statuses: *mut Status) -> c_int {
    counting::call(Counter::Waitall);
    match entry::call_context().filter(|_| is_array(count, requests)) {
        Some(here) => wait_all(here, name, (count, requests), statuses),
        None => call(name, None, |_| arguments(count, requests).map(|_| ())),
    }
}

#[inline(always)]
fn wait_all(
    CallContext { process, thread }: CallContext,
    name: &'static str,
    (count, requests): (c_int, *mut Request),
    statuses: *mut Status,
) -> c_int {
    let count = count as usize;
    let together = count > 1 && process.instance.threaded();
    if together {
        wait_for_last(process, thread, requests, count);
    }
    let mut errors = Errors::default();
    for i in 0..count {
        let place = requests.wrapping_add(i);
        // SAFETY: the caller promises `count` handles.
        let handle = unsafe { *place };
        let status = status_at(statuses, i);
        if handle == process.done.sent() {
            // SAFETY: the caller's places.
            unsafe { end_sent(place, status) };
            continue;
        }
        let Some(req) = find(process, handle).or_else(|| find_again(process, handle)) else {
            if handle.0 != MPI_REQUEST_NULL {
                return raise(name, None, request::wrong(handle));
            }
            // SAFETY: null or the caller's status.
            unsafe { Status::store_status(status, &Status::EMPTY) };
            continue;
        };
        if !ready(req) {
            if together {
                wait_for_portion(process, thread, place, (count - i).min(PORTION));
            } else {
                process.instance.wait(thread, req.as_ptr());
            }
        }
        // SAFETY: ready; the pointers are the caller's.
        let outcome = unsafe { collect(req, place, status, thread) };
        if outcome.is_err() {
            errors.note(i, outcome);
        }
    }
    errors.report(name, statuses, count)
}

/// The arguments of a function on many requests.
pub fn arguments<'a>(count: c_int, requests: *mut Request) -> Res<&'a mut [Request]> {
    let Ok(count) = usize::try_from(count) else {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    };
    slice_mut(requests, count, "array_of_requests")
}

/// Failures of some of many requests: kept until all are done, then told as MPI_ERR_IN_STATUS.
#[derive(Default)]
pub struct Errors(Vec<(usize, Outcome)>);

impl Errors {
    #[cold]
    pub fn note(&mut self, index: usize, outcome: Outcome) {
        self.0.push((index, outcome));
    }

    /// With an error anywhere the field MPI_ERROR of the first `count` statuses is filled.
    #[inline(always)]
    pub fn report(self, name: &'static str, statuses: *mut Status, count: usize) -> c_int {
        if self.0.is_empty() { MPI_SUCCESS } else { self.tell(name, statuses, count) }
    }

    #[cold]
    fn tell(self, name: &'static str, statuses: *mut Status, count: usize) -> c_int {
        for i in 0..count {
            let found = self.0.iter().find(|(at, _)| *at == i);
            let class = found.map_or(MPI_SUCCESS, |(_, outcome)| {
                codes::note(name, &outcome.failure());
                class_of(outcome.error())
            });
            // SAFETY: null or the caller's statuses.
            unsafe { Status::store_error(status_at(statuses, i), class) };
        }
        let (_, first) = &self.0[0];
        let sentence =
            format!("{} of {count} operations failed; the first: {}", self.0.len(), first.failure().message);
        raise_on(name, first.on(), Failure::new(MPI_ERR_IN_STATUS, sentence))
    }
}

/// Requests per portion.
pub const PORTION: usize = 64;

/// Waits for the last request that is not ready: then most often the others are, too, so that a thread which
/// sleeps meanwhile is woken once, and one request has to know about it.
#[inline(never)]
fn wait_for_last(process: &Process, thread: *mut ThreadCtx, requests: *const Request, count: usize) {
    for i in (0..count).rev() {
        // SAFETY: the caller promises `count` handles.
        let handle = unsafe { *requests.wrapping_add(i) };
        if handle == process.done.sent() {
            continue;
        }
        if let Some(req) = find(process, handle).filter(|req| !ready(*req)) {
            return process.instance.wait(thread, req.as_ptr());
        }
    }
}

/// Waits for all of the next `count` requests, at most [`PORTION`]. Handles that are not good are passed over.
#[inline(never)]
fn wait_for_portion(process: &Process, thread: *mut ThreadCtx, requests: *const Request, count: usize) {
    let mut headers = [null_mut::<RequestHeader>(); PORTION];
    for (i, header) in headers.iter_mut().enumerate().take(count) {
        // SAFETY: the caller promises so many handles.
        let handle = unsafe { *requests.wrapping_add(i) };
        if let Some(req) = find(process, handle).filter(|req| !ready(*req)) {
            *header = req.as_ptr();
        }
    }
    process.instance.wait_all(thread, &headers[..count]);
}

mpi_fn! {
    fn MPI_Testall(count: c_int, array_of_requests: *mut Request, flag: *mut c_int, array_of_statuses: *mut Status) -> c_int {
        let mut errors = Errors::default();
        let code = call(NAME, None, |process| {
            let requests = arguments(count, array_of_requests)?;
            let thread = process.thread();
            let mut first = first_pending(process, requests, 0)?;
            if first < requests.len() && process.instance.poll(thread) > 0 {
                first = first_pending(process, requests, first)?;
            }
            if first < requests.len() {
                return write(flag, "flag", 0);
            }
            write(flag, "flag", 1)?;
            for (i, place) in requests.iter_mut().enumerate() {
                let status = status_at(array_of_statuses, i);
                match find(process, *place) {
                    // SAFETY: null or the caller's status.
                    None => unsafe { Status::store_status(status, &Status::EMPTY) },
                    Some(req) => {
                        // SAFETY: ready; the pointers are the caller's.
                        let outcome = unsafe { collect(req, place, status, thread) };
                        if outcome.is_err() {
                            errors.note(i, outcome);
                        }
                    }
                }
            }
            Ok(())
        });
        if code == MPI_SUCCESS { errors.report(NAME, array_of_statuses, count.max(0) as usize) } else { code }
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
