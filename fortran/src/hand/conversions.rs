//! Conversions of handles and statuses for C: the functions whose names end in `_f2c` and `_c2f` (MPI 5.0 §19.3.4, §19.3.5).
//!
//! The standard ABI leaves them to the Fortran library: MPICH's library for it has none of them, Intel MPI's has those of files alone. Over oxmpi, which has them, too, the
//! results are the same.

use crate::abi::{ERR_ARG, Fint, Handle, SUCCESS};
use crate::kinds::{Comm, Datatype, Errhandler, File, Group, Info, Kind, Message, Op, Request, Session, Win};
use crate::sentinels::is_status_ignore;
use core::ffi::c_int;

macro_rules! conversions {
    ($($kind:ident: $from:ident $profiled_from:ident $to:ident $profiled_to:ident;)*) => { $(
        conversions!(@one $kind $from $to);
        conversions!(@one $kind $profiled_from $profiled_to);
    )* };
    (@one $kind:ident $from:ident $to:ident) => {
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the standard's")]
        pub extern "C" fn $from(number: Fint) -> Handle {
            $kind::handle(number)
        }
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the standard's")]
        pub extern "C" fn $to(handle: Handle) -> Fint {
            $kind::number(handle)
        }
    };
}
conversions! {
    Comm: MPI_Comm_f2c PMPI_Comm_f2c MPI_Comm_c2f PMPI_Comm_c2f;
    Datatype: MPI_Type_f2c PMPI_Type_f2c MPI_Type_c2f PMPI_Type_c2f;
    Errhandler: MPI_Errhandler_f2c PMPI_Errhandler_f2c MPI_Errhandler_c2f PMPI_Errhandler_c2f;
    File: MPI_File_f2c PMPI_File_f2c MPI_File_c2f PMPI_File_c2f;
    Group: MPI_Group_f2c PMPI_Group_f2c MPI_Group_c2f PMPI_Group_c2f;
    Info: MPI_Info_f2c PMPI_Info_f2c MPI_Info_c2f PMPI_Info_c2f;
    Message: MPI_Message_f2c PMPI_Message_f2c MPI_Message_c2f PMPI_Message_c2f;
    Op: MPI_Op_f2c PMPI_Op_f2c MPI_Op_c2f PMPI_Op_c2f;
    Request: MPI_Request_f2c PMPI_Request_f2c MPI_Request_c2f PMPI_Request_c2f;
    Session: MPI_Session_f2c PMPI_Session_f2c MPI_Session_c2f PMPI_Session_c2f;
    Win: MPI_Win_f2c PMPI_Win_f2c MPI_Win_c2f PMPI_Win_c2f;
}

/// Every form of a status is the same eight integers; one that is ignored is none (MPI 5.0 §19.3.5).
macro_rules! statuses {
    ($($f:ident)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the standard's")]
        pub unsafe extern "C" fn $f(from: *const [c_int; 8], to: *mut [c_int; 8]) -> c_int {
            if from.is_null() || to.is_null() || is_status_ignore(from) || is_status_ignore(to) {
                return ERR_ARG;
            }
            // SAFETY: the caller's status and place.
            unsafe { *to = *from };
            SUCCESS
        }
    )* };
}
statuses!(MPI_Status_f2c PMPI_Status_f2c MPI_Status_c2f PMPI_Status_c2f);
statuses!(MPI_Status_c2f08 MPI_Status_f082c MPI_Status_f2f08 MPI_Status_f082f);
statuses!(PMPI_Status_c2f08 PMPI_Status_f082c PMPI_Status_f2f08 PMPI_Status_f082f);
