//! Algorithms: how the data of a collective goes, as tools see it in counters.

use oxmpi_coll::which;
use oxmpi_mca::StrRef;

/// An algorithm. Lengths decide, the meeting of ranks, and whether these read each other's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Through posts, or the words of a meeting alone.
    Posts,
    /// Up a tree of many ranks.
    Tree,
    /// By the last one of a crowd.
    Crowd,
    /// Through cells, piece by piece.
    Pieces,
    /// Out of the ranks' memory.
    Memory,
    /// By the component below.
    Messages,
}

macro_rules! word {
    (Posts) => {
        "posts"
    };
    (Tree) => {
        "tree"
    };
    (Crowd) => {
        "crowd"
    };
    (Pieces) => {
        "pieces"
    };
    (Memory) => {
        "memory"
    };
    (Messages) => {
        "messages"
    };
}

macro_rules! algorithms {
    ($($operation:ident $name:literal: $($algorithm:ident)*;)*) => {
        /// The names of the algorithms that each collective has.
        pub const NAMES: &[StrRef] = &[$($(StrRef::new(concat!($name, "_", word!($algorithm)))),*),*];
        const ALL: &[(u32, Algorithm)] = &[$($((which::$operation, Algorithm::$algorithm)),*),*];
    };
}

algorithms! {
    BARRIER "barrier": Posts Tree Crowd;
    BCAST "bcast": Posts Pieces Memory Messages;
    REDUCE "reduce": Posts Tree Pieces Memory Messages;
    ALLREDUCE "allreduce": Posts Tree Crowd Pieces Memory Messages;
    ALLGATHER "allgather": Posts Memory Messages;
    GATHER "gather": Posts Memory Messages;
    SCATTER "scatter": Posts Memory Messages;
    ALLTOALL "alltoall": Posts Memory Messages;
    GATHERV "gatherv": Posts Memory Messages;
    SCATTERV "scatterv": Posts Memory Messages;
    ALLGATHERV "allgatherv": Posts Memory Messages;
    ALLTOALLV "alltoallv": Posts Memory Messages;
    ALLTOALLW "alltoallw": Posts Memory Messages;
    SCAN "scan": Posts Messages;
    EXSCAN "exscan": Posts Messages;
    REDUCE_SCATTER "reduce_scatter": Posts Messages;
    REDUCE_SCATTER_BLOCK "reduce_scatter_block": Posts Messages;
}

/// Algorithms, and collectives that have numbers.
const ALGORITHMS: usize = Algorithm::Messages as usize + 1;
const COLLECTIVES: usize = which::REDUCE_SCATTER_BLOCK as usize + 1;
/// A collective has no such algorithm.
const NONE: u8 = u8::MAX;

/// For each collective and algorithm its number in [`NAMES`].
const NUMBERS: [[u8; ALGORITHMS]; COLLECTIVES] = {
    let mut numbers = [[NONE; ALGORITHMS]; COLLECTIVES];
    let mut at = 0;
    while at < ALL.len() {
        let (which, algorithm) = ALL[at];
        numbers[which as usize][algorithm as usize] = at as u8;
        at += 1;
    }
    assert!(at < NONE as usize);
    numbers
};

/// The number in [`NAMES`] of the algorithm of collective number `which`. `None`: it has no such algorithm.
pub fn number(which: u32, algorithm: Algorithm) -> Option<u32> {
    let number = NUMBERS.get(which as usize)?[algorithm as usize];
    (number != NONE).then_some(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        // SAFETY: static text.
        let name =
            |which, algorithm| unsafe { NAMES[number(which, algorithm).expect("it has it") as usize].get() };
        assert_eq!(name(which::BARRIER, Algorithm::Posts), Some("barrier_posts"));
        assert_eq!(name(which::ALLREDUCE, Algorithm::Crowd), Some("allreduce_crowd"));
        assert_eq!(
            name(which::REDUCE_SCATTER_BLOCK, Algorithm::Messages),
            Some("reduce_scatter_block_messages")
        );
        assert_eq!(number(which::SCAN, Algorithm::Memory), None);
        assert_eq!(NAMES.len(), ALL.len());
    }
}
