//! Copies of blocks at equal distances: the inner loops of pack and unpack.
//!
//! The lengths of basic types and of small groups of them have loops of their own, in which a block is
//! one or two moves; a call to memcpy costs more than those. Blocks of 8 bytes that are gathered
//! into dense memory are collected two by two in registers of 16 bytes, which halves the stores; those of 4 bytes
//! at a distance of 8 are picked out of whole registers (SSE2, which every x86-64
//! has, so there is nothing to choose at run time; the wider gathers of AVX2 do one access per block,
//! too). Lists of blocks without a pattern have loops of their own.

/// Blocks on one side of a copy.
#[derive(Clone, Copy)]
pub(crate) struct Side<P> {
    pub at: P,
    /// From start to start.
    pub step: i64,
}

/// Fewer blocks than these are copied one by one.
const FEW: u64 = 4;

/// Copies `blocks` blocks of `len` bytes.
///
/// # Safety
/// All blocks must be readable and writable, and not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_blocks(from: Side<*const u8>, to: Side<*mut u8>, len: u64, blocks: u64) {
    // SAFETY: the promise of the caller, passed on.
    unsafe {
        if (1..FEW).contains(&blocks) {
            // Layouts without a pattern are lists of such runs; a loop made for many costs them more than the blocks.
            copy_one(from.at, to.at, len as usize);
            for i in 1..blocks as isize {
                let (src, dst) = (from.at.offset(i * from.step as isize), to.at.offset(i * to.step as isize));
                copy_one(src, dst, len as usize);
            }
            return;
        }
        match len {
            4 if to.step == 4 => gather4(from, to.at, blocks),
            8 if to.step == 8 => gather8(from, to.at, blocks),
            1 => fixed::<1>(from, to, blocks),
            2 => fixed::<2>(from, to, blocks),
            4 => fixed::<4>(from, to, blocks),
            8 => fixed::<8>(from, to, blocks),
            12 => fixed::<12>(from, to, blocks),
            16 => fixed::<16>(from, to, blocks),
            20 => fixed::<20>(from, to, blocks),
            24 => fixed::<24>(from, to, blocks),
            32 => fixed::<32>(from, to, blocks),
            40 => fixed::<40>(from, to, blocks),
            48 => fixed::<48>(from, to, blocks),
            64 => fixed::<64>(from, to, blocks),
            _ => {
                for i in 0..blocks as isize {
                    let (src, dst) =
                        (from.at.offset(i * from.step as isize), to.at.offset(i * to.step as isize));
                    core::ptr::copy_nonoverlapping(src, dst, len as usize);
                }
            }
        }
    }
}

/// One block; short ones in two moves that may overlap each other.
#[inline(always)]
unsafe fn copy_one(src: *const u8, dst: *mut u8, len: usize) {
    macro_rules! two_moves {
        ($t:ty) => {{
            let end = len - size_of::<$t>();
            let (a, b) = (src.cast::<$t>().read_unaligned(), src.add(end).cast::<$t>().read_unaligned());
            dst.cast::<$t>().write_unaligned(a);
            dst.add(end).cast::<$t>().write_unaligned(b);
        }};
    }
    // SAFETY: all accesses lie within `len` bytes, by the caller's promise.
    unsafe {
        match len {
            4..8 => two_moves!(u32),
            8..16 => two_moves!(u64),
            16..=32 => two_moves!(u128),
            _ => core::ptr::copy_nonoverlapping(src, dst, len),
        }
    }
}

unsafe fn fixed<const N: usize>(from: Side<*const u8>, to: Side<*mut u8>, blocks: u64) {
    for i in 0..blocks as isize {
        // SAFETY: the promise of `copy_blocks`; arrays of bytes have no alignment.
        unsafe {
            let block = from.at.offset(i * from.step as isize).cast::<[u8; N]>();
            *to.at.offset(i * to.step as isize).cast::<[u8; N]>() = *block;
        }
    }
}

/// Lengths of blocks that [`gather`] and [`scatter`] know.
pub(crate) const LISTED: [u64; 6] = [2, 4, 8, 12, 16, 24];

