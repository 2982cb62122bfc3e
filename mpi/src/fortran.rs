//! Handles as integers: the standard's toint and fromint, and the older c2f and f2c. All are the
//! identity, since handles fit into 31 bits; a number that is no handle stays one that is none.

use crate::call::memory::{In, Out, read, write};
use crate::error::call_any_time;
use crate::types::*;
use core::ffi::c_int;

/// One line per kind, with the names spelled out so that the index finds them.
macro_rules! conversions {
    ($($kind:ident: $toint:ident $fromint:ident $c2f:ident $f2c:ident;)*) => { $(
        mpi_fn! { any_time fn $toint(handle: $kind) -> c_int { handle.0 as c_int } }
        mpi_fn! { any_time fn $fromint(handle: c_int) -> $kind { $kind(handle as u32 as usize) } }
        mpi_fn! { any_time fn $c2f(handle: $kind) -> c_int { handle.0 as c_int } }
        mpi_fn! { any_time fn $f2c(handle: c_int) -> $kind { $kind(handle as u32 as usize) } }
    )* };
}

conversions! {
    Comm: MPI_Comm_toint MPI_Comm_fromint MPI_Comm_c2f MPI_Comm_f2c;
    Group: MPI_Group_toint MPI_Group_fromint MPI_Group_c2f MPI_Group_f2c;
    Datatype: MPI_Type_toint MPI_Type_fromint MPI_Type_c2f MPI_Type_f2c;
    Op: MPI_Op_toint MPI_Op_fromint MPI_Op_c2f MPI_Op_f2c;
    Request: MPI_Request_toint MPI_Request_fromint MPI_Request_c2f MPI_Request_f2c;
    Message: MPI_Message_toint MPI_Message_fromint MPI_Message_c2f MPI_Message_f2c;
    Info: MPI_Info_toint MPI_Info_fromint MPI_Info_c2f MPI_Info_f2c;
    Errhandler: MPI_Errhandler_toint MPI_Errhandler_fromint MPI_Errhandler_c2f MPI_Errhandler_f2c;
    Win: MPI_Win_toint MPI_Win_fromint MPI_Win_c2f MPI_Win_f2c;
    File: MPI_File_toint MPI_File_fromint MPI_File_c2f MPI_File_f2c;
    Session: MPI_Session_toint MPI_Session_fromint MPI_Session_c2f MPI_Session_f2c;
}

mpi_fn! {
    /// A Fortran status is the same eight integers.
    any_time fn MPI_Status_c2f(c_status: In<Status>, f_status: Out<Status>) -> c_int {
        call_any_time(NAME, || write(f_status, "f_status", read(c_status, "c_status")?))
    }
}
mpi_fn! {
    any_time fn MPI_Status_f2c(f_status: In<Status>, c_status: Out<Status>) -> c_int {
        call_any_time(NAME, || write(c_status, "c_status", read(f_status, "f_status")?))
    }
}
