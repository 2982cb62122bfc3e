//! Collectives on inter-communicators (MPI 5.0 §6.2.3): what comes from one group goes to the other.
//!
//! Where one rank of a group stands for all, it is rank 0: the others of its group give it what they have, or
//! get from it what came, by the collectives of the local group. Everything else goes directly between
//! the ranks it concerns.

use crate::alltoallv::exchange_all;
use crate::exchange::{Call, Result, in_bytes, out_bytes, tag};
use crate::layout::{bytes, element, element_mut};
use crate::reduce_scatter::{starts, total};
use crate::reduction::Reduction;
use crate::{barrier as local_barrier, bcast as local_bcast, gatherv as direct};
use crate::{reduce as local_reduce, scatter as local_scatter};
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, IN_PLACE, NO_ROOT, ROOT};
use oxmpi_mca::Status;

/// A rank's part in a collective with a root.
enum Part {
    Root,
    /// In the root's group: nothing to do.
    None,
    /// In the other group; the root's rank.
    With(u32),
}

fn part(call: &Call<'_>) -> Result<Part> {
    match call.args.root {
        ROOT => Ok(Part::Root),
        NO_ROOT => Ok(Part::None),
        root => match u32::try_from(root) {
            Ok(root) if root < call.num_peers() => Ok(Part::With(root)),
            _ => Err(Status::BAD_PARAM),
        },
    }
}

/// Scans have no meaning between groups.
pub fn not_defined(_: &Call<'_>) -> Result {
    Err(Status::NOT_SUPPORTED)
}

/// Nobody leaves before all of the other group have entered.
pub fn barrier(call: &Call<'_>) -> Result {
    let local = call.locally(&CollArgs::NONE);
    local_barrier::barrier(&local)?;
    if call.rank() == 0 {
        call.exchange(out_bytes(null_mut(), 0), 0, in_bytes(null_mut(), 0), 0, tag::BARRIER)?;
    }
    local_barrier::barrier(&local)
}

pub fn bcast(call: &Call<'_>) -> Result {
    let data = |call: &Call<'_>| -> Result<_> {
        let (buf, count, dtype) = (call.args.recvbuf, call.args.recvcount, call.args.recvtype);
        Ok((buf, count, dtype, bytes(call.recvtype(), count)?))
    };
    match part(call)? {
        Part::None => Ok(()),
        Part::Root => match data(call)? {
            (_, _, _, 0) => Ok(()),
            (buf, count, _, _) => call.send((buf.cast_const(), count, call.recvtype()), 0, tag::BCAST),
        },
        Part::With(root) => {
            let (recvbuf, recvcount, recvtype, len) = data(call)?;
            if call.rank() == 0 && len > 0 {
                call.recv((recvbuf, recvcount, call.recvtype()), root, tag::BCAST)?;
            }
            let args = CollArgs { recvbuf, recvcount, recvtype, root: 0, ..CollArgs::NONE };
            local_bcast::bcast(&call.locally(&args))
        }
    }
}

pub fn reduce(call: &Call<'_>) -> Result {
    let part = part(call)?;
    if matches!(part, Part::None) {
        return Ok(());
    }
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    match part {
        Part::With(root) => {
            let whole = to_rank_0(&call.locally(call.args), reduction.count)?;
            match call.rank() {
                0 => call.send((whole.at.cast_const(), reduction.count, reduction.dtype), root, tag::REDUCE),
                _ => Ok(()),
            }
        }
        _ => call.recv((call.args.recvbuf, reduction.count, reduction.dtype), 0, tag::REDUCE),
    }
}

/// Each group gets the sum of the other.
pub fn allreduce(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    let (count, dtype, into) = (reduction.count, reduction.dtype, call.args.recvbuf);
    let whole = to_rank_0(&call.locally(call.args), count)?;
    if call.rank() == 0 {
        call.exchange((whole.at.cast_const(), count, dtype), 0, (into, count, dtype), 0, tag::ALLREDUCE)?;
    }
    let args = CollArgs { recvbuf: into, recvcount: count, recvtype: dtype, root: 0, ..CollArgs::NONE };
    local_bcast::bcast(&call.locally(&args))
}

/// Each group gets the sum of the other, in parts: both sums have the same number of elements.
pub fn reduce_scatter(call: &Call<'_>) -> Result {
    let counts = call.recvcounts();
    let starts = starts(counts)?;
    let landed = swap_sums(call, total(&starts))?;
    direct::scatterv(&call.locally(&CollArgs {
        sendbuf: landed.at,
        sendcounts: counts.as_ptr(),
        sdispls: starts.as_ptr(),
        sendtype: call.args.recvtype,
        recvbuf: call.args.recvbuf,
        recvcount: counts[call.rank() as usize],
        recvtype: call.args.recvtype,
        root: 0,
        ..CollArgs::NONE
    }))
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let total = count.checked_mul(call.num_ranks() as u64).ok_or(Status::BAD_PARAM)?;
    let landed = swap_sums(call, total)?;
    local_scatter::scatter(&call.locally(&CollArgs {
        sendbuf: landed.at,
        sendcount: count,
        sendtype: call.args.recvtype,
        recvbuf: call.args.recvbuf,
        recvcount: count,
        recvtype: call.args.recvtype,
        root: 0,
        ..CollArgs::NONE
    }))
}

