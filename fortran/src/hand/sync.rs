//! Sync objects of `mpi-ext.h` whose functions have a result that is no error code, or take an address that Fortran has as an integer.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::Dummy;
use crate::dummies::handles;
use crate::dummies::values::Statuses;
use crate::kinds::Request;
use crate::truth;
use core::ffi::{c_int, c_void};

/// An MPIX_Sync.
type Sync = *mut c_void;

/// Writes an error code.
///
/// # Safety
/// Null, or the caller's place.
unsafe fn tell(ierror: *mut Fint, code: c_int) {
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { ierror.as_mut() } {
        *place = code;
    }
}

/// The value of a constant of `mpi-ext.h`.
///
/// # Safety
/// The address of that constant, which is a pointer: the library has it where it has the function that the caller has found.
unsafe fn constant(at: *const c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { *at.cast::<*mut c_void>() }
}

written_extension! {
    "MPIX_Progress": unsafe extern "C" fn(), mpix_progress_f08_(), core::ptr::null_mut(), |function| {
        // SAFETY: it has no arguments.
        unsafe { function() }
    }
}

written_extension! {
    "MPIX_Sync_free": unsafe extern "C" fn(*mut Sync), mpix_sync_free_f08_(sync: *mut Sync), core::ptr::null_mut(), |function| {
        // SAFETY: the caller's argument.
        unsafe { function(sync) }
    }
}

type Attach = unsafe extern "C" fn(Sync, *mut Handle, *mut c_void) -> c_int;
written_extension! {
    "MPIX_Sync_attach": Attach, mpix_sync_attach_f08_(
        sync: *const Sync,
        request: *mut Fint,
        completion_data: *const isize,
        ierror: *mut Fint,
    ), ierror, |function| {
        let none = weak_address!("MPIX_SYNC_NO_COMPLETION_DATA");
        // SAFETY: the caller's arguments and places; absent data is null.
        unsafe {
            let data = match completion_data.as_ref() {
                Some(data) => core::ptr::without_provenance_mut(*data as usize),
                None => constant(none),
            };
            let mut own = handles::InOut::<Request>::take(request, 0);
            let code = function(*sync, own.pass(), data);
            own.give_back(code);
            tell(ierror, code);
        }
    }
}

/// A question whose answer is a number.
macro_rules! numbers {
    ($($f:ident $c:literal;)*) => { $(
        written_extension! {
            $c: unsafe extern "C" fn(Sync) -> c_int, $f(sync: *const Sync, number: *mut c_int, ierror: *mut Fint), ierror, |function| {
                // SAFETY: the caller's argument and places.
                unsafe {
                    *number = function(*sync);
                    tell(ierror, SUCCESS);
                }
            }
        }
    )* };
}
numbers! {
    mpix_sync_size_f08_ "MPIX_Sync_size";
    mpix_sync_probe_f08_ "MPIX_Sync_probe";
}

type Query = unsafe extern "C" fn(Sync, *mut c_int) -> *mut c_void;
written_extension! {
    "MPIX_Sync_query": Query, mpix_sync_query_f08_(
        sync: *const Sync,
        completion_data: *mut isize,
        flag: *mut Fint,
        status: *mut c_int,
        ierror: *mut Fint,
    ), ierror, |function| {
        let empty = weak_address!("MPIX_SYNC_EMPTY");
        // SAFETY: the caller's argument and places.
        unsafe {
            let data = function(*sync, Statuses::take(status, 0).pass());
            let found = data != constant(empty);
            if found {
                *completion_data = data.addr() as isize;
            }
            *flag = truth::to_fortran(found.into());
            tell(ierror, SUCCESS);
        }
    }
}

type Bulk = unsafe extern "C" fn(c_int, Sync, *mut c_int, *mut *mut c_void, *mut c_int) -> c_int;
written_extension! {
    "MPIX_Sync_query_bulk": Bulk, mpix_sync_query_bulk_f08_(
        incount: *const Fint,
        sync: *const Sync,
        outcount: *mut Fint,
        completion_data: *mut isize,
        statuses: *mut c_int,
        ierror: *mut Fint,
    ), ierror, |function| {
        // SAFETY: the caller's arguments and places; an address has the size of the integer.
        unsafe {
            let code =
                function(*incount, *sync, outcount, completion_data.cast(), Statuses::take(statuses, 0).pass());
            tell(ierror, code);
        }
    }
}
