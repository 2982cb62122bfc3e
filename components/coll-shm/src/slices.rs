//! Reductions of operands that do not fit a cell: every rank combines a slice, which it reads piece by piece out of the others' memory, and whoever needs
//! the result reads the slices from where they were combined.
//!
//! A rank writes its slice of the result only where the others do not read: in place, operand and result are one buffer, of which a rank writes no more than its own
//! slice before all have met.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::{Place, Room, Source, memory};
use crate::fold::Slices;
use crate::one_to_all::{all_have_posted, meet_behind, tag};
use crate::posts::{Kept, PIECE};
use crate::protocol::{Desk, Protocol, Result};
use crate::reduction::Reduction;
use oxmpi_coll::which;
use oxmpi_mca::Status;

/// Combines the bytes from `from` on of the operands that all have posted in a step, as many as fill `into`; `own` is this rank's.
fn combine_all(
    call: &Call<'_>,
    op: Reduction<'_>,
    (step, tag): (u32, u32),
    own: Room<'_>,
    from: u64,
    into: Room<'_>,
) -> Result {
    let most = (PIECE / op.size()).max(1) * op.size();
    let most = most.min(into.len());
    let (mut left, mut right) = (memory(most)?, memory(most)?);
    let (left, right, mut done) = (Room::of(&mut left), Room::of(&mut right), 0);
    while done < into.len() {
        let bytes = most.min(into.len() - done);
        let (left, right, at) = (left.part(0, bytes), right.part(0, bytes), from + done);
        for rank in (0..call.ranks()).rev() {
            let is_first = rank + 1 == call.ranks();
            if rank == call.rank() {
                match is_first {
                    true => right.copy(own.part(at, bytes)),
                    false => op.combine(own.part(at, bytes), right)?,
                }
                continue;
            }
            let post = call.look(rank, step, tag)?;
            if post.len() != own.len() {
                return Err(Status::MISMATCH);
            }
            post.fetch(at, if is_first { right } else { left })?;
            if !is_first {
                op.combine(left, right)?;
            }
        }
        into.part(done, bytes).copy(right);
        done += bytes;
    }
    Ok(())
}

/// Posts data and waits until all have, which each does when it has finished the steps before.
pub fn offer_and_meet(call: &Call<'_>, tag: u32, data: Source<'_>, kept: &mut Kept) -> Result<u32> {
    let step = call.begin();
    call.offer(step, tag, data, kept)?;
    all_have_posted(call, step, tag)?;
    Ok(step)
}

/// Operand and result are given as elements and as bytes.
pub fn allreduce(
    call: &Call<'_>,
    op: Reduction<'_>,
    own: Source<'_>,
    place: Place<'_>,
    (source, result): (Room<'_>, Room<'_>),
) -> Result {
    let tag = tag(which::ALLREDUCE);
    call.takes(Algorithm::Memory);
    let slices = Slices::new(op, source.len(), call.ranks());
    let (from, bytes) = slices.of(call.rank());
    let mut kept = Kept::default();
    let step = offer_and_meet(call, tag, own, &mut kept)?;
    combine_all(call, op, (step, tag), source, from, result.part(from, bytes))?;
    let step = offer_and_meet(call, tag, place.source(), &mut kept)?;
    for other in call.others() {
        let post = call.look(other, step, tag)?;
        if post.len() != result.len() {
            return Err(Status::MISMATCH);
        }
        let (from, bytes) = slices.of(other);
        post.fetch(from, result.part(from, bytes))?;
    }
    meet_behind(call, tag)
}

/// `result`: in the root.
pub fn reduce(
    call: &Call<'_>,
    op: Reduction<'_>,
    root: u32,
    own: Source<'_>,
    (source, result): (Room<'_>, Option<Room<'_>>),
) -> Result {
    let tag = tag(which::REDUCE);
    call.takes(Algorithm::Memory);
    let slices = Slices::new(op, source.len(), call.ranks());
    let (from, bytes) = slices.of(call.rank());
    let (mut kept, mut kept_slice) = (Kept::default(), Kept::default());
    let step = offer_and_meet(call, tag, own, &mut kept)?;
    match result {
        Some(result) => {
            combine_all(call, op, (step, tag), source, from, result.part(from, bytes))?;
            let step = call.begin();
            for other in call.others() {
                let (from, bytes) = slices.of(other);
                let post = call.look(other, step, tag)?;
                if post.len() != bytes {
                    return Err(Status::MISMATCH);
                }
                post.fetch(0, result.part(from, bytes))?;
            }
        }
        None => {
            debug_assert!(call.rank() != root);
            let mut slice = memory(bytes)?;
            let sums = Room::of(&mut slice).part(0, bytes);
            combine_all(call, op, (step, tag), source, from, sums)?;
            let step = call.begin();
            call.offer(step, tag, op.elements(sums), &mut kept_slice)?;
            return meet_behind(call, tag);
        }
    }
    meet_behind(call, tag)
}
