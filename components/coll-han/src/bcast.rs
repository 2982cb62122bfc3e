//! The broadcast: from the root to one rank of each node, and from that to the others of the node.
//!
//! Those ranks have the root's number on their nodes. Where a node has no rank of that number, the root's node has the data first, and the first rank
//! of each node hands it on.
//!
//! Ranks may describe the same data by different types, so it is cut into segments of bytes; data that does not lie side by side is packed for that.

use crate::call::Call;
use crate::segments::segments;
use oxmpi_coll::{CollArgs, which};
use oxmpi_coll_support::{Place, Result};

pub fn bcast(call: &Call<'_>) -> Result {
    let (root, segment) = (call.root()?, call.module().settings.bcast_segment);
    let place = call.gets(call.args.recvcount);
    let total = place.bytes()?;
    if total == 0 {
        return Ok(());
    }
    if segment == 0 || total <= segment {
        one(call, root, place);
        return Ok(());
    }
    if place.is_contiguous() {
        cut(call, root, place.contiguous()?, segment);
        return Ok(());
    }
    let lease = call.scratch(total)?;
    let packed = lease.bytes(0, total);
    let ((at, count, dtype), (bytes, ..)) = (place.raw(), packed.raw());
    if call.rank() == root {
        // SAFETY: the root's data, and temporary memory of its size.
        unsafe { oxmpi_datatype::pack(dtype, count, at, 0, bytes, total) };
    }
    cut(call, root, packed, segment);
    if call.rank() != root && !call.has_failed() {
        // SAFETY: the place of the data, and memory that has all of it.
        unsafe { oxmpi_datatype::unpack(dtype, count, at, 0, bytes, total) };
    }
    Ok(())
}

fn cut(call: &Call<'_>, root: u32, bytes: Place<'_>, segment: u64) {
    segments(bytes.count(), 1, segment).for_each(|(first, len)| one(call, root, bytes.part(first, len)));
}

/// One segment.
fn one(call: &Call<'_>, root: u32, data: Place<'_>) {
    let (seat, me) = (call.shape().seat(root), call.me());
    let (recvbuf, recvcount, recvtype) = data.raw();
    let from = |root: u32| CollArgs { recvbuf, recvcount, recvtype, root: root as i32, ..CollArgs::NONE };
    if call.shape().spans(seat.local) {
        if me.local == seat.local {
            call.across(which::BCAST, &from(call.shape().across(seat.local, seat.node)));
        }
        return call.down(seat.local, which::BCAST, &from(seat.local));
    }
    if me.node == seat.node {
        call.in_node(which::BCAST, &from(seat.local));
    }
    if me.local == 0 {
        call.across(which::BCAST, &from(seat.node));
    }
    if me.node != seat.node {
        call.down(0, which::BCAST, &from(0));
    }
}
