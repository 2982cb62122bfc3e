//! Scatter: the root gives each node's blocks to the rank that has the root's number there, and that hands them on.
//!
//! Blocks travel packed, node by node. Where a node has no rank of the root's
//! number, or those are in another order than their nodes, the components below do all of it.

use crate::area::{Lengths, Lists, each_block, receives, sends};
use crate::call::Call;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, IN_PLACE, which};
use oxmpi_coll_support::layout::{BYTE, bytes};
use oxmpi_coll_support::{Place, Result};

pub fn scatter(call: &Call<'_>) -> Result {
    let (root, shape, me) = (call.root()?, call.shape(), call.me());
    let seat = shape.seat(root);
    if !shape.spans_in_order(seat.local) {
        return call.below(which::SCATTER).ok().map(drop);
    }
    let is_root = call.rank() == root;
    let each = match is_root {
        true => bytes(call.sendtype(), call.args.sendcount)?,
        false => bytes(call.recvtype(), call.args.recvcount)?,
    };
    if each == 0 {
        return Ok(());
    }
    let lengths = Lengths::Equal(each);
    let args = CollArgs {
        recvbuf: call.args.recvbuf,
        recvcount: call.args.recvcount,
        recvtype: call.args.recvtype,
        root: seat.local as i32,
        ..CollArgs::NONE
    };
    if me.local != seat.local {
        call.down(seat.local, which::SCATTER, &args);
    } else if is_root {
        at_root(call, &lengths, each, args)?;
    } else {
        let len = lengths.on(shape, me.node);
        let lease = call.scratch(len)?;
        let mine = lease.bytes(0, len);
        between(call, &lengths, mine, seat.node);
        hand_on(call, mine, each, args);
    }
    Ok(())
}

/// Gives the ranks of this node their blocks, of which this rank has one for itself.
fn hand_on(call: &Call<'_>, mine: Place<'_>, each: u64, args: CollArgs) {
    let args = sends(mine, each, args);
    match call.is_alone() {
        // Nobody else, but a block of its own to be put in its place.
        true => call.in_node(which::SCATTER, &args),
        false => call.down(call.me().local, which::SCATTER, &args),
    }
}

fn at_root(call: &Call<'_>, lengths: &Lengths, each: u64, args: CollArgs) -> Result {
    let (shape, me, count) = (call.shape(), call.me(), call.args.sendcount);
    let all = call.gives(count.saturating_mul(shape.order().len() as u64));
    let total = lengths.all(shape);
    let is_direct = shape.is_in_blocks() && all.is_contiguous();
    let lease = if is_direct { None } else { Some(call.scratch(total)?) };
    let (at, number, dtype) = all.raw();
    // SAFETY: the user's data, which is only read: the places are those of arguments that send.
    let all = unsafe { Place::new(at.cast_mut(), number, dtype) };
    let area = match &lease {
        None => all.contiguous()?,
        Some(lease) => {
            let area = lease.bytes(0, total);
            let block = |rank: u32| all.part(u64::from(rank) * count, count);
            each_block(call, lengths, block, |place, from, len| pack(place, area, from, len));
            area
        }
    };
    between(call, lengths, area, me.node);
    let mine = area.part(lengths.start(shape.start(me.node)), lengths.on(shape, me.node));
    hand_on(call, mine, each, args);
    Ok(())
}

/// Packs a block.
fn pack(block: Place<'_>, area: Place<'_>, from: u64, len: u64) {
    let ((at, count, dtype), (bytes, ..)) = (block.raw(), area.part(from, len).raw());
    // SAFETY: the user's data, and as many bytes of temporary memory as it has.
    unsafe { oxmpi_datatype::pack(dtype, count, at, 0, bytes, len) };
}

/// Brings each node's blocks there; `area` is the place of those of this node, in the root all of them.
fn between(call: &Call<'_>, lengths: &Lengths, area: Place<'_>, root: u32) {
    let (shape, me) = (call.shape(), call.me());
    let args = CollArgs { root: root as i32, ..CollArgs::NONE };
    let of_node = lengths.on(shape, me.node);
    let is_root = me.node == root;
    let args = match is_root {
        true => sends(area, of_node, CollArgs { recvbuf: IN_PLACE.cast_mut(), ..args }),
        false => receives(area, of_node, args),
    };
    if shape.is_even() {
        return call.across(which::SCATTER, &args);
    }
    let lists = is_root.then(|| Lists::of_nodes(shape, lengths));
    let args = match &lists {
        Some(lists) => CollArgs {
            sendcounts: lists.counts.as_ptr(),
            sdispls: lists.displs.as_ptr(),
            sendtype: &BYTE,
            ..args
        },
        None => CollArgs { sendbuf: null_mut(), ..args },
    };
    call.across(which::SCATTERV, &args);
}
