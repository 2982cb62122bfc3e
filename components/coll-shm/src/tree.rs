//! The tree by which many ranks meet and combine: eight ranks have one above them, who is the lowest of them, and so on upwards; rank 0 is above all.
//!
//! **Groups.** Where ranks are near each other in groups, by a cache or a NUMA node that they share, each group has such a tree of its own, up to its lowest
//! rank, and the lowest ranks of groups have one. So one rank of each group waits for another group. The way down is shorter: the lowest rank of each group reads
//! what rank 0 says, or the lowest of a group around it, and says it again to its group.
//!
//! **Order.** Without groups, and where the ranks of each group follow each other, the ranks below one, with it, follow each other. So operands that are combined on the way up
//! are combined in the order of the ranks.

/// Ranks that have one above them, that one included.
pub const RADIX: u32 = 8;

/// A rank's place in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The ranks right below it, from the last to the first.
    pub below: Vec<u32>,
    /// The rank that says to it what rank 0 has said. Of rank 0 itself.
    pub source: u32,
    /// Others read here what rank 0 has said.
    pub repeats: bool,
}

impl Branch {
    /// The place of a rank of `ranks` without groups.
    #[cfg(not(loom))]
    pub fn plain(rank: u32, ranks: u32) -> Branch {
        Branch { below: below(rank, ranks).collect(), source: 0, repeats: false }
    }

    /// The place of a rank in groups: `groups` has for each rank the numbers of its group at each level, from the outermost to the innermost. A group has ranks of
    /// one group of the level around it alone.
    pub fn in_groups<const LEVELS: usize>(rank: u32, groups: &[[u64; LEVELS]]) -> Branch {
        let all: Vec<u32> = (0..).take(groups.len()).collect();
        let mut branch = Branch { below: Vec::new(), source: 0, repeats: false };
        branch.join(rank, &all, groups, 0);
        branch
    }

    /// Adds what a rank has in the tree of `members`, which are in the same groups of all levels before `level`.
    fn join<const LEVELS: usize>(
        &mut self,
        rank: u32,
        members: &[u32],
        groups: &[[u64; LEVELS]],
        level: usize,
    ) {
        if level == LEVELS {
            return self.put_below(rank, members);
        }
        // In the order of their lowest ranks.
        let mut parts: Vec<(u64, Vec<u32>)> = Vec::new();
        for member in members {
            let group = groups[*member as usize][level];
            match parts.iter_mut().find(|(known, _)| *known == group) {
                Some((_, part)) => part.push(*member),
                None => parts.push((group, vec![*member])),
            }
        }
        if parts.len() == 1 {
            return self.join(rank, members, groups, level + 1);
        }
        for (_, part) in parts.iter().filter(|(_, part)| part.contains(&rank)) {
            let lowest = part[0];
            if rank == lowest {
                // Rank 0 says it, and does not repeat it.
                self.repeats |= part.len() > 1 && rank != 0;
            } else {
                self.source = lowest;
            }
            self.join(rank, part, groups, level + 1);
        }
        let lowest: Vec<u32> = parts.iter().map(|(_, part)| part[0]).collect();
        self.put_below(rank, &lowest);
    }

    /// Puts the ranks below one in the tree of `members`, if it is one of them, before those that are there: they come later.
    fn put_below(&mut self, rank: u32, members: &[u32]) {
        if let Some(place) = members.iter().position(|member| *member == rank) {
            let more = below(place as u32, members.len() as u32).map(|place| members[place as usize]);
            self.below.splice(0..0, more);
        }
    }
}

/// Whether the ranks of each group follow each other, at all levels.
#[cfg(not(loom))]
pub fn is_in_order<const LEVELS: usize>(groups: &[[u64; LEVELS]]) -> bool {
    (0..LEVELS).all(|level| {
        let mut seen: Vec<u64> = Vec::new();
        groups.iter().map(|levels| levels[level]).all(|group| {
            let goes_on = seen.last() == Some(&group);
            let is_new = !seen.contains(&group);
            if is_new {
                seen.push(group);
            }
            goes_on || is_new
        })
    })
}

