//! Dummy arguments: how each kind comes from Fortran and goes to C, and what goes back.
//!
//! A type stands for each kind of dummy. It is made of what the Fortran caller passes, an address; the C function gets what it asks for; behind the
//! call it writes what Fortran is to see, which differs from what C has written for handles, truth values, texts and indices. All else is the same for both, and
//! its address is passed on.
//!
//! | file | dummies |
//! |---|---|
//! | `values` | values, places, choice buffers, weights, statuses: nothing is converted but the address of a constant |
//! | `handles` | handles, one and several |
//! | `logical` | truth values, one and several |
//! | `text` | CHARACTER |
//! | `index` | numbers that Fortran counts from 1 |
//! | `started` | requests that a call starts |
//! | `kept` | arrays that C may read until an operation is complete |

pub mod handles;
pub mod index;
pub mod kept;
pub mod logical;
pub mod started;
pub mod text;
pub mod values;

use core::ffi::c_int;

/// A kind of dummy argument.
pub trait Dummy: Sized {
    /// The argument as the Fortran caller passes it.
    type Given: Copy;
    /// The argument as the C function takes it.
    type Passed;

    /// Takes the argument over. `len`: elements of an array, characters of a text; 0 for others.
    ///
    /// # Safety
    /// The argument is one of such a procedure, whose caller promises what the standard asks of it, until the procedure ends.
    unsafe fn take(given: Self::Given, len: usize) -> Self;

    /// Gives what the C function is passed.
    fn pass(&mut self) -> Self::Passed;

    /// Writes what Fortran is to see. `code`: the function's answer.
    fn give_back(self, code: c_int)
    where
        Self: Sized,
    {
        let _ = code;
    }
}

/// The length that an argument says, where it is one that an array may have.
///
/// # Safety
/// The argument of a procedure, whose caller promises a number there.
#[inline(always)]
pub unsafe fn len<T: Copy + TryInto<usize>>(argument: *const T) -> usize {
    // SAFETY: the caller's promise.
    unsafe { *argument }.try_into().unwrap_or(0)
}
