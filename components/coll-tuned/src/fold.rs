//! Groups of any size for algorithms that want a power of two: some ranks give their operand to a neighbour, which stands for both.

use crate::script::Me;

/// The part of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Gives its operand to this rank, and gets what it needs from there.
    Outside { member: u32 },
    /// One of a power of two, with the rank that it stands for: the next one.
    Member { index: u32, outsider: Option<u32> },
}

/// Among `n` ranks the even ones of the first few pairs stand for the odd ones, so the order of ranks is kept.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// A power of two.
    pub members: u32,
    extra: u32,
    pub part: Part,
}

impl Fold {
    pub fn new(me: Me) -> Fold {
        let members = 1 << me.n.ilog2();
        let extra = me.n - members;
        let part = match me.rank {
            rank if rank >= 2 * extra => Part::Member { index: rank - extra, outsider: None },
            rank if rank % 2 == 1 => Part::Outside { member: rank - 1 },
            rank => Part::Member { index: rank / 2, outsider: Some(rank + 1) },
        };
        Fold { members, extra, part }
    }

    /// The rank of a member.
    pub fn rank_of(&self, index: u32) -> u32 {
        if index < self.extra { 2 * index } else { index + self.extra }
    }

    /// The member that is a rank, or stands for it.
    pub fn member_for(&self, rank: u32) -> u32 {
        if rank < 2 * self.extra { rank / 2 } else { rank - self.extra }
    }
}

/// The lowest bits of `index`, as many as numbers below `members` have, in reverse.
pub fn reversed(index: u32, members: u32) -> u32 {
    if members < 2 { 0 } else { index.reverse_bits() >> (32 - members.ilog2()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_a_member_or_stood_for() {
        for n in 1..=33 {
            let mut members = vec![];
            for rank in 0..n {
                let fold = Fold::new(Me { rank, n });
                assert!(fold.members.is_power_of_two() && fold.members <= n && fold.members * 2 > n);
                match fold.part {
                    Part::Outside { member } => {
                        assert_eq!(fold.rank_of(fold.member_for(rank)), member);
                        assert_eq!(member + 1, rank, "neighbours, so that the order is kept");
                    }
                    Part::Member { index, outsider } => {
                        assert_eq!((fold.rank_of(index), fold.member_for(rank)), (rank, index));
                        assert!(outsider.is_none_or(|outsider| outsider == rank + 1));
                        members.push(index);
                    }
                }
            }
            assert!(members.into_iter().eq(0..1 << n.ilog2()), "numbered in the order of ranks");
        }
    }

    #[test]
    fn bits_are_reversed() {
        assert_eq!((0..8).map(|i| reversed(i, 8)).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!([reversed(0, 1), reversed(1, 2)], [0, 1]);
    }
}
