//! Neighborhood collectives (MPI 5.0 §8.6): a block from every source, one to every destination.
//!
//! **All at once.** Everything is posted before anything is waited for. Neighborhoods are any graph, so waiting for a
//! part of one's edges first could go round in a circle.
//!
//! **Several edges between two ranks** are told apart by order alone: the sends go out in the order of the
//! destinations, and receives are posted in the order of the sources. In a grid the two neighbors of a dimension may be
//! one rank (two ranks round a ring) or the rank itself. The message that is sent first, downwards, then belongs to the
//! block of the neighbor above, so receives of a pair are posted the other way round. Nothing is sent for an empty
//! block; both ends know of it.

use crate::exchange::{Call, Flight, Result, tag};
use oxmpi_coll::neighbors;
use oxmpi_coll_support::{Place, Source};

pub fn neighbor_allgather(call: &Call<'_>) -> Result {
    meet(call, |_| call.gives(), |k| call.blocks_in(k, 1))
}

pub fn neighbor_allgatherv(call: &Call<'_>) -> Result {
    meet(call, |_| call.gives(), |k| call.in_block(k))
}

pub fn neighbor_alltoall(call: &Call<'_>) -> Result {
    meet(call, |k| call.blocks_out(k, 1), |k| call.blocks_in(k, 1))
}

pub fn neighbor_alltoallv(call: &Call<'_>) -> Result {
    meet(call, |k| call.out_block(k), |k| call.in_block(k))
}

pub fn neighbor_alltoallw(call: &Call<'_>) -> Result {
    meet(call, |k| call.typed_out_block(k), |k| call.typed_in_block(k))
}

/// Sends block `k` to destination `k`, receives that of source `k`.
fn meet<'a>(call: &Call<'a>, out: impl Fn(u32) -> Source<'a>, into: impl Fn(u32) -> Place<'a>) -> Result {
    let around = call.neighbors();
    let (sources, destinations) =
        (ranks(around.sources, around.num_sources), ranks(around.destinations, around.num_destinations));
    let mut flight = Flight::new(call, sources.len() + destinations.len());
    let paired = usize::from(around.flags & neighbors::PAIRS != 0);
    for k in 0..sources.len() {
        let k = k ^ paired;
        let into = into(k as u32);
        if let Ok(source) = u32::try_from(sources[k])
            && into.bytes()? > 0
        {
            flight.recv(into, source, tag::NEIGHBOR)?;
        }
    }
    for (k, &destination) in destinations.iter().enumerate() {
        let out = out(k as u32);
        if let Ok(destination) = u32::try_from(destination)
            && out.bytes()? > 0
        {
            flight.send(out, destination, tag::NEIGHBOR)?;
        }
    }
    flight.wait()
}

fn ranks<'a>(at: *const i32, n: u32) -> &'a [i32] {
    match n {
        0 => &[],
        // SAFETY: the host's arrays, as long as it says, valid during the call.
        _ => unsafe { core::slice::from_raw_parts(at, n as usize) },
    }
}
