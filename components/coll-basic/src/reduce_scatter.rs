//! MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI 5.0 §6.10): each rank ends with one block of the sum.
//!
//! **Halving**, for small operands whose operation commutes: log2 n steps, in each of which two ranks exchange halves of what they
//! still have ([`crate::split`]). **Pair by pair**, for all others: in step s each rank sends to rank - s the block that this
//! one needs, and combines what comes from rank + s with what it has. A rank so sends and receives n - 1 blocks and needs
//! memory for three.
//!
//! **Order.** Pair by pair, operands come from the ranks behind ours in the order of ranks, then from rank 0 on up to ours. So
//! operations that do not commute get two sums, which are combined at the end.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};
use crate::reduction::Reduction;
use crate::split::{Split, Work};
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_coll_support::{Place, Source};
use oxmpi_mca::Status;

pub fn reduce_scatter(call: &Call<'_>) -> Result {
    let taken = [Algorithm::ReduceScatterHalving, Algorithm::ReduceScatterPairwise];
    scatter_sum(call, &starts(call.recvcounts())?, taken)
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let taken = [Algorithm::ReduceScatterBlockHalving, Algorithm::ReduceScatterBlockPairwise];
    scatter_sum(call, &starts(&vec![call.args.recvcount; call.num_ranks() as usize])?, taken)
}

/// Where each block begins in all of them, in elements, and at the end where the last one ends.
pub fn starts(counts: &[u64]) -> Result<Vec<i64>> {
    let mut total = 0u64;
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0);
    for count in counts {
        total = total.checked_add(*count).filter(|n| *n <= i64::MAX as u64).ok_or(Status::BAD_PARAM)?;
        starts.push(total as i64);
    }
    Ok(starts)
}

/// Elements of all blocks.
pub fn total(starts: &[i64]) -> u64 {
    starts.last().map_or(0, |end| *end as u64)
}

/// Gives each rank the block of the sum that `starts` say. The names of both ways are told to tools.
fn scatter_sum(call: &Call<'_>, starts: &[i64], [by_halving, by_pairs]: [Algorithm; 2]) -> Result {
    let args = CollArgs { recvcount: total(starts), ..*call.args };
    // SAFETY: the call's, with as many elements as its operand has.
    let reduction = Reduction::of(&unsafe { call.with(&args) })?;
    if reduction.is_empty() {
        return Ok(());
    }
    let blocks = Blocks { reduction: &reduction, starts };
    if call.num_ranks() == 1 {
        // SAFETY: the user's buffers, which do not overlap but in place (MPI 5.0 §6.1); the one block is all.
        unsafe { return reduction.copy(reduction.input, call.receives(reduction.count)) };
    }
    if reduction.commutes() && reduction.bytes() <= call.module().settings.reduce_small_msg {
        call.goes_by(by_halving);
        halving(call, &blocks)
    } else {
        call.goes_by(by_pairs);
        pair_by_pair(call, &blocks)
    }
}

/// The operand of a rank in blocks, one for each rank.
struct Blocks<'a, 'b> {
    reduction: &'a Reduction<'b>,
    starts: &'a [i64],
}

impl Blocks<'_, '_> {
    /// First element of a rank's block.
    fn start(&self, rank: u32) -> u64 {
        self.starts[rank as usize] as u64
    }

    /// Elements of a rank's block.
    fn len(&self, rank: u32) -> u64 {
        self.start(rank + 1) - self.start(rank)
    }
}

/// Small operands, combined in log2 n steps.
fn halving(call: &Call<'_>, blocks: &Blocks<'_, '_>) -> Result {
    let (r, own) = (blocks.reduction, blocks.len(call.rank()));
    let split = Split::of_blocks(call, r, blocks.starts, tag::REDUCE_SCATTER);
    let span = r.span(r.count)?;
    let scratch = call.scratch(2 * span.len())?;
    let sum = scratch.elements(0, &span);
    let mut work = Work { from: r.input, sum, spare: scratch.room().rest(span.len()) };
    split.reduce_scatter(&mut work)?;
    if let Some(member) = split.gives_to() {
        return match own {
            0 => Ok(()),
            _ => call.recv(call.receives(own), member, tag::REDUCE_SCATTER),
        };
    }
    if let Some(outsider) = split.takes_from()
        && blocks.len(outsider) > 0
    {
        let theirs = sum.part(blocks.start(outsider), blocks.len(outsider)).source();
        call.send(theirs, outsider, tag::REDUCE_SCATTER)?;
    }
    // SAFETY: our block of the sum, in memory of ours, and the user's buffer, which has room for it.
    unsafe { r.copy(sum.part(blocks.start(call.rank()), own).source(), call.receives(own)) }
}

