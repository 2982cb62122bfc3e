//! MPI_Reduce (MPI 5.0 §6.9.1).
//!
//! Small operands go up a binomial tree in which every rank combines what it has (lower ranks) with
//! what a child sends (higher ranks), so the order of ranks is kept. Where operands may change places
//! the tree begins at the root; otherwise at rank 0, which hands the result on. Large operands are
//! split over the ranks ([`crate::split`]) and the results are gathered.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};
use crate::reduction::Reduction;
use crate::split::{Split, Work};
use oxmpi_coll_support::Place;

pub fn reduce(call: &Call<'_>) -> Result {
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
        call.goes_by(Algorithm::ReduceBinomial);
        tree(call, &reduction)
    }
}

fn tree(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let (n, rank, root) = (call.num_ranks(), call.rank(), call.root());
    let top = if reduction.commutes() { root } else { 0 };
    let place = (rank + n - top) % n;
    let to_rank = |place: u32| (place + top) % n;

    let leaf = place % 2 == 1 || place + 1 == n;
    let span = reduction.span(reduction.count)?;
    let scratch = if leaf { None } else { Some(call.scratch(2 * span.len())?) };
    let temporary = |i: u64| scratch.as_ref().map_or(Place::NOTHING, |s| s.elements(i * span.len(), &span));
    // The result goes where `target` is; only the root's receive buffer is ours to use.
    let spare = temporary(0);
    let target = if rank == root && top == root { call.gets() } else { temporary(1) };

    let mut sum = reduction.input;
    let mut bit = 1;
    while bit < n && place & bit == 0 {
        if place + bit < n {
            let child = to_rank(place + bit);
            let ours = sum.is(target);
            let into = if ours { spare } else { target };
            call.recv(into, child, tag::REDUCE)?;
            // SAFETY: all have the operand's elements; `into` is the one of two places that do not overlap in which `sum` is not.
            unsafe {
                if ours && reduction.commutes() {
                    reduction.apply(into.source(), target)?;
                } else {
                    reduction.apply(sum, into)?;
                    sum = into.source();
                }
            }
        }
        bit *= 2;
    }
    if place != 0 {
        call.send(sum, to_rank(place - bit), tag::REDUCE)?;
    } else if rank == root {
        // SAFETY: the result in one of our buffers, or the operand in the user's, and the user's other one.
        unsafe { reduction.copy(sum, call.gets())? };
    } else {
        call.send(sum, root, tag::REDUCE)?;
    }
    if rank == root && top != root {
        call.recv(call.gets(), top, tag::REDUCE)?;
    }
    Ok(())
}

fn split(call: &Call<'_>, reduction: &Reduction<'_>) -> Result {
    let root = call.root();
    let is_root = call.rank() == root;
    let split = Split::new(call, reduction, tag::REDUCE);
    call.goes_by(if split.is_ring() { Algorithm::ReduceRing } else { Algorithm::ReduceHalving });
    let whole = reduction.span(reduction.count)?;
    let part = reduction.span(split.temporary(is_root && reduction.input.is(call.gets())))?;
    let scratch = call.scratch(part.len() + if is_root { 0 } else { whole.len() })?;
    let sum = if is_root { call.gets() } else { scratch.elements(part.len(), &whole) };
    let mut work = Work { from: reduction.input, sum, spare: scratch.room() };
    split.reduce_scatter(&mut work)?;

    let mut pending = Pending::<64>::new(call);
    for block in 0..split.blocks() {
        let owner = split.owner(block);
        let (start, len) = split.range(block, block + 1);
        let part = sum.part(start, len);
        if is_root && owner != root {
            pending.recv(part, owner, tag::REDUCE)?;
        } else if owner == call.rank() && !is_root {
            pending.send(part.source(), root, tag::REDUCE)?;
        }
    }
    pending.wait()
}
