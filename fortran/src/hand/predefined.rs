//! The copy and delete functions that the standard names (MPI 5.0 §7.7): procedures that a program passes, and may call.
//!
//! MPI_COMM_DUP_FN and its kin copy the value and say that it was copied; the NULL functions do nothing, and copy nothing. Those of MPI-1 have INTEGER for the value.

use crate::abi::{Fint, SUCCESS};
use crate::truth;

macro_rules! copy {
    ($value:ty, $copies:literal: $($f:ident)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        pub unsafe extern "C" fn $f(
            _old: *const Fint,
            _keyval: *const Fint,
            _extra_state: *const $value,
            value_in: *const $value,
            value_out: *mut $value,
            flag: *mut Fint,
            ierror: *mut Fint,
        ) {
            // SAFETY: the arguments of a copy function.
            unsafe {
                if $copies {
                    *value_out = *value_in;
                }
                *flag = truth::to_fortran($copies.into());
                *ierror = SUCCESS;
            }
        }
    )* };
}
macro_rules! delete {
    ($value:ty: $($f:ident)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $f(
            _old: *const Fint,
            _keyval: *const Fint,
            _value: *const $value,
            _extra_state: *const $value,
            ierror: *mut Fint,
        ) {
            // SAFETY: the arguments of a delete function.
            unsafe { *ierror = SUCCESS }
        }
    )* };
}

copy!(isize, true: mpi_comm_dup_fn_ mpi_type_dup_fn_ mpi_win_dup_fn_);
copy!(isize, false: mpi_comm_null_copy_fn_ mpi_type_null_copy_fn_ mpi_win_null_copy_fn_);
copy!(Fint, true: mpi_dup_fn_);
copy!(Fint, false: mpi_null_copy_fn_);
delete!(isize: mpi_comm_null_delete_fn_ mpi_type_null_delete_fn_ mpi_win_null_delete_fn_);
delete!(Fint: mpi_null_delete_fn_);
