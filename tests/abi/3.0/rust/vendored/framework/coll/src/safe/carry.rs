//! Buffers that are handed from the call that plans to a step that is done later.
//!
//! A step of a plan that runs an author's function ([`Call::learn`](super::Call::learn)) may be done long after the call has returned, in another
//! thread, and anew at each start. The function owns all that it captures (`'static`); buffers cannot be captured, since they are borrowed. They are carried: the
//! step keeps what they name and makes them again, for as long as the function runs.

use crate::safe::buffers::{Place, Source};
use crate::safe::call::Op;

/// Buffers and operations, alone or several of them, that a later step gets again.
///
/// # Safety
/// `again` must give what `self` is, with another lifetime, and nothing that is not part of it.
pub unsafe trait Carry {
    /// The same for another time.
    type At<'x>;

    /// Makes once more what was carried.
    ///
    /// # Safety
    /// For `'x` the memory that it names must be there, and nobody may use it who might not while `self` was borrowed from.
    unsafe fn again<'x>(&self) -> Self::At<'x>;
}

// SAFETY: the source itself.
unsafe impl Carry for Source<'_> {
    type At<'x> = Source<'x>;
    unsafe fn again<'x>(&self) -> Source<'x> {
        // SAFETY: the caller's promise.
        unsafe { Source::again(self) }
    }
}

// SAFETY: the place itself.
unsafe impl Carry for Place<'_> {
    type At<'x> = Place<'x>;
    unsafe fn again<'x>(&self) -> Place<'x> {
        // SAFETY: the caller's promise.
        unsafe { Place::again(self) }
    }
}

// SAFETY: the operation itself.
unsafe impl Carry for Op<'_> {
    type At<'x> = Op<'x>;
    unsafe fn again<'x>(&self) -> Op<'x> {
        // SAFETY: the caller's promise: operation and type are there for so long.
        unsafe { Op::new(&*core::ptr::from_ref(self.op), &*core::ptr::from_ref(self.dtype)) }
    }
}

// SAFETY: there is nothing.
unsafe impl Carry for () {
    type At<'x> = ();
    #[allow(clippy::unused_unit, reason = "the lifetime is the trait's")]
    unsafe fn again<'x>(&self) -> <() as Carry>::At<'x> {}
}

// SAFETY: what is in it, if anything is.
unsafe impl<C: Carry> Carry for Option<C> {
    type At<'x> = Option<C::At<'x>>;
    unsafe fn again<'x>(&self) -> Option<C::At<'x>> {
        // SAFETY: the caller's promise.
        self.as_ref().map(|carried| unsafe { carried.again() })
    }
}

// SAFETY: each of them once.
unsafe impl<C: Carry> Carry for Vec<C> {
    type At<'x> = Vec<C::At<'x>>;
    unsafe fn again<'x>(&self) -> Vec<C::At<'x>> {
        // SAFETY: the caller's promise.
        self.iter().map(|carried| unsafe { carried.again() }).collect()
    }
}

// SAFETY: both, each once.
unsafe impl<A: Carry, B: Carry> Carry for (A, B) {
    type At<'x> = (A::At<'x>, B::At<'x>);
    unsafe fn again<'x>(&self) -> (A::At<'x>, B::At<'x>) {
        // SAFETY: the caller's promise.
        unsafe { (self.0.again(), self.1.again()) }
    }
}

// SAFETY: all three, each once.
unsafe impl<A: Carry, B: Carry, C: Carry> Carry for (A, B, C) {
    type At<'x> = (A::At<'x>, B::At<'x>, C::At<'x>);
    unsafe fn again<'x>(&self) -> (A::At<'x>, B::At<'x>, C::At<'x>) {
        // SAFETY: the caller's promise.
        unsafe { (self.0.again(), self.1.again(), self.2.again()) }
    }
}
