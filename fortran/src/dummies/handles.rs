//! Handles: INTEGER in Fortran, pointers in C, of the same number.

use super::Dummy;
use crate::abi::{Fint, Handle, handle, number};
use core::ffi::c_int;

/// A handle, which C takes by value.
pub struct In(Handle);

impl Dummy for In {
    type Given = *const Fint;
    type Passed = Handle;

    #[inline(always)]
    unsafe fn take(given: *const Fint, _: usize) -> Self {
        // SAFETY: the caller's promise.
        In(handle(unsafe { *given }))
    }
    #[inline(always)]
    fn pass(&mut self) -> Handle {
        self.0
    }
}

/// A place for a handle, which C may read and write.
pub struct Out {
    place: *mut Fint,
    own: Handle,
}

impl Dummy for Out {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    #[inline(always)]
    unsafe fn take(given: *mut Fint, _: usize) -> Self {
        // SAFETY: the caller's promise: an INTEGER is there, of whatever value.
        Out { place: given, own: handle(unsafe { given.read() }) }
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut Handle {
        &mut self.own
    }
    #[inline(always)]
    fn give_back(self, _: c_int) {
        // SAFETY: the caller's place. Where C has written nothing, what was there is written.
        unsafe { self.place.write(number(self.own)) }
    }
}

/// An array of handles, which C may read and write.
pub struct Many {
    places: *mut Fint,
    own: Vec<Handle>,
}

impl Dummy for Many {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        // SAFETY: the caller's promise: so many INTEGERs are there.
        let own = (0..len).map(|i| handle(unsafe { given.add(i).read() })).collect();
        Many { places: given, own }
    }
    fn pass(&mut self) -> *mut Handle {
        self.own.as_mut_ptr()
    }
    fn give_back(self, _: c_int) {
        for (i, &own) in self.own.iter().enumerate() {
            // SAFETY: as above. An array that is only read is not written: it may be a constant.
            unsafe {
                let place = self.places.add(i);
                if place.read() != number(own) {
                    place.write(number(own));
                }
            }
        }
    }
}
