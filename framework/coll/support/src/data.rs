//! Data of one call, vouched for where it comes in: the host's arguments by the component, temporary memory by
//! [`Lease`](crate::Lease), both by [`Room`], [`Source`] and [`Place`], of which parts can be taken.
//!
//! They say that memory is there and may be used, no more: several of them may name the same bytes, as operands in place or a sum and its parts do. So
//! work on two of them, which must not overlap, is unsafe ([`Local`](crate::Local)), and an algorithm keeps what is received apart from what is sent.

use crate::layout::{ALIGN, BYTE, Result, bytes, distance};
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Elements that may be read: sent, copied or combined.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    at: *const u8,
    count: u64,
    dtype: &'a TypeDesc,
}

/// Elements that may be written and, once they are, read: received, copied to or combined into.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    at: *mut u8,
    count: u64,
    dtype: &'a TypeDesc,
}

/// Temporary memory.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    start: *mut u8,
    len: u64,
    memory: PhantomData<&'a [u8]>,
}

/// The memory that a number of elements spans.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// From the first byte to the address of element 0: where the elements have to be put in a
    /// buffer of `len` bytes aligned to [`ALIGN`] so that they are aligned as the user's are.
    ahead: i64,
    /// A multiple of [`ALIGN`].
    len: u64,
    count: u64,
    dtype: &'a TypeDesc,
}

impl<'a> Span<'a> {
    /// The span of `count` elements. OUT_OF_MEMORY: more than an address space has.
    pub fn of(dtype: &'a TypeDesc, count: u64) -> Result<Span<'a>> {
        if count == 0 || dtype.packed == 0 {
            return Ok(Span { ahead: 0, len: 0, count, dtype });
        }
        let align = ALIGN as i128;
        let last = (count as i128 - 1) * dtype.extent as i128;
        let low = dtype.true_lb as i128 + last.min(0);
        let high = dtype.true_lb as i128 + last.max(0) + dtype.true_extent as i128;
        let low = low.div_euclid(align) * align;
        let len = (high - low + align - 1).div_euclid(align) * align;
        match (i64::try_from(-low), i64::try_from(len)) {
            (Ok(ahead), Ok(len)) => Ok(Span { ahead, len: len as u64, count, dtype }),
            _ => Err(Status::OUT_OF_MEMORY),
        }
    }

    /// Bytes from the first to behind the last, a multiple of [`ALIGN`].
    #[allow(clippy::len_without_is_empty, reason = "a size, no container")]
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// Panics unless `count` things from `first` on are some of `all`.
#[inline(always)]
fn check(first: u64, count: u64, all: u64) {
    if first > all || count > all - first {
        beyond(first, count, all)
    }
}

#[cold]
#[inline(never)]
fn beyond(first: u64, count: u64, all: u64) -> ! {
    panic!("{count} from {first} on, of {all}")
}

impl<'a> Source<'a> {
    /// No data.
    pub const NOTHING: Source<'static> = Source { at: null(), count: 0, dtype: &BYTE };

    /// Vouches for elements.
    ///
    /// # Safety
    /// For `'a` the call may read `count` elements of the type at `at`; in a plan the plan may, as long as that is.
    pub unsafe fn new(at: *const u8, count: u64, dtype: &'a TypeDesc) -> Source<'a> {
        Source { at, count, dtype }
    }

    /// As services take them.
    pub fn raw(self) -> (*const u8, u64, &'a TypeDesc) {
        (self.at, self.count, self.dtype)
    }

    /// Number of elements.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Bytes of data. BAD_PARAM: more than MPI can count.
    pub fn bytes(self) -> Result<u64> {
        bytes(self.dtype, self.count)
    }

    /// Elements `first..first + count`. Panics where there are not so many.
    pub fn part(self, first: u64, count: u64) -> Source<'a> {
        check(first, count, self.count);
        Source { at: self.at.wrapping_offset(distance(self.dtype, first.cast_signed())), count, ..self }
    }

    /// Whether the first element is that of a place.
    pub fn is(self, place: Place<'_>) -> bool {
        self.at == place.at.cast_const()
    }

    /// Whether it is elements side by side, which are their packed bytes.
    pub fn is_contiguous(self) -> bool {
        self.dtype.is_contiguous()
    }

    /// Whether another has elements of the same type.
    pub fn is_like(self, other: Place<'_>) -> bool {
        core::ptr::eq(self.dtype, other.dtype)
    }

    /// The bytes of contiguous elements. Panics where they are not that. BAD_PARAM: more than MPI can count.
    pub fn contiguous(self) -> Result<Source<'a>> {
        assert!(self.is_contiguous(), "elements that are not side by side");
        Ok(Source { count: self.bytes()?, dtype: &BYTE, ..self })
    }
}

impl<'a> Place<'a> {
    /// No data.
    pub const NOTHING: Place<'static> = Place { at: null_mut(), count: 0, dtype: &BYTE };

