//! Arguments of the functions of the tool interface: what the user gives, and where the answers go.

use super::users::Res;
use crate::call::memory::{slice_mut, write, write_text};
use crate::constants::*;
use core::ffi::{CStr, c_char, c_int};

/// Stores what the user must take.
pub fn give<T>(at: *mut T, value: T) -> Res {
    write(at, "", value).map_err(|_| MPI_T_ERR_INVALID)
}

/// Stores what the user may leave out by a null pointer.
pub fn offer<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: not null, and the caller of the C function promises it points to such a value.
        unsafe { at.write(value) }
    }
}

/// Stores a text as MPI 5.0 §15.3.3 has it: `len` says how much room there is and gets what is needed; no
/// room, or no place: only that.
pub fn offer_text(at: *mut c_char, len: *mut c_int, text: &str) {
    if len.is_null() {
        return;
    }
    // SAFETY: not null, the user's number.
    let room = unsafe { len.read() };
    if !at.is_null() && room > 0 {
        // It is not null, so it is stored.
        let _ = write_text(at, "", text, room as usize);
    }
    offer(len, c_int::try_from(text.len() + 1).unwrap_or(c_int::MAX));
}

/// A name from the user.
pub fn name(at: *const c_char) -> Res<String> {
    if at.is_null() {
        return Err(MPI_T_ERR_INVALID);
    }
    // SAFETY: not null, terminated by the promise of the caller of the C function.
    Ok(unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// The element an index names.
pub fn at<T>(list: &[T], index: c_int) -> Res<&T> {
    usize::try_from(index).ok().and_then(|i| list.get(i)).ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// Fills the user's array with at most `room` indices.
pub fn offer_indices(found: &[usize], room: c_int, indices: *mut c_int) -> Res {
    let room = usize::try_from(room).map_err(|_| MPI_T_ERR_INVALID)?;
    let n = found.len().min(room);
    let places = slice_mut(indices, n, "").map_err(|_| MPI_T_ERR_INVALID)?;
    for (place, index) in places.iter_mut().zip(found) {
        *place = *index as c_int;
    }
    Ok(())
}

/// MPI's verbosity of a parameter's level from 1 to 9.
pub fn verbosity(level: u32) -> c_int {
    const LEVELS: [c_int; 9] = [
        MPI_T_VERBOSITY_USER_BASIC,
        MPI_T_VERBOSITY_USER_DETAIL,
        MPI_T_VERBOSITY_USER_ALL,
        MPI_T_VERBOSITY_TUNER_BASIC,
        MPI_T_VERBOSITY_TUNER_DETAIL,
        MPI_T_VERBOSITY_TUNER_ALL,
        MPI_T_VERBOSITY_MPIDEV_BASIC,
        MPI_T_VERBOSITY_MPIDEV_DETAIL,
        MPI_T_VERBOSITY_MPIDEV_ALL,
    ];
    LEVELS[level.clamp(1, 9) as usize - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_and_its_length_told() {
        let mut room = [1 as c_char; 8];
        let mut len = 4;
        offer_text(room.as_mut_ptr(), &mut len, "abcdef");
        assert_eq!((len, room[..5].to_vec()), (7, b"abc\0\x01".map(|b| b as c_char).to_vec()));
        for (at, n) in [(room.as_mut_ptr(), 0), (core::ptr::null_mut(), 5)] {
            let mut len = n;
            offer_text(at, &mut len, "abcdef");
            assert_eq!((len, room[0]), (7, b'a' as c_char));
        }
        offer_text(room.as_mut_ptr(), core::ptr::null_mut(), "xyz");
        assert_eq!(room[0], b'a' as c_char);
    }
}
