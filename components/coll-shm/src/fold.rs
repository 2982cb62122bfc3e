//! Operands in posts, combined in the order of the ranks; and the slices of an operand.

use crate::call::Call;
use crate::data::Room;
use crate::protocol::{Desk, Result};
use crate::reduction::Reduction;
use oxmpi_mca::Status;

/// The slices of an operand, one for each rank, of whole elements.
#[derive(Clone, Copy)]
pub struct Slices {
    size: u64,
    count: u64,
    ranks: u64,
}

impl Slices {
    pub fn new(op: Reduction<'_>, len: u64, ranks: u32) -> Slices {
        Slices { size: op.size(), count: len / op.size(), ranks: ranks.into() }
    }
    /// First byte and bytes of a rank's slice.
    pub fn of(&self, rank: u32) -> (u64, u64) {
        let first = |rank: u64| (u128::from(self.count) * u128::from(rank) / u128::from(self.ranks)) as u64;
        let (from, to) = (first(rank.into()), first(u64::from(rank) + 1));
        (from * self.size, (to - from) * self.size)
    }
}

/// The operand of a rank in its post of a step, `len` bytes.
pub fn operand_of<'a>(call: &'a Call<'_>, rank: u32, step: u32, tag: u32, len: u64) -> Result<Room<'a>> {
    let post = if rank == call.rank() { call.own(step, tag)? } else { call.look(rank, step, tag)? };
    // Ranks that reduce operands of different lengths.
    post.here().filter(|here| here.len() == len).ok_or(Status::MISMATCH)
}

/// Combines the operands that ranks, in falling order, have posted in a step; the bytes `from..from + into.len()` of each.
pub fn fold(
    call: &Call<'_>,
    op: Reduction<'_>,
    ranks: impl Iterator<Item = u32>,
    (step, tag, len): (u32, u32, u64),
    from: u64,
    into: Room<'_>,
) -> Result {
    for (nth, rank) in ranks.enumerate() {
        let operand = operand_of(call, rank, step, tag, len)?.part(from, into.len());
        match nth {
            0 => into.copy(operand),
            _ => op.combine(operand, into)?,
        }
    }
    Ok(())
}
