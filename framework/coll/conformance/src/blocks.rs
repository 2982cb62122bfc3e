//! Blocks whose bytes are a function of sender and receiver, so whatever lands in the wrong place, or not at all, is seen. Types and
//! places differ between ranks; some blocks are empty.

use crate::data::{Buffer, HOLE, Random, layouts};
use crate::{Blocks, Job, Rank};
use oxmpi_coll::{NO_ROOT, ROOT};
use oxmpi_datatype::{TypeDesc, TypeRef};

/// Runs `test` in one group of each size and between two groups of each pair of sizes.
pub fn everywhere(job: &Job, test: impl Fn(&Rank, &mut Random) + Sync) {
    job.groups(9, |rank| test(rank, &mut Random::new(u64::from(rank.n))));
    job.group(40, |rank| test(rank, &mut Random::new(40)));
    between(job, test);
}

/// Between two groups of each pair of sizes.
pub fn between(job: &Job, test: impl Fn(&Rank, &mut Random) + Sync) {
    for sizes in [[1, 1], [1, 4], [3, 2], [4, 4], [2, 7], [20, 3]] {
        let seed = u64::from(sizes[0] * 50 + sizes[1]);
        job.between(sizes, |rank| test(rank, &mut Random::new(seed)));
    }
}

/// Names of a rank and of those it talks with, different in all ranks of both groups.
pub fn me(rank: &Rank) -> u64 {
    (rank.side * 1000) as u64 + rank.rank as u64
}
pub fn peers(rank: &Rank) -> Vec<u64> {
    match rank.remote {
        0 => (0..rank.n as u64).collect(),
        remote => (0..remote as u64).map(|r| ((1 - rank.side) * 1000) as u64 + r).collect(),
    }
}

/// Ints that go from one rank to another: a multiple of 12, often 0.
pub fn ints(seed: u64, from: u64, to: u64) -> u64 {
    let mut random = Random::new(seed * 7 + from * 100_003 + to);
    random.number();
    match random.below(8) {
        0..3 => 0,
        3..7 => 12 * (1 + random.below(5)),
        _ => 12 * random.below(200),
    }
}

pub fn content(seed: u64, from: u64, to: u64, ints: u64) -> Vec<u8> {
    Random::new(seed * 13 + from * 1_000_003 + to * 17).bytes(4 * ints)
}

/// One rank's side of a call: blocks of one type at places of their own, in any order, with gaps.
pub struct Side {
    pub dtype: TypeRef,
    pub counts: Vec<u64>,
    pub displs: Vec<i64>,
    pub buffer: Buffer,
    /// Data that the buffer has to hold, packed.
    expected: Vec<u8>,
}

impl Side {
    /// `blocks`: what each shall hold; `filled`: it is there before the call.
    pub fn new(random: &mut Random, blocks: &[Vec<u8>], filled: bool) -> Side {
        let each = [2, 3, 4, 6][random.below(4) as usize];
        let dtype = layouts(each)[random.below(3) as usize].clone();
        let counts: Vec<u64> = blocks.iter().map(|b| b.len() as u64 / dtype.packed).collect();
        let mut displs = vec![0; blocks.len()];
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        let mut end = random.below(3);
        for i in order {
            displs[i] = end as i64;
            end += counts[i] + random.below(3);
        }
        let mut buffer = Buffer::new(&dtype, end);
        let mut expected = vec![HOLE; (end * dtype.packed) as usize];
        for (block, at) in blocks.iter().zip(&displs) {
            let from = *at as u64 * dtype.packed;
            expected[from as usize..][..block.len()].copy_from_slice(block);
            if filled {
                buffer.put(from, block);
            }
        }
        Side { dtype, counts, displs, buffer, expected }
    }

    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { counts: &self.counts, displs: &self.displs, types: &[] }
    }

    pub fn check(&self, what: &str) {
        assert!(self.buffer.read() == self.expected, "{what}");
    }
}

pub fn own(random: &mut Random, rank: &Rank) -> (u64, Random) {
    let seed = random.number();
    (seed, Random::new(seed ^ me(rank) << 40))
}

/// Roots to try: (is it our group's?, its rank), the same list in all ranks.
pub fn roots(rank: &Rank) -> Vec<(bool, u32)> {
    match (rank.remote, rank.side) {
        (0, _) => (0..rank.n).map(|r| (true, r)).collect(),
        (m, 0) => (0..rank.n).map(|r| (true, r)).chain((0..m).map(|r| (false, r))).collect(),
        (m, _) => (0..m).map(|r| (false, r)).chain((0..rank.n).map(|r| (true, r))).collect(),
    }
}

/// The rank to give as root, whether we are it, and whether we have a part.
pub fn root_of(rank: &Rank, (ours, root): (bool, u32)) -> (u32, bool, bool) {
    let is_root = ours && root == rank.rank;
    match rank.remote {
        0 => (root, is_root, true),
        _ if is_root => (ROOT as u32, true, true),
        _ if ours => (NO_ROOT as u32, false, false),
        _ => (root, false, true),
    }
}

pub fn named(rank: &Rank, (ours, root): (bool, u32)) -> u64 {
    let side = if ours { rank.side } else { 1 - rank.side };
    (side * 1000) as u64 + root as u64
}

pub type Described = (Vec<u64>, Vec<i64>, Vec<*const TypeDesc>);

pub fn typed((counts, displs, types): &Described) -> Blocks<'_> {
    Blocks { counts, displs, types }
}
