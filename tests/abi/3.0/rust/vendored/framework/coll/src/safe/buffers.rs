//! Buffers of a call: memory that only the verbs of a call look into. [`Source`] and [`Place`] are to elements of an MPI datatype what
//! `&[T]` and `&mut [T]` are to those of a Rust type, and the borrow checker keeps them apart in the same way.
//!
//! An address alone says nothing about the memory at it: data may lie before it and have holes. The elements of a buffer that is received into do not
//! overlap (MPI 5.0 §3.2.4), so places of different elements are places of different bytes.

use core::marker::PhantomData;
use core::ops::Range;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// The outcome of a verb: a status other than OK is the error. An operation hands it on, and the call ends with the first failure of all.
pub type Result<T = ()> = core::result::Result<T, Status>;

/// Elements to be read: sent, copied or combined.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    at: *const u8,
    count: u64,
    dtype: &'a TypeDesc,
    data: PhantomData<&'a [u8]>,
}

/// Elements to be written: received, copied to or combined into.
pub struct Place<'a> {
    at: *mut u8,
    count: u64,
    dtype: &'a TypeDesc,
    data: PhantomData<&'a mut [u8]>,
}

/// Bytes of data in `count` elements, if their number is one that MPI can count.
fn bytes(dtype: &TypeDesc, count: u64) -> Result<u64> {
    let total = dtype.packed.checked_mul(count).filter(|n| *n <= i64::MAX as u64);
    total.ok_or(Status::BAD_PARAM)
}

/// Bytes from the first element to another one.
fn distance(dtype: &TypeDesc, index: u64) -> isize {
    (index as i64).wrapping_mul(dtype.extent) as isize
}

/// The elements of block `index` of `blocks` equal ones.
fn range(count: u64, index: u32, blocks: u32) -> Result<Range<u64>> {
    if index >= blocks || !count.is_multiple_of(u64::from(blocks)) {
        return Err(Status::BAD_PARAM);
    }
    let each = count / u64::from(blocks);
    Ok(u64::from(index) * each..(u64::from(index) + 1) * each)
}

/// The range, if it is one of a buffer of `count` elements.
fn inside(part: &Range<u64>, count: u64) -> Result {
    if part.start <= part.end && part.end <= count { Ok(()) } else { Err(Status::BAD_PARAM) }
}

impl<'a> Source<'a> {
    /// Refuses more bytes than MPI can count.
    ///
    /// # Safety
    /// For `'a` the elements at `at` must be initialised, and nobody may write them but through a [`Place`] that borrows them.
    pub(super) unsafe fn new(at: *const u8, count: u64, dtype: &'a TypeDesc) -> Result<Source<'a>> {
        bytes(dtype, count)?;
        Ok(Source { at, count, dtype, data: PhantomData })
    }

    /// As services take it.
    pub(super) fn raw(&self) -> (*const u8, u64, &'a TypeDesc) {
        (self.at, self.count, self.dtype)
    }

    /// The same elements for another time.
    ///
    /// # Safety
    /// For `'x` the promise of `new` must hold, and the type must be there.
    pub(super) unsafe fn again<'x>(&self) -> Source<'x> {
        // SAFETY: the caller's promise.
        let dtype = unsafe { &*core::ptr::from_ref(self.dtype) };
        Source { at: self.at, count: self.count, dtype, data: PhantomData }
    }

    /// Number of its elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of data in all its elements, without gaps.
    pub fn bytes(&self) -> u64 {
        self.dtype.packed * self.count
    }

    /// Some of its elements. BAD_PARAM: it has not so many.
    pub fn part(self, part: Range<u64>) -> Result<Source<'a>> {
        inside(&part, self.count)?;
        let at = self.at.wrapping_offset(distance(self.dtype, part.start));
        Ok(Source { at, count: part.end - part.start, ..self })
    }

    /// Block `index` of `blocks` equal ones. BAD_PARAM: there is no such block.
    pub fn block(self, index: u32, blocks: u32) -> Result<Source<'a>> {
        self.part(range(self.count, index, blocks)?)
    }
}

impl<'a> Place<'a> {
    /// Refuses more bytes than MPI can count.
    ///
    /// # Safety
    /// For `'a` the elements at `at` must be initialised and writable, must not overlap, and nobody may use them but through this place.
    pub(super) unsafe fn new(at: *mut u8, count: u64, dtype: &'a TypeDesc) -> Result<Place<'a>> {
        bytes(dtype, count)?;
        Ok(Place { at, count, dtype, data: PhantomData })
    }

    /// As services take it.
    pub(super) fn raw(&mut self) -> (*mut u8, u64, &'a TypeDesc) {
        (self.at, self.count, self.dtype)
    }

    /// The same elements for another time.
    ///
    /// # Safety
    /// For `'x` the promise of `new` must hold, and the type must be there.
    pub(super) unsafe fn again<'x>(&self) -> Place<'x> {
        // SAFETY: the caller's promise.
        let dtype = unsafe { &*core::ptr::from_ref(self.dtype) };
        Place { at: self.at, count: self.count, dtype, data: PhantomData }
    }

    /// Number of its elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of data in all its elements, without gaps.
    pub fn bytes(&self) -> u64 {
        self.dtype.packed * self.count
    }

    /// The elements as they are, to be read.
    pub fn source(&self) -> Source<'_> {
        Source { at: self.at, count: self.count, dtype: self.dtype, data: PhantomData }
    }

