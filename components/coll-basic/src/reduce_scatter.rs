//! MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI 5.0 §6.10): reduced at rank 0 in the order of ranks, and
//! scattered from there.

use crate::exchange::{Call, Result};
use crate::reduction::Reduction;
use crate::{gatherv, reduce, scatter};
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_mca::Status;

pub fn reduce_scatter(call: &Call<'_>) -> Result {
    let (starts, total) = starts(call.recvcounts())?;
    let whole = to_rank_0(call, total)?;
    let own = call.recvcounts()[call.rank() as usize];
    gatherv::scatterv(&call.with(&CollArgs {
        sendbuf: whole.at,
        sendcounts: call.args.recvcounts,
        sdispls: starts.as_ptr(),
        sendtype: call.args.recvtype,
        recvcount: own,
        ..parts(call)
    }))
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let total = count.checked_mul(call.num_ranks() as u64).ok_or(Status::BAD_PARAM)?;
    let whole = to_rank_0(call, total)?;
    scatter::scatter(&call.with(&CollArgs {
        sendbuf: whole.at,
        sendcount: count,
        sendtype: call.args.recvtype,
        recvcount: count,
        ..parts(call)
    }))
}

/// Receives what rank 0 scatters.
fn parts(call: &Call<'_>) -> CollArgs {
    CollArgs { recvbuf: call.args.recvbuf, recvtype: call.args.recvtype, root: 0, ..CollArgs::NONE }
}

/// Where each block begins in all of them, in elements, and how many there are.
pub fn starts(counts: &[u64]) -> Result<(Vec<i64>, u64)> {
    let mut total = 0u64;
    let mut starts = Vec::with_capacity(counts.len());
    for count in counts {
        starts.push(total as i64);
        total = total.checked_add(*count).filter(|n| *n <= i64::MAX as u64).ok_or(Status::BAD_PARAM)?;
    }
    Ok((starts, total))
}

/// The sum of all operands of `total` elements.
pub struct FullReduction<'a> {
    /// In rank 0; null elsewhere.
    pub at: *mut u8,
    _memory: Option<crate::scratch::Lease<'a>>,
}

/// Reduces all `total` elements into temporary memory of rank 0.
pub fn to_rank_0<'a>(call: &Call<'a>, total: u64) -> Result<FullReduction<'a>> {
    let in_place = call.args.sendbuf == IN_PLACE;
    let operand = if in_place { call.args.recvbuf.cast_const() } else { call.args.sendbuf };
    let mut args = CollArgs {
        sendbuf: operand,
        recvcount: total,
        recvtype: call.args.recvtype,
        op: call.args.op,
        root: 0,
        ..CollArgs::NONE
    };
    // Refuses what is not defined before memory is taken.
    let span = Reduction::of(&call.with(&args))?.span(total)?;
    if call.rank() != 0 {
        reduce::reduce(&call.with(&args))?;
        return Ok(FullReduction { at: core::ptr::null_mut(), _memory: None });
    }
    let memory = call.scratch(span.len)?;
    args.recvbuf = span.place(memory.at(0));
    reduce::reduce(&call.with(&args))?;
    Ok(FullReduction { at: args.recvbuf, _memory: Some(memory) })
}
