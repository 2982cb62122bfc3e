//! Errors of calls that cannot be made: the object's error handler is called, as C calls it (MPI 5.0 §9.3).

use super::mpi::*;
use crate::abi::Fint;
use crate::kinds::{Comm, File, Kind, Session, Win};
use core::ffi::c_int;

const COMM_SELF: Fint = 0x102;

macro_rules! objects {
    ($($name:ident $k:ident $call:ident;)*) => { $(
        /// # Safety
        /// The argument of a procedure.
        pub unsafe fn $name(code: c_int, object: *const Fint) -> c_int {
            // SAFETY: the caller's promise; a handle of whatever value may be named.
            unsafe { $call($k::handle(*object), code) };
            code
        }
    )* };
}
objects! {
    comm Comm PMPI_Comm_call_errhandler;
    win Win PMPI_Win_call_errhandler;
    file File PMPI_File_call_errhandler;
    session Session PMPI_Session_call_errhandler;
}

/// Of calls without such an object.
///
/// # Safety
/// Of the others.
pub unsafe fn none(code: c_int) -> c_int {
    // SAFETY: a place with a number.
    unsafe { comm(code, &COMM_SELF) }
}
