//! MPI_Alltoall (MPI 5.0 §6.8).
//!
//! Every rank begins with the rank behind it, so nobody is everybody's next. Small blocks go to many
//! at once; large ones pair by pair, so that the memory system serves one stream per rank.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;
use oxmpi_coll_support::Source;
use oxmpi_mca::Status;

/// Peers that small blocks are exchanged with at once.
const AT_ONCE: u32 = 32;

pub fn alltoall(call: &Call<'_>) -> Result {
    let block = call.gets().bytes()?;
    if block == 0 {
        return Ok(());
    }
    if call.args.sendbuf != IN_PLACE {
        let rank = call.rank();
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.blocks_out(rank, 1), call.blocks_in(rank, 1))? };
        return exchange_all(call, |to| call.blocks_out(to, 1), block);
    }
    let n = call.num_ranks();
    if n == 1 {
        return Ok(());
    }
    // A packed copy leaves; our own block stays where it is.
    let total = block.checked_mul(n as u64).ok_or(Status::OUT_OF_MEMORY)?;
    let scratch = call.scratch(total)?;
    // SAFETY: all the blocks of the user's buffer, and room for their packed bytes in memory of ours.
    unsafe { call.local().pack(call.blocks_in(0, n).source(), 0, scratch.bytes(0, total))? };
    exchange_all(call, |to| scratch.bytes(to as u64 * block, block).source(), block)
}

/// Exchanges blocks of `block` bytes; `out` has what goes to each rank.
fn exchange_all<'a>(call: &Call<'_>, out: impl Fn(u32) -> Source<'a>, block: u64) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let into = |from: u32| call.blocks_in(from, 1);
    let to = |distance: u32| (rank + distance) % n;
    let from = |distance: u32| (rank + n - distance) % n;
    if block > call.module().settings.alltoall_small_msg {
        call.goes_by(Algorithm::AlltoallPairwise);
        for distance in 1..n {
            let (to, from) = (to(distance), from(distance));
            call.exchange(out(to), to, into(from), from, tag::ALLTOALL)?;
        }
        return Ok(());
    }
    call.goes_by(Algorithm::AlltoallAtOnce);
    let mut pending = Pending::<{ 2 * AT_ONCE as usize }>::new(call);
    for first in (1..n).step_by(AT_ONCE as usize) {
        let batch = first..n.min(first + AT_ONCE);
        for distance in batch.clone() {
            pending.recv(into(from(distance)), from(distance), tag::ALLTOALL)?;
        }
        for distance in batch {
            pending.send(out(to(distance)), to(distance), tag::ALLTOALL)?;
        }
        pending.wait()?;
    }
    Ok(())
}
