//! Reduce and allreduce of operands that fit a cell; `stream` and `slices` have longer ones.
//!
//! A few ranks post their operands and each combines all of them, or a slice of them, which it posts, where they are longer. Many combine them on the way up
//! the tree, and all read the result at rank 0, or where the lowest rank of their group repeats it. Of a crowd the last one who comes combines all.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::crowd;
use crate::data::{Place, Room, Source};
use crate::fold::{Slices, fold, operand_of};
use crate::meet::{FEW, Meeting};
use crate::one_to_all::{given, tag};
use crate::posts::Kept;
use crate::protocol::{Desk, Protocol, Result};
use crate::reduction::Reduction;
use crate::slices;
use crate::stream::Stream;
use oxmpi_coll::which;

/// A reduction in chunks, for operands that do not fit a cell. `None`: they are not combined so, but read out of the ranks' memory.
fn in_chunks<'a>(
    call: &'a Call<'a>,
    op: Reduction<'a>,
    own: Option<Room<'a>>,
    len: u64,
    tag: u32,
) -> Option<Stream<'a>> {
    let is_one = call.is_long(len) && !call.reads_at_once(len);
    own.filter(|_| is_one).and_then(|own| Stream::new(call, op, own, tag))
}

/// Combines the operands of all ranks at rank 0, which has the result in its room of the second step; returns both steps.
fn up_the_tree(call: &Call<'_>, op: Reduction<'_>, own: Room<'_>, tag: u32) -> Result<[u32; 2]> {
    let (step, back, len) = (call.begin(), call.begin(), own.len());
    call.takes(Algorithm::Tree);
    let mine = if call.rank() == 0 { back } else { step };
    call.make_room(mine)?;
    let sum = call.room(mine, len);
    let below = &call.combining().below;
    fold(call, op, below.iter().copied(), (step, tag, len), 0, sum)?;
    match below.is_empty() {
        true => sum.copy(own),
        false => op.combine(own, sum)?,
    }
    if call.rank() != 0 {
        call.post_room(step, tag, len);
    }
    Ok([step, back])
}

pub fn allreduce(call: &Call<'_>) -> Result {
    // SAFETY: an allreduce has all of these.
    let (op, own, place) = unsafe {
        let op = given!(call, Reduction::of(call));
        let count = call.args.recvcount;
        (op, op.operand(call, count), op.result(call, count))
    };
    let (len, tag) = (given!(call, own.bytes()), tag(which::ALLREDUCE));
    let is_long = call.is_long(len);
    if call.leaves_exchange(len) {
        return call.hand_down(which::ALLREDUCE);
    }
    let ours = own.readable().zip(place.room()?);
    if let (Meeting::Crowd, Some((source, result))) = (call.meeting(), ours) {
        return crowd::allreduce(call, op, source, result, tag);
    }
    if let Some((stream, (_, result))) = in_chunks(call, op, own.readable(), len, tag).zip(ours) {
        return stream.run(Some(result));
    }
    let ours = ours.filter(|_| !is_long || call.reads_peers());
    let Some((source, result)) = ours else { return call.hand_down(which::ALLREDUCE) };
    match () {
        () if len == 0 => Ok(()),
        () if is_long => slices::allreduce(call, op, own, place, (source, result)),
        () if call.meeting() == Meeting::Many => {
            let [step, back] = up_the_tree(call, op, source, tag)?;
            if call.rank() == 0 {
                call.post_room(back, tag, len);
                result.copy(call.room(back, len));
            } else {
                let branch = call.combining();
                let sum = operand_of(call, branch.source, back, tag, len)?;
                if branch.repeats {
                    call.make_room(back)?;
                    call.room(back, len).copy(sum);
                    call.post_room(back, tag, len);
                }
                result.copy(sum);
            }
            call.all_are_beyond(step);
            Ok(())
        }
        () if len.saturating_mul(u64::from(call.ranks() - 1)) < call.module().settings.split_min => {
            whole(call, op, own, result, tag)
        }
        () => split(call, op, own, result, tag),
    }
}

/// Every rank combines all operands.
fn whole(call: &Call<'_>, op: Reduction<'_>, own: Source<'_>, result: Room<'_>, tag: u32) -> Result {
    let step = call.begin();
    call.offer(step, tag, own, &mut Kept::default())?;
    fold(call, op, (0..call.ranks()).rev(), (step, tag, result.len()), 0, result)?;
    call.all_are_beyond(step);
    Ok(())
}

/// Every rank combines a slice of all operands, and reads those of the others.
fn split(call: &Call<'_>, op: Reduction<'_>, own: Source<'_>, result: Room<'_>, tag: u32) -> Result {
    let (step, second, len) = (call.begin(), call.begin(), result.len());
    let slices = Slices::new(op, len, call.ranks());
    call.offer(step, tag, own, &mut Kept::default())?;
    call.make_room(second)?;
    let (from, bytes) = slices.of(call.rank());
    let sums = call.room(second, len);
    fold(call, op, (0..call.ranks()).rev(), (step, tag, len), from, sums.part(from, bytes))?;
    call.post_room(second, tag, len);
    for rank in call.others().chain([call.rank()]) {
        let (from, bytes) = slices.of(rank);
        result.part(from, bytes).copy(operand_of(call, rank, second, tag, len)?.part(from, bytes));
    }
    call.all_are_beyond(second);
    Ok(())
}

pub fn reduce(call: &Call<'_>) -> Result {
    let root = given!(call, call.root());
    // SAFETY: a reduce has an operand in all ranks, and in the root a place for the result.
    let (op, own, place) = unsafe {
        let op = given!(call, Reduction::of(call));
        let count = call.args.recvcount;
        (op, op.operand(call, count), (call.rank() == root).then(|| op.result(call, count)))
    };
    let (len, tag) = (given!(call, own.bytes()), tag(which::REDUCE));
    let is_long = call.is_long(len);
    let result = place.map(Place::room).transpose()?.flatten();
    if let Some(stream) = in_chunks(call, op, own.readable(), len, tag) {
        return stream.run(result);
    }
    let ours = own.readable().filter(|_| !is_long || call.reads_peers());
    let Some(source) = ours else { return call.hand_down(which::REDUCE) };
    match () {
        () if len == 0 => return Ok(()),
        () if is_long => return slices::reduce(call, op, root, own, (source, result)),
        () if call.ranks() <= FEW => {
            let step = call.begin();
            // The root's, too: in place its operand is where the result grows.
            call.offer(step, tag, own, &mut Kept::default())?;
            if let Some(result) = result {
                fold(call, op, (0..call.ranks()).rev(), (step, tag, len), 0, result)?;
            }
        }
        () => {
            let [_, back] = up_the_tree(call, op, source, tag)?;
            if call.rank() == 0 {
                call.post_room(back, tag, len);
            }
            if let Some(result) = result {
                result.copy(operand_of(call, 0, back, tag, len)?);
            }
        }
    }
    call.finish();
    Ok(())
}
