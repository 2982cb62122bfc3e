//! A binomial tree of all ranks: with its root at place 0, place p hangs below p without its lowest bit.

use oxmpi_coll::safe::Call;

pub struct Tree {
    ranks: u32,
    root: u32,
    /// This rank's.
    place: u32,
}

impl Tree {
    pub fn new(call: &Call<'_>, root: u32) -> Tree {
        Tree::of(call.num_ranks(), call.rank(), root)
    }

    fn of(ranks: u32, rank: u32, root: u32) -> Tree {
        Tree { ranks, root, place: (rank + ranks - root) % ranks }
    }

    fn rank_at(&self, place: u32) -> u32 {
        (place + self.root) % self.ranks
    }

    /// The rank above; none above the root.
    pub fn parent(&self) -> Option<u32> {
        (self.place != 0).then(|| self.rank_at(self.place & (self.place - 1)))
    }

    /// The ranks right below, the nearest first: the tree below each has the places up to the next one's.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        let levels = if self.place == 0 { u32::BITS - 1 } else { self.place.trailing_zeros() };
        let places = (0..levels).map(|level| self.place.saturating_add(1 << level));
        places.filter(|place| *place < self.ranks).map(|place| self.rank_at(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_below_the_root_once() {
        for (ranks, root) in [(1, 0), (2, 1), (5, 3), (8, 0), (13, 12)] {
            for rank in 0..ranks {
                let parents = (0..ranks)
                    .filter(|other| Tree::of(ranks, *other, root).children().any(|child| child == rank));
                let parents: Vec<u32> = parents.collect();
                let parent = Tree::of(ranks, rank, root).parent();
                assert_eq!(
                    parents,
                    parent.into_iter().collect::<Vec<_>>(),
                    "rank {rank} of {ranks} below {root}"
                );
                assert_eq!(parent.is_none(), rank == root);
            }
        }
    }

    #[test]
    fn places_below_follow_each_other() {
        let children: Vec<u32> = Tree::of(8, 4, 0).children().collect();
        assert_eq!(children, [5, 6]);
        assert_eq!(Tree::of(6, 4, 4).children().collect::<Vec<_>>(), [5, 0, 2]);
    }
}
