//! Collectives with a count and a place for each rank: Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw. Counts and
//! displacements are widened to 64 bits on the way down, so the plain and the large-count functions are one.

use super::*;
use crate::call::memory::slice;
use crate::comm;
use crate::error::call;
use crate::types::{Comm, Count};
use oxmpi_datatype::Base;

/// MPI_Aint and MPI_Count are one type, so one letter stands for the types of counts and of displacements.
const _: () = assert!(size_of::<crate::types::Aint>() == size_of::<Count>());

/// Counts and displacements of one side, one for each rank or neighbor.
pub struct Blocks {
    pub counts: Vec<u64>,
    pub displs: Vec<i64>,
}

/// Reads `n` counts and displacements.
pub fn blocks<N: Copy + Into<i64>>(
    n: u32,
    counts: *const N,
    displs: *const N,
    names: (&str, &str),
) -> Res<Blocks> {
    let counts = self::counts(n, counts, names.0)?;
    let displs = slice(displs, n as usize, names.1)?.iter().map(|&d| d.into()).collect();
    Ok(Blocks { counts, displs })
}

pub fn counts<N: Copy + Into<i64>>(n: u32, counts: *const N, name: &str) -> Res<Vec<u64>> {
    let read = |(rank, &count): (usize, &N)| {
        let count: i64 = count.into();
        u64::try_from(count).or_else(|_| Failure::err(MPI_ERR_COUNT, format!("{name}[{rank}] is {count}")))
    };
    slice(counts, n as usize, name)?.iter().enumerate().map(read).collect()
}

/// The side with many blocks: its type and buffer.
pub fn many(
    process: &Process,
    buf: *const u8,
    blocks: &Blocks,
    datatype: Datatype,
    which: &str,
) -> Res<&'static TypeDesc> {
    let desc = datatype::require_committed(datatype, &format!("{which}type"))?;
    not_in_place(buf, which)?;
    let some = blocks.counts.iter().any(|&c| c > 0);
    check_buffer(process, buf, some.into(), desc, &format!("{which}buf"))?;
    Ok(desc)
}

/// As the receiving side has it.
fn into_blocks(recvbuf: *mut u8, recv: &Blocks, desc: &TypeDesc) -> CollArgs {
    CollArgs {
        recvbuf,
        recvtype: desc,
        recvcounts: recv.counts.as_ptr(),
        rdispls: recv.displs.as_ptr(),
        // Not looked at in place.
        sendtype: desc,
        ..NOTHING
    }
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn gatherv<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcounts: *const N,
    displs: *const N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let sendcount: i64 = sendcount.into();
    let object = comm::require(comm)?;
    let part = part(object, root)?;
    let gets = matches!(part, Part::Root | Part::FarRoot);
    let recv = blocks(if gets { object.peers } else { 0 }, recvcounts, displs, ("recvcounts", "displs"))?;
    let mut args = CollArgs { root, ..NOTHING };
    if gets {
        let desc = many(process, recvbuf, &recv, recvtype, "recv")?;
        args = CollArgs { root, ..into_blocks(recvbuf, &recv, desc) };
    }
    let own = if part == Part::Root { own_place(object, &args, &recv) } else { core::ptr::null() };
    gives(process, &mut args, matches!(part, Part::Root | Part::Leaf), own, (sendbuf, sendcount, sendtype))?;
    process.collective(object, mode, GATHERV, args, None)
}
collective_fns! {
    gatherv<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Gatherv[c_int], MPI_Gatherv_c[Count];
    fn MPI_Igatherv[c_int], MPI_Igatherv_c[Count];
    fn MPI_Gatherv_init[c_int], MPI_Gatherv_init_c[Count];
}

/// Where our own block goes among those that are received.
fn own_place(object: &CommObject, args: &CollArgs, recv: &Blocks) -> *const u8 {
    // SAFETY: a type that was found in this call.
    place(args.recvbuf, recv.displs[object.comm.rank() as usize], unsafe { &*args.recvtype })
}

