//! CHARACTER: as long as its hidden length says and filled up with blanks; in C it ends with a zero byte.

use super::Dummy;
use core::ffi::{c_char, c_int};

/// The bytes of a text without the blanks behind it.
///
/// # Safety
/// So many characters stand there.
pub unsafe fn without_blanks<'a>(at: *const c_char, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    let all = unsafe { core::slice::from_raw_parts(at.cast::<u8>(), len) };
    let end = all.iter().rposition(|b| *b != b' ').map_or(0, |last| last + 1);
    &all[..end]
}

/// The same, without the blanks before it either.
pub fn trimmed(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|b| *b != b' ').unwrap_or(text.len());
    &text[begin..]
}

/// The text with a zero byte behind it; one that stands in it is its end.
pub fn zero_ended(text: &[u8]) -> Vec<u8> {
    let mut own = text.to_vec();
    own.push(0);
    own
}

/// Writes the text up to its zero byte, and blanks behind it, as far as there is room.
///
/// # Safety
/// So many characters have room there.
pub unsafe fn fill(at: *mut c_char, len: usize, text: &[u8]) {
    let text = text.split(|b| *b == 0).next().unwrap_or_default();
    // SAFETY: the caller's promise.
    let room = unsafe { core::slice::from_raw_parts_mut(at.cast::<u8>(), len) };
    let n = text.len().min(len);
    room[..n].copy_from_slice(&text[..n]);
    room[n..].fill(b' ');
}

/// A text that C reads.
pub struct In(Vec<u8>);

impl Dummy for In {
    type Given = *const c_char;
    type Passed = *const c_char;

    unsafe fn take(given: *const c_char, len: usize) -> Self {
        // SAFETY: the caller's promise.
        In(zero_ended(unsafe { without_blanks(given, len) }))
    }
    fn pass(&mut self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// A key or a value of an info object: blanks before it do not count either (MPI 5.0 §10).
pub struct Trimmed(Vec<u8>);

impl Dummy for Trimmed {
    type Given = *const c_char;
    type Passed = *const c_char;

    unsafe fn take(given: *const c_char, len: usize) -> Self {
        // SAFETY: the caller's promise.
        Trimmed(zero_ended(trimmed(unsafe { without_blanks(given, len) })))
    }
    fn pass(&mut self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// A place for a text that C writes, of at most `MOST` bytes with its zero byte.
pub struct Out<const MOST: usize> {
    place: *mut c_char,
    len: usize,
    own: Vec<u8>,
}

impl<const MOST: usize> Dummy for Out<MOST> {
    type Given = *mut c_char;
    type Passed = *mut c_char;

    unsafe fn take(given: *mut c_char, len: usize) -> Self {
        Out { place: given, len, own: vec![0; MOST + 1] }
    }
    fn pass(&mut self) -> *mut c_char {
        self.own.as_mut_ptr().cast()
    }
    fn give_back(self, code: c_int) {
        if code == crate::abi::SUCCESS {
            // SAFETY: the caller's place has so many characters.
            unsafe { fill(self.place, self.len, &self.own) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_and_get_blanks() {
        let text = b"  key  ";
        // SAFETY: the array's own length.
        let (mut plain, mut key) =
            unsafe { (In::take(text.as_ptr().cast(), 7), Trimmed::take(text.as_ptr().cast(), 7)) };
        assert_eq!((plain.0.as_slice(), key.0.as_slice()), (&b"  key\0"[..], &b"key\0"[..]));
        assert!(!plain.pass().is_null() && !key.pass().is_null());
        let mut place = *b"xxxxx";
        // SAFETY: as above.
        unsafe { fill(place.as_mut_ptr().cast(), 5, b"ab\0cd") };
        assert_eq!(&place, b"ab   ");
        // SAFETY: as above.
        unsafe { fill(place.as_mut_ptr().cast(), 2, b"wxyz") };
        assert_eq!(&place, b"wx   ");
        // SAFETY: nothing is read of no characters.
        assert_eq!(unsafe { without_blanks(text.as_ptr().cast(), 0) }, b"");
    }
}
