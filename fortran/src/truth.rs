//! The values of `.TRUE.` and `.FALSE.`, which compilers choose differently.
//!
//! MPI_Abi_set_fortran_booleans says them (MPI 5.0 §20.4.3); before that they are those of gfortran and flang, 1 and 0. A LOGICAL that comes is false if it is
//! the value of `.FALSE.`, so that compilers that test another bit than the lowest are understood, too.

use crate::abi::Fint;
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

static TRUE: AtomicI32 = AtomicI32::new(1);
static FALSE: AtomicI32 = AtomicI32::new(0);

/// Takes the values of the program's compiler.
pub fn set(value_of_true: Fint, value_of_false: Fint) {
    TRUE.store(value_of_true, Ordering::Relaxed);
    FALSE.store(value_of_false, Ordering::Relaxed);
}

/// Translates a LOGICAL.
#[inline(always)]
pub fn of_fortran(value: Fint) -> c_int {
    c_int::from(value != FALSE.load(Ordering::Relaxed))
}

/// Translates a truth value of C.
#[inline(always)]
pub fn to_fortran(value: c_int) -> Fint {
    if value != 0 { TRUE.load(Ordering::Relaxed) } else { FALSE.load(Ordering::Relaxed) }
}
