//! MPI_Allgather (MPI 5.0 §6.7).
//!
//! Few bytes in log2 n steps: recursive doubling in the user's buffer for a power of two of ranks,
//! Bruck's algorithm on packed bytes for others. Many bytes go round a ring.

use crate::exchange::{Call, Result, in_bytes, out_bytes, tag};
use crate::layout::{bytes, element, element_mut};
use oxmpi_coll::IN_PLACE;

pub fn allgather(call: &Call<'_>) -> Result {
    let (buf, count, dtype) = (call.args.recvbuf, call.args.recvcount, call.recvtype());
    let (n, rank) = (call.num_ranks(), call.rank());
    let block = bytes(dtype, count)?;
    if block == 0 {
        return Ok(());
    }
    let total = block.checked_mul(n as u64).ok_or(oxmpi_mca::Status::BAD_PARAM)?;
    if call.args.sendbuf != IN_PLACE {
        let own = element_mut(buf, dtype, rank as u64 * count);
        // SAFETY: the user's buffers.
        unsafe {
            let given = (call.args.sendbuf, call.args.sendcount, call.sendtype());
            call.local().transfer(given, (own, count, dtype))?;
        }
    }
    if n == 1 {
        Ok(())
    } else if total > call.module().settings.allgather_small_msg {
        ring(call)
    } else if n.is_power_of_two() {
        doubling(call)
    } else {
        bruck(call, block)
    }
}

fn ring(call: &Call<'_>) -> Result {
    let (buf, count, dtype) = (call.args.recvbuf, call.args.recvcount, call.recvtype());
    let (n, rank) = (call.num_ranks(), call.rank());
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    for step in 0..n - 1 {
        let ours = (rank + n - step) % n;
        let theirs = (ours + n - 1) % n;
        let out = element(buf, dtype, ours as u64 * count);
        let into = element_mut(buf, dtype, theirs as u64 * count);
        call.exchange((out, count, dtype), right, (into, count, dtype), left, tag::ALLGATHER)?;
    }
    Ok(())
}

fn doubling(call: &Call<'_>) -> Result {
    let (buf, count, dtype) = (call.args.recvbuf, call.args.recvcount, call.recvtype());
    let (n, rank) = (call.num_ranks(), call.rank());
    let mut group = 1;
    while group < n {
        let ours = rank & !(group - 1);
        let theirs = ours ^ group;
        let elements = group as u64 * count;
        let out = element(buf, dtype, ours as u64 * count);
        let into = element_mut(buf, dtype, theirs as u64 * count);
        let partner = rank ^ group;
        call.exchange((out, elements, dtype), partner, (into, elements, dtype), partner, tag::ALLGATHER)?;
        group *= 2;
    }
    Ok(())
}

/// The packed blocks begin with our own and go on with those of the ranks behind us; in every step
/// we get as many more as we have from the rank that has the next.
fn bruck(call: &Call<'_>, block: u64) -> Result {
    let (buf, count, dtype) = (call.args.recvbuf, call.args.recvcount, call.recvtype());
    let (n, rank) = (call.num_ranks(), call.rank());
    let scratch = call.scratch(block * n as u64)?;
    let at = |i: u32| scratch.at(i as u64 * block);
    let user = |i: u32| element_mut(buf, dtype, i as u64 * count);
    // SAFETY: our block in the user's buffer, and the first place of the packed ones.
    unsafe { call.local().pack((user(rank), count, dtype), 0, at(0), block)? };
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let len = more as u64 * block;
        let (to, from) = ((rank + n - have) % n, (rank + have) % n);
        call.exchange(out_bytes(at(0), len), to, in_bytes(at(have), len), from, tag::ALLGATHER)?;
        have += more;
    }
    // Ours is there. Those behind us up to the last rank, then those from rank 0 on.
    for (first, place, blocks) in [(rank + 1, 1, n - rank - 1), (0, n - rank, rank)] {
        // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones.
        unsafe {
            let into = (user(first), blocks as u64 * count, dtype);
            call.local().unpack(into, 0, at(place), blocks as u64 * block)?;
        }
    }
    Ok(())
}
