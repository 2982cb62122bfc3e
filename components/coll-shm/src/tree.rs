//! The tree of a crowd: eight ranks have one above them, who is the lowest of them, and so on upwards; rank 0 is above all.
//!
//! The ranks below one, with it, follow each other. So operands that are combined on the way up are combined in the order of the ranks.

/// Ranks that have one above them, that one included.
pub const RADIX: u32 = 8;

/// The rank above another one, which is not 0.
pub fn above(rank: u32) -> u32 {
    let mut width = RADIX;
    while rank.is_multiple_of(width) {
        width *= RADIX;
    }
    rank - rank % width
}

/// The ranks right below one of `ranks`, from the last to the first.
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
}