/// Adds the one block a rank gives. `own`: where it goes, if here; then it may be in place.
fn gives(
    process: &Process,
    args: &mut CollArgs,
    does: bool,
    own: *const u8,
    (sendbuf, sendcount, sendtype): (*const u8, i64, Datatype),
) -> Res {
    if !own.is_null() && is_in_place(sendbuf) {
        args.sendbuf = sendbuf;
    } else if does {
        args.sendtype = side(process, (sendbuf, sendcount, sendtype), "send")?;
        check_apart(process, sendbuf, own, sendcount > 0)?;
        (args.sendbuf, args.sendcount) = (sendbuf, sendcount as u64);
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn scatterv<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcounts: *const N,
    displs: *const N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let recvcount: i64 = recvcount.into();
    let object = comm::require(comm)?;
    let part = part(object, root)?;
    let is_root = matches!(part, Part::Root | Part::FarRoot);
    let send = blocks(if is_root { object.peers } else { 0 }, sendcounts, displs, ("sendcounts", "displs"))?;
    let mut args = CollArgs { root, ..NOTHING };
    if is_root {
        let desc = many(process, sendbuf, &send, sendtype, "send")?;
        args = CollArgs {
            sendbuf,
            sendtype: desc,
            sendcounts: send.counts.as_ptr(),
            sdispls: send.displs.as_ptr(),
            recvtype: desc,
            root,
            ..NOTHING
        };
    }
    if part == Part::Root && is_in_place(recvbuf) {
        args.recvbuf = recvbuf;
    } else if matches!(part, Part::Root | Part::Leaf) {
        args.recvtype = side(process, (recvbuf, recvcount, recvtype), "recv")?;
        if part == Part::Root {
            // SAFETY: a type that was found in this call.
            let own = place(sendbuf, send.displs[root as usize], unsafe { &*args.sendtype });
            check_apart(process, own, recvbuf, recvcount > 0)?;
        }
        (args.recvbuf, args.recvcount) = (recvbuf, recvcount as u64);
    }
    process.collective(object, mode, SCATTERV, args, None)
}
collective_fns! {
    scatterv<N>(sendbuf: *const u8, sendcounts: *const N, displs: *const N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Scatterv[c_int], MPI_Scatterv_c[Count];
    fn MPI_Iscatterv[c_int], MPI_Iscatterv_c[Count];
    fn MPI_Scatterv_init[c_int], MPI_Scatterv_init_c[Count];
}
#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn allgatherv<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcounts: *const N,
    displs: *const N,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let sendcount: i64 = sendcount.into();
    let object = comm::require(comm)?;
    let recv = blocks(object.peers, recvcounts, displs, ("recvcounts", "displs"))?;
    let desc = many(process, recvbuf, &recv, recvtype, "recv")?;
    let mut args = into_blocks(recvbuf, &recv, desc);
    let own = if is_inter(object) { core::ptr::null() } else { own_place(object, &args, &recv) };
    gives(process, &mut args, true, own, (sendbuf, sendcount, sendtype))?;
    process.collective(object, mode, ALLGATHERV, args, None)
}
collective_fns! {
    allgatherv<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype) on comm;
    fn MPI_Allgatherv[c_int], MPI_Allgatherv_c[Count];
    fn MPI_Iallgatherv[c_int], MPI_Iallgatherv_c[Count];
    fn MPI_Allgatherv_init[c_int], MPI_Allgatherv_init_c[Count];
}
#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn alltoallv<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcounts: *const N,
    sdispls: *const N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcounts: *const N,
    rdispls: *const N,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let recv = blocks(object.peers, recvcounts, rdispls, ("recvcounts", "rdispls"))?;
    let desc = many(process, recvbuf, &recv, recvtype, "recv")?;
    let args = CollArgs { sendbuf, ..into_blocks(recvbuf, &recv, desc) };
    if is_in_place(sendbuf) && !is_inter(object) {
        return process.collective(object, mode, ALLTOALLV, args, None);
    }
    let send = blocks(object.peers, sendcounts, sdispls, ("sendcounts", "sdispls"))?;
    let sendtype = many(process, sendbuf, &send, sendtype, "send")?;
    check_blocks_apart(process, (sendbuf, &send, sendtype.extent), (recvbuf, &recv, desc.extent))?;
    process.collective(
        object,
        mode,
        ALLTOALLV,
        CollArgs { sendtype, sendcounts: send.counts.as_ptr(), sdispls: send.displs.as_ptr(), ..args },
        None,
    )
}
collective_fns! {
    alltoallv<N>(sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtype: Datatype, recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtype: Datatype) on comm;
    fn MPI_Alltoallv[c_int], MPI_Alltoallv_c[Count];
    fn MPI_Ialltoallv[c_int], MPI_Ialltoallv_c[Count];
    fn MPI_Alltoallv_init[c_int], MPI_Alltoallv_init_c[Count];
}

