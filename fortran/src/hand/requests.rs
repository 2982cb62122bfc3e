//! Calls that answer with a list of requests, and generalized requests.

use crate::abi::{Fint, Handle, SUCCESS, UNDEFINED};
use crate::dummies::handles::Array;
use crate::dummies::index::to_fortran;
use crate::dummies::values::Statuses;
use crate::dummies::{Dummy, len};
use crate::kinds::{Kind, Request};
use crate::sections::pending::Pending;
use crate::truth;
use core::ffi::{c_int, c_void};

macro_rules! some {
    ($($c:ident $f:ident;)*) => { $(
        written! { $c: unsafe extern "C" fn(c_int, *mut Handle, *mut c_int, *mut c_int, *mut c_int) -> c_int,
            $f (incount: *const Fint, requests: *mut Fint, outcount: *mut Fint, indices: *mut Fint, statuses: *mut Fint) |callee| {
            // SAFETY: the caller's arguments; indices and statuses have room for as many as there are requests.
            unsafe {
                let mut all = Array::<Pending>::take(requests, len(incount));
                let code = callee(*incount, all.pass(), outcount, indices, Statuses::take(statuses, 0).pass());
                all.give_back(code);
                // Errors in statuses leave indices, too.
                let n = if *outcount == UNDEFINED { 0 } else { *outcount };
                (0..n.max(0) as usize).for_each(|i| *indices.add(i) = to_fortran(*indices.add(i)));
                code
            }
        } }
    )* };
}
some! {
    MPI_Waitsome mpi_waitsome_;
    MPI_Testsome mpi_testsome_;
    MPI_Request_get_status_some mpi_request_get_status_some_;
}

type Query = unsafe extern "C" fn(*const isize, *mut c_int, *mut Fint);
type Free = unsafe extern "C" fn(*const isize, *mut Fint);
type Cancel = unsafe extern "C" fn(*const isize, *const Fint, *mut Fint);

/// The extra state of a generalized request, for the library; freed with the request.
struct State {
    query: Query,
    free: Free,
    cancel: Cancel,
    extra_state: isize,
}

unsafe extern "C" fn query(state: *mut c_void, status: *mut c_int) -> c_int {
    // SAFETY: what `mpi_grequest_start_` gave the library, until the request is freed; a status is the same eight integers.
    unsafe {
        let (state, mut ierror) = (&*state.cast::<State>(), SUCCESS);
        (state.query)(&state.extra_state, status, &mut ierror);
        ierror
    }
}
unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    // SAFETY: as above; this is the last call.
    unsafe {
        let (state, mut ierror) = (Box::from_raw(state.cast::<State>()), SUCCESS);
        (state.free)(&state.extra_state, &mut ierror);
        ierror
    }
}
unsafe extern "C" fn cancel(state: *mut c_void, complete: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (state, mut ierror) = (&*state.cast::<State>(), SUCCESS);
        (state.cancel)(&state.extra_state, &truth::to_fortran(complete), &mut ierror);
        ierror
    }
}

type QueryC = unsafe extern "C" fn(*mut c_void, *mut c_int) -> c_int;
type FreeC = unsafe extern "C" fn(*mut c_void) -> c_int;
type CancelC = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

written! { MPI_Grequest_start: unsafe extern "C" fn(QueryC, FreeC, CancelC, *mut c_void, *mut Handle) -> c_int,
    mpi_grequest_start_ (query_fn: Query, free_fn: Free, cancel_fn: Cancel, extra_state: *const isize, request: *mut Fint) |callee| {
    // SAFETY: the caller's argument.
    let extra_state = unsafe { *extra_state };
    let state = Box::into_raw(Box::new(State { query: query_fn, free: free_fn, cancel: cancel_fn, extra_state }));
    let mut own = 0;
    // SAFETY: the functions take this state.
    let code = unsafe { callee(query, free, cancel, state.cast(), &mut own) };
    if code == SUCCESS {
        // SAFETY: the caller's place.
        unsafe { request.write(Request::number(own)) };
    } else {
        // SAFETY: no request has it.
        drop(unsafe { Box::from_raw(state) });
    }
    code
} }
