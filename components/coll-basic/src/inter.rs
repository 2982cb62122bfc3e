//! Collectives on inter-communicators (MPI 5.0 §6.2.3): what comes from one group goes to the other.
//!
//! Where one rank of a group stands for all, it is rank 0: the others of its group give it what they have, or
//! get from it what came, by the collectives of the local group. Everything else goes directly between
//! the ranks it concerns.

use crate::alltoallv::exchange_all;
use crate::exchange::{Call, Result, tag};
use crate::reduce_scatter::{starts, total};
use crate::reduction::Reduction;
use crate::{barrier as local_barrier, bcast as local_bcast, gatherv as direct};
use crate::{reduce as local_reduce, scatter as local_scatter};
use core::ptr::null;
use oxmpi_coll::{CollArgs, IN_PLACE, NO_ROOT, ROOT};
use oxmpi_coll_support::Lease;
use oxmpi_coll_support::{Place, Source, Span};
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
    // SAFETY: a barrier asks for no argument.
    let local = unsafe { call.locally(&CollArgs::NONE) };
    local_barrier::barrier(&local)?;
    if call.rank() == 0 {
        call.exchange(Source::NOTHING, 0, Place::NOTHING, 0, tag::BARRIER)?;
    }
    local_barrier::barrier(&local)
}

pub fn bcast(call: &Call<'_>) -> Result {
    match part(call)? {
        Part::None => Ok(()),
        Part::Root => match call.gets().bytes()? {
            0 => Ok(()),
            _ => call.send(call.gets().source(), 0, tag::BCAST),
        },
        Part::With(root) => {
            if call.gets().bytes()? > 0 && call.rank() == 0 {
                call.recv(call.gets(), root, tag::BCAST)?;
            }
            pass_on(call, call.gets())
        }
    }
}

/// Rank 0 of our group passes on what it has.
fn pass_on(call: &Call<'_>, data: Place<'_>) -> Result {
    let (recvbuf, recvcount, recvtype) = data.raw();
    let args = CollArgs { recvbuf, recvcount, recvtype, root: 0, ..CollArgs::NONE };
    // SAFETY: what a broadcast asks for, of data that each rank of the group has a place for.
    local_bcast::bcast(&unsafe { call.locally(&args) })
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
            let whole = local_sum(call, reduction.count)?;
            match whole.sum() {
                Some(sum) => call.send(sum, root, tag::REDUCE),
                None => Ok(()),
            }
        }
        _ => call.recv(call.gets(), 0, tag::REDUCE),
    }
}

/// Each group gets the sum of the other.
pub fn allreduce(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    let whole = local_sum(call, reduction.count)?;
    if let Some(sum) = whole.sum() {
        call.exchange(sum, 0, call.gets(), 0, tag::ALLREDUCE)?;
    }
    pass_on(call, call.gets())
}

/// Each group gets the sum of the other, in parts: both sums have the same number of elements.
pub fn reduce_scatter(call: &Call<'_>) -> Result {
    let counts = call.recvcounts();
    let starts = starts(counts)?;
    let landed = swap_sums(call, total(&starts))?;
    let args = CollArgs {
        sendbuf: landed.address(),
        sendcounts: counts.as_ptr(),
        sdispls: starts.as_ptr(),
        sendtype: call.args.recvtype,
        recvbuf: call.args.recvbuf,
        recvcount: counts[call.rank() as usize],
        recvtype: call.args.recvtype,
        root: 0,
        ..CollArgs::NONE
    };
    // SAFETY: what a scatterv asks for: at its root the sum that landed there, with a count and a place for each rank; everywhere the call's buffer for
    // one block.
    direct::scatterv(&unsafe { call.locally(&args) })
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let total = count.checked_mul(call.num_ranks() as u64).ok_or(Status::BAD_PARAM)?;
    let landed = swap_sums(call, total)?;
    let args = CollArgs {
        sendbuf: landed.address(),
        sendcount: count,
        sendtype: call.args.recvtype,
        recvbuf: call.args.recvbuf,
        recvcount: count,
        recvtype: call.args.recvtype,
        root: 0,
        ..CollArgs::NONE
    };
    // SAFETY: what a scatter asks for: at its root the sum that landed there, of a block for each rank; everywhere the call's buffer for one block.
    local_scatter::scatter(&unsafe { call.locally(&args) })
}

/// The sum of a group, in rank 0 of ours; nothing elsewhere.
struct GroupSum<'a>(Option<(Lease<'a>, Span<'a>)>);

impl GroupSum<'_> {
    /// The sum. `None`: this is not rank 0.
    fn sum(&self) -> Option<Source<'_>> {
        self.0.as_ref().map(|(memory, span)| memory.elements(0, span).source())
    }

    /// Where it is; null where it is not.
    fn address(&self) -> *const u8 {
        self.sum().map_or(null(), |sum| sum.raw().0)
    }
}

/// The other group's sum.
fn swap_sums<'a>(call: &Call<'a>, total: u64) -> Result<GroupSum<'a>> {
    let whole = local_sum(call, total)?;
    let span = Span::of(call.recvtype(), total)?;
    match whole.sum() {
        Some(sum) if sum.bytes()? > 0 => {
            let memory = call.scratch(span.len())?;
            call.exchange(sum, 0, memory.elements(0, &span), 0, tag::REDUCE)?;
            Ok(GroupSum(Some((memory, span))))
        }
        _ => Ok(GroupSum(None)),
    }
}

/// The sum of all operands of the local group.
fn local_sum<'a>(call: &Call<'a>, total: u64) -> Result<GroupSum<'a>> {
    // SAFETY: `to_rank_0` asks for the operand alone, which the reduction has.
    to_rank_0(&unsafe { call.locally(call.args) }, total)
}

/// Reduces all `total` elements into temporary memory of rank 0.
fn to_rank_0<'a>(call: &Call<'a>, total: u64) -> Result<GroupSum<'a>> {
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
    // SAFETY: the operation, its type, and the operand.
    Reduction::of(&unsafe { call.with(&args) })?;
    let span = Span::of(call.recvtype(), total)?;
    if call.rank() != 0 {
        // SAFETY: what a reduction asks for in a rank that is not its root.
        local_reduce::reduce(&unsafe { call.with(&args) })?;
        return Ok(GroupSum(None));
    }
    let memory = call.scratch(span.len())?;
    (args.recvbuf, ..) = memory.elements(0, &span).raw();
    // SAFETY: what a reduction asks for in its root: the result goes to memory of ours.
    local_reduce::reduce(&unsafe { call.with(&args) })?;
    Ok(GroupSum(Some((memory, span))))
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
    let args = CollArgs {
        sendcounts: counts.as_ptr(),
        sdispls: displs.as_ptr(),
        recvcounts: counts.as_ptr(),
        rdispls: displs.as_ptr(),
        ..*call.args
    };
    // SAFETY: the call's, with a count and a place for each peer where the collective has such blocks.
    run(&unsafe { call.with(&args) })
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
    exchange_all(call, |_| call.gives(), |peer| call.blocks_in(peer, 1))
}

pub fn allgatherv(call: &Call<'_>) -> Result {
    exchange_all(call, |_| call.gives(), |peer| call.in_block(peer))
}

pub fn alltoall(call: &Call<'_>) -> Result {
    exchange_all(call, |peer| call.blocks_out(peer, 1), |peer| call.blocks_in(peer, 1))
}
