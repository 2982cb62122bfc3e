//! The user's pointers, as arguments of the C functions have them: written and read only after a look at null.
//!
//! A function gets them from its C caller, who promises what the standard asks of each argument; nobody else makes one of a bare pointer but by an unsafe
//! function. So whoever has a place may use it.
//!
//! | type | argument |
//! |---|---|
//! | [`Out`] | a place for a value, or for the first of several |
//! | [`In`] | a value, or the first of several |
//! | [`Text`] | a string of C |
//! | [`Address`] | data of messages and windows: looked at here, and followed by who gets it with count and type |

use crate::constants::{MPI_ERR_ARG, MPI_UNDEFINED};
use crate::error::{Failure, Res};
use core::ffi::{CStr, c_char, c_int};
use core::marker::PhantomData;
use core::ptr::null_mut;

/// A place of the caller's for a value, or null.
#[repr(transparent)]
pub struct Out<'a, T>(*mut T, PhantomData<&'a mut T>);

/// A value of the caller's, or null.
#[repr(transparent)]
pub struct In<'a, T>(*const T, PhantomData<&'a T>);

/// A terminated string of the caller's, or null.
pub type Text<'a> = In<'a, c_char>;

impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<'_, T> {}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<'_, T> {}

impl<'a, T> From<&'a mut T> for Out<'a, T> {
    fn from(place: &'a mut T) -> Out<'a, T> {
        Out(place, PhantomData)
    }
}

impl<'a, T> From<&'a T> for In<'a, T> {
    fn from(value: &'a T) -> In<'a, T> {
        In(value, PhantomData)
    }
}

impl<'a, T> From<Out<'a, T>> for In<'a, T> {
    #[inline(always)]
    fn from(place: Out<'a, T>) -> In<'a, T> {
        In(place.0, PhantomData)
    }
}

impl<'a, T> Out<'a, T> {
    /// No place.
    pub const NULL: Out<'a, T> = Out(null_mut(), PhantomData);

    /// A place at this address.
    ///
    /// # Safety
    /// Null, or a place for such a value for as long as the result is used.
    #[cfg(test)]
    pub const unsafe fn new(at: *mut T) -> Out<'a, T> {
        Out(at, PhantomData)
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Its address.
    #[inline(always)]
    pub const fn as_ptr(self) -> *mut T {
        self.0
    }

    /// Stores a value, if there is a place for it.
    #[inline(always)]
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so the caller's place.
            unsafe { self.0.write(value) }
        }
    }

    /// Reads what stands there; `None`: there is no place.
    #[inline(always)]
    pub fn get(self) -> Option<T>
    where
        T: Copy,
    {
        In::from(self).get()
    }

    /// Changes what stands there, if there is a place.
    #[inline(always)]
    pub fn change(self, how: impl FnOnce(&mut T)) {
        // SAFETY: null, or the caller's place; nobody else has a reference to it, since places give none out but here.
        if let Some(value) = unsafe { self.0.as_mut() } {
            how(value);
        }
    }

    /// The place so many values behind this one, where there is one: what is done with it looks at null no more.
    ///
    /// # Safety
    /// It is not null, and the caller of the C function has promised as many and one.
    #[inline(always)]
    pub unsafe fn nth(self, index: usize) -> Out<'a, T> {
        // SAFETY: so many values lie in the caller's array.
        let at = unsafe { self.0.add(index) };
        // SAFETY: inside an array, which does not lie at null.
        unsafe { core::hint::assert_unchecked(!at.is_null()) };
        Out(at, PhantomData)
    }

    /// The place so many values behind this one; none behind none.
    ///
    /// # Safety
    /// The caller of the C function has promised as many and one.
    #[inline(always)]
    pub unsafe fn at(self, index: usize) -> Out<'a, T> {
        if self.0.is_null() { self } else { Out(self.0.wrapping_add(index), PhantomData) }
    }
}

impl<'a, T> In<'a, T> {
    /// A value at this address.
    ///
    /// # Safety
    /// Null, or such a value for as long as the result is used.
    #[inline(always)]
    pub const unsafe fn new(at: *const T) -> In<'a, T> {
        In(at, PhantomData)
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Its address.
    #[inline(always)]
    pub const fn as_ptr(self) -> *const T {
        self.0
    }