/// No block for a rank may be where the one from it goes. Both sides may well be in one buffer, or have absolute
/// addresses. The last of each triple: bytes that a displacement counts.
fn check_blocks_apart(
    process: &Process,
    (sendbuf, send, out): (*const u8, &Blocks, i64),
    (recvbuf, recv, into): (*const u8, &Blocks, i64),
) -> Res {
    let blocks = |b: &Blocks, rank: usize| (b.counts[rank], b.displs[rank]);
    for rank in 0..send.counts.len().min(recv.counts.len()) {
        let ((sent, from), (got, to)) = (blocks(send, rank), blocks(recv, rank));
        let from = sendbuf.wrapping_offset(from.wrapping_mul(out) as isize);
        let to = recvbuf.wrapping_offset(to.wrapping_mul(into) as isize);
        check_apart(process, from, to, sent > 0 && got > 0)?;
    }
    Ok(())
}

/// The types of alltoallw; of an empty block none is needed.
fn types(
    object: &CommObject,
    blocks: &Blocks,
    types: *const Datatype,
    name: &str,
) -> Res<Vec<*const TypeDesc>> {
    types_of(blocks, slice(types, object.peers as usize, name)?, name)
}

/// A type for each block.
pub fn types_of(blocks: &Blocks, given: &[Datatype], name: &str) -> Res<Vec<*const TypeDesc>> {
    let read = |(rank, (&datatype, &count)): (usize, (&Datatype, &u64))| match count {
        0 => Ok(&raw const BYTE),
        _ => datatype::require_committed(datatype, &format!("{name}[{rank}]"))
            .map(|desc| desc as *const TypeDesc),
    };
    given.iter().zip(&blocks.counts).enumerate().map(read).collect()
}

/// A null buffer is right where all blocks are empty or lie at addresses of their own, by displacement or type.
pub fn check_places(
    process: &Process,
    buf: *const u8,
    blocks: &Blocks,
    types: &[*const TypeDesc],
    what: &str,
) -> Res {
    for ((&desc, &displ), &count) in types.iter().zip(&blocks.displs).zip(&blocks.counts) {
        // SAFETY: types that were found in this call.
        check_place(process, buf, count as i64, (unsafe { &*desc }, displ), what)?;
    }
    Ok(())
}

static BYTE: TypeDesc = match TypeDesc::basic(Base::BYTE) {
    Some(byte) => byte,
    None => panic!("MPI_BYTE is a basic type"),
};

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn alltoallw<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcounts: *const N,
    sdispls: *const N,
    sendtypes: *const Datatype,
    recvbuf: *mut u8,
    recvcounts: *const N,
    rdispls: *const N,
    recvtypes: *const Datatype,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let recv = blocks(object.peers, recvcounts, rdispls, ("recvcounts", "rdispls"))?;
    let recvtypes = types(object, &recv, recvtypes, "recvtypes")?;
    not_in_place(recvbuf, "recv")?;
    check_places(process, recvbuf, &recv, &recvtypes, "recvbuf")?;
    let args = CollArgs {
        sendbuf,
        recvbuf,
        recvcounts: recv.counts.as_ptr(),
        rdispls: recv.displs.as_ptr(),
        recvtypes: recvtypes.as_ptr(),
        ..NOTHING
    };
    if is_in_place(sendbuf) && !is_inter(object) {
        return process.collective(object, mode, ALLTOALLW, args, None);
    }
    not_in_place(sendbuf, "send")?;
    let send = blocks(object.peers, sendcounts, sdispls, ("sendcounts", "sdispls"))?;
    let sendtypes = types(object, &send, sendtypes, "sendtypes")?;
    check_places(process, sendbuf, &send, &sendtypes, "sendbuf")?;
    check_blocks_apart(process, (sendbuf, &send, 1), (recvbuf, &recv, 1))?;
    process.collective(
        object,
        mode,
        ALLTOALLW,
        CollArgs {
            sendcounts: send.counts.as_ptr(),
            sdispls: send.displs.as_ptr(),
            sendtypes: sendtypes.as_ptr(),
            ..args
        },
        None,
    )
}
collective_fns! {
    alltoallw<N>(sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtypes: *const Datatype, recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtypes: *const Datatype) on comm;
    fn MPI_Alltoallw[c_int], MPI_Alltoallw_c[Count];
    fn MPI_Ialltoallw[c_int], MPI_Ialltoallw_c[Count];
    fn MPI_Alltoallw_init[c_int], MPI_Alltoallw_init_c[Count];
}
