//! Handles: INTEGER in Fortran, pointers in C.

use super::Dummy;
use crate::abi::{Fint, Handle};
use crate::kinds::Kind;
use core::ffi::c_int;
use core::marker::PhantomData;

/// A handle, which C takes by value.
pub struct In<K> {
    number: Fint,
    own: Handle,
    kind: PhantomData<K>,
}

impl<K: Kind> Dummy for In<K> {
    type Given = *const Fint;
    type Passed = Handle;

    #[inline(always)]
    unsafe fn take(given: *const Fint, _: usize) -> Self {
        // SAFETY: the caller's promise.
        let number = unsafe { *given };
        In { number, own: K::handle(number), kind: PhantomData }
    }
    #[inline(always)]
    fn pass(&mut self) -> Handle {
        self.own
    }
    #[inline(always)]
    fn give_back(self, _: c_int) {
        K::look_after(self.number, self.own);
    }
}

/// A value that C does not write as a handle.
const NOT_WRITTEN: Handle = Handle::MAX;

/// A place for a handle, which C writes.
pub struct Out<K> {
    place: *mut Fint,
    own: Handle,
    kind: PhantomData<K>,
}

impl<K: Kind> Dummy for Out<K> {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    #[inline(always)]
    unsafe fn take(given: *mut Fint, _: usize) -> Self {
        Out { place: given, own: NOT_WRITTEN, kind: PhantomData }
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut Handle {
        &mut self.own
    }
    #[inline(always)]
    fn give_back(self, _: c_int) {
        if self.own != NOT_WRITTEN {
            // SAFETY: the caller's place.
            unsafe { self.place.write(K::number(self.own)) }
        }
    }
}

/// A place with a handle, which C reads and may write.
pub struct InOut<K>(Out<K>);

impl<K: Kind> Dummy for InOut<K> {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    #[inline(always)]
    unsafe fn take(given: *mut Fint, _: usize) -> Self {
        // SAFETY: the caller's promise: a handle is there.
        InOut(Out { place: given, own: K::handle(unsafe { given.read() }), kind: PhantomData })
    }
    #[inline(always)]
    fn pass(&mut self) -> *mut Handle {
        self.0.pass()
    }
    #[inline(always)]
    fn give_back(self, _: c_int) {
        let Out { place, own, .. } = self.0;
        if own != NOT_WRITTEN {
            // SAFETY: the caller's place, which has the number that came.
            unsafe { place.write(K::number_behind(place.read(), own)) }
        }
    }
}

/// An array for handles, which C writes, perhaps not to its end.
pub struct ArrayOut<K> {
    places: *mut Fint,
    own: Vec<Handle>,
    kind: PhantomData<K>,
}

impl<K: Kind> Dummy for ArrayOut<K> {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        ArrayOut { places: given, own: vec![NOT_WRITTEN; len], kind: PhantomData }
    }
    fn pass(&mut self) -> *mut Handle {
        self.own.as_mut_ptr()
    }
    fn give_back(self, _: c_int) {
        for (i, own) in self.own.into_iter().enumerate().filter(|(_, own)| *own != NOT_WRITTEN) {
            // SAFETY: the caller's array has so many.
            unsafe { self.places.add(i).write(K::number(own)) }
        }
    }
}

/// An array of handles, which C may read and write.
pub struct Array<K> {
    places: *mut Fint,
    own: Vec<Handle>,
    kind: PhantomData<K>,
}

impl<K: Kind> Dummy for Array<K> {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        // SAFETY: the caller's promise: so many INTEGERs are there.
        let own = (0..len).map(|i| K::handle(unsafe { given.add(i).read() })).collect();
        Array { places: given, own, kind: PhantomData }
    }
    fn pass(&mut self) -> *mut Handle {
        self.own.as_mut_ptr()
    }
    fn give_back(self, _: c_int) {
        for (i, &own) in self.own.iter().enumerate() {
            // SAFETY: as above. An array that is only read is not written: it may be a constant.
            unsafe {
                let place = self.places.add(i);
                let number = K::number_behind(place.read(), own);
                if place.read() != number {
                    place.write(number);
                }
            }
        }
    }
}
