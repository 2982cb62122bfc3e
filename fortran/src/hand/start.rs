//! Beginning, and what the library has to know of the compiler.

use crate::abi::{ERR_ARG, Fint, SUCCESS};
use crate::kinds::{Info, Kind};
use crate::truth;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

type Argv = *mut *mut *mut c_char;

written! { MPI_Init: unsafe extern "C" fn(*mut c_int, Argv) -> c_int, mpi_init_ () |callee| {
    // SAFETY: the function takes no arguments of the program where there are none.
    unsafe { callee(null_mut(), null_mut()) }
} }

written! { MPI_Init_thread: unsafe extern "C" fn(*mut c_int, Argv, c_int, *mut c_int) -> c_int,
    mpi_init_thread_ (required: *const Fint, provided: *mut Fint) |callee| {
    // SAFETY: as above; the caller's places.
    unsafe { callee(null_mut(), null_mut(), *required, provided) }
} }

written! { MPI_Info_create_env: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut usize) -> c_int,
    mpi_info_create_env_ (info: *mut Fint) |callee| {
    let mut own = 0;
    // SAFETY: no arguments are given.
    let code = unsafe { callee(0, null_mut(), &mut own) };
    // SAFETY: the caller's place.
    unsafe { info.write(Info::number(own)) };
    code
} }

/// MPI_Pcontrol has no error code.
macro_rules! pcontrol {
    ($f:ident, $c:literal) => {
        const _: () = {
            unsafe extern "C" {
                #[link_name = $c]
                fn callee(level: c_int, ...) -> c_int;
            }
            // SAFETY: the name is the standard's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $f(level: *const Fint) {
                // SAFETY: the caller's argument.
                unsafe { callee(*level) };
            }
        };
    };
}
pcontrol!(mpi_pcontrol_, "MPI_Pcontrol");
pcontrol!(pmpi_pcontrol_, "PMPI_Pcontrol");
pcontrol!(mpi_pcontrol_f08_, "MPI_Pcontrol");
pcontrol!(pmpi_pcontrol_f08_, "PMPI_Pcontrol");

written! { MPI_Abi_set_fortran_booleans: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int,
    mpi_abi_set_fortran_booleans_ (logical_size: *const Fint, logical_true: *mut c_void, logical_false: *mut c_void) |callee| {
    // SAFETY: the caller's arguments; two LOGICALs of that size.
    unsafe {
        if *logical_size != size_of::<Fint>() as c_int {
            // LOGICALs of the library's procedures have the size of INTEGER.
            ERR_ARG
        } else {
            let code = callee(*logical_size, logical_true, logical_false);
            if code == SUCCESS {
                truth::set(*logical_true.cast(), *logical_false.cast());
            }
            code
        }
    }
} }

written! { MPI_Abi_get_fortran_booleans: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, *mut c_int) -> c_int,
    mpi_abi_get_fortran_booleans_ (logical_size: *const Fint, logical_true: *mut c_void, logical_false: *mut c_void, is_set: *mut Fint) |callee| {
    let mut own = 0;
    // SAFETY: the caller's arguments.
    let code = unsafe { callee(*logical_size, logical_true, logical_false, &mut own) };
    // SAFETY: the caller's place.
    unsafe { is_set.write(truth::to_fortran(own)) };
    code
} }
