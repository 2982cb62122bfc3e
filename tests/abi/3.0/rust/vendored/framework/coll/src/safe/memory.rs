//! Temporary memory of a call. It is zero at first, so that whatever is read from it is initialised.

use crate::safe::buffers::{Place, Result, Source};
use core::alloc::Layout;
use core::ptr::NonNull;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;
use std::alloc::{alloc_zeroed, dealloc};

/// A cache line; enough for any C type.
const ALIGN: usize = 64;

/// Memory of some elements, until it is dropped; in a plan, as long as the plan.
pub struct Memory<'a> {
    /// The address of element 0.
    at: *mut u8,
    count: u64,
    dtype: &'a TypeDesc,
    /// `None`: the plan's, or no bytes at all.
    owned: Option<(NonNull<u8>, Layout)>,
}

/// The memory that a number of elements spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// From the first byte to the address of element 0.
    ahead: i64,
    /// A multiple of [`ALIGN`].
    pub(super) len: u64,
}

impl Span {
    pub(super) fn of(dtype: &TypeDesc, count: u64) -> Result<Span> {
        if count == 0 || dtype.packed == 0 {
            return Ok(Span { ahead: 0, len: 0 });
        }
        let align = ALIGN as i128;
        let last = (i128::from(count) - 1) * i128::from(dtype.extent);
        let low = i128::from(dtype.true_lb) + last.min(0);
        let high = i128::from(dtype.true_lb) + last.max(0) + i128::from(dtype.true_extent);
        // Elements are aligned here as they are in the user's buffers.
        let low = low.div_euclid(align) * align;
        let len = (high - low + align - 1).div_euclid(align) * align;
        match (i64::try_from(-low), isize::try_from(len)) {
            (Ok(ahead), Ok(len)) => Ok(Span { ahead, len: len as u64 }),
            _ => Err(Status::OUT_OF_MEMORY),
        }
    }
}

impl<'a> Memory<'a> {
    /// Memory of the process.
    pub(super) fn allocated(span: Span, dtype: &'a TypeDesc, count: u64) -> Result<Memory<'a>> {
        let layout = Layout::from_size_align(span.len as usize, ALIGN).map_err(|_| Status::OUT_OF_MEMORY)?;
        if layout.size() == 0 {
            return Ok(Memory { at: NonNull::<u64>::dangling().as_ptr().cast(), count, dtype, owned: None });
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Status::OUT_OF_MEMORY)?;
        let at = start.as_ptr().wrapping_offset(span.ahead as isize);
        Ok(Memory { at, count, dtype, owned: Some((start, layout)) })
    }

    /// Memory of a plan.
    ///
    /// # Safety
    /// At `start` there must be the span of `count` elements, which nobody else uses for as long as the plan is.
    pub(super) unsafe fn of_plan(start: *mut u8, span: Span, dtype: &'a TypeDesc, count: u64) -> Memory<'a> {
        // SAFETY: the caller's promise; the span's length fits an address space.
        unsafe { start.write_bytes(0, span.len as usize) };
        Memory { at: start.wrapping_offset(span.ahead as isize), count, dtype, owned: None }
    }

    /// The elements, to be read. BAD_PARAM: they have more bytes than MPI can count.
    pub fn source(&self) -> Result<Source<'_>> {
        // SAFETY: initialised when it was made, and borrowed: nobody has a place in it.
        unsafe { Source::new(self.at, self.count, self.dtype) }
    }

    /// The elements, to be written. BAD_PARAM: they have more bytes than MPI can count.
    pub fn place(&mut self) -> Result<Place<'_>> {
        // SAFETY: initialised when it was made, of a span that holds all elements, and borrowed by this place alone. The elements do
        // not overlap, since types of temporary memory are those of data that is received.
        unsafe { Place::new(self.at, self.count, self.dtype) }
    }
}

/// Bytes that were given once and are only read: every start of a persistent operation finds them as they were given.
pub struct Constant<'a>(Memory<'a>);

impl<'a> Constant<'a> {
    /// Puts the bytes into memory of as many. BAD_PARAM: it has not the room.
    pub(super) fn new(memory: Memory<'a>, bytes: &[u8]) -> Result<Constant<'a>> {
        if Span::of(memory.dtype, memory.count)?.len < bytes.len() as u64 || !memory.dtype.is_contiguous() {
            return Err(Status::BAD_PARAM);
        }
        // SAFETY: the memory spans at least as many bytes from its address on, since its elements have no holes, and nobody else has it.
        unsafe { memory.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(Constant(memory))
    }

    /// To be read.
    pub fn source(&self) -> Result<Source<'_>> {
        self.0.source()
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        if let Some((start, layout)) = self.owned {
            // SAFETY: allocated in `allocated` with this layout; sources and places borrow `self`, so none is left.
            unsafe { dealloc(start.as_ptr(), layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::{Base, TypeRef, build};

    #[test]
    fn memory_holds_elements_with_data_before_their_address() {
        let int = TypeDesc::basic(Base::I32).expect("a basic type");
        // SAFETY: alive until the end of the test.
        let old = &unsafe { TypeRef::retain(&int) };
        let parts = [build::Part { disp: -20, count: 2, old }, build::Part { disp: 12, count: 1, old }];
        let dtype = build::structure(&parts).expect("a type");
        let span = Span::of(&dtype, 3).expect("a span");
        let mut memory = Memory::allocated(span, &dtype, 3).expect("memory");
        let (mut place, packed) = (memory.place().expect("a place"), [7u8; 36]);
        let (at, count, dtype) = place.raw();
        // SAFETY: the place holds three elements of 12 bytes each.
        assert_eq!(unsafe { oxmpi_datatype::unpack(dtype, count, at, 0, packed.as_ptr(), 36) }, 36);
        assert!((at as usize).is_multiple_of(4));
    }

    #[test]
    fn memory_without_end_is_refused() {
        let int = TypeDesc::basic(Base::I32).expect("a basic type");
        assert_eq!(Span::of(&int, u64::MAX / 8).err(), Some(Status::OUT_OF_MEMORY));
        let span = Span::of(&int, 0).expect("a span");
        assert_eq!(Memory::allocated(span, &int, 0).expect("memory").source().expect("a source").bytes(), 0);
    }
}
