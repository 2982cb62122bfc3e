//! Reductions and error handlers that the program defines.
//!
//! **Over oxmpi there is no trampoline.** A C function of either kind gets the address of a handle, of which Fortran has the low word: handles are numbers below 2³¹ in
//! pointers, and processors that MPI's ABI is for store the low word first. All other arguments are addresses of integers and of data on both sides. So the library calls
//! the Fortran procedure itself, and there may be as many as memory has room for.
//!
//! **Over another library** a function of ours stands between, which translates the handle. C gives such functions no state, so there is one for each procedure of the
//! program's, [`MOST`] for each kind; the same procedure has the same one again, and where none is left the call answers MPI_ERR_NO_MEM.

use crate::abi::{ERR_NO_MEM, Fint, Handle};
use crate::kinds::{Comm, Datatype, Errhandler, File, Kind, Op, Session, Win, are_numbers};
use crate::truth;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

const _: () = assert!(cfg!(target_endian = "little"), "the low word of a handle stands first");

/// Procedures of one kind over a library whose handles are translated.
const MOST: usize = 64;

/// A procedure of the program's, or the function that stands for it.
type Procedure = *mut c_void;

/// Places of procedures of one kind.
type Places = [AtomicPtr<c_void>; MOST];

/// The function that the library is to call for a procedure. `stand_ins`: by place. `None`: all places are taken.
fn for_library(procedure: Procedure, places: &Places, stand_ins: &[Procedure; MOST]) -> Option<Procedure> {
    if are_numbers() {
        return Some(procedure);
    }
    let mine = places.iter().position(|place| {
        let taken = place.compare_exchange(null_mut(), procedure, Ordering::AcqRel, Ordering::Acquire);
        taken.is_ok() || taken == Err(procedure)
    })?;
    Some(stand_ins[mine])
}

/// The functions that stand in for procedures, by place.
macro_rules! stand_ins {
    ($of:ident) => {
        stand_ins!(@all $of
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
    };
    (@all $of:ident $($n:literal)*) => { [$($of::<$n> as *const () as Procedure),*] };
}

macro_rules! op_create {
    ($($n:ty: $c:ident $f:ident;)*) => { $(
        const _: () = {
            static PLACES: Places = [const { AtomicPtr::new(null_mut()) }; MOST];
            type User = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut $n, *const Fint);

            unsafe extern "C" fn reduce<const N: usize>(from: *mut c_void, to: *mut c_void, len: *mut $n, datatype: *mut Handle) {
                // SAFETY: the library's arguments; the place has the program's procedure since before the library knew this function.
                unsafe {
                    let procedure = core::mem::transmute::<Procedure, User>(PLACES[N].load(Ordering::Acquire));
                    procedure(from, to, len, &Datatype::number(*datatype));
                }
            }

            written! { $c: unsafe extern "C" fn(Procedure, c_int, *mut Handle) -> c_int,
                $f (user_fn: Procedure, commute: *const Fint, op: *mut Fint) |callee| {
                match for_library(user_fn, &PLACES, &stand_ins!(reduce)) {
                    None => ERR_NO_MEM,
                    Some(function) => {
                        let mut own = 0;
                        // SAFETY: the caller's arguments; the function is called as the file's text says.
                        let code = unsafe { callee(function, truth::of_fortran(*commute), &mut own) };
                        // SAFETY: the caller's place.
                        unsafe { op.write(Op::number(own)) };
                        code
                    }
                }
            } }
        };
    )* };
}
op_create! {
    c_int: MPI_Op_create mpi_op_create_;
    i64: MPI_Op_create_c mpi_op_create_c_;
}

macro_rules! errhandler_create {
    ($($k:ty: $c:ident $f:ident;)*) => { $(
        const _: () = {
            static PLACES: Places = [const { AtomicPtr::new(null_mut()) }; MOST];
            type Handler = unsafe extern "C" fn(*const Fint, *mut c_int);

            unsafe extern "C" fn handle<const N: usize>(object: *mut Handle, code: *mut c_int) {
                // SAFETY: as above.
                unsafe {
                    let procedure = core::mem::transmute::<Procedure, Handler>(PLACES[N].load(Ordering::Acquire));
                    procedure(&<$k>::number(*object), code);
                }
            }

            written! { $c: unsafe extern "C" fn(Procedure, *mut Handle) -> c_int,
                $f (function: Procedure, errhandler: *mut Fint) |callee| {
                match for_library(function, &PLACES, &stand_ins!(handle)) {
                    None => ERR_NO_MEM,
                    Some(function) => {
                        let mut own = 0;
                        // SAFETY: the caller's arguments; the function is called as the file's text says.
                        let code = unsafe { callee(function, &mut own) };
                        // SAFETY: the caller's place.
                        unsafe { errhandler.write(Errhandler::number(own)) };
                        code
                    }
                }
            } }
        };
    )* };
}
errhandler_create! {
    Comm: MPI_Comm_create_errhandler mpi_comm_create_errhandler_;
    Comm: MPI_Comm_create_errhandler mpi_errhandler_create_;
    Win: MPI_Win_create_errhandler mpi_win_create_errhandler_;
    File: MPI_File_create_errhandler mpi_file_create_errhandler_;
    Session: MPI_Session_create_errhandler mpi_session_create_errhandler_;
}
