//! Readers of mpirun's standard input, as a daemon is told of them.

use super::fields::put_list;
use oxmpi_wireup::frame::{Builder, Fields, Malformed};

/// Readers of the standard input that `mpirun` is given. The others read `/dev/null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// This rank has the descriptor itself: what it does not read stays there.
    Rank(u32),
    /// Each of these has a copy. The slowest of those that read sets the pace.
    Copies(Vec<u32>),
    Nobody,
}

impl Stdin {
    pub(super) fn encode(&self, b: Builder) -> Builder {
        match self {
            Stdin::Rank(rank) => b.u8(0).u32(*rank),
            Stdin::Copies(ranks) => put_list(b.u8(1), ranks, |b, rank| b.u32(*rank)),
            Stdin::Nobody => b.u8(2),
        }
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Stdin, Malformed> {
        match f.u8("standard input")? {
            0 => Ok(Stdin::Rank(f.u32("rank of standard input")?)),
            1 => Ok(Stdin::Copies(f.list("ranks of standard input", 4, |f| f.u32("rank"))?)),
            2 => Ok(Stdin::Nobody),
            other => Err(Malformed::Value { field: "standard input", value: other.into() }),
        }
    }
}
