//! Comparing one cache line of lanes at a time, with what the processor has.
//!
//! A [`Line`] is 64 bytes: lanes of 8, 16, 32 or 64 bits. The one operation says in which lanes
//! `(want ^ ask) & mask` is 0, bit i for lane i. [`Level`] names the instruction sets; a [`Simd`] is a
//! level that this processor has, which is what makes the calls sound. The level is looked at once per
//! search: [`Simd::run`] hands a whole search ([`Search`]) to a copy of its code compiled for the level.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as x86;

/// A cache line of lanes: 64 bytes, which are compared at once.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Line(pub [u64; 8]);

/// Gives a word whose lowest `W` bits are 1: the mask of one lane.
const fn lane_mask<const W: usize>() -> u64 {
    u64::MAX >> (64 - W)
}

impl Line {
    /// Makes a line whose lanes of `W` bits all have the same value.
    #[inline(always)]
    pub fn splat<const W: usize>(lane: u64) -> Line {
        // 0x…0101 for bytes, and so on.
        Line([(lane & lane_mask::<W>()).wrapping_mul(u64::MAX / lane_mask::<W>()); 8])
    }
    /// Gives the value of a lane of `W` bits.
    #[inline(always)]
    pub fn get<const W: usize>(&self, lane: usize) -> u64 {
        self.0[lane * W / 64] >> (lane * W % 64) & lane_mask::<W>()
    }
    /// Writes the lowest `W` bits of a value into a lane; the other lanes stay.
    #[inline(always)]
    pub fn set<const W: usize>(&mut self, lane: usize, value: u64) {
        let (word, shift) = (&mut self.0[lane * W / 64], lane * W % 64);
        *word = *word & !(lane_mask::<W>() << shift) | (value & lane_mask::<W>()) << shift;
    }
}

