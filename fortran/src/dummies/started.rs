//! Persistent requests that a call starts.

use super::Dummy;
use super::handles::{Array, InOut};
use crate::abi::{Fint, Handle};
use crate::sections::pending::{Pending, start};
use core::ffi::c_int;

macro_rules! started {
    ($($(#[$m:meta])* $name:ident $of:ident $n:ident $count:expr;)*) => { $(
        $(#[$m])*
        pub struct $name($of<Pending>);

        impl Dummy for $name {
            type Given = *mut Fint;
            type Passed = *mut Handle;

            unsafe fn take(given: *mut Fint, $n: usize) -> Self {
                // SAFETY: the caller's promise: so many numbers are there.
                unsafe {
                    (0..$count).for_each(|i| start(*given.add(i)));
                    $name($of::take(given, $n))
                }
            }
            fn pass(&mut self) -> *mut Handle {
                self.0.pass()
            }
            fn give_back(self, code: c_int) {
                self.0.give_back(code);
            }
        }
    )* };
}
started! {
    /// A request.
    One InOut n 1;
    /// Several.
    Several Array n n;
}
