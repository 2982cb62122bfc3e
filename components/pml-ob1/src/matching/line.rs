//! A cache line of lanes of 8, 16, 32 or 64 bits, which the indices of lanes compare at once.

/// A cache line of lanes: 64 bytes, which are compared at once.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Line(pub [u64; 8]);

/// Gives a word whose lowest `W` bits are 1: the mask of one lane.
pub(super) const fn lane_mask<const W: usize>() -> u64 {
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

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::Line;
    use proptest::prelude::*;

    /// Words in which lanes are often equal.
    pub fn line() -> impl Strategy<Value = Line> {
        let word = prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), any::<u8>().prop_map(u64::from)];
        proptest::array::uniform8(word).prop_map(Line)
    }

    proptest! {
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
