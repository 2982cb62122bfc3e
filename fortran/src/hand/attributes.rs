//! Keyvals, whose callbacks are the program's, and attributes.
//!
//! **Callbacks** of a keyval get an extra state of ours, which has the program's procedures and its own extra state; it stays for good, since copies of attributes
//! may be made and deleted as long as an object has one, also behind MPI_Comm_free_keyval.
//!
//! **Values** are integers of the size of an address in Fortran and are stored as the address; C reads them so, too. Of the attributes that MPI defines C gets the
//! address of an integer and Fortran the integer (MPI 5.0 §19.3.7). Procedures of MPI-1 have INTEGER for all of it.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::kinds::{Comm, Datatype, Kind, Win};
use crate::truth;
use core::ffi::{c_int, c_void};

/// A value or an extra state as Fortran has it.
trait Word: Copy {
    fn of(word: isize) -> Self;
    fn word(self) -> isize;
}
impl Word for isize {
    fn of(word: isize) -> isize {
        word
    }
    fn word(self) -> isize {
        self
    }
}
impl Word for Fint {
    fn of(word: isize) -> Fint {
        word as Fint
    }
    fn word(self) -> isize {
        self as isize
    }
}

type Copy_<W> =
    unsafe extern "C" fn(*const Fint, *const Fint, *const W, *const W, *mut W, *mut Fint, *mut Fint);
type Delete<W> = unsafe extern "C" fn(*const Fint, *const Fint, *const W, *const W, *mut Fint);

/// The extra state of a keyval, for the library.
struct State<W> {
    copy: Copy_<W>,
    delete: Delete<W>,
    extra_state: W,
}

unsafe extern "C" fn copy<K: Kind, W: Word>(
    old: Handle,
    keyval: c_int,
    state: *mut c_void,
    value_in: *mut c_void,
    value_out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: what `keyval_create` gave the library, which stays.
    let state = unsafe { &*state.cast::<State<W>>() };
    let (mut out, mut copied, mut ierror) = (W::of(0), truth::to_fortran(0), SUCCESS);
    // SAFETY: the program's procedure, with arguments as the standard has them; the places are the library's.
    unsafe {
        let value = W::of(value_in.addr() as isize);
        (state.copy)(
            &K::number(old),
            &keyval,
            &state.extra_state,
            &value,
            &mut out,
            &mut copied,
            &mut ierror,
        );
        *flag = truth::of_fortran(copied);
        if *flag != 0 {
            *value_out.cast::<isize>() = out.word();
        }
    }
    ierror
}

unsafe extern "C" fn delete<K: Kind, W: Word>(
    old: Handle,
    keyval: c_int,
    value: *mut c_void,
    state: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    let state = unsafe { &*state.cast::<State<W>>() };
    let mut ierror = SUCCESS;
    let value = W::of(value.addr() as isize);
    // SAFETY: as above.
    unsafe { (state.delete)(&K::number(old), &keyval, &value, &state.extra_state, &mut ierror) };
    ierror
}

type CopyC = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type DeleteC = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

macro_rules! keyval_create {
    ($($k:ty, $w:ty: $c:ident $f:ident;)*) => { $(
        written! { $c: unsafe extern "C" fn(CopyC, DeleteC, *mut c_int, *mut c_void) -> c_int,
            $f (copy_fn: Copy_<$w>, delete_fn: Delete<$w>, keyval: *mut Fint, extra_state: *const $w) |callee| {
            // SAFETY: the caller's argument.
            let extra_state = unsafe { *extra_state };
            let state: *mut State<$w> = Box::leak(Box::new(State { copy: copy_fn, delete: delete_fn, extra_state }));
            // SAFETY: the caller's place; the functions take this state.
            unsafe { callee(copy::<$k, $w>, delete::<$k, $w>, keyval, state.cast()) }
        } }
    )* };
}
keyval_create! {
    Comm, isize: MPI_Comm_create_keyval mpi_comm_create_keyval_;
    Datatype, isize: MPI_Type_create_keyval mpi_type_create_keyval_;
    Win, isize: MPI_Win_create_keyval mpi_win_create_keyval_;
    Comm, Fint: MPI_Keyval_create mpi_keyval_create_;
}

/// MPI_TAG_UB to MPI_UNIVERSE_SIZE, and the attributes of windows: C gets the address of an integer.
fn is_predefined(keyval: Fint) -> bool {
    (501..=507).contains(&keyval) || (601..=605).contains(&keyval)
}
/// MPI_WIN_BASE: C gets the address itself.
const WIN_BASE: Fint = 601;
/// MPI_WIN_SIZE: an integer of the size of an address.
const WIN_SIZE: Fint = 603;

/// The value of an attribute as Fortran gets it.
///
/// # Safety
/// C has got that value of the attribute.
unsafe fn value(keyval: Fint, got: *mut c_void) -> isize {
    match keyval {
        WIN_BASE => got.addr() as isize,
        // SAFETY: the address of such an integer.
        WIN_SIZE => unsafe { *got.cast::<isize>() },
        // SAFETY: as above.
        _ if is_predefined(keyval) => unsafe { *got.cast::<c_int>() as isize },
        _ => got.addr() as isize,
    }
}

macro_rules! attributes {
    ($($k:ty, $w:ty: $get:ident $fget:ident $set:ident $fset:ident;)*) => { $(
        written! { $get: unsafe extern "C" fn(Handle, c_int, *mut *mut c_void, *mut c_int) -> c_int,
            $fget (object: *const Fint, keyval: *const Fint, attribute_val: *mut $w, flag: *mut Fint) |callee| {
            let (mut got, mut found) = (core::ptr::null_mut(), 0);
            // SAFETY: the caller's arguments and places.
            unsafe {
                let code = callee(<$k>::handle(*object), *keyval, &mut got, &mut found);
                if code == SUCCESS {
                    flag.write(truth::to_fortran(found));
                    if found != 0 {
                        attribute_val.write(<$w>::of(value(*keyval, got)));
                    }
                }
                code
            }
        } }
        written! { $set: unsafe extern "C" fn(Handle, c_int, *mut c_void) -> c_int,
            $fset (object: *const Fint, keyval: *const Fint, attribute_val: *const $w) |callee| {
            // SAFETY: the caller's arguments.
            unsafe {
                let value = core::ptr::without_provenance_mut((*attribute_val).word() as usize);
                callee(<$k>::handle(*object), *keyval, value)
            }
        } }
    )* };
}
attributes! {
    Comm, isize: MPI_Comm_get_attr mpi_comm_get_attr_ MPI_Comm_set_attr mpi_comm_set_attr_;
    Datatype, isize: MPI_Type_get_attr mpi_type_get_attr_ MPI_Type_set_attr mpi_type_set_attr_;
    Win, isize: MPI_Win_get_attr mpi_win_get_attr_ MPI_Win_set_attr mpi_win_set_attr_;
    Comm, Fint: MPI_Attr_get mpi_attr_get_ MPI_Attr_put mpi_attr_put_;
}
