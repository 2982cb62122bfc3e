//! MPI_Allgather (MPI 5.0 §6.7).
//!
//! Few bytes in log2 n steps: recursive doubling in the user's buffer for a power of two of ranks,
//! Bruck's algorithm on packed bytes for others. Many bytes go round a ring.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Result, tag};
use oxmpi_coll::IN_PLACE;

pub fn allgather(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let block = call.gets().bytes()?;
    if block == 0 {
        return Ok(());
    }
    let total = block.checked_mul(n as u64).ok_or(oxmpi_mca::Status::BAD_PARAM)?;
    if call.args.sendbuf != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.gives(), call.blocks_in(rank, 1))? };
    }
    if n == 1 {
        Ok(())
    } else if total > call.module().settings.allgather_small_msg {
        call.goes_by(Algorithm::AllgatherRing);
        ring(call)
    } else if n.is_power_of_two() {
        call.goes_by(Algorithm::AllgatherDoubling);
        doubling(call)
    } else {
        call.goes_by(Algorithm::AllgatherBruck);
        bruck(call, block)
    }
}

fn ring(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    for step in 0..n - 1 {
        let ours = (rank + n - step) % n;
        let theirs = (ours + n - 1) % n;
        let (out, into) = (call.blocks_in(ours, 1).source(), call.blocks_in(theirs, 1));
        call.exchange(out, right, into, left, tag::ALLGATHER)?;
    }
    Ok(())
}

fn doubling(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let mut group = 1;
    while group < n {
        let ours = rank & !(group - 1);
        let theirs = ours ^ group;
        let (out, into) = (call.blocks_in(ours, group).source(), call.blocks_in(theirs, group));
        let partner = rank ^ group;
        call.exchange(out, partner, into, partner, tag::ALLGATHER)?;
        group *= 2;
    }
    Ok(())
}

/// The packed blocks begin with our own and go on with those of the ranks behind us; in every step
/// we get as many more as we have from the rank that has the next.
fn bruck(call: &Call<'_>, block: u64) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let scratch = call.scratch(block * n as u64)?;
    let packed = |first: u32, blocks: u32| scratch.bytes(first as u64 * block, blocks as u64 * block);
    // SAFETY: our block in the user's buffer, and the first place of the packed ones, in memory of ours.
    unsafe { call.local().pack(call.blocks_in(rank, 1).source(), 0, packed(0, 1))? };
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let (to, from) = ((rank + n - have) % n, (rank + have) % n);
        call.exchange(packed(0, more).source(), to, packed(have, more), from, tag::ALLGATHER)?;
        have += more;
    }
    // Ours is there. Those behind us up to the last rank, then those from rank 0 on.
    for (first, place, blocks) in [(rank + 1, 1, n - rank - 1), (0, n - rank, rank)] {
        // SAFETY: `blocks` blocks of the user's buffer, and as many packed ones, in memory of ours.
        unsafe { call.local().unpack(call.blocks_in(first, blocks), 0, packed(place, blocks).source())? };
    }
    Ok(())
}