/// Operands of any length and operations that need not commute, in n - 1 steps.
fn pair_by_pair(call: &Call<'_>, blocks: &Blocks<'_, '_>) -> Result {
    let (n, rank, r) = (call.num_ranks(), call.rank(), blocks.reduction);
    let own = blocks.len(rank);
    let span = r.span(own)?;
    let scratch = call.scratch(3 * span.len())?;
    let temporary = |i: u64| scratch.elements(i * span.len(), &span);
    // In place, the receive buffer has operands that are still to be sent.
    let first = if call.args.sendbuf == IN_PLACE { temporary(2) } else { call.receives(own) };
    let mut sums = Sums {
        reduction: r,
        places: [first, temporary(0), temporary(1)],
        behind: r.input.part(blocks.start(rank), own),
        before: None,
    };
    for step in 1..n {
        let (from, to) = ((rank + step) % n, (rank + n - step) % n);
        let mut pending = Pending::<1>::new(call);
        let into = sums.free();
        if own > 0 {
            pending.recv(into, from, tag::REDUCE_SCATTER)?;
        }
        if blocks.len(to) > 0 {
            call.send(r.input.part(blocks.start(to), blocks.len(to)), to, tag::REDUCE_SCATTER)?;
        }
        pending.wait()?;
        if own > 0 {
            // SAFETY: just received there.
            unsafe { sums.add(into, from > rank)? };
        }
    }
    if own > 0 { sums.end(call.receives(own)) } else { Ok(()) }
}

/// The partial sums of one block, as the operands of the ranks come.
struct Sums<'a, 'b> {
    reduction: &'a Reduction<'b>,
    /// Memory of the block's elements each, none of which overlap: the sums are in two of them at most.
    places: [Place<'a>; 3],
    /// The sum of the ranks from ours on; at first our operand, which is the user's.
    behind: Source<'a>,
    /// The sum of the ranks before ours. `None`: there is none yet.
    before: Option<Source<'a>>,
}

impl<'a> Sums<'a, '_> {
    /// A place that has no sum.
    fn free(&self) -> Place<'a> {
        let [a, b, c] = self.places;
        let taken = |place| self.behind.is(place) || self.before.is_some_and(|before| before.is(place));
        if !taken(a) {
            a
        } else if !taken(b) {
            b
        } else {
            c
        }
    }

    /// Takes the operand of the next rank, which is behind ours or not. Operations that commute need one sum.
    ///
    /// # Safety
    /// `operand` is the free place, and holds all elements.
    unsafe fn add(&mut self, operand: Place<'a>, is_behind: bool) -> Result {
        let r = self.reduction;
        let to_behind = is_behind || r.commutes();
        let sum = if to_behind { Some(self.behind) } else { self.before };
        if let Some(sum) = sum {
            // SAFETY: all have the block's elements; the free place overlaps no sum (the caller's promise).
            unsafe { r.apply(sum, operand)? };
        }
        if to_behind {
            self.behind = operand.source();
        } else {
            self.before = Some(operand.source());
        }
        Ok(())
    }

    /// Puts the sum of all ranks into the user's buffer.
    fn end(self, into: Place<'_>) -> Result {
        let (r, mut sum, free) = (self.reduction, self.behind, self.free());
        // SAFETY: all have the block's elements, and the free place overlaps no sum. The user's buffer is one of the places, or of none, and then the sum is in one of them.
        unsafe {
            if let Some(before) = self.before {
                // It may be the user's operand still.
                r.copy(sum, free)?;
                r.apply(before, free)?;
                sum = free.source();
            }
            r.copy(sum, into)
        }
    }
}
