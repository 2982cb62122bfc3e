//! Comparing one cache line of lanes at a time, with the instructions of each level (`simd.rs` has the levels by name).
//!
//! The one operation says in which lanes `(want ^ ask) & mask` is 0, bit i for lane i. A search is written once, over the
//! operation of any level, and compiled for each.

use super::line::{Line, lane_mask};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as x86;

/// The comparison of lines as one level's instructions do it.
pub(super) trait Isa {
    /// Compares all lanes of a line at once. Bit i of the result is 1 if `(want ^ ask) & mask` is 0 in lane i, i.e. if
    /// the two are equal where the mask has ones. `W`: bits of a lane (8, 16, 32 or 64).
    ///
    /// # Safety
    /// The processor has the level.
    unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64;
}

/// A search over lines, written once for all levels.
pub(super) trait Search {
    type Found;
    /// Runs the search with the comparison of one level. Must be inlined, so that it is compiled for that level.
    fn run<I: Isa>(self) -> Self::Found;
}

/// The comparison by plain words, for any processor; the compiler may make vectors of it.
pub(super) struct Scalar;

impl Isa for Scalar {
    #[inline(always)]
    unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64 {
        let mut lanes = 0;
        for (i, ((want, ask), mask)) in want.0.iter().zip(&ask.0).zip(&mask.0).enumerate() {
            let differs = (want ^ ask) & mask;
            for lane in 0..64 / W {
                let zero = differs >> (lane * W) & lane_mask::<W>() == 0;
                lanes |= (zero as u64) << (i * (64 / W) + lane);
            }
        }
        lanes
    }
}

/// The comparison by AVX-512: a line is one register.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx512;
#[cfg(target_arch = "x86_64")]
impl Isa for Avx512 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64 {
        // SAFETY: lines are 64 bytes and aligned so.
        let load = |l: &Line| unsafe { x86::_mm512_load_si512((&raw const l.0).cast()) };
        let (differs, mask) = (x86::_mm512_xor_si512(load(want), load(ask)), load(mask));
        match W {
            8 => x86::_mm512_testn_epi8_mask(differs, mask),
            16 => x86::_mm512_testn_epi16_mask(differs, mask) as u64,
            32 => x86::_mm512_testn_epi32_mask(differs, mask) as u64,
            _ => x86::_mm512_testn_epi64_mask(differs, mask) as u64,
        }
    }
}

/// The comparison by AVX2: a line is two registers.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;
#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64 {
        let zero = x86::_mm256_setzero_si256();
        let differs = |half: usize| {
            let load = |l: &Line| {
                // SAFETY: half of 64 bytes, aligned to 32.
                unsafe { x86::_mm256_load_si256((&raw const l.0).cast::<x86::__m256i>().add(half)) }
            };
            x86::_mm256_and_si256(x86::_mm256_xor_si256(load(want), load(ask)), load(mask))
        };
        let (low, high) = (differs(0), differs(1));
        match W {
            8 => {
                let bits = |d| x86::_mm256_movemask_epi8(x86::_mm256_cmpeq_epi8(d, zero)) as u32 as u64;
                bits(low) | bits(high) << 32
            }
            16 => {
                let (low, high) = (x86::_mm256_cmpeq_epi16(low, zero), x86::_mm256_cmpeq_epi16(high, zero));
                // Packing works within halves of registers; the permutation puts the quarters in order.
                let packed =
                    x86::_mm256_permute4x64_epi64::<0b11_01_10_00>(x86::_mm256_packs_epi16(low, high));
                x86::_mm256_movemask_epi8(packed) as u32 as u64
            }
            32 => {
                let bits = |d| {
                    let equal = x86::_mm256_cmpeq_epi32(d, zero);
                    x86::_mm256_movemask_ps(x86::_mm256_castsi256_ps(equal)) as u32 as u64
                };
                bits(low) | bits(high) << 8
            }
            _ => {
                let bits = |d| {
                    let equal = x86::_mm256_cmpeq_epi64(d, zero);
                    x86::_mm256_movemask_pd(x86::_mm256_castsi256_pd(equal)) as u32 as u64
                };
                bits(low) | bits(high) << 4
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) mod neon {
    use super::{Isa, Line};
    use core::arch::aarch64::*;

    /// The comparison by NEON: a line is four registers.
    pub struct Neon;

    impl Isa for Neon {
        #[inline(always)]
        unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64 {
            // SAFETY: every aarch64 processor has NEON; a line has four quarters of 16 bytes.
            unsafe {
                let differs = |quarter: usize| {
                    let load = |l: &Line| vld1q_u64(l.0.as_ptr().add(quarter * 2));
                    vandq_u64(veorq_u64(load(want), load(ask)), load(mask))
                };
                let [a, b, c, d] = [differs(0), differs(1), differs(2), differs(3)];
                let none = vdupq_n_u8(0);
                // Narrowed until a lane is a byte, 0 or 255.
                let halves = |a, b| vcombine_u8(vmovn_u16(a), vmovn_u16(b));
                let quarters = |a, b| vcombine_u16(vmovn_u32(a), vmovn_u32(b));
                let eighths = |a, b| vcombine_u32(vmovn_u64(a), vmovn_u64(b));
                let bytes = match W {
                    8 => [a, b, c, d].map(|x| vceqzq_u8(vreinterpretq_u8_u64(x))),
                    16 => {
                        let [a, b, c, d] = [a, b, c, d].map(|x| vceqzq_u16(vreinterpretq_u16_u64(x)));
                        [halves(a, b), halves(c, d), none, none]
                    }
                    32 => {
                        let [a, b, c, d] = [a, b, c, d].map(|x| vceqzq_u32(vreinterpretq_u32_u64(x)));
                        [halves(quarters(a, b), quarters(c, d)), none, none, none]
                    }
                    _ => {
                        let [a, b, c, d] = [a, b, c, d].map(|x| vceqzq_u64(x));
                        let narrow = quarters(eighths(a, b), eighths(c, d));
                        [halves(narrow, vdupq_n_u16(0)), none, none, none]
                    }
                };
                // A bit per byte: weights within groups of eight, then sums of neighbours.
                let weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
                let [a, b, c, d] = bytes.map(|x| vandq_u8(x, weights));
                let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
                vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
            }
        }
    }
}
