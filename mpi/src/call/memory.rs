//! The user's pointers: written and read only after a look at null.

use crate::constants::{MPI_ERR_ARG, MPI_UNDEFINED};
use crate::error::{Failure, Res};
use core::ffi::{CStr, c_char, c_int};

fn null<T>(name: &str) -> Res<T> {
    Failure::err(MPI_ERR_ARG, format!("{name} is a null pointer"))
}

/// Stores `value` where the argument `name` points to.
#[inline]
pub fn write<T>(at: *mut T, name: &str, value: T) -> Res {
    if at.is_null() {
        return null(name);
    }
    // SAFETY: not null, and the caller of the C function promises it points to such a value.
    unsafe { at.write(value) };
    Ok(())
}

/// As [`write`](fn@write), for a value that is made only where there is a place for it: nothing is made and lost
/// when the argument is null, and null is what such a call is told of first.
#[inline]
pub fn write_made<T>(at: *mut T, name: &str, make: impl FnOnce() -> Res<T>) -> Res {
    if at.is_null() {
        return null(name);
    }
    write(at, name, make()?)
}

/// Reads what the argument `name` points to.
#[inline]
pub fn read<T: Copy>(at: *const T, name: &str) -> Res<T> {
    if at.is_null() {
        return null(name);
    }
    // SAFETY: as in `write`.
    Ok(unsafe { at.read() })
}

/// `count` values at `at`.
pub fn slice<'a, T>(at: *const T, count: usize, name: &str) -> Res<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        return null(name);
    }
    // SAFETY: as in `write`, for `count` values.
    Ok(unsafe { core::slice::from_raw_parts(at, count) })
}

/// `count` values at `at`, to be changed.
pub fn slice_mut<'a, T>(at: *mut T, count: usize, name: &str) -> Res<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if at.is_null() {
        return null(name);
    }
    // SAFETY: as in `write`, for `count` values that no other reference covers.
    Ok(unsafe { core::slice::from_raw_parts_mut(at, count) })
}

/// A number for the user: MPI_UNDEFINED if there is none or it does not fit.
pub fn to_user<N: TryFrom<u64> + From<i16>>(number: Option<u64>) -> N {
    const UNDEFINED: i16 = MPI_UNDEFINED as i16;
    number.and_then(|n| N::try_from(n).ok()).unwrap_or_else(|| N::from(UNDEFINED))
}

/// A length from C: not negative.
pub fn length(n: c_int, name: &str) -> Res<usize> {
    usize::try_from(n).or_else(|_| Failure::err(MPI_ERR_ARG, format!("{name} is {n}")))
}

/// A string from C; bytes that are not UTF-8 are replaced.
pub fn text(at: *const c_char, name: &str) -> Res<String> {
    if at.is_null() {
        return null(name);
    }
    // SAFETY: not null, terminated by the promise of the caller of the C function.
    Ok(unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// Stores a string in a buffer of `room` bytes, terminated, cut at a character if it is too long.
/// Returns the bytes stored without the terminator.
pub fn write_text(at: *mut c_char, name: &str, value: &str, room: usize) -> Res<usize> {
    if at.is_null() {
        return null(name);
    }
    let mut n = value.len().min(room.saturating_sub(1));
    while !value.is_char_boundary(n) {
        n -= 1;
    }
    // SAFETY: the caller of the C function promises `room` bytes.
    unsafe {
        core::ptr::copy_nonoverlapping(value.as_ptr(), at.cast(), n);
        at.add(n).write(0);
    }
    Ok(n)
}

/// A name for an object, cut to what a name may have.
pub fn object_name(mut name: String) -> String {
    let mut n = name.len().min(crate::constants::MPI_MAX_OBJECT_NAME as usize - 1);
    while !name.is_char_boundary(n) {
        n -= 1;
    }
    name.truncate(n);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_made_for_a_null_place() {
        let refused = write_made(core::ptr::null_mut::<c_int>(), "x", || unreachable!("made"));
        assert_eq!(refused.unwrap_err().code, MPI_ERR_ARG);
        let mut x = 1;
        assert!(write_made(&raw mut x, "x", || Failure::err(crate::constants::MPI_ERR_RANK, "no")).is_err());
        assert_eq!(x, 1);
        write_made(&raw mut x, "x", || Ok(2)).unwrap();
        assert_eq!(x, 2);
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut room = [1 as c_char; 4];
        assert_eq!(write_text(room.as_mut_ptr(), "x", "aéé", 4).unwrap(), 3);
        assert_eq!(room[3], 0);
        assert_eq!(write_text(room.as_mut_ptr(), "x", "aéé", 3).unwrap(), 1);
        assert_eq!(room[1], 0);
        assert!(write_text(core::ptr::null_mut(), "x", "", 4).is_err());
    }
}
