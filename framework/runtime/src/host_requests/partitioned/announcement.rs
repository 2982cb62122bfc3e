//! The announcement that travels ahead of a partitioned message, and the tags of its parts.

/// The tag of announcements; channels lie below it. Tags of collectives are above, those for making
/// communicators below (`construct`).
pub(crate) const ANNOUNCE: i32 = -(1 << 20);

/// How many channel tags there are; channel numbers come round after so many.
pub(crate) const CHANNELS: u32 = 1 << 29;

/// The tag of the channel of partition `part` in an operation whose first channel is `first`.
pub(crate) fn channel_tag(first: u32, part: usize) -> i32 {
    ANNOUNCE - 1 - (first.wrapping_add(part as u32) % CHANNELS) as i32
}

/// The announcement that travels ahead: little-endian words.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) tag: i32,
    pub(crate) first: u32,
    pub(crate) partitions: u64,
    pub(crate) bytes: u64,
}

/// Words of an announcement on the wire.
pub(crate) const WORDS: usize = 3;

impl Announcement {
    /// Turns the announcement into the little-endian words that travel.
    pub(crate) fn encode(self) -> [u64; WORDS] {
        let head = self.tag as u32 as u64 | u64::from(self.first) << 32;
        [head.to_le(), self.partitions.to_le(), self.bytes.to_le()]
    }
    /// Reads an announcement from its words; `None`: the numbers are impossible.
    pub(crate) fn decode(words: &[u64; WORDS]) -> Option<Announcement> {
        let [head, partitions, bytes] = words.map(u64::from_le);
        let whole = partitions.checked_mul(bytes).is_some_and(|n| n <= i64::MAX as u64);
        (whole && partitions <= u64::from(CHANNELS)).then_some(Announcement {
            tag: head as u32 as i32,
            first: (head >> 32) as u32,
            partitions,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_survive_the_wire_and_nonsense_is_refused() {
        let a = Announcement { tag: i32::MAX, first: u32::MAX, partitions: 8192, bytes: 1 << 20 };
        assert_eq!(Announcement::decode(&a.encode()), Some(a));
        assert_eq!(Announcement::decode(&[0, u64::MAX, 1]), None);
        assert_eq!(Announcement::decode(&[0, 1 << 20, 1 << 50]), None);
    }

    #[test]
    fn channels_lie_between_collectives_and_the_making_of_communicators() {
        for (first, part) in [(0, 0), (u32::MAX, 1), (CHANNELS - 1, 0), (CHANNELS, 7)] {
            let tag = channel_tag(first, part);
            assert!(tag < ANNOUNCE && tag > i32::MIN + (1 << 30) + 2, "{tag}");
        }
    }
}
