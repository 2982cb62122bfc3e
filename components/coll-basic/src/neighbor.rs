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

use crate::exchange::{Call, ReceiveData, Result, SendData, WINDOW, tag};
use crate::layout::{bytes, element, element_mut};
use core::ptr::null_mut;
use oxmpi_coll::neighbors;
use oxmpi_mca::RequestHeader;

pub fn neighbor_allgather(call: &Call<'_>) -> Result {
    let out = (call.args.sendbuf, call.args.sendcount, call.sendtype());
    meet(call, |_| out, |k| block_in(call, k))
}

pub fn neighbor_allgatherv(call: &Call<'_>) -> Result {
    let out = (call.args.sendbuf, call.args.sendcount, call.sendtype());
    meet(call, |_| out, |k| call.in_block(k))
}

pub fn neighbor_alltoall(call: &Call<'_>) -> Result {
    meet(call, |k| block_out(call, k), |k| block_in(call, k))
}

pub fn neighbor_alltoallv(call: &Call<'_>) -> Result {
    meet(call, |k| call.out_block(k), |k| call.in_block(k))
}

pub fn neighbor_alltoallw(call: &Call<'_>) -> Result {
    meet(call, |k| call.typed_out_block(k), |k| call.typed_in_block(k))
}

fn block_out<'a>(call: &Call<'a>, k: u32) -> SendData<'a> {
    let (count, dtype) = (call.args.sendcount, call.sendtype());
    (element(call.args.sendbuf, dtype, u64::from(k).wrapping_mul(count)), count, dtype)
}

fn block_in<'a>(call: &Call<'a>, k: u32) -> ReceiveData<'a> {
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    (element_mut(call.args.recvbuf, dtype, u64::from(k).wrapping_mul(count)), count, dtype)
}

/// Sends block `k` to destination `k`, receives that of source `k`.
fn meet<'a>(
    call: &Call<'a>,
    out: impl Fn(u32) -> SendData<'a>,
    into: impl Fn(u32) -> ReceiveData<'a>,
) -> Result {
    // SAFETY: the host gives them with every neighborhood collective; valid during the call.
    let around = unsafe { &*call.args.neighbors };
    let (sources, destinations) =
        (ranks(around.sources, around.num_sources), ranks(around.destinations, around.num_destinations));
    let both = sources.len() + destinations.len();
    let mut few = [null_mut(); WINDOW];
    let mut many = if both > WINDOW { vec![null_mut(); both] } else { Vec::new() };
    let mut flight = Flight { call, requests: if both > WINDOW { &mut many } else { &mut few }, len: 0 };
    let paired = usize::from(around.flags & neighbors::PAIRS != 0);
    for k in 0..sources.len() {
        let k = k ^ paired;
        let into = into(k as u32);
        if let Ok(source) = u32::try_from(sources[k])
            && bytes(into.2, into.1)? > 0
        {
            flight.add(call.irecv(into, source, tag::NEIGHBOR)?);
        }
    }
    for (k, &destination) in destinations.iter().enumerate() {
        let out = out(k as u32);
        if let Ok(destination) = u32::try_from(destination)
            && bytes(out.2, out.1)? > 0
        {
            flight.add(call.isend(out, destination, tag::NEIGHBOR)?);
        }
    }
    flight.wait()
}

/// All requests of one call. Receives are waited for whatever else fails: their buffers are the user's.
struct Flight<'a, 'b> {
    call: &'a Call<'b>,
    requests: &'a mut [*mut RequestHeader],
    len: usize,
}

impl Flight<'_, '_> {
    fn add(&mut self, request: *mut RequestHeader) {
        if !request.is_null() {
            self.requests[self.len] = request;
            self.len += 1;
        }
    }

    fn wait(&mut self) -> Result {
        match core::mem::take(&mut self.len) {
            0 => Ok(()),
            n => self.call.wait_all(&mut self.requests[..n]),
        }
    }
}

impl Drop for Flight<'_, '_> {
    /// After a failure, which is on its way already.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

fn ranks<'a>(at: *const i32, n: u32) -> &'a [i32] {
    match n {
        0 => &[],
        // SAFETY: the host's arrays, as long as it says, valid during the call.
        _ => unsafe { core::slice::from_raw_parts(at, n as usize) },
    }
}
