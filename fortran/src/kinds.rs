//! Kinds of handles, and the numbers that Fortran has for them.
//!
//! Predefined handles are their numbers in every library (MPI 5.0 §20.3), and in oxmpi all are. Of another library MPI_Comm_toint and its kin are asked, and
//! their opposites.

use crate::abi::{Fint, Handle};
use crate::optional::is_ours;

/// Numbers below are those of predefined handles.
const FIRST_OBJECT: usize = 0x1000;

/// Whether all handles of the library are their numbers.
#[inline(always)]
pub fn are_numbers() -> bool {
    is_ours()
}

/// A kind of handle.
pub trait Kind {
    /// The handle with the number that Fortran has.
    fn handle(number: Fint) -> Handle;
    /// The number that Fortran has for a handle.
    fn number(handle: Handle) -> Fint;
    /// The number that Fortran has behind a call for the handle that it had `before`.
    #[inline(always)]
    fn number_behind(before: Fint, handle: Handle) -> Fint {
        let _ = before;
        Self::number(handle)
    }
    /// Looks after a handle behind a call that only read it.
    #[inline(always)]
    fn look_after(number: Fint, handle: Handle) {
        let _ = (number, handle);
    }
}

macro_rules! kinds {
    ($($(#[$m:meta])* $kind:ident $to:ident $from:ident;)*) => { $(
        unsafe extern "C" {
            safe fn $to(handle: Handle) -> Fint;
            safe fn $from(number: Fint) -> Handle;
        }

        $(#[$m])*
        pub struct $kind;

        impl Kind for $kind {
            #[inline(always)]
            fn handle(number: Fint) -> Handle {
                let same = number as u32 as usize;
                if are_numbers() || same < FIRST_OBJECT { same } else { $from(number) }
            }
            #[inline(always)]
            fn number(handle: Handle) -> Fint {
                if are_numbers() || handle < FIRST_OBJECT { handle as Fint } else { $to(handle) }
            }
        }
    )* };
}

kinds! {
    /// MPI_Comm.
    Comm MPI_Comm_toint MPI_Comm_fromint;
    /// MPI_Datatype.
    Datatype MPI_Type_toint MPI_Type_fromint;
    /// MPI_Errhandler.
    Errhandler MPI_Errhandler_toint MPI_Errhandler_fromint;
    /// MPI_File.
    File MPI_File_toint MPI_File_fromint;
    /// MPI_Group.
    Group MPI_Group_toint MPI_Group_fromint;
    /// MPI_Info.
    Info MPI_Info_toint MPI_Info_fromint;
    /// MPI_Message.
    Message MPI_Message_toint MPI_Message_fromint;
    /// MPI_Op.
    Op MPI_Op_toint MPI_Op_fromint;
    /// MPI_Request.
    Request MPI_Request_toint MPI_Request_fromint;
    /// MPI_Session.
    Session MPI_Session_toint MPI_Session_fromint;
    /// MPI_Win.
    Win MPI_Win_toint MPI_Win_fromint;
}
