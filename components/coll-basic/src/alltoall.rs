//! MPI_Alltoall (MPI 5.0 §6.8).
//!
//! Every rank begins with the rank behind it, so nobody is everybody's next. Small blocks go to many
//! at once; large ones pair by pair, so that the memory system serves one stream per rank.

use crate::exchange::{Call, Pending, Result, tag};
use crate::layout::{BYTE, bytes, element, element_mut};
use oxmpi_coll::IN_PLACE;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Peers that small blocks are exchanged with at once.
const AT_ONCE: u32 = 32;

pub fn alltoall(call: &Call<'_>) -> Result {
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    let block = bytes(dtype, count)?;
    if block == 0 {
        return Ok(());
    }
    if call.args.sendbuf != IN_PLACE {
        let source = Source { buf: call.args.sendbuf, count: call.args.sendcount, dtype: call.sendtype() };
        let rank = call.rank() as u64;
        let own = element_mut(call.args.recvbuf, dtype, rank * count);
        // SAFETY: the user's buffers.
        unsafe {
            let given = (source.block(call.rank()), source.count, source.dtype);
            call.local().transfer(given, (own, count, dtype))?;
        }
        return exchange_all(call, &source, block);
    }
    let n = call.num_ranks() as u64;
    if n == 1 {
        return Ok(());
    }
    // A packed copy leaves; our own block stays where it is.
    let total = block.checked_mul(n).ok_or(Status::OUT_OF_MEMORY)?;
    let scratch = call.scratch(total)?;
    // SAFETY: all the blocks of the user's buffer, and room for their packed bytes.
    unsafe { call.local().pack((call.args.recvbuf, n * count, dtype), 0, scratch.at(0), total)? };
    exchange_all(call, &Source { buf: scratch.at(0), count: block, dtype: &BYTE }, block)
}

/// Where the blocks to send are.
struct Source<'a> {
    buf: *const u8,
    count: u64,
    dtype: &'a TypeDesc,
}

impl Source<'_> {
    fn block(&self, rank: u32) -> *const u8 {
        element(self.buf, self.dtype, rank as u64 * self.count)
    }
}

fn exchange_all(call: &Call<'_>, source: &Source<'_>, block: u64) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    let out = |to: u32| (source.block(to), source.count, source.dtype);
    let into = |from: u32| (element_mut(call.args.recvbuf, dtype, from as u64 * count), count, dtype);
    let to = |distance: u32| (rank + distance) % n;
    let from = |distance: u32| (rank + n - distance) % n;
    if block > call.module().settings.alltoall_small_msg {
        for distance in 1..n {
            let (to, from) = (to(distance), from(distance));
            call.exchange(out(to), to, into(from), from, tag::ALLTOALL)?;
        }
        return Ok(());
    }
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
