//! MPI_Gather (MPI 5.0 §6.5).
//!
//! Small blocks go up a binomial tree as packed bytes, each rank adding its own in front of its
//! children's; large ones go to the root directly, where they are received in place.

use crate::exchange::{Call, Pending, Result, in_bytes, out_bytes, tag};
use crate::layout::{bytes, element_mut};
use oxmpi_coll::IN_PLACE;

pub fn gather(call: &Call<'_>) -> Result {
    let is_root = call.rank() == call.root();
    // Only the root's receive arguments are significant, and its send arguments may be in place.
    let block = if is_root {
        bytes(call.recvtype(), call.args.recvcount)?
    } else {
        bytes(call.sendtype(), call.args.sendcount)?
    };
    if block == 0 {
        return Ok(());
    }
    if is_root && call.args.sendbuf != IN_PLACE {
        let (count, dtype) = (call.args.recvcount, call.recvtype());
        let own = element_mut(call.args.recvbuf, dtype, call.rank() as u64 * count);
        // SAFETY: the user's buffers.
        unsafe {
            let given = (call.args.sendbuf, call.args.sendcount, call.sendtype());
            call.local().transfer(given, (own, count, dtype))?;
        }
    }
    if call.num_ranks() == 1 {
        Ok(())
    } else if block <= call.module().settings.gather_small_msg {
        tree(call, block)
    } else {
        direct(call, is_root)
    }
}

fn direct(call: &Call<'_>, is_root: bool) -> Result {
    if !is_root {
        let out = (call.args.sendbuf, call.args.sendcount, call.sendtype());
        return call.send(out, call.root(), tag::GATHER);
    }
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    let mut pending = Pending::<64>::new(call);
    for rank in (0..call.num_ranks()).filter(|rank| *rank != call.rank()) {
        let into = element_mut(call.args.recvbuf, dtype, rank as u64 * count);
        pending.recv((into, count, dtype), rank, tag::GATHER)?;
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
        let out = (call.args.sendbuf, call.args.sendcount, call.sendtype());
        return call.send(out, parent(), tag::GATHER);
    }
    // The root's blocks lie as they should if it is rank 0 and its type has no holes.
    let in_user = place == 0 && root == 0 && call.recvtype().is_contiguous();
    let scratch = if in_user { None } else { Some(call.scratch(below as u64 * block)?) };
    let first = scratch.as_ref().map_or(call.args.recvbuf, |s| s.at(0));
    let at = |i: u32| first.wrapping_add((i as u64 * block) as usize);

    let mut child = 1;
    while child < below {
        let len = child.min(below - child) as u64 * block;
        call.recv(in_bytes(at(child), len), to_rank(place + child), tag::GATHER)?;
        child *= 2;
    }
    if place != 0 {
        // SAFETY: the user's block, and the first of the packed ones.
        unsafe {
            let own = (call.args.sendbuf, call.args.sendcount, call.sendtype());
            call.local().pack(own, 0, at(0), block)?;
        }
        return call.send(out_bytes(at(0), below as u64 * block), parent(), tag::GATHER);
    }
    if !in_user {
        let (count, dtype) = (call.args.recvcount, call.recvtype());
        // Place 0 is the root's own block, which is there. Ranks behind the root, then those from 0 on.
        for (rank, place, blocks) in [(root + 1, 1, n - root - 1), (0, n - root, root)] {
            let into = element_mut(call.args.recvbuf, dtype, rank as u64 * count);
            // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones.
            unsafe {
                let into = (into, blocks as u64 * count, dtype);
                call.local().unpack(into, 0, at(place), blocks as u64 * block)?;
            }
        }
    }
    Ok(())
}