    /// The elements as they are, not written any more.
    pub fn into_source(self) -> Source<'a> {
        Source { at: self.at, count: self.count, dtype: self.dtype, data: PhantomData }
    }

    /// The whole of it, for one verb.
    pub fn all(&mut self) -> Place<'_> {
        Place { at: self.at, count: self.count, dtype: self.dtype, data: PhantomData }
    }

    /// Some of its elements. BAD_PARAM: it has not so many.
    pub fn part(&mut self, part: Range<u64>) -> Result<Place<'_>> {
        inside(&part, self.count)?;
        let at = self.at.wrapping_offset(distance(self.dtype, part.start));
        Ok(Place { at, count: part.end - part.start, dtype: self.dtype, data: PhantomData })
    }

    /// Some of its elements, the others not written any more. BAD_PARAM: it has not so many.
    pub fn into_part(self, part: Range<u64>) -> Result<Place<'a>> {
        inside(&part, self.count)?;
        let at = self.at.wrapping_offset(distance(self.dtype, part.start));
        Ok(Place { at, count: part.end - part.start, dtype: self.dtype, data: PhantomData })
    }

    /// Block `index` of `blocks` equal ones. BAD_PARAM: there is no such block.
    pub fn block(&mut self, index: u32, blocks: u32) -> Result<Place<'_>> {
        self.part(range(self.count, index, blocks)?)
    }

    /// Two different ones of `blocks` equal blocks, one to be read and one to be written. BAD_PARAM: there are no such blocks.
    pub fn pair(&mut self, read: u32, written: u32, blocks: u32) -> Result<(Source<'_>, Place<'_>)> {
        if read == written {
            return Err(Status::BAD_PARAM);
        }
        let source = self.source().block(read, blocks)?;
        // Other elements than the source's, and the borrow of all of them covers both.
        let part = range(self.count, written, blocks)?;
        let at = self.at.wrapping_offset(distance(self.dtype, part.start));
        Ok((source, Place { at, count: part.end - part.start, dtype: self.dtype, data: PhantomData }))
    }

    /// All of `blocks` equal blocks, in their order. BAD_PARAM: it does not have so many equal ones.
    pub fn blocks(self, blocks: u32) -> Result<impl Iterator<Item = Place<'a>>> {
        let each = range(self.count, 0, blocks)?.end;
        let (at, dtype) = (self.at, self.dtype);
        let block = move |index: u32| {
            let at = at.wrapping_offset(distance(dtype, u64::from(index) * each));
            Place { at, count: each, dtype, data: PhantomData }
        };
        Ok((0..blocks).map(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::Base;

    fn int() -> TypeDesc {
        TypeDesc::basic(Base::I32).expect("a basic type")
    }

    #[test]
    fn blocks_lie_where_their_elements_do() {
        let (mut data, int) = ([0i32; 6], int());
        let start = data.as_mut_ptr().cast::<u8>();
        // SAFETY: the array, which nobody else uses.
        let mut place = unsafe { Place::new(start, 6, &int) }.expect("a place");
        assert_eq!(place.block(2, 3).expect("a block").raw().0, start.wrapping_add(16));
        let (read, mut written) = place.pair(2, 0, 3).expect("two blocks");
        assert_eq!((read.raw().0, written.raw().0), (start.wrapping_add(16).cast_const(), start));
        assert_eq!((read.count(), written.bytes()), (2, 8));
        let all: Vec<_> = place.blocks(2).expect("blocks").map(|mut block| block.raw().0).collect();
        assert_eq!(all, [start, start.wrapping_add(12)]);
    }

    #[test]
    fn there_is_nothing_beyond_a_buffer() {
        let (mut data, int) = ([0i32; 6], int());
        // SAFETY: the array, which nobody else uses.
        let mut place = unsafe { Place::new(data.as_mut_ptr().cast(), 6, &int) }.expect("a place");
        for (index, blocks) in [(3, 3), (0, 0), (0, 4), (u32::MAX, u32::MAX)] {
            assert!(place.source().block(index, blocks).is_err(), "{index} of {blocks}");
            assert!(place.block(index, blocks).is_err(), "{index} of {blocks}");
            assert!(place.pair(index, 1, blocks).is_err() && place.pair(1, index, blocks).is_err());
        }
        assert!(place.pair(1, 1, 3).is_err(), "one block twice");
        assert!(place.all().blocks(4).is_err() && place.all().blocks(0).is_err());
        let backwards = Range { start: 3, end: 2 };
        assert!(place.part(0..7).is_err() && place.part(backwards.clone()).is_err());
        assert!(place.source().part(0..7).is_err() && place.source().part(backwards).is_err());
        // SAFETY: refused before anybody looks at it.
        assert!(unsafe { Place::new(data.as_mut_ptr().cast(), u64::MAX / 4, &int) }.is_err());
    }
}
