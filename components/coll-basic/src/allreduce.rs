//! MPI_Allreduce (MPI 5.0 §6.9.6).
//!
//! All ranks get the same bits: small operands are combined in the order of ranks by everyone
//! (recursive doubling), and of large ones each part is computed once ([`crate::split`]).

use crate::exchange::{Call, Result, tag};
use crate::reduction::Reduction;
use crate::split::{Fold, Split, Work};

pub fn allreduce(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    if call.num_ranks() == 1 {
        // SAFETY: the user's buffers.
        unsafe { return reduction.duplicate(reduction.input, call.args.recvbuf) };
    }
    let small = call.module().settings.reduce_small_msg;
    if reduction.commutes() && reduction.bytes() > small && reduction.count >= call.num_ranks() as u64 {
        split(call, &reduction)
    } else {
        doubling(call, &reduction)
    }
}

/// Where the sum of a range of ranks is, and where it may go.
struct Sum<'a> {
    reduction: &'a Reduction<'a>,
    /// The user's operand at first, which is not ours to write unless it is `target`.
    at: *const u8,
    target: *mut u8,
    spare: *mut u8,
}

impl Sum<'_> {
    /// Where to receive the sum of the ranks behind (`behind`) or before ours.
    fn place(&self, behind: bool) -> *mut u8 {
        let taken = self.at == self.target.cast_const();
        // Data that comes from behind is where the result will be; data that comes from before is not, and the
        // target has to stay free for a copy of the operand.
        let at_spare = self.at == self.spare.cast_const();
        if at_spare || behind && !taken { self.target } else { self.spare }
    }

    /// Combines ours with what was received at [`Sum::place`].
    ///
    /// # Safety
    /// `received` must be that place, with all elements there.
    unsafe fn add(&mut self, behind: bool, received: *mut u8) -> Result {
        let count = self.reduction.count;
        // SAFETY: all places hold `count` elements, and no two of them overlap.
        unsafe {
            if behind {
                self.reduction.apply(self.at, received, count)?;
                self.at = received;
                return Ok(());
            }
            let ours = if self.at == self.spare.cast_const() { self.spare } else { self.target };
            self.reduction.duplicate(self.at, ours)?;
            self.at = ours;
            self.reduction.apply(received, ours, count)
        }
    }
}

/// In every step pairs of neighbouring groups of ranks exchange their sums.
fn doubling(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let (dtype, count) = (reduction.dtype, reduction.count);
    let fold = Fold::of(call);
    let span = reduction.span(count)?;
    let scratch = call.scratch(span.len)?;
    let target = call.args.recvbuf;
    let mut sum = Sum { reduction, at: reduction.input, target, spare: span.place(scratch.at(0)) };

    if let Some(neighbour) = fold.gives_to {
        call.send((sum.at, count, dtype), neighbour, tag::ALLREDUCE)?;
        return call.recv((target, count, dtype), neighbour, tag::ALLREDUCE);
    }
    if let Some(neighbour) = fold.takes_from {
        let into = sum.place(true);
        call.recv((into, count, dtype), neighbour, tag::ALLREDUCE)?;
        // SAFETY: just received there.
        unsafe { sum.add(true, into)? };
    }
    let mut bit = 1;
    while bit < fold.members {
        let partner = fold.rank_of(fold.me ^ bit);
        let behind = fold.me & bit == 0;
        let into = sum.place(behind);
        let (out, into_all) = ((sum.at, count, dtype), (into, count, dtype));
        call.exchange(out, partner, into_all, partner, tag::ALLREDUCE)?;
        // SAFETY: just received there.
        unsafe { sum.add(behind, into)? };
        bit *= 2;
    }
    // SAFETY: the sum is in one of the two places.
    unsafe { reduction.duplicate(sum.at, target)? };
    match fold.takes_from {
        Some(neighbour) => call.send((target, count, dtype), neighbour, tag::ALLREDUCE),
        None => Ok(()),
    }
}

fn split(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let sum = call.args.recvbuf;
    let split = Split::new(call, reduction, tag::ALLREDUCE);
    let part = reduction.span(split.temporary(reduction.input == sum.cast_const()))?;
    let scratch = call.scratch(part.len)?;
    let mut work = Work { from: reduction.input, sum, spare: scratch.at(0) };
    split.reduce_scatter(&mut work)?;
    split.allgather(sum)
}
