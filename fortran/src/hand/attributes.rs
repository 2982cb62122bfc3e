//! Keyvals, whose callbacks are the program's, and attributes.
//!
//! **Callbacks** of a keyval get an extra state of ours, which has the program's procedures and its own extra state; it stays for good, since copies of attributes
//! may be made and deleted as long as an object has one, also behind MPI_Comm_free_keyval.
//!
//! **Values** are integers of the size of an address in Fortran; procedures of MPI-1 have INTEGER for all of it. They go to C in the place of the address, and the library
//! is told that they are integers (`language`).

use crate::abi::{Fint, Handle, SUCCESS};
use crate::kinds::{Comm, Datatype, Kind, Win};
use crate::language::{self, Word};
use crate::truth;
use core::ffi::{c_int, c_void};

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
            unsafe {
                match callee(copy::<$k, $w>, delete::<$k, $w>, keyval, state.cast()) {
                    SUCCESS => language::of_keyval::<$w>(*keyval),
                    refused => refused,
                }
            }
        } }
    )* };
}
keyval_create! {
    Comm, isize: MPI_Comm_create_keyval mpi_comm_create_keyval_;
    Datatype, isize: MPI_Type_create_keyval mpi_type_create_keyval_;
    Win, isize: MPI_Win_create_keyval mpi_win_create_keyval_;
    Comm, Fint: MPI_Keyval_create mpi_keyval_create_;
}

macro_rules! attributes {
    ($($k:ty, $w:ty: $get:ident $fget:ident $set:ident $fset:ident;)*) => { $(
        written! { $get: unsafe extern "C" fn(Handle, c_int, *mut *mut c_void, *mut c_int) -> c_int,
            $fget (object: *const Fint, keyval: *const Fint, attribute_val: *mut $w, flag: *mut Fint) |callee| {
            let (mut got, mut found) = (core::ptr::null_mut(), 0);
            // SAFETY: the caller's arguments and places.
            unsafe {
                let object = <$k>::handle(*object);
                let code = callee(object, *keyval, &mut got, &mut found);
                if code == SUCCESS {
                    flag.write(truth::to_fortran(found));
                    if found != 0 {
                        attribute_val.write(<$w>::of(language::read::<$k>(object, *keyval, got)));
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
                let object = <$k>::handle(*object);
                match callee(object, *keyval, value) {
                    SUCCESS => language::of_value::<$k, $w>(object, *keyval),
                    refused => refused,
                }
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
