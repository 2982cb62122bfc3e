//! The place of one of several requests, which C counts from 0 and Fortran from 1.

use super::Dummy;
use crate::abi::{Fint, UNDEFINED};
use core::ffi::c_int;

/// The index as Fortran counts.
#[inline(always)]
pub fn to_fortran(index: c_int) -> Fint {
    if index == UNDEFINED { index } else { index + 1 }
}

/// A place for an index.
pub struct Out {
    place: *mut Fint,
    own: c_int,
}

impl Dummy for Out {
    type Given = *mut Fint;
    type Passed = *mut c_int;

    unsafe fn take(given: *mut Fint, _: usize) -> Self {
        Out { place: given, own: UNDEFINED }
    }
    fn pass(&mut self) -> *mut c_int {
        &mut self.own
    }
    fn give_back(self, _: c_int) {
        // SAFETY: the caller's place.
        unsafe { self.place.write(to_fortran(self.own)) }
    }
}
