//! Reductions and error handlers that the program defines.
//!
//! **No trampoline.** A C function of either kind gets the address of a handle, of which Fortran has the low word: handles are numbers below 2³¹ in pointers, and
//! processors that MPI's ABI is for store the low word first. All other arguments are addresses of integers and of data on both sides. So the library calls the
//! Fortran procedure itself, and there may be as many as memory has room for.

use crate::abi::{Fint, Handle, number};
use crate::truth;
use core::ffi::{c_int, c_void};

const _: () = assert!(cfg!(target_endian = "little"), "the low word of a handle stands first");

/// A procedure of the program's.
type Procedure = *const c_void;

macro_rules! op_create {
    ($($c:ident $f:ident;)*) => { $(
        written! { $c: unsafe extern "C" fn(Procedure, c_int, *mut Handle) -> c_int,
            $f (user_fn: Procedure, commute: *const Fint, op: *mut Fint) |callee| {
            let mut own = 0;
            // SAFETY: the caller's arguments; the procedure is called as the file's text says.
            let code = unsafe { callee(user_fn, truth::of_fortran(*commute), &mut own) };
            // SAFETY: the caller's place.
            unsafe { op.write(number(own)) };
            code
        } }
    )* };
}
op_create! {
    MPI_Op_create mpi_op_create_;
    MPI_Op_create_c mpi_op_create_c_;
}

macro_rules! errhandler_create {
    ($($c:ident $f:ident;)*) => { $(
        written! { $c: unsafe extern "C" fn(Procedure, *mut Handle) -> c_int,
            $f (function: Procedure, errhandler: *mut Fint) |callee| {
            let mut own = 0;
            // SAFETY: the caller's arguments; the procedure is called as the file's text says.
            let code = unsafe { callee(function, &mut own) };
            // SAFETY: the caller's place.
            unsafe { errhandler.write(number(own)) };
            code
        } }
    )* };
}
errhandler_create! {
    MPI_Comm_create_errhandler mpi_comm_create_errhandler_;
    MPI_Win_create_errhandler mpi_win_create_errhandler_;
    MPI_File_create_errhandler mpi_file_create_errhandler_;
    MPI_Session_create_errhandler mpi_session_create_errhandler_;
}
