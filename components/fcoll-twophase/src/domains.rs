//! Domains give each byte of the file to an aggregator and a round: arithmetic on offsets, the same in all ranks.
//!
//! Units of the file go to aggregators in turn. A round has as many whole units of each aggregator as half of its buffer holds, or a part of one unit where that is larger; so
//! rounds are counted from the beginning of the file, and every rank knows the number of a byte's round without being told.
//!
//! An aggregator holds the bytes of a round in its *image* of them: its units one behind the other.

/// Aggregators, units and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domains {
    /// Number of aggregators.
    n: u64,
    unit: u64,
    /// Units of an aggregator in a round.
    per_round: u64,
    /// Rounds that a unit takes, and bytes of all but the last one; 1 where a round has whole units.
    parts: u64,
    part: u64,
}

/// The number of no round.
pub const NEVER: u64 = u64::MAX;

impl Domains {
    /// For `n` aggregators (at least 1), and `bytes` bytes of image.
    pub fn new(n: u32, unit: u64, bytes: u64) -> Domains {
        // Larger units than any offset are one that has all bytes.
        let (n, unit) = (n as u64, unit.clamp(1, 1 << 62));
        let units = (bytes / unit).min(1 << 20);
        let parts = if units > 0 { 1 } else { unit.div_ceil(bytes.max(1)) };
        Domains { n, unit, per_round: units.max(1), parts, part: unit.div_ceil(parts) }
    }

    /// Bytes of an image.
    pub fn image_bytes(&self) -> u64 {
        if self.parts > 1 { self.part } else { self.unit * self.per_round }
    }

    /// The place among the aggregators of the one that a byte belongs to.
    pub fn owner(&self, offset: u64) -> u64 {
        offset / self.unit % self.n
    }

    /// The round in which its aggregator has a byte.
    pub fn round(&self, offset: u64) -> u64 {
        let turn = offset / self.unit / self.n;
        turn / self.per_round * self.parts + offset % self.unit / self.part
    }

    /// Where in the image of its round a byte lies.
    pub fn in_image(&self, offset: u64) -> u64 {
        let turn = offset / self.unit / self.n;
        turn % self.per_round * self.unit + offset % self.unit % self.part
    }

    /// The ranges of the file in a round of an aggregator, rising: (first byte, byte behind the last).
    pub fn segments(&self, round: u64, owner: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let this = *self;
        let (turn, inside) = (round / this.parts * this.per_round, round % this.parts * this.part);
        // One aggregator's units touch.
        let (segments, units) = if this.n == 1 { (1, this.per_round) } else { (this.per_round, 1) };
        (0..segments).map(move |i| {
            let unit = (turn + i).saturating_mul(this.n).saturating_add(owner);
            let start = unit.saturating_mul(this.unit);
            let end = start.saturating_add(this.unit.saturating_mul(units));
            let from = start.saturating_add(inside);
            (from, if this.parts > 1 { end.min(from.saturating_add(this.part)) } else { end })
        })
    }

    /// Where in the file byte `at` of the image of a round lies, and how many bytes behind it lie together there.
    pub fn in_file(&self, round: u64, owner: u64, at: u64) -> (u64, u64) {
        let (start, inside) = if self.n == 1 { (0, at) } else { (at / self.unit, at % self.unit) };
        let (from, end) = self.segments(round, owner).nth(start as usize).unwrap_or((0, 0));
        (from + inside, end - from - inside)
    }

    /// The first byte at `offset` or behind that belongs to an aggregator.
    pub fn next_of(&self, owner: u64, offset: u64) -> Option<u64> {
        let unit = offset / self.unit;
        match (owner + self.n - unit % self.n) % self.n {
            0 => Some(offset),
            units => (unit + units).checked_mul(self.unit),
        }
    }

    /// Whether an aggregator has bytes in a range.
    pub fn touches(&self, owner: u64, first: u64, end: u64) -> bool {
        self.next_of(owner, first).is_some_and(|offset| offset < end)
    }

    /// The first byte of the first round behind that of `offset`, for the aggregator that `offset` belongs to.
    pub fn behind_round(&self, offset: u64) -> Option<u64> {
        let (round, owner) = (self.round(offset), self.owner(offset));
        let next = round.checked_add(1)?;
        self.segments(next, owner).next().map(|(from, _)| from).filter(|from| *from > offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_has_one_place(n in 1u32..5, unit in 1u64..20, bytes in 1u64..70) {
            let domains = Domains::new(n, unit, bytes);
            prop_assert!(domains.image_bytes() <= bytes.max(1));
            let mut last = vec![(0, 0); n as usize];
            for offset in 0..400u64 {
                let (owner, round) = (domains.owner(offset), domains.round(offset));
                prop_assert_eq!(owner, offset / unit % n as u64);
                let at = domains.in_image(offset);
                prop_assert!(at < domains.image_bytes());
                let (back, together) = domains.in_file(round, owner, at);
                prop_assert_eq!(back, offset);
                prop_assert!(together >= 1);
                let (owner_of_last, round_of_last) = (domains.owner(offset + together - 1), domains.round(offset + together - 1));
                prop_assert_eq!((owner_of_last, round_of_last), (owner, round));
                let inside = domains.segments(round, owner).filter(|(from, end)| (*from..*end).contains(&offset)).count();
                prop_assert_eq!(inside, 1);
                // Rounds rise with offsets, and places in one round.
                prop_assert!(last[owner as usize] <= (round, at));
                last[owner as usize] = (round, at);
                for of in 0..n as u64 {
                    let next = (offset..).find(|byte| domains.owner(*byte) == of);
                    prop_assert_eq!(domains.next_of(of, offset), next);
                }
                let behind = (offset..).find(|b| domains.owner(*b) == owner && domains.round(*b) > round);
                prop_assert_eq!(domains.behind_round(offset), behind);
            }
        }
    }

    #[test]
    fn the_ends_of_numbers() {
        let domains = Domains::new(3, u64::MAX, 1 << 20);
        assert!(domains.image_bytes() <= 1 << 20);
        let last = i64::MAX as u64;
        assert_eq!(domains.in_file(domains.round(last), domains.owner(last), domains.in_image(last)).0, last);
    }
}
