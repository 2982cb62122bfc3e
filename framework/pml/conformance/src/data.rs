//! Bytes and types to send.

use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::SliceRef;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use std::sync::OnceLock;

/// Bytes that differ everywhere and from those of other seeds.
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

/// MPI_BYTE.
pub fn byte() -> &'static TypeDesc {
    static BYTE: OnceLock<&'static TypeDesc> = OnceLock::new();
    BYTE.get_or_init(|| make(flag::CONTIGUOUS, 1, Run { disp: 0, len: 1, count: 1, stride: 1 }, 1))
}

/// `count` blocks of `len` bytes, `stride` apart; one element after the other.
pub fn strided(len: u64, count: u64, stride: u64) -> &'static TypeDesc {
    let extent = (count - 1) * stride + len;
    make(0, len * count, Run { disp: 0, len, count, stride: stride as i64 }, extent as i64)
}

/// Types live as long as the process, as predefined ones do.
fn make(flags: u32, packed: u64, run: Run, extent: i64) -> &'static TypeDesc {
    let runs: &'static [Run] = vec![run].leak();
    Box::leak(Box::new(TypeDesc {
        size: size_of::<TypeDesc>() as u32,
        flags: flags | flag::COMMITTED | flag::PREDEFINED,
        packed,
        lb: 0,
        extent,
        true_lb: 0,
        true_extent: extent,
        base: Base::BYTE,
        refs: AtomicU32::new(1),
        elements: packed,
        runs: SliceRef::new(runs),
        free: None,
        nest: SliceRef::new(&[]),
        top: 0,
        places: SliceRef::new(&[]),
    }))
}
