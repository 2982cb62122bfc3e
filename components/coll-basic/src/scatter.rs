//! MPI_Scatter (MPI 5.0 §6.6).
//!
//! The reverse of gather: small blocks go down a binomial tree as packed bytes, large ones go from
//! the root directly.

use crate::exchange::{Call, Pending, Result, in_bytes, out_bytes, tag};
use crate::layout::{bytes, element};
use oxmpi_coll::IN_PLACE;

pub fn scatter(call: &Call<'_>) -> Result {
    let is_root = call.rank() == call.root();
    // Only the root's send arguments are significant, and its receive arguments may be in place.
    let block = if is_root {
        bytes(call.sendtype(), call.args.sendcount)?
    } else {
        bytes(call.recvtype(), call.args.recvcount)?
    };
    if block == 0 {
        return Ok(());
    }
    if is_root && call.args.recvbuf.cast_const() != IN_PLACE {
        let (count, dtype) = (call.args.sendcount, call.sendtype());
        let own = element(call.args.sendbuf, dtype, call.rank() as u64 * count);
        // SAFETY: the user's buffers.
        unsafe {
            let into = (call.args.recvbuf, call.args.recvcount, call.recvtype());
            call.local().transfer((own, count, dtype), into)?;
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
        let into = (call.args.recvbuf, call.args.recvcount, call.recvtype());
        return call.recv(into, call.root(), tag::SCATTER);
    }
    let (count, dtype) = (call.args.sendcount, call.sendtype());
    let mut pending = Pending::<64>::new(call);
    for rank in (0..call.num_ranks()).filter(|rank| *rank != call.rank()) {
        let out = element(call.args.sendbuf, dtype, rank as u64 * count);
        pending.send((out, count, dtype), rank, tag::SCATTER)?;
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
    let own = || (call.args.recvbuf, call.args.recvcount, call.recvtype());
    if below == 1 {
        return call.recv(own(), to_rank(place - reach), tag::SCATTER);
    }
    let in_user = place == 0 && root == 0 && call.sendtype().is_contiguous();
    let scratch = if in_user { None } else { Some(call.scratch(below as u64 * block)?) };
    let first = scratch.as_ref().map_or(call.args.sendbuf, |s| s.at(0).cast_const());
    let at = |i: u32| first.wrapping_add((i as u64 * block) as usize);

    if place != 0 {
        let len = below as u64 * block;
        call.recv(in_bytes(at(0).cast_mut(), len), to_rank(place - reach), tag::SCATTER)?;
    } else if !in_user {
        let (count, dtype) = (call.args.sendcount, call.sendtype());
        // Place 0 is the root's own block, which stays. Ranks behind the root, then those from 0 on.
        for (rank, place, blocks) in [(root + 1, 1, n - root - 1), (0, n - root, root)] {
            let out = element(call.args.sendbuf, dtype, rank as u64 * count);
            // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones.
            unsafe {
                let out = (out, blocks as u64 * count, dtype);
                call.local().pack(out, 0, at(place).cast_mut(), blocks as u64 * block)?;
            }
        }
    }
    // The largest subtree first: it has the longest way to go.
    let mut child = below.next_power_of_two() / 2;
    while child > 0 {
        let len = child.min(below - child) as u64 * block;
        call.send(out_bytes(at(child), len), to_rank(place + child), tag::SCATTER)?;
        child /= 2;
    }
    if place != 0 {
        let (buf, count, dtype) = own();
        // SAFETY: the user's block, and the first of the packed ones.
        unsafe { call.local().unpack((buf, count, dtype), 0, at(0), block)? };
    }
    Ok(())
}
