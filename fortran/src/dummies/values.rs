//! Dummies that C sees as Fortran does: by value or by address, with the constants translated that Fortran knows by their address.

use super::Dummy;
use crate::abi::{BOTTOM, BUFFER_AUTOMATIC, IN_PLACE, UNWEIGHTED, WEIGHTS_EMPTY};
use crate::sentinels::{Constant, attach_automatic, buffer_automatic, constant, is_status_ignore};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

/// A number, which C takes by value.
pub struct Value<T>(T);

impl<T: Copy> Dummy for Value<T> {
    type Given = *const T;
    type Passed = T;

    #[inline(always)]
    unsafe fn take(given: *const T, _: usize) -> Self {
        // SAFETY: the caller's promise.
        Value(unsafe { *given })
    }
    #[inline(always)]
    fn pass(&mut self) -> T {
        self.0
    }
}

/// A place for numbers, or an array of them.
pub struct Place<T>(*mut T);

impl<T> Dummy for Place<T> {
    type Given = *mut T;
    type Passed = *mut T;

    #[inline(always)]
    unsafe fn take(given: *mut T, _: usize) -> Self {
        Place(given)
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut T {
        self.0
    }
}

/// A choice buffer.
pub struct Choice(*mut c_void);

impl Dummy for Choice {
    type Given = *mut c_void;
    type Passed = *mut c_void;

    #[inline(always)]
    unsafe fn take(given: *mut c_void, _: usize) -> Self {
        Choice(match constant(given) {
            None => given,
            Some(Constant::Bottom) => BOTTOM,
            Some(Constant::InPlace) => IN_PLACE,
            Some(Constant::BufferAutomatic) => {
                attach_automatic(given);
                BUFFER_AUTOMATIC
            }
            Some(_) => given,
        })
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut c_void {
        self.0
    }
}

/// Weights of a graph's edges.
pub struct Weights(*mut c_int);

impl Dummy for Weights {
    type Given = *mut c_int;
    type Passed = *mut c_int;

    unsafe fn take(given: *mut c_int, _: usize) -> Self {
        Weights(match constant(given) {
            Some(Constant::Unweighted) => UNWEIGHTED,
            Some(Constant::WeightsEmpty) => WEIGHTS_EMPTY,
            _ => given,
        })
    }
    fn pass(&mut self) -> *mut c_int {
        self.0
    }
}

/// A status, or several: the same eight integers on both sides.
pub struct Statuses(*mut c_int);

impl Dummy for Statuses {
    type Given = *mut c_int;
    type Passed = *mut c_int;

    #[inline(always)]
    unsafe fn take(given: *mut c_int, _: usize) -> Self {
        Statuses(if is_status_ignore(given) { null_mut() } else { given })
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut c_int {
        self.0
    }
}

/// A place that the C function writes and Fortran does not see: an address that has no meaning there.
pub struct Dropped(*mut c_void);

impl Dummy for Dropped {
    type Given = *mut c_void;
    type Passed = *mut *mut c_void;

    unsafe fn take(_: *mut c_void, _: usize) -> Self {
        Dropped(null_mut())
    }
    fn pass(&mut self) -> *mut *mut c_void {
        &mut self.0
    }
}

/// A place for the address of a buffer that is given back, as a C pointer of module `mpi_f08`.
pub struct Detached {
    place: *mut *mut c_void,
    own: *mut c_void,
}

impl Dummy for Detached {
    type Given = *mut *mut c_void;
    type Passed = *mut *mut c_void;

    unsafe fn take(given: *mut *mut c_void, _: usize) -> Self {
        Detached { place: given, own: null_mut() }
    }
    fn pass(&mut self) -> *mut *mut c_void {
        &mut self.own
    }
    fn give_back(self, code: c_int) {
        if code == crate::abi::SUCCESS {
            let at = if self.own == BUFFER_AUTOMATIC { buffer_automatic() } else { self.own };
            // SAFETY: the caller's place.
            unsafe { self.place.write(at) }
        }
    }
}