/// Instruction sets that lines are compared with, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Scalar,
    Neon,
    Avx2,
    /// AVX-512 F and BW.
    Avx512,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Scalar, Level::Neon, Level::Avx2, Level::Avx512];

    /// Gives the level's name in the parameter `pml_ob1_matching_simd`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the level's instructions.
    fn is_here(self) -> bool {
        match self {
            Level::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw"),
            // Every aarch64 processor that runs Linux has it.
            Level::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little")),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }
}

/// A level that this processor has, so that calls of its instructions are sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Level);

/// A search over lines, written once for all levels.
pub(super) trait Search {
    type Found;
    /// Runs the search with the comparison of one level. Must be inlined, so that it is compiled for that level.
    fn run<I: Isa>(self) -> Self::Found;
}

impl Simd {
    /// Makes the proof that this processor has a level. `None`: the processor lacks it.
    pub fn new(level: Level) -> Option<Simd> {
        level.is_here().then_some(Simd(level))
    }
    /// Finds the best level that this processor has.
    pub fn best() -> Simd {
        Level::ALL.into_iter().rev().find_map(Simd::new).unwrap_or(Simd(Level::Scalar))
    }
    /// Gives the level itself.
    pub fn level(self) -> Level {
        self.0
    }

    /// Runs a search in the copy of its code that was compiled for this level.
    #[inline(always)]
    pub(super) fn run<S: Search>(self, search: S) -> S::Found {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Simd` is made only where the level is there.
            Level::Avx512 => unsafe { avx512(search) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { avx2(search) },
            #[cfg(target_arch = "aarch64")]
            Level::Neon => search.run::<neon::Neon>(),
            _ => search.run::<Scalar>(),
        }
    }

    /// Finds the first lane of 64 bits, counted through all lines, for which `(lane ^ want) & mask == 0` and `is_live`
    /// hold. `None`: they hold for none.
    #[inline(always)]
    pub(super) fn find64(
        self,
        lines: &[Line],
        want: u64,
        mask: u64,
        is_live: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        struct Find<'a, F> {
            lines: &'a [Line],
            want: Line,
            mask: Line,
            is_live: F,
        }
        impl<F: Fn(usize) -> bool> Search for Find<'_, F> {
            type Found = Option<usize>;
            #[inline(always)]
            fn run<I: Isa>(self) -> Option<usize> {
                for (number, line) in self.lines.iter().enumerate() {
                    // SAFETY: `run` runs at the level of `I`.
                    let mut fitting = unsafe { I::zeros::<64>(line, &self.want, &self.mask) };
                    while fitting != 0 {
                        let lane = number * 8 + fitting.trailing_zeros() as usize;
                        if (self.is_live)(lane) {
                            return Some(lane);
                        }
                        fitting &= fitting - 1;
                    }
                }
                None
            }
        }
        self.run(Find { lines, want: Line::splat::<64>(want), mask: Line::splat::<64>(mask), is_live })
    }
}

/// Runs a search with its code compiled for AVX-512 F and BW.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512<S: Search>(search: S) -> S::Found {
    search.run::<Avx512>()
}
/// Runs a search with its code compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<S: Search>(search: S) -> S::Found {
    search.run::<Avx2>()
}

/// The comparison of lines as one level's instructions do it.
pub(super) trait Isa {
    /// Compares all lanes of a line at once. Bit i of the result is 1 if `(want ^ ask) & mask` is 0 in lane i, i.e. if
    /// the two are equal where the mask has ones. `W`: bits of a lane (8, 16, 32 or 64).
    ///
    /// # Safety
    /// The processor has the level.
    unsafe fn zeros<const W: usize>(want: &Line, ask: &Line, mask: &Line) -> u64;
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
struct Avx512;
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
struct Avx2;
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
mod neon {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct OneSearch<'a, const W: usize>(&'a Line, &'a Line, &'a Line);
    impl<const W: usize> Search for OneSearch<'_, W> {
        type Found = u64;
        #[inline(always)]
        fn run<I: Isa>(self) -> u64 {
            // SAFETY: run at the level of `I`.
            unsafe { I::zeros::<W>(self.0, self.1, self.2) }
        }
    }

    fn all_levels_agree<const W: usize>(want: &Line, ask: &Line, mask: &Line) {
        let plain = (0..512 / W).filter(|&i| (want.get::<W>(i) ^ ask.get::<W>(i)) & mask.get::<W>(i) == 0);
        let expected = plain.fold(0u64, |bits, i| bits | 1 << i);
        for simd in Level::ALL.into_iter().filter_map(Simd::new) {
            assert_eq!(
                simd.run(OneSearch::<W>(want, ask, mask)),
                expected,
                "{} at width {W}",
                simd.level().name()
            );
        }
    }

    /// Words in which lanes are often equal.
    fn line() -> impl Strategy<Value = Line> {
        let word = prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), any::<u8>().prop_map(u64::from)];
        proptest::array::uniform8(word).prop_map(Line)
    }

    proptest! {
        #[test]
        fn levels_agree(want in line(), ask in line(), mask in line(), at in 0..8usize, to in any::<u64>()) {
            let mut near = want;
            near.0[at] ^= to & mask.0[7 - at];
            for ask in [ask, near] {
                all_levels_agree::<8>(&want, &ask, &mask);
                all_levels_agree::<16>(&want, &ask, &mask);
                all_levels_agree::<32>(&want, &ask, &mask);
                all_levels_agree::<64>(&want, &ask, &mask);
            }
        }

        #[test]
        fn lanes_are_kept(line in line(), lane in 0..16usize, value in any::<u32>()) {
            let mut other = line;
            other.set::<32>(lane, value as u64);
            for i in 0..16 {
                let expected = if i == lane { value as u64 } else { line.get::<32>(i) };
                prop_assert_eq!(other.get::<32>(i), expected);
            }
            prop_assert_eq!(Line::splat::<32>(value as u64).get::<32>(lane), value as u64);
        }
    }
}
