//! The instruction sets by name, and the choice among those that the processor has.
//!
//! [`Level`] names the instruction sets; a [`Simd`] is a level that this processor has, which is what makes the calls
//! sound. The level is looked at once per search: [`Simd::run`] hands a whole search ([`Search`]) to a copy of its code
//! compiled for the level.

#[cfg(target_arch = "aarch64")]
use super::instructions::neon;
#[cfg(target_arch = "x86_64")]
use super::instructions::{Avx2, Avx512};
use super::instructions::{Isa, Scalar, Search};
use super::line::Line;

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
            // SAFETY: this level, too, is only in a `Simd` where the processor has it.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::instructions::Isa;
    use super::super::line::tests::line;
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
    }
}
