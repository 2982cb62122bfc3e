//! Reductions: the operands of each node are combined in one of its ranks, and those results between the nodes.
//!
//! An operation that does not commute needs the order of ranks, which is that of two levels only where each node has ranks that follow each
//! other. Elsewhere the components below do all of it.

use crate::call::Call;
use crate::segments::{each, segments};
use oxmpi_coll::{CollArgs, IN_PLACE, which};
use oxmpi_coll_support::{Place, Result, Source, Span};

/// Arguments of a reduction.
fn args(call: &Call<'_>, from: *const u8, into: *mut u8, count: u64, root: u32) -> CollArgs {
    CollArgs {
        sendbuf: from,
        recvbuf: into,
        recvcount: count,
        recvtype: call.recvtype(),
        op: call.args.op,
        root: root as i32,
        ..CollArgs::NONE
    }
}

fn is_in_order(call: &Call<'_>) -> bool {
    call.commutes() || call.shape().is_in_blocks()
}

pub fn reduce(call: &Call<'_>) -> Result {
    let root = call.root()?;
    let (count, size) = (call.args.recvcount, call.recvtype().packed);
    if count == 0 {
        return Ok(());
    }
    if !is_in_order(call) {
        return call.below(which::REDUCE).ok().map(drop);
    }
    let segment = call.module().settings.reduce_segment;
    let span = Span::of(call.recvtype(), each(count, size, segment))?;
    let (seat, me) = (call.shape().seat(root), call.me());
    // The rank that speaks for its node.
    let speaker = if call.shape().spans(seat.local) { seat.local } else { 0 };
    let needs_memory = me.local == speaker && call.rank() != root;
    let lease = if needs_memory { Some(call.scratch(span.len())?) } else { None };
    let temporary = lease.as_ref().map_or(Place::NOTHING, |lease| lease.elements(0, &span));
    for (first, count) in segments(count, size, segment) {
        let own = call.operand().part(first, count);
        if call.rank() == root {
            let result = call.gets(call.args.recvcount).part(first, count);
            at_root(call, own, result, speaker);
        } else if me.local == speaker {
            at_speaker(call, own, temporary.part(0, count), root);
        } else {
            call.in_node(which::REDUCE, &args(call, own.raw().0, core::ptr::null_mut(), count, speaker));
        }
    }
    Ok(())
}

/// One segment in the root.
fn at_root(call: &Call<'_>, own: Source<'_>, result: Place<'_>, speaker: u32) {
    let (into, count, _) = result.raw();
    let from = if call.in_place() { IN_PLACE } else { own.raw().0 };
    let seat = call.me();
    if seat.local != speaker {
        // The speaker has the result, and this rank's operand is one of its node's.
        call.in_node(which::REDUCE, &args(call, own.raw().0, core::ptr::null_mut(), count, speaker));
        let there = call.shape().on(seat.node)[speaker as usize];
        return call.take(result, there);
    }
    let there = call.shape().across(speaker, seat.node);
    if call.is_alone() {
        return call.across(which::REDUCE, &args(call, from, into, count, there));
    }
    call.in_node(which::REDUCE, &args(call, from, into, count, speaker));
    call.across(which::REDUCE, &args(call, IN_PLACE, into, count, there));
}

/// One segment in a rank that speaks for its node and is not the root.
fn at_speaker(call: &Call<'_>, own: Source<'_>, temporary: Place<'_>, root: u32) {
    let (seat, me) = (call.shape().seat(root), call.me());
    let (into, count, _) = temporary.raw();
    let sum = if call.is_alone() { own.raw().0 } else { into.cast_const() };
    if !call.is_alone() {
        call.in_node(which::REDUCE, &args(call, own.raw().0, into, count, me.local));
    }
    let there = call.shape().across(me.local, seat.node);
    if me.node != seat.node {
        return call.across(which::REDUCE, &args(call, sum, core::ptr::null_mut(), count, there));
    }
    call.across(which::REDUCE, &args(call, IN_PLACE, into, count, there));
    call.bring(temporary.source(), root);
}

pub fn allreduce(call: &Call<'_>) -> Result {
    let (count, size) = (call.args.recvcount, call.recvtype().packed);
    if count == 0 {
        return Ok(());
    }
    if !is_in_order(call) {
        return call.below(which::ALLREDUCE).ok().map(drop);
    }
    for (first, count) in segments(count, size, call.module().settings.allreduce_segment) {
        let own = call.operand().part(first, count).raw().0;
        let (into, _, dtype) = call.gets(call.args.recvcount).part(first, count).raw();
        let leads = call.me().local == 0;
        let given = if call.in_place() { IN_PLACE } else { own };
        if !call.is_alone() {
            let from = if leads { given } else { own };
            call.in_node(which::REDUCE, &args(call, from, into, count, 0));
        }
        if leads {
            let from = if call.is_alone() { given } else { IN_PLACE };
            call.across(which::ALLREDUCE, &args(call, from, into, count, 0));
        }
        let handed = CollArgs { recvbuf: into, recvcount: count, recvtype: dtype, ..CollArgs::NONE };
        call.down(0, which::BCAST, &handed);
    }
    Ok(())
}