/// The ranks right below one of `ranks`, from the last to the first, without groups.
pub fn below(rank: u32, ranks: u32) -> impl Iterator<Item = u32> {
    // Widths of what each rank on a level stands for, up to the level at which this one is not the first of its group.
    let mut levels = 0;
    let mut width = 1u64;
    while width < u64::from(ranks) && u64::from(rank).is_multiple_of(width * u64::from(RADIX)) {
        levels += 1;
        width *= u64::from(RADIX);
    }
    (0..levels).rev().flat_map(move |level| {
        let width = u64::from(RADIX).pow(level);
        (1..u64::from(RADIX)).rev().filter_map(move |nth| {
            let child = u64::from(rank) + nth * width;
            (child < u64::from(ranks)).then_some(child as u32)
        })
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The rank above another one, which is not 0, without groups.
    fn above(rank: u32) -> u32 {
        let mut width = RADIX;
        while rank.is_multiple_of(width) {
            width *= RADIX;
        }
        rank - rank % width
    }

    #[test]
    fn each_rank_is_below_one_and_their_ranks_follow_each_other() {
        for ranks in [1, 2, 7, 8, 9, 63, 64, 65, 513, 1000] {
            let mut met = vec![0; ranks as usize];
            // Ranks that each stands for: it, and behind it all of those below.
            let mut ends = vec![0; ranks as usize];
            for rank in (0..ranks).rev() {
                let mut end = rank + 1;
                let mut children: Vec<u32> = below(rank, ranks).collect();
                children.reverse();
                for child in children {
                    assert_eq!((above(child), child), (rank, end), "{ranks} ranks");
                    met[child as usize] += 1;
                    end = ends[child as usize];
                }
                ends[rank as usize] = end;
            }
            assert_eq!(ends[0], ranks);
            assert!(met[0] == 0 && met[1..].iter().all(|met| *met == 1));
        }
    }

    /// Groups of ranks: how many, and the node and the cache of each.
    fn machines() -> Vec<Vec<[u64; 2]>> {
        let of = |ranks: u64, node: fn(u64) -> u64, cache: fn(u64) -> u64| {
            (0..ranks).map(|rank| [node(rank), node(rank) * 100 + cache(rank)]).collect()
        };
        vec![
            of(1, |_| 0, |_| 0),
            of(40, |_| 7, |_| 7),
            of(40, |rank| rank / 20, |_| 0),
            of(64, |rank| rank / 32, |rank| rank / 4),
            of(33, |rank| rank % 2, |rank| rank % 3),
            of(129, |rank| (rank / 16) % 3, |rank| rank / 5),
            of(12, |rank| rank, |_| 0),
        ]
    }

    /// With any groups, all ranks but 0 are below one of them, all have a source that repeats, and the waits come to an end in rank 0.
    #[test]
    fn every_rank_is_in_the_tree_of_groups_once() {
        for groups in machines() {
            let n = groups.len() as u32;
            let branches: Vec<Branch> = (0..n).map(|rank| Branch::in_groups(rank, &groups)).collect();
            let mut above = vec![None; n as usize];
            for (rank, branch) in (0..).zip(&branches) {
                for child in &branch.below {
                    assert_eq!(above[*child as usize].replace(rank), None, "{child} is below two");
                    assert!(*child > rank);
                }
                let source = &branches[branch.source as usize];
                assert!(branch.source == 0 || source.repeats, "{rank} hears from {}", branch.source);
                assert!(rank == 0 || branch.source < rank);
                assert!(branch.source == 0 || groups[rank as usize][0] == groups[branch.source as usize][0]);
            }
            assert!(above[0].is_none() && above[1..].iter().all(Option::is_some), "{n} ranks");
            // One rank of each node alone hears from another node, and one of each waits below another one's.
            let far = |rank: u32, other: u32| groups[rank as usize][0] != groups[other as usize][0];
            let mut nodes: Vec<u64> = groups.iter().map(|levels| levels[0]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let heard = (1..n).filter(|rank| far(*rank, branches[*rank as usize].source)).count();
            let waited = (1..n).filter(|rank| above[*rank as usize].is_some_and(|up| far(*rank, up))).count();
            assert_eq!((heard, waited), (nodes.len() - 1, nodes.len() - 1));
        }
    }

    /// A machine of one node and one cache, or whose groups nobody knows: nothing changes.
    #[test]
    fn one_group_is_no_group() {
        for ranks in [1, 9, 65, 200] {
            for rank in 0..ranks {
                let groups = vec![[5, 6]; ranks as usize];
                assert_eq!(Branch::in_groups(rank, &groups), Branch::plain(rank, ranks));
            }
        }
    }

    #[test]
    fn groups_whose_ranks_follow_each_other_keep_the_order() {
        for groups in machines() {
            let n = groups.len() as u32;
            let branches: Vec<Branch> = (0..n).map(|rank| Branch::in_groups(rank, &groups)).collect();
            let mut ends = vec![0; n as usize];
            let mut keeps = true;
            for rank in (0..n).rev() {
                let mut end = rank + 1;
                for child in branches[rank as usize].below.iter().rev() {
                    keeps &= *child == end;
                    end = ends[*child as usize];
                }
                ends[rank as usize] = end;
            }
            assert!(keeps || !is_in_order(&groups), "{n} ranks");
        }
        let of = |groups: &[u64]| is_in_order(&groups.iter().map(|group| [*group]).collect::<Vec<_>>());
        assert!(of(&[3, 3, 1, 1, 2]) && !of(&[0, 1, 0]));
    }
}
