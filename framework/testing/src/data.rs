//! Bytes and types to send.

use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::SliceRef;
use std::sync::OnceLock;

/// Makes bytes that differ everywhere and from those of other seeds.
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    };
    (0..len).map(next).collect()
}

/// Returns MPI_BYTE, which lives as long as the process.
pub fn byte() -> &'static TypeDesc {
    static BYTE: OnceLock<TypeDesc> = OnceLock::new();
    BYTE.get_or_init(new_byte)
}

fn new_byte() -> TypeDesc {
    TypeDesc::basic(Base::BYTE).expect("MPI_BYTE is a basic type")
}

/// Makes a type of `count` blocks of `len` bytes, `stride` apart, which lives as long as the process. One element begins where the one
/// before it ends.
pub fn strided(len: u64, count: u64, stride: u64) -> &'static TypeDesc {
    let extent = ((count - 1) * stride + len) as i64;
    let run: &'static [Run] = Box::leak(Box::new([Run { disp: 0, len, count, stride: stride as i64 }]));
    Box::leak(Box::new(TypeDesc {
        flags: flag::COMMITTED | flag::PREDEFINED,
        packed: len * count,
        extent,
        true_extent: extent,
        elements: len * count,
        runs: SliceRef::new(run),
        ..new_byte()
    }))
}
