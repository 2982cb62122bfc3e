//! MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI 5.0 §6.10): each rank ends with one block of the sum.
//!
//! **Halving**, for small operands whose operation commutes: log2 n steps, in each of which two ranks exchange halves of what they
//! still have ([`crate::split`]). **Pair by pair**, for all others: in step s each rank sends to rank - s the block that this
//! one needs, and combines what comes from rank + s with what it has. A rank so sends and receives n - 1 blocks and needs
//! memory for three.
//!
//! **Order.** Pair by pair, operands come from the ranks behind ours in the order of ranks, then from rank 0 on up to ours. So
//! operations that do not commute get two sums, which are combined at the end.

use crate::exchange::{Call, Pending, Result, tag};
use crate::reduction::Reduction;
use crate::split::{Split, Work};
use core::ptr::null;
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_mca::Status;

pub fn reduce_scatter(call: &Call<'_>) -> Result {
    scatter_sum(call, &starts(call.recvcounts())?)
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    scatter_sum(call, &starts(&vec![call.args.recvcount; call.num_ranks() as usize])?)
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

/// Gives each rank the block of the sum that `starts` say.
fn scatter_sum(call: &Call<'_>, starts: &[i64]) -> Result {
    let args = CollArgs { recvcount: total(starts), ..*call.args };
    let reduction = Reduction::of(&call.with(&args))?;
    if reduction.is_empty() {
        return Ok(());
    }
    let blocks = Blocks { reduction: &reduction, starts };
    if call.num_ranks() == 1 {
        // SAFETY: the user's buffers.
        unsafe { return reduction.duplicate(reduction.input, call.args.recvbuf) };
    }
    if reduction.commutes() && reduction.bytes() <= call.module().settings.reduce_small_msg {
        halving(call, &blocks)
    } else {
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
    let scratch = call.scratch(2 * span.len)?;
    let sum = span.place(scratch.at(0));
    let mut work = Work { from: r.input, sum, spare: scratch.at(span.len) };
    split.reduce_scatter(&mut work)?;
    if let Some(member) = split.gives_to() {
        return match own {
            0 => Ok(()),
            _ => call.recv((call.args.recvbuf, own, r.dtype), member, tag::REDUCE_SCATTER),
        };
    }
    if let Some(outsider) = split.takes_from()
        && blocks.len(outsider) > 0
    {
        let theirs = r.at(sum, blocks.start(outsider));
        call.send((theirs, blocks.len(outsider), r.dtype), outsider, tag::REDUCE_SCATTER)?;
    }
    // SAFETY: our block of the sum, and the user's buffer, which has room for it.
    unsafe { r.copy(own, r.at(sum, blocks.start(call.rank())), call.args.recvbuf) }
}

/// Operands of any length and operations that need not commute, in n - 1 steps.
fn pair_by_pair(call: &Call<'_>, blocks: &Blocks<'_, '_>) -> Result {
    let (n, rank, r) = (call.num_ranks(), call.rank(), blocks.reduction);
    let own = blocks.len(rank);
    let span = r.span(own)?;
    let scratch = call.scratch(3 * span.len)?;
    let temporary = |i: u64| span.place(scratch.at(i * span.len));
    // In place, the receive buffer has operands that are still to be sent.
    let first = if call.args.sendbuf == IN_PLACE { temporary(2) } else { call.args.recvbuf };
    let mut sums = Sums {
        reduction: r,
        count: own,
        places: [first, temporary(0), temporary(1)],
        behind: r.at(r.input, blocks.start(rank)),
        before: null(),
    };
    for step in 1..n {
        let (from, to) = ((rank + step) % n, (rank + n - step) % n);
        let mut pending = Pending::<1>::new(call);
        let into = sums.free();
        if own > 0 {
            pending.recv((into, own, r.dtype), from, tag::REDUCE_SCATTER)?;
        }
        if blocks.len(to) > 0 {
            let theirs = r.at(r.input, blocks.start(to));
            call.send((theirs, blocks.len(to), r.dtype), to, tag::REDUCE_SCATTER)?;
        }
        pending.wait()?;
        if own > 0 {
            // SAFETY: just received there.
            unsafe { sums.add(into, from > rank)? };
        }
    }
    if own > 0 { sums.end(call.args.recvbuf) } else { Ok(()) }
}

/// The partial sums of one block, as the operands of the ranks come.
struct Sums<'a, 'b> {
    reduction: &'a Reduction<'b>,
    /// Elements of the block.
    count: u64,
    /// Memory of `count` elements each, none of which overlap: the sums are in two of them at most.
    places: [*mut u8; 3],
    /// The sum of the ranks from ours on; at first our operand, which is the user's.
    behind: *const u8,
    /// The sum of the ranks before ours; null: there is none yet.
    before: *const u8,
}

impl Sums<'_, '_> {
    /// A place that has no sum.
    fn free(&self) -> *mut u8 {
        let [a, b, c] = self.places;
        let taken = |place: *mut u8| [self.behind, self.before].contains(&place.cast_const());
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
    unsafe fn add(&mut self, operand: *mut u8, is_behind: bool) -> Result {
        let r = self.reduction;
        let sum = if is_behind || r.commutes() { &mut self.behind } else { &mut self.before };
        if !sum.is_null() {
            // SAFETY: the caller's promise.
            unsafe { r.apply(*sum, operand, self.count)? };
        }
        *sum = operand;
        Ok(())
    }

    /// Puts the sum of all ranks into the user's buffer.
    fn end(self, into: *mut u8) -> Result {
        let (r, mut sum, free) = (self.reduction, self.behind, self.free());
        // SAFETY: all hold `count` elements. The user's buffer is one of the places, or of none, and then the sum is in one of them.
        unsafe {
            if !self.before.is_null() {
                // It may be the user's operand still.
                r.copy(self.count, sum, free)?;
                r.apply(self.before, free, self.count)?;
                sum = free;
            }
            r.copy(self.count, sum, into)
        }
    }
}
