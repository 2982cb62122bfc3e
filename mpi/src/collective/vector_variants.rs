//! Collectives with a count and a place for each rank: Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw. Counts and
//! displacements are widened to 64 bits on the way down, so the plain and the large-count functions are one.

use super::*;
use crate::call::memory::{In, slice};
use crate::comm;
use crate::error::call;
use crate::types::{Comm, Count};
use oxmpi_datatype::Base;

/// MPI_Aint and MPI_Count are one type, so one letter stands for the types of counts and of displacements.
const _: () = assert!(size_of::<crate::types::Aint>() == size_of::<Count>());

/// Reads `n` counts and displacements.
///
/// # Safety
/// As for [`slice()`], of both.
pub unsafe fn blocks<N: Copy + Into<i64>>(
    n: u32,
    counts: In<N>,
    displs: In<N>,
    names: (&str, &str),
) -> Res<Blocks> {
    // SAFETY: the caller's promise.
    let counts = unsafe { self::counts(n, counts, names.0) }?;
    // SAFETY: the caller's promise.
    let displs = unsafe { slice(displs, n as usize, names.1) }?.iter().map(|&d| d.into()).collect();
    Ok(Blocks { counts, displs })
}

/// Reads `n` counts.
///
/// # Safety
/// As for [`slice()`].
pub unsafe fn counts<N: Copy + Into<i64>>(n: u32, counts: In<N>, name: &str) -> Res<Vec<u64>> {
    let read = |(rank, &count): (usize, &N)| {
        let count: i64 = count.into();
        u64::try_from(count).or_else(|_| Failure::err(MPI_ERR_COUNT, format!("{name}[{rank}] is {count}")))
    };
    // SAFETY: the caller's promise.
    unsafe { slice(counts, n as usize, name) }?.iter().enumerate().map(read).collect()
}

/// The side with many blocks: its type and buffer.
pub fn many(
    process: &Process,
    buf: Address,
    blocks: &Blocks,
    datatype: Datatype,
    which: &str,
) -> Res<&'static TypeDesc> {
    let desc = datatype::require_committed(datatype, format_args!("{which}type"))?;
    not_in_place(buf, which)?;
    let some = blocks.counts.iter().any(|&c| c > 0);
    check_buffer(process, buf, some.into(), desc, format_args!("{which}buf"))?;
    Ok(desc)
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn gatherv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<N>,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let sendcount: i64 = sendcount.into();
    let object = comm::require(comm)?;
    let part = part(object, root)?;
    let gets = matches!(part, Part::Root | Part::FarRoot);
    // SAFETY: the standard has the caller pass both lists at the root, with an element for each rank.
    let recv =
        unsafe { blocks(if gets { object.peers } else { 0 }, recvcounts, displs, ("recvcounts", "displs")) }?;
    let mut args = Arguments::NONE;
    if gets {
        let desc = many(caller.process, recvbuf, &recv, recvtype, "recv")?;
        // The type is not looked at in place.
        args = Arguments::of(Half::one(Address::NULL, 0, desc), Half::many(recvbuf, &recv, desc));
    }
    let own = if part == Part::Root { own_place(object, &args.recv) } else { Address::NULL };
    if matches!(part, Part::Root | Part::Leaf) {
        args.send = given(caller.process, args.send, own, (sendbuf, sendcount, sendtype))?;
    }
    caller.run(object, GATHERV, args.with_root(root), None)
}
collective_fns! {
    gatherv<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcounts: In<N>, displs: In<N>, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Gatherv[c_int], MPI_Gatherv_c[Count];
    fn MPI_Igatherv[c_int], MPI_Igatherv_c[Count];
    fn MPI_Gatherv_init[c_int], MPI_Gatherv_init_c[Count];
}

/// Where our own block goes among those that are received.
fn own_place(object: &CommObject, recv: &Half) -> Address {
    match (recv.blocks, recv.dtype) {
        (Some(blocks), Some(desc)) => place(recv.buf, blocks.displs[object.comm.rank() as usize], desc),
        _ => Address::NULL,
    }
}

