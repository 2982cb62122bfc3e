//! Sets of CRIs: words of 64 bits, each of which stands for one CRI, or for two where a process has more.

/// The most CRIs that a process may have. A set of them is a word, in which the bit `n % 64` stands for CRI `n`, and for the one 64 before or behind
/// it where there are so many: a set names at least those that are meant.
pub const MOST_CRIS: u32 = 128;

/// All CRIs below `width` as bits.
pub fn set_below(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

/// The set of one CRI.
#[inline(always)]
pub fn set_of(ctx: u32) -> u64 {
    1 << (ctx % u64::BITS)
}

/// Whether a CRI is in a set.
#[inline(always)]
pub fn is_in(set: u64, ctx: u32) -> bool {
    set & set_of(ctx) != 0
}

/// The CRIs of a set, of so many that there are, rising.
pub fn members(set: u64, cris: u32) -> impl Iterator<Item = u32> {
    (0..cris).filter(move |&ctx| is_in(set, ctx))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_bit_stands_for_neighbours_64_apart() {
        assert_eq!((set_below(0), set_below(3), set_below(64), set_below(128)), (1, 7, u64::MAX, u64::MAX));
        assert_eq!((set_of(5), set_of(69)), (32, 32));
        assert!(is_in(32, 69) && !is_in(32, 70));
        assert_eq!(members(33, 64).collect::<Vec<_>>(), [0, 5]);
        assert_eq!(members(33, 70).collect::<Vec<_>>(), [0, 5, 64, 69]);
    }
}
