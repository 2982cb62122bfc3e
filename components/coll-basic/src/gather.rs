//! MPI_Gather (MPI 5.0 §6.5).
//!
//! Small blocks go up a binomial tree as packed bytes, each rank adding its own in front of its
//! children's; large ones go to the root directly, where they are received in place.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;

pub fn gather(call: &Call<'_>) -> Result {
    let is_root = call.rank() == call.root();
    // Only the root's receive arguments are significant, and its send arguments may be in place.
    let block = if is_root { call.gets().bytes()? } else { call.gives().bytes()? };
    if block == 0 {
        return Ok(());
    }
    if is_root && call.args.sendbuf != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.gives(), call.blocks_in(call.rank(), 1))? };
    }
    if call.num_ranks() == 1 {
        Ok(())
    } else if block <= call.module().settings.gather_small_msg {
        call.goes_by(Algorithm::GatherBinomial);
        tree(call, block)
    } else {
        call.goes_by(Algorithm::GatherDirect);
        direct(call, is_root)
    }
}

fn direct(call: &Call<'_>, is_root: bool) -> Result {
    if !is_root {
        return call.send(call.gives(), call.root(), tag::GATHER);
    }
    let mut pending = Pending::<64>::new(call);
    for rank in (0..call.num_ranks()).filter(|rank| *rank != call.rank()) {
        pending.recv(call.blocks_in(rank, 1), rank, tag::GATHER)?;
    }
    pending.wait()
}

fn tree(call: &Call<'_>, block: u64) -> Result {
    let (n, root) = (call.num_ranks(), call.root());
    let place = (call.rank() + n - root) % n;
    let to_rank = |place: u32| (place + root) % n;
    // Places place..place + below are ours and our children's.
    let mut reach = 1;
    while reach < n && place & reach == 0 {
        reach *= 2;
    }
    let below = reach.min(n - place);
    let parent = || to_rank(place - reach);
    if below == 1 {
        return call.send(call.gives(), parent(), tag::GATHER);
    }
    // The root's blocks lie as they should if it is rank 0 and its type has no holes.
    let in_user = place == 0 && root == 0 && call.recvtype().is_contiguous();
    let scratch = if in_user { None } else { Some(call.scratch(below as u64 * block)?) };
    let all = || call.blocks_in(0, n).contiguous();
    let all = scratch.as_ref().map_or_else(all, |s| Ok(s.bytes(0, below as u64 * block)))?;
    let packed = |first: u32, blocks: u32| all.part(first as u64 * block, blocks as u64 * block);

    let mut child = 1;
    while child < below {
        call.recv(packed(child, child.min(below - child)), to_rank(place + child), tag::GATHER)?;
        child *= 2;
    }
    if place != 0 {
        // SAFETY: the user's block, and the first of the packed ones, in memory of ours.
        unsafe { call.local().pack(call.gives(), 0, packed(0, 1))? };
        return call.send(packed(0, below).source(), parent(), tag::GATHER);
    }
    if !in_user {
        // Place 0 is the root's own block, which is there. Ranks behind the root, then those from 0 on.
        for (rank, place, blocks) in [(root + 1, 1, n - root - 1), (0, n - root, root)] {
            // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones, in memory of ours.
            unsafe { call.local().unpack(call.blocks_in(rank, blocks), 0, packed(place, blocks).source())? };
        }
    }
    Ok(())
}
