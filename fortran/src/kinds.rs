//! Kinds of handles, and the numbers that Fortran has for them.
//!
//! Predefined handles are their numbers in every library (MPI 5.0 §20.3), and in oxmpi all are. Of another library MPI_Comm_toint and its kin are asked, and
//! their opposites; where these do not lead back a table has the numbers (`strangers`).

use crate::abi::{Fint, Handle};
use crate::optional::is_ours;
use crate::strangers;

/// Numbers below are those of predefined handles.
const FIRST_OBJECT: usize = 0x1000;

/// Whether all handles of the library are their numbers.
#[inline(always)]
pub fn are_numbers() -> bool {
    is_ours()
}

/// The handle of another library's object.
#[cold]
fn handle_of_another(number: Fint, from: extern "C" fn(Fint) -> Handle) -> Handle {
    strangers::handle(number).unwrap_or_else(|| from(number))
}

/// The number of another library's object: the one that it says itself, if that leads back and is no predefined handle's. (Intel MPI numbers files from 1.)
#[cold]
fn number_of_another(
    handle: Handle,
    to: extern "C" fn(Handle) -> Fint,
    from: extern "C" fn(Fint) -> Handle,
) -> Fint {
    let number = to(handle);
    let is_taken = (number as u32 as usize) < FIRST_OBJECT;
    if !is_taken && from(number) == handle { number } else { strangers::number(handle) }
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
                if are_numbers() || same < FIRST_OBJECT { same } else { handle_of_another(number, $from) }
            }
            #[inline(always)]
            fn number(handle: Handle) -> Fint {
                if are_numbers() || handle < FIRST_OBJECT {
                    handle as Fint
                } else {
                    number_of_another(handle, $to, $from)
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: Handle = 0x7f00_0000_9000;

    extern "C" fn from(number: Fint) -> Handle {
        match number {
            1 | 0x2000 => OBJECT,
            _ => 0,
        }
    }

    #[test]
    fn numbers_of_objects_are_none_of_predefined_handles() {
        extern "C" fn small(_: Handle) -> Fint {
            1
        }
        extern "C" fn large(_: Handle) -> Fint {
            0x2000
        }
        let number = number_of_another(OBJECT, small, from);
        assert!(number as usize >= FIRST_OBJECT, "{number}");
        assert_eq!(handle_of_another(number, from), OBJECT);
        assert_eq!(number_of_another(OBJECT, large, from), 0x2000);
    }
}
