//! Allreduce of ranks that share cores: the last one who comes combines the operands of all, and the others read its sums.
//!
//! A rank that waits costs a switch between ranks, so as much as there are cells for is done between two waits: operands in half of them, chunk by chunk, and the
//! sums in the other half. The others wait while the last one combines, so nobody reads their operands behind the meeting; the sums are read until the
//! reader comes to the next one.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::Room;
use crate::fold::{fold, operand_of};
use crate::protocol::{CELLS, Desk, Protocol, Result};
use crate::reduction::Reduction;
use crate::sequence::steps;
use oxmpi_coll::which;

/// Chunks between two waits.
const CHUNKS: u64 = CELLS as u64 / 2;

/// Operand and result as bytes. Elements that do not fit a cell go by messages.
pub fn allreduce(call: &Call<'_>, op: Reduction<'_>, source: Room<'_>, result: Room<'_>, tag: u32) -> Result {
    let elements = call.area().cell_bytes() as u64 / op.size().max(1);
    if elements == 0 {
        return call.hand_down(which::ALLREDUCE);
    }
    call.takes(Algorithm::Crowd);
    let (most, mut done) = (elements * op.size() * CHUNKS, 0);
    while done < source.len() {
        let bytes = most.min(source.len() - done);
        row(call, op, source.part(done, bytes), result.part(done, bytes), elements * op.size(), tag)?;
        done += bytes;
    }
    Ok(())
}

/// A chunk of `chunk` bytes of a row, or what is left.
fn part<'r>(row: Room<'r>, nth: u32, chunk: u64) -> Room<'r> {
    let from = u64::from(nth) * chunk;
    row.part(from, chunk.min(row.len() - from))
}

/// A row of chunks of `chunk` bytes, the last of which may be shorter.
fn row(
    call: &Call<'_>,
    op: Reduction<'_>,
    source: Room<'_>,
    result: Room<'_>,
    chunk: u64,
    tag: u32,
) -> Result {
    let chunks = source.len().div_ceil(chunk) as u32;
    let first = call.next();
    for nth in 0..chunks {
        let (step, own) = (call.begin(), part(source, nth, chunk));
        call.make_room(step)?;
        call.room(step, own.len()).put(own);
        call.post_room(step, tag, own.len());
    }
    let is_last = call.arrive();
    let last = if is_last { call.rank() } else { call.await_release()? as u32 % call.ranks() };
    // All have come, so all steps before are finished.
    call.all_are_beyond(first);
    for nth in 0..chunks {
        let (step, into) = (call.begin(), part(result, nth, chunk));
        if is_last {
            call.make_room(step)?;
            let (sum, operands) = (call.room(step, into.len()), step.wrapping_sub(chunks));
            let operands = (steps(operands), tag, into.len());
            fold(call, op, (0..call.ranks()).rev(), operands, 0, sum)?;
            call.post_room(step, tag, into.len());
        }
    }
    let sums = steps(first.wrapping_add(chunks));
    if is_last {
        call.release(call.rank().into());
    }
    for nth in 0..chunks {
        let (step, into) = (steps(sums.wrapping_add(nth)), part(result, nth, chunk));
        into.copy(operand_of(call, last, step, tag, into.len())?);
    }
    // The operands are combined; the sums of the last one are still read.
    call.all_are_beyond(sums);
    call.finish();
    Ok(())
}
