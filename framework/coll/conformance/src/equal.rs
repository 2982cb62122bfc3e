//! Blocks of equal size that every rank describes otherwise: by another type, with holes, with data before its address.

use crate::data::{Random, layouts};
use crate::{Job, Rank};
use oxmpi_datatype::TypeRef;

/// Runs `test` in groups of all sizes.
pub fn everywhere(job: &Job, test: impl Fn(&Rank, &mut Random) + Sync) {
    job.groups(u32::MAX, |rank| test(rank, &mut Random::new(u64::from(rank.n) * 8 + 1)));
}

/// A block and its description in this rank: some type, and how many of it.
pub struct Choice {
    pub dtype: TypeRef,
    pub count: u64,
}

/// Blocks of equal size, described differently in every rank.
pub struct Block {
    pub ints: u64,
    pub bytes: u64,
}

impl Block {
    pub fn any(random: &mut Random) -> Block {
        // 12 ints go into all layouts of 2, 3, 4 and 6.
        let ints = match random.below(8) {
            0 => 0,
            1..6 => 12 * (1 + random.below(4)),
            6 => 12 * random.below(100),
            _ => 12 * random.below(700),
        };
        Block { ints, bytes: 4 * ints }
    }

    pub fn described(&self, random: &mut Random) -> Choice {
        let each = [2, 3, 4, 6][random.below(4) as usize];
        let dtype = layouts(each)[random.below(3) as usize].clone();
        Choice { dtype, count: self.ints / each }
    }
}

/// Random numbers that differ between ranks.
pub fn own(random: &Random, rank: u32) -> Random {
    Random::new(random.clone().number() ^ (rank as u64) << 40)
}

/// The data that rank `from` has for the call, in all ranks the same.
pub fn content(random: &Random, from: u32, bytes: u64) -> Vec<u8> {
    Random::new(random.clone().number() + 77 * from as u64).bytes(bytes)
}