/// The one block that a rank gives. `own`: where it goes, if here; then it may be in place, and nothing but that is said of it.
fn given<'a>(
    process: &Process,
    before: Half<'a>,
    own: Address,
    (sendbuf, sendcount, sendtype): Data,
) -> Res<Half<'a>> {
    if !own.is_null() && is_in_place(sendbuf) {
        return Ok(Half { buf: sendbuf, ..before });
    }
    let desc = side(process, (sendbuf, sendcount, sendtype), "send")?;
    check_apart(process, sendbuf, own, sendcount > 0)?;
    Ok(Half::one(sendbuf, sendcount as u64, desc))
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn scatterv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcounts: In<N>,
    displs: In<N>,
    sendtype: Datatype,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let recvcount: i64 = recvcount.into();
    let object = comm::require(comm)?;
    let part = part(object, root)?;
    let is_root = matches!(part, Part::Root | Part::FarRoot);
    // SAFETY: the standard has the caller pass both lists at the root, with an element for each rank.
    let send = unsafe {
        blocks(if is_root { object.peers } else { 0 }, sendcounts, displs, ("sendcounts", "displs"))
    }?;
    let mut args = Arguments::NONE;
    if is_root {
        let desc = many(caller.process, sendbuf, &send, sendtype, "send")?;
        args = Arguments::of(Half::many(sendbuf, &send, desc), Half::one(Address::NULL, 0, desc));
    }
    if part == Part::Root && is_in_place(recvbuf) {
        args.recv = Half { buf: recvbuf, ..args.recv };
    } else if matches!(part, Part::Root | Part::Leaf) {
        let desc = side(caller.process, (recvbuf, recvcount, recvtype), "recv")?;
        if let (Part::Root, Some(sendtype)) = (part, args.send.dtype) {
            let own = place(sendbuf, send.displs[root as usize], sendtype);
            check_apart(caller.process, own, recvbuf, recvcount > 0)?;
        }
        args.recv = Half::one(recvbuf, recvcount as u64, desc);
    }
    caller.run(object, SCATTERV, args.with_root(root), None)
}
collective_fns! {
    scatterv<N>(sendbuf: Address, sendcounts: In<N>, displs: In<N>, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Scatterv[c_int], MPI_Scatterv_c[Count];
    fn MPI_Iscatterv[c_int], MPI_Iscatterv_c[Count];
    fn MPI_Scatterv_init[c_int], MPI_Scatterv_init_c[Count];
}
#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn allgatherv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<N>,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let sendcount: i64 = sendcount.into();
    let object = comm::require(comm)?;
    // SAFETY: the standard has the caller pass both lists with an element for each rank.
    let recv = unsafe { blocks(object.peers, recvcounts, displs, ("recvcounts", "displs")) }?;
    let desc = many(caller.process, recvbuf, &recv, recvtype, "recv")?;
    let into = Half::many(recvbuf, &recv, desc);
    let own = if is_inter(object) { Address::NULL } else { own_place(object, &into) };
    // The type is not looked at in place.
    let before = Half::one(Address::NULL, 0, desc);
    let send = given(caller.process, before, own, (sendbuf, sendcount, sendtype))?;
    caller.run(object, ALLGATHERV, Arguments::of(send, into), None)
}
collective_fns! {
    allgatherv<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcounts: In<N>, displs: In<N>, recvtype: Datatype) on comm;
    fn MPI_Allgatherv[c_int], MPI_Allgatherv_c[Count];
    fn MPI_Iallgatherv[c_int], MPI_Iallgatherv_c[Count];
    fn MPI_Allgatherv_init[c_int], MPI_Allgatherv_init_c[Count];
}
#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn alltoallv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<N>,
    sendtype: Datatype,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<N>,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    // SAFETY: the standard has the caller pass both lists with an element for each rank.
    let recv = unsafe { blocks(object.peers, recvcounts, rdispls, ("recvcounts", "rdispls")) }?;
    let desc = many(caller.process, recvbuf, &recv, recvtype, "recv")?;
    let into = Half::many(recvbuf, &recv, desc);
    if is_in_place(sendbuf) && !is_inter(object) {
        // The type is not looked at in place.
        let args = Arguments::of(Half::one(sendbuf, 0, desc), into);
        return caller.run(object, ALLTOALLV, args, None);
    }
    // SAFETY: the standard has the caller pass both lists with an element for each rank, too.
    let send = unsafe { blocks(object.peers, sendcounts, sdispls, ("sendcounts", "sdispls")) }?;
    let sendtype = many(caller.process, sendbuf, &send, sendtype, "send")?;
    check_blocks_apart(caller.process, (sendbuf, &send, sendtype.extent), (recvbuf, &recv, desc.extent))?;
    caller.run(object, ALLTOALLV, Arguments::of(Half::many(sendbuf, &send, sendtype), into), None)
}
collective_fns! {
    alltoallv<N>(sendbuf: Address, sendcounts: In<N>, sdispls: In<N>, sendtype: Datatype, recvbuf: Address, recvcounts: In<N>, rdispls: In<N>, recvtype: Datatype) on comm;
    fn MPI_Alltoallv[c_int], MPI_Alltoallv_c[Count];
    fn MPI_Ialltoallv[c_int], MPI_Ialltoallv_c[Count];
    fn MPI_Alltoallv_init[c_int], MPI_Alltoallv_init_c[Count];
}

