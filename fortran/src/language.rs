//! The language of attributes (MPI 5.0 §19.3.7), which the library below keeps for each value.
//!
//! Fortran sets integers, and C addresses; C reads Fortran's as the address of the integer. oxmpi is told which a value is, and asked
//! (`MPIX_Comm_attr_set_language` and its kin). Of any other library nobody can ask: there an integer of Fortran's is the address itself, in both languages.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::kinds::{Comm, Datatype, Kind, Win};
use core::ffi::{c_int, c_void};

/// As in `mpi-ext.h`.
const FORTRAN: c_int = 1;
const FORTRAN_INTEGER: c_int = 2;

/// A value or an extra state as Fortran has it.
pub trait Word: Copy {
    /// The language in which it is set.
    const LANGUAGE: c_int;
    fn of(word: isize) -> Self;
    fn word(self) -> isize;
}
impl Word for isize {
    const LANGUAGE: c_int = FORTRAN;
    fn of(word: isize) -> isize {
        word
    }
    fn word(self) -> isize {
        self
    }
}
impl Word for Fint {
    const LANGUAGE: c_int = FORTRAN_INTEGER;
    fn of(word: isize) -> Fint {
        word as Fint
    }
    fn word(self) -> isize {
        self as isize
    }
}

type Get = unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int;
type Set = unsafe extern "C" fn(Handle, c_int, c_int) -> c_int;

/// A kind of handle whose objects have attributes.
pub trait Attributed: Kind {
    fn get_language() -> Option<Get>;
    fn set_language() -> Option<Set>;
}

macro_rules! attributed {
    ($($kind:ident $get:literal $set:literal;)*) => { $(
        impl Attributed for $kind {
            fn get_language() -> Option<Get> {
                optional_function!($get, Get)
            }
            fn set_language() -> Option<Set> {
                optional_function!($set, Set)
            }
        }
    )* };
}
attributed! {
    Comm "MPIX_Comm_attr_get_language" "MPIX_Comm_attr_set_language";
    Datatype "MPIX_Type_attr_get_language" "MPIX_Type_attr_set_language";
    Win "MPIX_Win_attr_get_language" "MPIX_Win_attr_set_language";
}

/// Says that callbacks of a keyval, which was just made, take values of `W`.
pub fn of_keyval<W: Word>(keyval: c_int) -> c_int {
    match optional_function!("MPIX_Keyval_set_language", unsafe extern "C" fn(c_int, c_int) -> c_int) {
        // SAFETY: any number may be asked about.
        Some(function) => unsafe { function(keyval, W::LANGUAGE) },
        None => SUCCESS,
    }
}

/// Says that a value, which was just set, is of `W`.
pub fn of_value<K: Attributed, W: Word>(object: Handle, keyval: c_int) -> c_int {
    match K::set_language() {
        // SAFETY: a handle of whatever value may be asked about.
        Some(function) => unsafe { function(object, keyval, W::LANGUAGE) },
        None => SUCCESS,
    }
}

/// MPI_TAG_UB to MPI_UNIVERSE_SIZE, and the attributes of windows: C gets the address of an integer, but of MPI_WIN_BASE.
fn is_predefined(keyval: Fint) -> bool {
    (501..=507).contains(&keyval) || (601..=605).contains(&keyval)
}
/// MPI_WIN_BASE: C gets the address itself.
const WIN_BASE: Fint = 601;
/// MPI_WIN_SIZE: an integer of the size of an address.
const WIN_SIZE: Fint = 603;

/// The value as Fortran gets it, of an attribute that the object has.
///
/// # Safety
/// C has got that value of the attribute.
pub unsafe fn read<K: Attributed>(object: Handle, keyval: Fint, got: *mut c_void) -> isize {
    // SAFETY: the caller's promise: the address of such an integer.
    let (word, integer) = unsafe { (|| *got.cast::<isize>(), || *got.cast::<c_int>() as isize) };
    match keyval {
        WIN_BASE => got.addr() as isize,
        WIN_SIZE => word(),
        _ if is_predefined(keyval) => integer(),
        _ => match set_by::<K>(object, keyval) {
            FORTRAN => word(),
            FORTRAN_INTEGER => integer(),
            _ => got.addr() as isize,
        },
    }
}

/// The language that has set a value; that of C where the library does not know.
fn set_by<K: Attributed>(object: Handle, keyval: Fint) -> c_int {
    let mut language = 0;
    if let Some(function) = K::get_language() {
        // SAFETY: the object has that attribute.
        unsafe { function(object, keyval, &mut language) };
    }
    language
}
