//! Where elements lie in a buffer.

use crate::scratch::ALIGN;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Status;

/// A status other than OK is the error.
pub type Result<T = ()> = core::result::Result<T, Status>;

/// Packed data travels as bytes.
pub static BYTE: TypeDesc = match TypeDesc::basic(Base::BYTE) {
    Some(byte) => byte,
    None => panic!("MPI_BYTE is a basic type"),
};

/// Address of element `index`.
pub fn element(buf: *const u8, dtype: &TypeDesc, index: u64) -> *const u8 {
    buf.wrapping_offset((index as i64).wrapping_mul(dtype.extent) as isize)
}

/// Address `disp` extents from the beginning of a buffer, which may be before it.
pub fn displaced(buf: *const u8, dtype: &TypeDesc, disp: i64) -> *const u8 {
    buf.wrapping_offset(disp.wrapping_mul(dtype.extent) as isize)
}

/// Address of element `index`, to write.
pub fn element_mut(buf: *mut u8, dtype: &TypeDesc, index: u64) -> *mut u8 {
    element(buf, dtype, index).cast_mut()
}

/// Bytes of data in `count` elements.
pub fn bytes(dtype: &TypeDesc, count: u64) -> Result<u64> {
    let total = dtype.packed.checked_mul(count).filter(|n| *n <= i64::MAX as u64);
    total.ok_or(Status::BAD_PARAM)
}

/// The memory that a number of elements spans.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// From the first byte to the address of element 0: where the elements have to be put in a
    /// buffer of `len` bytes aligned to [`ALIGN`] so that they are aligned as the user's are.
    ahead: i64,
    /// A multiple of [`ALIGN`].
    pub len: u64,
}

impl Span {
    pub fn of(dtype: &TypeDesc, count: u64) -> Result<Span> {
        if count == 0 || dtype.packed == 0 {
            return Ok(Span { ahead: 0, len: 0 });
        }
        let align = ALIGN as i128;
        let last = (count as i128 - 1) * dtype.extent as i128;
        let low = dtype.true_lb as i128 + last.min(0);
        let high = dtype.true_lb as i128 + last.max(0) + dtype.true_extent as i128;
        let low = low.div_euclid(align) * align;
        let len = (high - low + align - 1).div_euclid(align) * align;
        match (i64::try_from(-low), i64::try_from(len)) {
            (Ok(ahead), Ok(len)) => Ok(Span { ahead, len: len as u64 }),
            _ => Err(Status::OUT_OF_MEMORY),
        }
    }

    /// Address of element 0 when the span begins at `start`.
    pub fn place(&self, start: *mut u8) -> *mut u8 {
        start.wrapping_offset(self.ahead as isize)
    }
}
