//! Gather: the blocks of each node come together in the rank that has the root's number there, and from those ranks in the root.
//!
//! Blocks travel packed, node by node. Where that is how the root has them they come to their places at once. Where a node has no rank of the root's
//! number, or those are in another order than their nodes, the components below do all of it.

use crate::area::{Lengths, Lists, each_block, receives, sends};
use crate::call::Call;
use oxmpi_coll::{CollArgs, IN_PLACE, which};
use oxmpi_coll_support::layout::{BYTE, bytes};
use oxmpi_coll_support::{Place, Result};

pub fn gather(call: &Call<'_>) -> Result {
    let (root, shape, me) = (call.root()?, call.shape(), call.me());
    let seat = shape.seat(root);
    if !shape.spans_in_order(seat.local) {
        return call.below(which::GATHER).ok().map(drop);
    }
    let is_root = call.rank() == root;
    let each = match is_root {
        true => bytes(call.recvtype(), call.args.recvcount)?,
        false => bytes(call.sendtype(), call.args.sendcount)?,
    };
    if each == 0 {
        return Ok(());
    }
    let lengths = Lengths::Equal(each);
    let args = CollArgs {
        sendbuf: call.args.sendbuf,
        sendcount: call.args.sendcount,
        sendtype: call.args.sendtype,
        root: seat.local as i32,
        ..CollArgs::NONE
    };
    if me.local != seat.local {
        call.in_node(which::GATHER, &args);
    } else if is_root {
        at_root(call, &lengths, each, args)?;
    } else {
        let len = lengths.on(shape, me.node);
        let lease = call.scratch(len)?;
        let mine = lease.bytes(0, len);
        call.in_node(which::GATHER, &receives(mine, each, args));
        between(call, &lengths, mine, seat.node);
    }
    Ok(())
}

fn at_root(call: &Call<'_>, lengths: &Lengths, each: u64, args: CollArgs) -> Result {
    let (shape, me, count) = (call.shape(), call.me(), call.args.recvcount);
    let all = call.gets(count.saturating_mul(shape.order().len() as u64));
    let total = lengths.all(shape);
    let is_direct = shape.is_in_blocks() && all.is_contiguous();
    let lease = if is_direct { None } else { Some(call.scratch(total)?) };
    let area = match &lease {
        None => all.contiguous()?,
        Some(lease) => lease.bytes(0, total),
    };
    let own = all.part(u64::from(call.rank()) * count, count).raw();
    let args = match (call.in_place(), is_direct) {
        (true, false) => CollArgs { sendbuf: own.0, sendcount: count, sendtype: own.2, ..args },
        _ => args,
    };
    let mine = area.part(lengths.start(shape.start(me.node)), lengths.on(shape, me.node));
    call.in_node(which::GATHER, &receives(mine, each, args));
    between(call, lengths, area, me.node);
    if !is_direct && !call.has_failed() {
        let block = |rank: u32| all.part(u64::from(rank) * count, count);
        each_block(call, lengths, block, |place, from, len| unpack(area, from, place, len));
    }
    Ok(())
}

/// Puts packed bytes in their places.
pub fn unpack(area: Place<'_>, from: u64, place: Place<'_>, len: u64) {
    let ((at, count, dtype), (bytes, ..)) = (place.raw(), area.part(from, len).raw());
    // SAFETY: a place of the user's, and as many bytes of temporary memory as it has.
    unsafe { oxmpi_datatype::unpack(dtype, count, at, 0, bytes, len) };
}

/// Brings the blocks of each node to the root's; `area` is those of this node, in the root all.
fn between(call: &Call<'_>, lengths: &Lengths, area: Place<'_>, root: u32) {
    let (shape, me) = (call.shape(), call.me());
    let args = CollArgs { root: root as i32, ..CollArgs::NONE };
    let of_node = lengths.on(shape, me.node);
    let is_root = me.node == root;
    let args = match is_root {
        true => receives(area, of_node, CollArgs { sendbuf: IN_PLACE, ..args }),
        false => sends(area, of_node, args),
    };
    if shape.is_even() {
        return call.across(which::GATHER, &args);
    }
    let lists = is_root.then(|| Lists::of_nodes(shape, lengths));
    let args = match &lists {
        Some(lists) => CollArgs {
            recvcounts: lists.counts.as_ptr(),
            rdispls: lists.displs.as_ptr(),
            recvtype: &BYTE,
            ..args
        },
        None => args,
    };
    call.across(which::GATHERV, &args);
}