/// Copies blocks of one of the lengths [`LISTED`], at `places` from `base`, to dense memory.
///
/// # Safety
/// All blocks must be readable, `dst` writable for as many, and they must not overlap.
#[inline(always)]
pub(crate) unsafe fn gather(base: *const u8, places: &[i32], dst: *mut u8, len: u64) {
    unsafe fn fixed<const N: usize>(base: *const u8, places: &[i32], dst: *mut u8) {
        for (i, place) in places.iter().enumerate() {
            // SAFETY: the promise of `gather`; arrays of bytes have no alignment.
            unsafe {
                *dst.add(i * N).cast::<[u8; N]>() = *base.wrapping_offset(*place as isize).cast::<[u8; N]>()
            };
        }
    }
    // SAFETY: the promise of the caller, passed on.
    unsafe {
        match len {
            2 => fixed::<2>(base, places, dst),
            4 => fixed::<4>(base, places, dst),
            8 => fixed::<8>(base, places, dst),
            12 => fixed::<12>(base, places, dst),
            16 => fixed::<16>(base, places, dst),
            24 => fixed::<24>(base, places, dst),
            _ => unreachable!("only lengths in LISTED are listed"),
        }
    }
}

/// The way back: from dense memory to blocks at `places` from `base`.
///
/// # Safety
/// As [`gather`], with the roles of the memories exchanged.
#[inline(always)]
pub(crate) unsafe fn scatter(src: *const u8, base: *mut u8, places: &[i32], len: u64) {
    unsafe fn fixed<const N: usize>(src: *const u8, base: *mut u8, places: &[i32]) {
        for (i, place) in places.iter().enumerate() {
            // SAFETY: the promise of `scatter`; arrays of bytes have no alignment.
            unsafe {
                *base.wrapping_offset(*place as isize).cast::<[u8; N]>() = *src.add(i * N).cast::<[u8; N]>()
            };
        }
    }
    // SAFETY: the promise of the caller, passed on.
    unsafe {
        match len {
            2 => fixed::<2>(src, base, places),
            4 => fixed::<4>(src, base, places),
            8 => fixed::<8>(src, base, places),
            12 => fixed::<12>(src, base, places),
            16 => fixed::<16>(src, base, places),
            24 => fixed::<24>(src, base, places),
            _ => unreachable!("only lengths in LISTED are listed"),
        }
    }
}

unsafe fn gather4(from: Side<*const u8>, dst: *mut u8, blocks: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the promise of `copy_blocks`.
    let done = unsafe {
        if from.step == 8 { every_second4(from.at, dst, blocks) } else { quartets(from, dst, blocks) }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    // SAFETY: as above.
    unsafe {
        let at = from.at.offset((done as i64 * from.step) as isize);
        dense::<4>(Side { at, ..from }, dst.add(4 * done as usize), blocks - done);
    }
}

/// Four at a time, put together in a register and stored at once: a store for each takes as long as all the loads.
/// Answers how many were copied.
#[cfg(target_arch = "x86_64")]
unsafe fn quartets(from: Side<*const u8>, dst: *mut u8, blocks: u64) -> u64 {
    use core::arch::x86_64::{_mm_loadu_si32, _mm_storeu_si128, _mm_unpacklo_epi32, _mm_unpacklo_epi64};
    let (mut done, step) = (0, from.step as isize);
    while done + 8 <= blocks {
        // SAFETY: the promise of `copy_blocks`: eight blocks follow, and `dst` has room for them.
        unsafe {
            let at = from.at.offset(done as isize * step);
            let one = |i: isize| _mm_loadu_si32(at.offset(i * step));
            let four = |i: isize| {
                let (low, high) =
                    (_mm_unpacklo_epi32(one(i), one(i + 1)), _mm_unpacklo_epi32(one(i + 2), one(i + 3)));
                _mm_unpacklo_epi64(low, high)
            };
            let dst = dst.add(4 * done as usize);
            _mm_storeu_si128(dst.cast(), four(0));
            _mm_storeu_si128(dst.add(16).cast(), four(4));
        }
        done += 8;
    }
    done
}

/// Two at a time, loaded into the halves of a register. (Collected in two general registers first they would take three
/// moves between the register files, and half as long again.)
#[cfg(target_arch = "x86_64")]
unsafe fn gather8(from: Side<*const u8>, dst: *mut u8, blocks: u64) {
    use core::arch::x86_64::{_mm_castsi128_pd, _mm_loadh_pd, _mm_loadl_epi64, _mm_storeu_pd};
    let (mut done, step) = (0, from.step as isize);
    while done + 4 <= blocks {
        // SAFETY: the promise of `copy_blocks`: four blocks follow, and `dst` has room for them.
        unsafe {
            let at = from.at.offset(done as isize * step);
            let two = |at: *const u8| {
                _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64(at.cast())), at.offset(step).cast())
            };
            let dst = dst.add(8 * done as usize).cast::<f64>();
            _mm_storeu_pd(dst, two(at));
            _mm_storeu_pd(dst.add(2), two(at.offset(2 * step)));
        }
        done += 4;
    }
    // SAFETY: as above.
    unsafe {
        let at = from.at.offset(done as isize * step);
        dense::<8>(Side { at, ..from }, dst.add(8 * done as usize), blocks - done);
    }
}
#[cfg(not(target_arch = "x86_64"))]
unsafe fn gather8(from: Side<*const u8>, dst: *mut u8, blocks: u64) {
    // SAFETY: the promise of `copy_blocks`.
    unsafe { dense::<8>(from, dst, blocks) }
}

