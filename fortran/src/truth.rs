//! The values of `.TRUE.` and `.FALSE.`, which compilers choose differently.
//!
//! MPI_Abi_set_fortran_booleans says them (MPI 5.0 §20.4), from Fortran at any time, from C before MPI begins; before that they are those of gfortran and flang, 1 and 0. A LOGICAL that
//! comes is false if it is the value of `.FALSE.`, so that compilers that test another bit than the lowest are understood, too.

use crate::abi::Fint;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

static TRUE: AtomicI32 = AtomicI32::new(1);
static FALSE: AtomicI32 = AtomicI32::new(0);

/// Takes the values of the program's compiler.
pub fn set(value_of_true: Fint, value_of_false: Fint) {
    TRUE.store(value_of_true, Ordering::Relaxed);
    FALSE.store(value_of_false, Ordering::Relaxed);
}

unsafe extern "C" {
    fn PMPI_Abi_get_fortran_booleans(
        size: c_int,
        yes: *mut c_void,
        no: *mut c_void,
        is_set: *mut c_int,
    ) -> c_int;
}

/// Takes the values that the library has been told, by C or by another library of Fortran's procedures.
pub fn learn() {
    let (mut yes, mut no, mut is_set): (Fint, Fint, c_int) = (1, 0, 0);
    // SAFETY: two LOGICALs of that size.
    let code = unsafe {
        PMPI_Abi_get_fortran_booleans(
            size_of::<Fint>() as c_int,
            (&raw mut yes).cast(),
            (&raw mut no).cast(),
            &mut is_set,
        )
    };
    if code == crate::abi::SUCCESS && is_set != 0 {
        set(yes, no);
    }
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
