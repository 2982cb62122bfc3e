//! LOGICAL: any value but that of `.FALSE.` is true when it comes; the compiler's own values go back.

use super::Dummy;
use crate::abi::Fint;
use crate::truth;
use core::ffi::c_int;

/// A truth value, which C takes by value.
pub struct In(c_int);

impl Dummy for In {
    type Given = *const Fint;
    type Passed = c_int;

    unsafe fn take(given: *const Fint, _: usize) -> Self {
        // SAFETY: the caller's promise.
        In(truth::of_fortran(unsafe { *given }))
    }
    fn pass(&mut self) -> c_int {
        self.0
    }
}

/// A value that C does not write as a truth value.
const NOT_WRITTEN: c_int = c_int::MIN;

/// A place for a truth value.
pub struct Out {
    place: *mut Fint,
    own: c_int,
}

impl Dummy for Out {
    type Given = *mut Fint;
    type Passed = *mut c_int;

    #[inline(always)]
    unsafe fn take(given: *mut Fint, _: usize) -> Self {
        Out { place: given, own: NOT_WRITTEN }
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut c_int {
        &mut self.own
    }
    #[inline(always)]
    fn give_back(self, _: c_int) {
        if self.own != NOT_WRITTEN {
            // SAFETY: the caller's place.
            unsafe { self.place.write(truth::to_fortran(self.own)) }
        }
    }
}

/// An array of truth values, which C reads.
pub struct ArrayIn(Vec<c_int>);

impl Dummy for ArrayIn {
    type Given = *const Fint;
    type Passed = *const c_int;

    unsafe fn take(given: *const Fint, len: usize) -> Self {
        // SAFETY: the caller's promise: so many LOGICALs are there.
        ArrayIn((0..len).map(|i| truth::of_fortran(unsafe { given.add(i).read() })).collect())
    }
    fn pass(&mut self) -> *const c_int {
        self.0.as_ptr()
    }
}

/// An array of truth values, which C writes, perhaps not to its end.
pub struct ArrayOut {
    places: *mut Fint,
    own: Vec<c_int>,
}

impl Dummy for ArrayOut {
    type Given = *mut Fint;
    type Passed = *mut c_int;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        ArrayOut { places: given, own: vec![NOT_WRITTEN; len] }
    }
    fn pass(&mut self) -> *mut c_int {
        self.own.as_mut_ptr()
    }
    fn give_back(self, _: c_int) {
        for (i, own) in self.own.into_iter().enumerate().filter(|(_, own)| *own != NOT_WRITTEN) {
            // SAFETY: the caller's array has so many.
            unsafe { self.places.add(i).write(truth::to_fortran(own)) }
        }
    }
}