    /// Reads the value; `None`: there is none.
    #[inline(always)]
    pub fn get(self) -> Option<T>
    where
        T: Copy,
    {
        // SAFETY: null, or the caller's value.
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// Where the user's data begins: null, a sentinel of the standard, or memory that its operation may use as long as the standard says.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address(*mut u8);

impl Address {
    /// No data.
    pub const NULL: Address = Address(null_mut());

    /// Data at this address.
    ///
    /// # Safety
    /// The holder may do there what it does with it by count and type.
    pub const unsafe fn new(at: *mut u8) -> Address {
        Address(at)
    }

    /// Whether it is null.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The number that it is.
    #[inline(always)]
    pub fn addr(self) -> usize {
        self.0.addr()
    }

    /// A place for values of a type.
    ///
    /// # Safety
    /// Null, or a place for such values for as long as the result is used.
    #[inline(always)]
    pub const unsafe fn place_of<'a, T>(self) -> Out<'a, T> {
        Out(self.0.cast(), PhantomData)
    }

    /// So many bytes behind it.
    #[inline(always)]
    pub const fn behind(self, bytes: usize) -> Address {
        Address(self.0.wrapping_add(bytes))
    }

    /// The address, for data that goes out.
    #[inline(always)]
    pub const fn as_ptr(self) -> *const u8 {
        self.0
    }

    /// The address, for data that comes in.
    #[inline(always)]
    pub const fn as_mut_ptr(self) -> *mut u8 {
        self.0
    }
}

fn null<T>(name: &str) -> Res<T> {
    Failure::err(MPI_ERR_ARG, format!("{name} is a null pointer"))
}

/// Stores `value` where the argument `name` points to.
#[inline]
pub fn write<T>(at: Out<T>, name: &str, value: T) -> Res {
    if at.is_null() {
        return null(name);
    }
    at.set(value);
    Ok(())
}

/// As [`write`](fn@write), for a value that is made only where there is a place for it: nothing is made and lost
/// when the argument is null, and null is what such a call is told of first.
#[inline]
pub fn write_made<T>(at: Out<T>, name: &str, make: impl FnOnce() -> Res<T>) -> Res {
    if at.is_null() {
        return null(name);
    }
    write(at, name, make()?)
}

/// Reads what the argument `name` points to.
#[inline]
pub fn read<'a, T: Copy + 'a>(at: impl Into<In<'a, T>>, name: &str) -> Res<T> {
    at.into().get().map_or_else(|| null(name), Ok)
}

/// `count` values at `at`.
///
/// # Safety
/// The caller of the C function has promised so many, which nobody changes meanwhile.
pub unsafe fn slice<'a, T: 'a>(at: impl Into<In<'a, T>>, count: usize, name: &str) -> Res<&'a [T]> {
    let at = at.into();
    if count == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        return null(name);
    }
    // SAFETY: not null, and the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(at.0, count) })
}

/// `count` values at `at`, to be changed.
///
/// # Safety
/// The caller of the C function has promised so many, which no other reference covers.
pub unsafe fn slice_mut<'a, T>(at: Out<'a, T>, count: usize, name: &str) -> Res<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if at.is_null() {
        return null(name);
    }
    // SAFETY: not null, and the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(at.0, count) })
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
pub fn text(at: Text, name: &str) -> Res<String> {
    if at.is_null() {
        return null(name);
    }
    // SAFETY: not null, terminated by the promise of the caller of the C function.
    Ok(unsafe { CStr::from_ptr(at.0) }.to_string_lossy().into_owned())
}

/// Stores a string in a buffer of `room` bytes, terminated, cut at a character if it is too long.
/// Returns the bytes stored without the terminator.
///
/// # Safety
/// The caller of the C function has promised as much room.
pub unsafe fn write_text(at: Out<c_char>, name: &str, value: &str, room: usize) -> Res<usize> {
    if at.is_null() {
        return null(name);
    }
    let mut n = value.len().min(room.saturating_sub(1));
    while !value.is_char_boundary(n) {
        n -= 1;
    }
    // SAFETY: the caller's promise.
    unsafe {
        core::ptr::copy_nonoverlapping(value.as_ptr(), at.0.cast(), n);
        at.0.add(n).write(0);
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
        let refused = write_made(Out::<c_int>::NULL, "x", || unreachable!("made"));
        assert_eq!(refused.unwrap_err().code, MPI_ERR_ARG);
        let mut x = 1;
        let place = Out::from(&mut x);
        assert!(write_made(place, "x", || Failure::err(crate::constants::MPI_ERR_RANK, "no")).is_err());
        assert_eq!(place.get(), Some(1));
        write_made(place, "x", || Ok(2)).unwrap();
        assert_eq!(read(place, "x").unwrap(), 2);
        Out::NULL.set(1);
        assert_eq!(Out::<c_int>::NULL.get(), None);
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut room = [1 as c_char; 4];
        let mut stored = |text, bytes| {
            // SAFETY: not more than there are.
            unsafe { write_text(Out::new(room.as_mut_ptr()), "x", text, bytes) }.unwrap()
        };
        assert_eq!(stored("a\u{e9}\u{e9}", 4), 3);
        assert_eq!(stored("a\u{e9}\u{e9}", 3), 1);
        assert_eq!(room[3], 0);
        // SAFETY: there is no place, so nothing is stored.
        assert!(unsafe { write_text(Out::NULL, "x", "", 4) }.is_err());
    }
}
