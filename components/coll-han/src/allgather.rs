//! Allgather and allgatherv: the blocks of each node come together in its first rank, go to the first ranks of all nodes, and from there to the others.
//!
//! Blocks travel packed, node by node. A rank in whose receive buffer they lie in this way has them there at once; which ranks those are is each rank's
//! own affair.

use crate::area::{Lengths, Lists, each_block, receives};
use crate::call::Call;
use crate::gather::unpack;
use oxmpi_coll::{CollArgs, IN_PLACE, which};
use oxmpi_coll_support::layout::{BYTE, bytes, distance};
use oxmpi_coll_support::{Place, Result};

pub fn allgather(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let lengths = Lengths::Equal(bytes(call.recvtype(), count)?);
    let all = call.gets(count.saturating_mul(call.shape().order().len() as u64));
    let is_direct = call.shape().is_in_blocks() && all.is_contiguous();
    exchange(call, &lengths, is_direct, &|rank| all.part(u64::from(rank) * count, count))
}

pub fn allgatherv(call: &Call<'_>) -> Result {
    let (shape, dtype) = (call.shape(), call.recvtype());
    let (counts, displs) = (call.recvcounts(), call.rdispls());
    let lengths = Lengths::of(shape, dtype.packed, |rank| counts[rank as usize])?;
    let block = |rank: u32| {
        let at = call.args.recvbuf.wrapping_offset(distance(dtype, displs[rank as usize]));
        // SAFETY: the block of a rank, which the arguments describe.
        unsafe { Place::new(at, counts[rank as usize], dtype) }
    };
    let first = block(0).raw().0.addr() as u64;
    let lies_there = |(rank, place): (&u32, u32)| {
        lengths.len(place) == 0 || block(*rank).raw().0.addr() as u64 == first + lengths.start(place)
    };
    let is_direct =
        shape.is_in_blocks() && dtype.is_contiguous() && shape.order().iter().zip(0..).all(lies_there);
    exchange(call, &lengths, is_direct, &block)
}

fn exchange<'a>(
    call: &Call<'_>,
    lengths: &Lengths,
    is_direct: bool,
    block: &dyn Fn(u32) -> Place<'a>,
) -> Result {
    let (shape, me) = (call.shape(), call.me());
    let total = lengths.all(shape);
    if total == 0 {
        return Ok(());
    }
    let lease = if is_direct { None } else { Some(call.scratch(total)?) };
    let area = match &lease {
        // SAFETY: the blocks lie side by side from rank 0's on, as bytes.
        None => unsafe { Place::new(block(0).raw().0, total, &BYTE) },
        Some(lease) => lease.bytes(0, total),
    };
    within(call, lengths, area, is_direct, block(call.rank()));
    if me.local == 0 {
        between(call, lengths, area);
    }
    call.down(0, which::BCAST, &receives(area, total, CollArgs::NONE));
    if !is_direct && !call.has_failed() {
        each_block(call, lengths, block, |place, from, len| unpack(area, from, place, len));
    }
    Ok(())
}

/// Brings the blocks of the node together; `own` is this rank's place among the results.
fn within(call: &Call<'_>, lengths: &Lengths, area: Place<'_>, is_direct: bool, own: Place<'_>) {
    let (shape, me) = (call.shape(), call.me());
    let leads = me.local == 0;
    let (at, count, dtype) = own.raw();
    let args = match call.in_place() {
        true if leads && is_direct => CollArgs { sendbuf: IN_PLACE, ..CollArgs::NONE },
        true => CollArgs { sendbuf: at, sendcount: count, sendtype: dtype, ..CollArgs::NONE },
        false => CollArgs {
            sendbuf: call.args.sendbuf,
            sendcount: call.args.sendcount,
            sendtype: call.args.sendtype,
            ..CollArgs::NONE
        },
    };
    let mine = area.part(lengths.start(shape.start(me.node)), lengths.on(shape, me.node));
    if let Lengths::Equal(each) = lengths {
        return call.in_node(which::GATHER, &receives(mine, *each, args));
    }
    let lists = leads.then(|| Lists::of_node(shape, lengths, me.node));
    let args = match &lists {
        Some(lists) => CollArgs {
            recvcounts: lists.counts.as_ptr(),
            rdispls: lists.displs.as_ptr(),
            ..receives(mine, 0, args)
        },
        None => args,
    };
    call.in_node(which::GATHERV, &args);
}

/// Exchanges the blocks of the nodes.
fn between(call: &Call<'_>, lengths: &Lengths, area: Place<'_>) {
    let shape = call.shape();
    let args = CollArgs { sendbuf: IN_PLACE, ..CollArgs::NONE };
    if let (Lengths::Equal(_), true) = (lengths, shape.is_even()) {
        return call.across(which::ALLGATHER, &receives(area, lengths.on(shape, 0), args));
    }
    let lists = Lists::of_nodes(shape, lengths);
    let args = CollArgs {
        recvcounts: lists.counts.as_ptr(),
        rdispls: lists.displs.as_ptr(),
        ..receives(area, 0, args)
    };
    call.across(which::ALLGATHERV, &args);
}