/// Blocks into dense memory, one move each. Several per turn: the turn would take as long as the moves.
unsafe fn dense<const N: usize>(from: Side<*const u8>, dst: *mut u8, blocks: u64) {
    const AT_ONCE: u64 = 8;
    let (mut src, mut dst, step) = (from.at, dst, from.step as isize);
    let mut left = blocks;
    // SAFETY: the promise of `copy_blocks`; arrays of bytes have no alignment. No pointer is used behind the last block.
    let mut one = || unsafe {
        *dst.cast::<[u8; N]>() = *src.cast::<[u8; N]>();
        (src, dst) = (src.wrapping_offset(step), dst.wrapping_add(N));
    };
    while left >= AT_ONCE {
        (0..AT_ONCE).for_each(|_| one());
        left -= AT_ONCE;
    }
    (0..left).for_each(|_| one());
}

/// Every second of 4-byte words, four at a time. Reads the gaps between blocks but nothing behind the
/// last one; returns how many blocks are done.
///
/// # Safety
/// As `copy_blocks`, and the gaps between the blocks must be readable: they lie in one object of the user's.
#[cfg(target_arch = "x86_64")]
unsafe fn every_second4(src: *const u8, dst: *mut u8, blocks: u64) -> u64 {
    use core::arch::x86_64::{_mm_loadu_ps, _mm_shuffle_ps, _mm_storeu_ps};
    let mut done = 0;
    while done + 4 < blocks {
        // SAFETY: four blocks and their gaps are 32 bytes, and a fifth block follows.
        unsafe {
            let at = src.add(8 * done as usize).cast::<f32>();
            let picked = _mm_shuffle_ps::<0b10_00_10_00>(_mm_loadu_ps(at), _mm_loadu_ps(at.add(4)));
            _mm_storeu_ps(dst.add(4 * done as usize).cast(), picked);
        }
        done += 4;
    }
    done
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_distance() {
        for len in (0..=70usize).chain([100, 128, 300]) {
            for blocks in [1usize, 2, 3, 4, 5, 7, 8, 9, 17] {
                for (from_gap, to_gap) in [(0, 0), (len, 0), (0, len), (5, 0), (0, 3), (4, 12), (9, 4)] {
                    let (from_step, to_step) = (len + from_gap, len + to_gap);
                    // No byte behind the last block.
                    let src: Vec<u8> =
                        (0..(blocks - 1) * from_step + len).map(|i| (i * 7 + i / 256) as u8).collect();
                    let mut dst = vec![0xee; (blocks - 1) * to_step + len];
                    let mut expected = dst.clone();
                    for b in 0..blocks {
                        expected[b * to_step..][..len].copy_from_slice(&src[b * from_step..][..len]);
                    }
                    let from = Side { at: src.as_ptr(), step: from_step as i64 };
                    let to = Side { at: dst.as_mut_ptr(), step: to_step as i64 };
                    // SAFETY: the buffers hold exactly the blocks.
                    unsafe { copy_blocks(from, to, len as u64, blocks as u64) };
                    assert!(dst == expected, "{blocks} of {len}, {from_step} to {to_step}");
                }
            }
        }
    }
}