/// No block for a rank may be where the one from it goes. Both sides may well be in one buffer, or have absolute
/// addresses. The last of each triple: bytes that a displacement counts.
fn check_blocks_apart(
    process: &Process,
    (sendbuf, send, out): (Address, &Blocks, i64),
    (recvbuf, recv, into): (Address, &Blocks, i64),
) -> Res {
    let blocks = |b: &Blocks, rank: usize| (b.counts[rank], b.displs[rank]);
    for rank in 0..send.counts.len().min(recv.counts.len()) {
        let ((sent, from), (got, to)) = (blocks(send, rank), blocks(recv, rank));
        let from = sendbuf.behind(from.wrapping_mul(out) as usize);
        let to = recvbuf.behind(to.wrapping_mul(into) as usize);
        check_apart(process, from, to, sent > 0 && got > 0)?;
    }
    Ok(())
}

/// The types of alltoallw.
///
/// # Safety
/// The caller of the C function has promised one for each rank.
unsafe fn types(
    object: &CommObject,
    blocks: &Blocks,
    types: In<Datatype>,
    name: &str,
) -> Res<Vec<&'static TypeDesc>> {
    // SAFETY: the caller's promise.
    types_of(blocks, unsafe { slice(types, object.peers as usize, name) }?, name)
}

/// A type for each block; of an empty one none is needed.
pub fn types_of(blocks: &Blocks, given: &[Datatype], name: &str) -> Res<Vec<&'static TypeDesc>> {
    let read = |(rank, (&datatype, &count)): (usize, (&Datatype, &u64))| match count {
        0 => Ok(&BYTE),
        _ => datatype::require_committed(datatype, format_args!("{name}[{rank}]")),
    };
    given.iter().zip(&blocks.counts).enumerate().map(read).collect()
}

/// A null buffer is right where all blocks are empty or lie at addresses of their own, by displacement or type.
pub fn check_places(
    process: &Process,
    buf: Address,
    blocks: &Blocks,
    types: &[&TypeDesc],
    what: &str,
) -> Res {
    for ((&desc, &displ), &count) in types.iter().zip(&blocks.displs).zip(&blocks.counts) {
        check_place(process, buf, count as i64, (desc, displ), what)?;
    }
    Ok(())
}

static BYTE: TypeDesc = match TypeDesc::basic(Base::BYTE) {
    Some(byte) => byte,
    None => panic!("MPI_BYTE is a basic type"),
};

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn alltoallw<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<N>,
    sendtypes: In<Datatype>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<N>,
    recvtypes: In<Datatype>,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    // SAFETY: the standard has the caller pass the three lists with an element for each rank.
    let (recv, recvtypes) = unsafe {
        let recv = blocks(object.peers, recvcounts, rdispls, ("recvcounts", "rdispls"))?;
        let types = types(object, &recv, recvtypes, "recvtypes")?;
        (recv, types)
    };
    not_in_place(recvbuf, "recv")?;
    check_places(caller.process, recvbuf, &recv, &recvtypes, "recvbuf")?;
    let into = Half::mixed(recvbuf, &recv, &recvtypes);
    if is_in_place(sendbuf) && !is_inter(object) {
        return caller.run(object, ALLTOALLW, Arguments::of(Half::in_place(sendbuf), into), None);
    }
    not_in_place(sendbuf, "send")?;
    // SAFETY: the standard has the caller pass the three lists with an element for each rank, too.
    let (send, sendtypes) = unsafe {
        let send = blocks(object.peers, sendcounts, sdispls, ("sendcounts", "sdispls"))?;
        let types = types(object, &send, sendtypes, "sendtypes")?;
        (send, types)
    };
    check_places(caller.process, sendbuf, &send, &sendtypes, "sendbuf")?;
    check_blocks_apart(caller.process, (sendbuf, &send, 1), (recvbuf, &recv, 1))?;
    caller.run(object, ALLTOALLW, Arguments::of(Half::mixed(sendbuf, &send, &sendtypes), into), None)
}
collective_fns! {
    alltoallw<N>(sendbuf: Address, sendcounts: In<N>, sdispls: In<N>, sendtypes: In<Datatype>, recvbuf: Address, recvcounts: In<N>, rdispls: In<N>, recvtypes: In<Datatype>) on comm;
    fn MPI_Alltoallw[c_int], MPI_Alltoallw_c[Count];
    fn MPI_Ialltoallw[c_int], MPI_Ialltoallw_c[Count];
    fn MPI_Alltoallw_init[c_int], MPI_Alltoallw_init_c[Count];
}
