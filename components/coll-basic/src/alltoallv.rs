//! MPI_Alltoallv and MPI_Alltoallw (MPI 5.0 §6.8), also on inter-communicators: a few blocks are under way at
//! once. Nothing is sent for an empty block; both sides know of it.
//!
//! In place, blocks leave from a packed copy: what a rank sends has the places and lengths of what it
//! receives.

use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;
use oxmpi_coll_support::Lease;
use oxmpi_coll_support::{Place, Source};
use oxmpi_mca::Status;

/// Peers that are exchanged with at once.
const AT_ONCE: u32 = 16;

pub fn alltoallv(call: &Call<'_>) -> Result {
    exchange_all(call, |peer| call.out_block(peer), |peer| call.in_block(peer))
}

pub fn alltoallw(call: &Call<'_>) -> Result {
    exchange_all(call, |peer| call.typed_out_block(peer), |peer| call.typed_in_block(peer))
}

/// Exchanges what `out` and `into` say of each peer; does not ask `out` where the call is in place.
pub fn exchange_all<'a>(
    call: &Call<'_>,
    out: impl Fn(u32) -> Source<'a>,
    into: impl Fn(u32) -> Place<'a>,
) -> Result {
    if call.args.sendbuf == IN_PLACE && !call.is_inter() {
        let (copy, starts) = packed_copy(call, &into)?;
        let out = |peer: u32| {
            let at = peer as usize;
            copy.bytes(starts[at], starts[at + 1] - starts[at]).source()
        };
        return send_all(call, out, into);
    }
    if !call.is_inter() {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(out(call.rank()), into(call.rank()))? };
    }
    send_all(call, out, into)
}

/// All blocks as packed bytes, one behind the other, and where each begins.
fn packed_copy<'a, 'b>(call: &Call<'a>, into: &impl Fn(u32) -> Place<'b>) -> Result<(Lease<'a>, Vec<u64>)> {
    let mut starts = vec![0u64];
    let mut total = 0u64;
    for peer in 0..call.num_peers() {
        // Our own block stays where it is.
        let len = if peer == call.rank() { 0 } else { into(peer).bytes()? };
        total = total.checked_add(len).ok_or(Status::OUT_OF_MEMORY)?;
        starts.push(total);
    }
    let scratch = call.scratch(total)?;
    for peer in call.others() {
        let (at, len) = (starts[peer as usize], starts[peer as usize + 1] - starts[peer as usize]);
        // SAFETY: the user's block, and room for its bytes in memory of ours.
        unsafe { call.local().pack(into(peer).source(), 0, scratch.bytes(at, len))? };
    }
    Ok((scratch, starts))
}

fn send_all<'a, 'b>(
    call: &Call<'_>,
    out: impl Fn(u32) -> Source<'a>,
    into: impl Fn(u32) -> Place<'b>,
) -> Result {
    let rounds = call.rounds();
    let mut pending = Pending::<{ 2 * AT_ONCE as usize }>::new(call);
    for first in rounds.clone().step_by(AT_ONCE as usize) {
        // A message of a batch is received in the same batch there, so nobody waits for a later one.
        let batch = (first..rounds.end.min(first + AT_ONCE)).filter_map(|round| call.round(round));
        for (_, from) in batch.clone() {
            let into = into(from);
            if into.bytes()? > 0 {
                pending.recv(into, from, tag::ALLTOALL)?;
            }
        }
        for (to, _) in batch {
            let out = out(to);
            if out.bytes()? > 0 {
                pending.send(out, to, tag::ALLTOALL)?;
            }
        }
        pending.wait()?;
    }
    Ok(())
}