/// The other group's sum, in rank 0 of ours.
struct Landed<'a> {
    at: *mut u8,
    _memory: Option<crate::scratch::Lease<'a>>,
}

fn swap_sums<'a>(call: &Call<'a>, total: u64) -> Result<Landed<'a>> {
    let whole = to_rank_0(&call.locally(call.args), total)?;
    if call.rank() != 0 || bytes(call.recvtype(), total)? == 0 {
        return Ok(Landed { at: null_mut(), _memory: None });
    }
    let dtype = call.recvtype();
    let span = crate::layout::Span::of(dtype, total)?;
    let memory = call.scratch(span.len)?;
    let at = span.place(memory.at(0));
    call.exchange((whole.at.cast_const(), total, dtype), 0, (at, total, dtype), 0, tag::REDUCE)?;
    Ok(Landed { at, _memory: Some(memory) })
}

/// The sum of all operands of the local group.
struct FullReduction<'a> {
    /// In rank 0; null elsewhere.
    at: *mut u8,
    _memory: Option<crate::scratch::Lease<'a>>,
}

/// Reduces all `total` elements into temporary memory of rank 0.
fn to_rank_0<'a>(call: &Call<'a>, total: u64) -> Result<FullReduction<'a>> {
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
        local_reduce::reduce(&call.with(&args))?;
        return Ok(FullReduction { at: null_mut(), _memory: None });
    }
    let memory = call.scratch(span.len)?;
    args.recvbuf = span.place(memory.at(0));
    local_reduce::reduce(&call.with(&args))?;
    Ok(FullReduction { at: args.recvbuf, _memory: Some(memory) })
}

pub fn gather(call: &Call<'_>) -> Result {
    let (count, starts) = (call.args.recvcount, even(call));
    with_counts(call, count, &starts, gatherv)
}

pub fn scatter(call: &Call<'_>) -> Result {
    let (count, starts) = (call.args.sendcount, even(call));
    with_counts(call, count, &starts, scatterv)
}

/// Displacements of blocks of one size.
fn even(call: &Call<'_>) -> Vec<i64> {
    match call.args.root {
        ROOT => (0..call.num_peers() as i64).collect(),
        _ => Vec::new(),
    }
}

/// Runs a collective with counts for one with a count; only the root looks at them.
fn with_counts(call: &Call<'_>, count: u64, places: &[i64], run: impl Fn(&Call<'_>) -> Result) -> Result {
    let counts = vec![count; places.len()];
    let displs: Vec<i64> = places.iter().map(|place| place.wrapping_mul(count as i64)).collect();
    run(&call.with(&CollArgs {
        sendcounts: counts.as_ptr(),
        sdispls: displs.as_ptr(),
        recvcounts: counts.as_ptr(),
        rdispls: displs.as_ptr(),
        ..*call.args
    }))
}

pub fn gatherv(call: &Call<'_>) -> Result {
    match part(call)? {
        Part::None => Ok(()),
        Part::Root => direct::take_all(call),
        Part::With(root) => direct::give(call, root),
    }
}

pub fn scatterv(call: &Call<'_>) -> Result {
    match part(call)? {
        Part::None => Ok(()),
        Part::Root => direct::give_all(call),
        Part::With(root) => direct::take(call, root),
    }
}

pub fn allgather(call: &Call<'_>) -> Result {
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    let into = |peer| (element_mut(call.args.recvbuf, dtype, peer as u64 * count), count, dtype);
    exchange_all(call, |_| own_block(call), into)
}

pub fn allgatherv(call: &Call<'_>) -> Result {
    exchange_all(call, |_| own_block(call), |peer| call.in_block(peer))
}

fn own_block<'a>(call: &Call<'a>) -> crate::exchange::SendData<'a> {
    (call.args.sendbuf, call.args.sendcount, call.sendtype())
}

pub fn alltoall(call: &Call<'_>) -> Result {
    let (count, dtype) = (call.args.recvcount, call.recvtype());
    let (sent, sendtype) = (call.args.sendcount, call.sendtype());
    let out = |peer| (element(call.args.sendbuf, sendtype, peer as u64 * sent), sent, sendtype);
    let into = |peer| (element_mut(call.args.recvbuf, dtype, peer as u64 * count), count, dtype);
    exchange_all(call, out, into)
}