    /// Vouches for elements.
    ///
    /// # Safety
    /// For `'a` the call may read and write `count` elements of the type at `at`; in a plan the plan may, as long as that is.
    pub unsafe fn new(at: *mut u8, count: u64, dtype: &'a TypeDesc) -> Place<'a> {
        Place { at, count, dtype }
    }

    /// As services take them.
    pub fn raw(self) -> (*mut u8, u64, &'a TypeDesc) {
        (self.at, self.count, self.dtype)
    }

    /// The same elements, to be read.
    pub fn source(self) -> Source<'a> {
        Source { at: self.at, count: self.count, dtype: self.dtype }
    }

    /// Number of elements.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Bytes of data. BAD_PARAM: more than MPI can count.
    pub fn bytes(self) -> Result<u64> {
        bytes(self.dtype, self.count)
    }

    /// Elements `first..first + count`. Panics where there are not so many.
    pub fn part(self, first: u64, count: u64) -> Place<'a> {
        check(first, count, self.count);
        let at = self.at.wrapping_offset(distance(self.dtype, first.cast_signed()));
        Place { at, count, ..self }
    }

    /// Whether the first element is that of another place.
    pub fn is(self, other: Place<'_>) -> bool {
        self.at == other.at
    }

    /// Whether it is elements side by side, which are their packed bytes.
    pub fn is_contiguous(self) -> bool {
        self.dtype.is_contiguous()
    }

    /// The bytes of contiguous elements. Panics where they are not that. BAD_PARAM: more than MPI can count.
    pub fn contiguous(self) -> Result<Place<'a>> {
        assert!(self.is_contiguous(), "elements that are not side by side");
        Ok(Place { count: self.bytes()?, dtype: &BYTE, ..self })
    }
}

impl<'a> Room<'a> {
    /// Vouches for memory.
    ///
    /// # Safety
    /// For `'a` the call may use `len` bytes at `start`; in a plan the plan may, as long as that is.
    pub unsafe fn new(start: *mut u8, len: u64) -> Room<'a> {
        Room { start, len, memory: PhantomData }
    }

    /// Its bytes `first..first + len`. Panics where there are not so many.
    pub fn bytes(self, first: u64, len: u64) -> Place<'a> {
        check(first, len, self.len);
        Place { at: self.start.wrapping_add(first as usize), count: len, dtype: &BYTE }
    }

    /// All behind its first `len` bytes. Panics where there are not so many.
    pub fn rest(self, len: u64) -> Room<'a> {
        check(len, 0, self.len);
        Room { start: self.start.wrapping_add(len as usize), len: self.len - len, ..self }
    }

    /// Elements whose span begins at byte `first`. Panics where there is not so much memory.
    pub fn elements(self, first: u64, span: &Span<'a>) -> Place<'a> {
        check(first, span.len, self.len);
        let at = self.start.wrapping_add(first as usize).wrapping_offset(span.ahead as isize);
        Place { at, count: span.count, dtype: span.dtype }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::Base;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn parts_lie_where_their_elements_do() {
        let (mut data, int) = ([0i32; 6], TypeDesc::basic(Base::I32).expect("a basic type"));
        let start = data.as_mut_ptr().cast::<u8>();
        // SAFETY: the array, which nobody else uses.
        let place = unsafe { Place::new(start, 6, &int) };
        let (at, count, _) = place.part(2, 3).raw();
        assert_eq!((at, count), (start.wrapping_add(8), 3));
        assert!(place.source().part(2, 3).is(place.part(2, 1)) && !place.source().is(place.part(1, 1)));
        let (at, count, _) = place.contiguous().expect("bytes").part(5, 19).raw();
        assert_eq!((at, count), (start.wrapping_add(5), 19));
        assert_eq!((place.bytes(), place.part(6, 0).bytes()), (Ok(24), Ok(0)));
    }

    /// Whether taking a part panics.
    fn is_refused(part: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(part)).is_err()
    }

    #[test]
    fn there_is_nothing_beyond() {
        let (mut data, int) = ([0i32; 6], TypeDesc::basic(Base::I32).expect("a basic type"));
        let start = data.as_mut_ptr().cast::<u8>();
        // SAFETY: the array, which nobody else uses.
        let (place, room) = unsafe { (Place::new(start, 6, &int), Room::new(start, 6)) };
        let are_refused = |first: u64, count: u64| {
            [
                is_refused(|| _ = place.part(first, count)),
                is_refused(|| _ = place.source().part(first, count)),
                is_refused(|| _ = room.bytes(first, count)),
            ]
        };
        for (first, count) in [(0, 7), (6, 1), (7, 0), (1, u64::MAX), (u64::MAX, 2)] {
            assert_eq!(are_refused(first, count), [true; 3], "{count} from {first} on");
        }
        assert_eq!(are_refused(2, 4), [false; 3]);
        let span = Span::of(&int, 1).expect("a span");
        assert!(is_refused(|| _ = room.elements(0, &span)) && is_refused(|| _ = room.rest(7)));
    }
}
