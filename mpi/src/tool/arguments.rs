//! Arguments of the functions of the tool interface: what the user gives, and where the answers go.

use super::users::Res;
use crate::call::memory::{Out, Text, slice_mut, text, write, write_text};
use crate::constants::*;
use core::ffi::{c_char, c_int};

/// Stores what the user must take.
pub fn give<T>(at: Out<T>, value: T) -> Res {
    write(at, "", value).map_err(|_| MPI_T_ERR_INVALID)
}

/// Stores what the user may leave out by a null pointer.
pub fn offer<T>(at: Out<T>, value: T) {
    at.set(value);
}

/// Stores a text as MPI 5.0 §15.3.3 has it: `len` says how much room there is and gets what is needed; no
/// room, or no place: only that.
///
/// # Safety
/// The caller of the C function has promised that much room.
pub unsafe fn offer_text(at: Out<c_char>, len: Out<c_int>, text: &str) {
    let Some(room) = len.get() else { return };
    if !at.is_null() && room > 0 {
        // It is not null, so it is stored.
        // SAFETY: the caller's promise.
        let _ = unsafe { write_text(at, "", text, room as usize) };
    }
    offer(len, c_int::try_from(text.len() + 1).unwrap_or(c_int::MAX));
}

/// A name from the user.
pub fn name(at: Text) -> Res<String> {
    text(at, "").map_err(|_| MPI_T_ERR_INVALID)
}

/// The element an index names.
pub fn at<T>(list: &[T], index: c_int) -> Res<&T> {
    usize::try_from(index).ok().and_then(|i| list.get(i)).ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// Fills the user's array with at most `room` indices.
///
/// # Safety
/// The caller of the C function has promised as much room.
pub unsafe fn offer_indices(found: &[usize], room: c_int, indices: Out<c_int>) -> Res {
    let room = usize::try_from(room).map_err(|_| MPI_T_ERR_INVALID)?;
    let n = found.len().min(room);
    // SAFETY: the caller's promise, of no less.
    let places = unsafe { slice_mut(indices, n, "") }.map_err(|_| MPI_T_ERR_INVALID)?;
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
        let mut offered = |there: bool, mut len: Option<c_int>, text| {
            // SAFETY: less than there is.
            let at = if there { unsafe { Out::new(room.as_mut_ptr()) } } else { Out::NULL };
            // SAFETY: `len` is not more.
            unsafe { offer_text(at, len.as_mut().map_or(Out::NULL, Out::from), text) };
            (len, room[..5].to_vec())
        };
        let cut = b"abc\0\x01".map(|b| b as c_char).to_vec();
        assert_eq!(offered(true, Some(4), "abcdef"), (Some(7), cut.clone()));
        assert_eq!(offered(true, Some(0), "abcdef"), (Some(7), cut.clone()));
        assert_eq!(offered(false, Some(5), "abcdef"), (Some(7), cut.clone()));
        assert_eq!(offered(true, None, "xyz"), (None, cut));
    }
}
