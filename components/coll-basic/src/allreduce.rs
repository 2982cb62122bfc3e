//! MPI_Allreduce (MPI 5.0 §6.9.6).
//!
//! All ranks get the same bits: small operands are combined in the order of ranks by everyone
//! (recursive doubling), and of large ones each part is computed once ([`crate::split`]).

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Result, tag};
use crate::reduction::Reduction;
use crate::split::{Fold, Split, Work};
use oxmpi_coll_support::{Place, Source};

pub fn allreduce(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    if call.num_ranks() == 1 {
        // SAFETY: the user's buffers, which do not overlap but in place (MPI 5.0 §6.1).
        unsafe { return reduction.copy(reduction.input, call.gets()) };
    }
    let small = call.module().settings.reduce_small_msg;
    if reduction.commutes() && reduction.bytes() > small && reduction.count >= call.num_ranks() as u64 {
        split(call, &reduction)
    } else {
        call.goes_by(Algorithm::AllreduceDoubling);
        doubling(call, &reduction)
    }
}

/// Where the sum of a range of ranks is, and where it may go.
struct Sum<'a> {
    reduction: &'a Reduction<'a>,
    /// The user's operand at first, which is not ours to write unless it is `target`.
    at: Source<'a>,
    target: Place<'a>,
    spare: Place<'a>,
}

impl<'a> Sum<'a> {
    /// Where to receive the sum of the ranks behind (`behind`) or before ours.
    fn place(&self, behind: bool) -> Place<'a> {
        let taken = self.at.is(self.target);
        // Data that comes from behind is where the result will be; data that comes from before is not, and the
        // target has to stay free for a copy of the operand.
        let at_spare = self.at.is(self.spare);
        if at_spare || behind && !taken { self.target } else { self.spare }
    }

    /// Combines ours with what was received at [`Sum::place`].
    ///
    /// # Safety
    /// `received` must be that place, with all elements there.
    unsafe fn add(&mut self, behind: bool, received: Place<'a>) -> Result {
        // SAFETY: all have the operand's elements. The spare place is memory of ours, and of user's buffers no two overlap; what was received is in one of
        // the two places, and the sum in none or the other.
        unsafe {
            if behind {
                self.reduction.apply(self.at, received)?;
                self.at = received.source();
                return Ok(());
            }
            let ours = if self.at.is(self.spare) { self.spare } else { self.target };
            self.reduction.copy(self.at, ours)?;
            self.at = ours.source();
            self.reduction.apply(received.source(), ours)
        }
    }
}

/// In every step pairs of neighbouring groups of ranks exchange their sums.
fn doubling(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let fold = Fold::of(call);
    let span = reduction.span(reduction.count)?;
    let scratch = call.scratch(span.len())?;
    let target = call.gets();
    let mut sum = Sum { reduction, at: reduction.input, target, spare: scratch.elements(0, &span) };

    if let Some(neighbour) = fold.gives_to {
        call.send(sum.at, neighbour, tag::ALLREDUCE)?;
        return call.recv(target, neighbour, tag::ALLREDUCE);
    }
    if let Some(neighbour) = fold.takes_from {
        let into = sum.place(true);
        call.recv(into, neighbour, tag::ALLREDUCE)?;
        // SAFETY: just received there.
        unsafe { sum.add(true, into)? };
    }
    let mut bit = 1;
    while bit < fold.members {
        let partner = fold.rank_of(fold.me ^ bit);
        let behind = fold.me & bit == 0;
        let into = sum.place(behind);
        call.exchange(sum.at, partner, into, partner, tag::ALLREDUCE)?;
        // SAFETY: just received there.
        unsafe { sum.add(behind, into)? };
        bit *= 2;
    }
    // SAFETY: the sum is in one of the two places, which do not overlap.
    unsafe { reduction.copy(sum.at, target)? };
    match fold.takes_from {
        Some(neighbour) => call.send(target.source(), neighbour, tag::ALLREDUCE),
        None => Ok(()),
    }
}

fn split(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let sum = call.gets();
    let split = Split::new(call, reduction, tag::ALLREDUCE);
    call.goes_by(if split.is_ring() { Algorithm::AllreduceRing } else { Algorithm::AllreduceHalving });
    let part = reduction.span(split.temporary(reduction.input.is(sum)))?;
    let scratch = call.scratch(part.len())?;
    let mut work = Work { from: reduction.input, sum, spare: scratch.room() };
    split.reduce_scatter(&mut work)?;
    split.allgather(sum)
}
