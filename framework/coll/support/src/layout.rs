//! Where elements lie in a buffer.

use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Status;

/// A status other than OK is the error.
pub type Result<T = ()> = core::result::Result<T, Status>;

/// A cache line; enough for any C type.
pub const ALIGN: usize = 64;

/// The type of packed data, which travels as bytes. Each component that links this crate has one of its own, which never changes.
pub static BYTE: TypeDesc = match TypeDesc::basic(Base::BYTE) {
    Some(byte) => byte,
    None => panic!("MPI_BYTE is a basic type"),
};

/// Bytes of data in `count` elements.
pub fn bytes(dtype: &TypeDesc, count: u64) -> Result<u64> {
    let total = dtype.packed.checked_mul(count).filter(|n| *n <= i64::MAX as u64);
    total.ok_or(Status::BAD_PARAM)
}

/// Bytes from the beginning of a buffer to `disp` extents behind it, which may be before it.
pub fn distance(dtype: &TypeDesc, disp: i64) -> isize {
    disp.wrapping_mul(dtype.extent) as isize
}
