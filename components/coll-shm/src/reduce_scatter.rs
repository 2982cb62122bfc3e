//! Reduce_scatter: all post their operands, and each combines its block of them. Operands that do not fit a cell are the component's below.

use crate::call::Call;
use crate::fold::fold;
use crate::one_to_all::{given, tag};
use crate::posts::Kept;
use crate::protocol::{Desk, Protocol, Result};
use crate::reduction::Reduction;
use crate::slices::offer_and_meet;
use oxmpi_coll::which;

/// A rank's block of the sum of all operands, which have `count` elements; the block `first..first + blocks`.
fn scattered(call: &Call<'_>, count: u64, (first, elements): (u64, u64), which: u32) -> Result {
    // SAFETY: a reduce_scatter has an operand of so many elements, and a place for this rank's block.
    let (op, own, place) = unsafe {
        let op = given!(call, Reduction::of(call));
        (op, op.operand(call, count), op.result(call, elements))
    };
    let len = given!(call, own.bytes());
    let ours = own.readable().zip(place.room()?).filter(|_| !call.is_long(len));
    let Some((_, result)) = ours else { return call.hand_down(which) };
    if len == 0 {
        return Ok(());
    }
    let (tag, from, mut kept) = (tag(which), first * op.size(), Kept::default());
    let step = offer_and_meet(call, tag, own, &mut kept)?;
    fold(call, op, (0..call.ranks()).rev(), (step, tag, len), from, result)?;
    call.finish();
    Ok(())
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let (ranks, each) = (u64::from(call.ranks()), call.args.recvcount);
    let first = u64::from(call.rank()).saturating_mul(each);
    scattered(call, each.saturating_mul(ranks), (first, each), which::REDUCE_SCATTER_BLOCK)
}

pub fn reduce_scatter(call: &Call<'_>) -> Result {
    // SAFETY: a reduce_scatter has a count for each rank.
    let counts = unsafe { core::slice::from_raw_parts(call.args.recvcounts, call.ranks() as usize) };
    let sum = |counts: &[u64]| counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    let rank = call.rank() as usize;
    scattered(call, sum(counts), (sum(&counts[..rank]), counts[rank]), which::REDUCE_SCATTER)
}
