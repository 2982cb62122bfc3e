//! MPI_Scatter (MPI 5.0 §6.6).
//!
//! The reverse of gather: small blocks go down a binomial tree as packed bytes, large ones go from
//! the root directly.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;

pub fn scatter(call: &Call<'_>) -> Result {
    let is_root = call.rank() == call.root();
    // Only the root's send arguments are significant, and its receive arguments may be in place.
    let block = if is_root { call.gives().bytes()? } else { call.gets().bytes()? };
    if block == 0 {
        return Ok(());
    }
    if is_root && call.args.recvbuf.cast_const() != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.blocks_out(call.rank(), 1), call.gets())? };
    }
    if call.num_ranks() == 1 {
        Ok(())
    } else if block <= call.module().settings.gather_small_msg {
        call.goes_by(Algorithm::ScatterBinomial);
        tree(call, block)
    } else {
        call.goes_by(Algorithm::ScatterDirect);
        direct(call, is_root)
    }
}

fn direct(call: &Call<'_>, is_root: bool) -> Result {
    if !is_root {
        return call.recv(call.gets(), call.root(), tag::SCATTER);
    }
    let mut pending = Pending::<64>::new(call);
    for rank in (0..call.num_ranks()).filter(|rank| *rank != call.rank()) {
        pending.send(call.blocks_out(rank, 1), rank, tag::SCATTER)?;
    }
    pending.wait()
}

fn tree(call: &Call<'_>, block: u64) -> Result {
    let (n, root) = (call.num_ranks(), call.root());
    let place = (call.rank() + n - root) % n;
    let to_rank = |place: u32| (place + root) % n;
    let mut reach = 1;
    while reach < n && place & reach == 0 {
        reach *= 2;
    }
    let below = reach.min(n - place);
    if below == 1 {
        return call.recv(call.gets(), to_rank(place - reach), tag::SCATTER);
    }
    let in_user = place == 0 && root == 0 && call.sendtype().is_contiguous();
    let scratch = if in_user { None } else { Some(call.scratch(below as u64 * block)?) };
    let all = below as u64 * block;
    let first = || call.blocks_out(0, n).contiguous();
    let packed = scratch.as_ref().map_or_else(first, |s| Ok(s.bytes(0, all).source()))?;
    let packed = |first: u32, blocks: u32| packed.part(first as u64 * block, blocks as u64 * block);

    if let Some(scratch) = scratch.as_ref().filter(|_| place != 0) {
        call.recv(scratch.bytes(0, all), to_rank(place - reach), tag::SCATTER)?;
    } else if let Some(scratch) = scratch.as_ref() {
        // Place 0 is the root's own block, which stays. Ranks behind the root, then those from 0 on.
        for (rank, place, blocks) in [(root + 1, 1, n - root - 1), (0, n - root, root)] {
            let into = scratch.bytes(place as u64 * block, blocks as u64 * block);
            // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones, in memory of ours.
            unsafe { call.local().pack(call.blocks_out(rank, blocks), 0, into)? };
        }
    }
    // The largest subtree first: it has the longest way to go.
    let mut child = below.next_power_of_two() / 2;
    while child > 0 {
        let theirs = packed(child, child.min(below - child));
        call.send(theirs, to_rank(place + child), tag::SCATTER)?;
        child /= 2;
    }
    if place != 0 {
        // SAFETY: the user's block, and the first of the packed ones, in memory of ours.
        unsafe { call.local().unpack(call.gets(), 0, packed(0, 1))? };
    }
    Ok(())
}
