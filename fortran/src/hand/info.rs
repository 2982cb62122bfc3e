//! Texts that C writes with a length that an argument says, which counts its zero byte in C and not in Fortran.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::Dummy;
use crate::dummies::text::{Trimmed, fill};
use crate::kinds::{Info, Kind, Session};
use crate::truth;
use core::ffi::{c_char, c_int};

written! { MPI_Info_get: unsafe extern "C" fn(Handle, *const c_char, c_int, *mut c_char, *mut c_int) -> c_int,
    mpi_info_get_ (info: *const Fint, key: *const c_char, valuelen: *const Fint, value: *mut c_char, flag: *mut Fint)
    (key_len, value_len) |callee| {
    // SAFETY: the caller's arguments and places.
    unsafe {
        let mut own = vec![0u8; (*valuelen).max(0) as usize + 1];
        let mut found = 0;
        let mut key = Trimmed::take(key, key_len);
        let code = callee(Info::handle(*info), key.pass(), *valuelen, own.as_mut_ptr().cast(), &mut found);
        if code == SUCCESS {
            flag.write(truth::to_fortran(found));
            if found != 0 {
                fill(value, value_len, &own);
            }
        }
        code
    }
} }

written! { MPI_Info_get_string: unsafe extern "C" fn(Handle, *const c_char, *mut c_int, *mut c_char, *mut c_int) -> c_int,
    mpi_info_get_string_ (info: *const Fint, key: *const c_char, buflen: *mut Fint, value: *mut c_char, flag: *mut Fint)
    (key_len, value_len) |callee| {
    // SAFETY: the caller's arguments and places.
    unsafe {
        let mut key = Trimmed::take(key, key_len);
        let mut found = 0;
        let code = sized(buflen, value, value_len, |len, at| {
            let code = callee(Info::handle(*info), key.pass(), len, at, &mut found);
            (code, found != 0)
        });
        if code == SUCCESS {
            flag.write(truth::to_fortran(found));
        }
        code
    }
} }

written! { MPI_Session_get_nth_pset: unsafe extern "C" fn(Handle, Handle, c_int, *mut c_int, *mut c_char) -> c_int,
    mpi_session_get_nth_pset_ (session: *const Fint, info: *const Fint, n: *const Fint, pset_len: *mut Fint, pset_name: *mut c_char)
    (name_len) |callee| {
    // SAFETY: the caller's arguments and places.
    unsafe {
        sized(pset_len, pset_name, name_len, |len, at| (callee(Session::handle(*session), Info::handle(*info), *n, len, at), true))
    }
} }

/// Asks for a text of at most `length` characters, which says afterwards how many there are. With 0 the text is not touched.
///
/// # Safety
/// The caller's length, and a text with room for so many characters. `ask` writes at most as many bytes as its length says.
unsafe fn sized(
    length: *mut Fint,
    text: *mut c_char,
    room: usize,
    ask: impl FnOnce(*mut c_int, *mut c_char) -> (c_int, bool),
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let wanted = (*length).clamp(0, room.min(c_int::MAX as usize - 1) as c_int);
        let mut own = vec![0u8; wanted as usize + 1];
        let mut with_zero = if wanted == 0 { 0 } else { wanted + 1 };
        let (code, found) = ask(&mut with_zero, own.as_mut_ptr().cast());
        if code == SUCCESS && found {
            if wanted > 0 {
                fill(text, room, &own);
            }
            *length = (with_zero - 1).max(0);
        }
        code
    }
}
