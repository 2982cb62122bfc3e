//! Reductions: Reduce, Allreduce, Reduce_scatter, Reduce_scatter_block, Scan, Exscan (MPI 5.0 §6.9 to §6.11).

use super::*;
use crate::comm;
use crate::error::call;
use crate::types::{Comm, Count, Op};
use core::ptr::null_mut;

/// Everything that reduces to a count of elements that each rank gives: Reduce (`root` given), Allreduce, Scan,
/// Exscan, and Reduce_scatter_block, which gets fewer (`times`: a count for each rank).
struct Reducing {
    root: Option<c_int>,
    times: bool,
    mode: CompletionMode,
    collective: Collective,
}

fn reducing(
    process: &'static Process,
    how: &Reducing,
    (sendbuf, recvbuf): (*const u8, *mut u8),
    (count, datatype): (i64, Datatype),
    op: Op,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (gets, gives) = match how.root.map(|root| part(object, root)).transpose()? {
        Some(Part::Idle) => {
            let root = MPI_PROC_NULL;
            return process.collective(object, how.mode, how.collective, CollArgs { root, ..NOTHING }, None);
        }
        None | Some(Part::Root) => (true, true),
        Some(Part::FarRoot) => (true, false),
        Some(Part::Leaf) => (false, true),
    };
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    let desc = datatype::require_committed(datatype, "datatype")?;
    let operation = op::resolve(op, desc, datatype)?;
    let given = if how.times { count.saturating_mul(i64::from(object.comm.size())) } else { count };
    if gets {
        side(process, (recvbuf, count, datatype), "recv")?;
    }
    if gets && gives {
        check_apart(process, sendbuf, recvbuf, count > 0 && desc.packed > 0)?;
    }
    if gives && !(gets && is_in_place(sendbuf) && !is_inter(object)) {
        side(process, (sendbuf, given, datatype), "send")?;
    }
    let args = CollArgs {
        sendbuf,
        sendcount: given as u64,
        sendtype: desc,
        recvbuf: if gets { recvbuf } else { null_mut() },
        recvcount: count as u64,
        recvtype: desc,
        root: how.root.unwrap_or(0),
        ..NOTHING
    };
    process.collective(object, how.mode, how.collective, args, Some(&operation))
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn reduce<N: Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    recvbuf: *mut u8,
    count: N,
    datatype: Datatype,
    op: Op,
    root: c_int,
    comm: Comm,
) -> Res {
    let how = Reducing { root: Some(root), times: false, mode, collective: REDUCE };
    reducing(process, &how, (sendbuf, recvbuf), (count.into(), datatype), op, comm)
}

/// Scans are defined inside one group only (MPI 5.0 §6.11).
fn one_group(comm: Comm) -> Res {
    let object = comm::require(comm)?;
    if is_inter(object) {
        return Failure::err(MPI_ERR_COMM, format!("comm is {}, an inter-communicator", object.describe()));
    }
    Ok(())
}

macro_rules! without_root {
    ($($name:ident $collective:ident $times:literal $scan:literal;)*) => { $(
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        fn $name<N: Into<i64>>(
            process: &'static Process,
            mode: CompletionMode,
            sendbuf: *const u8,
            recvbuf: *mut u8,
            count: N,
            datatype: Datatype,
            op: Op,
            comm: Comm,
        ) -> Res {
            if $scan {
                one_group(comm)?;
            }
            let how = Reducing { root: None, times: $times, mode, collective: $collective };
            reducing(process, &how, (sendbuf, recvbuf), (count.into(), datatype), op, comm)
        }
    )* };
}
without_root! {
    allreduce ALLREDUCE false false;
    reduce_scatter_block REDUCE_SCATTER_BLOCK true false;
    scan SCAN false true;
    exscan EXSCAN false true;
}

collective_fns! {
    reduce<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, root: c_int) on comm;
    fn MPI_Reduce[c_int], MPI_Reduce_c[Count];
    fn MPI_Ireduce[c_int], MPI_Ireduce_c[Count];
    fn MPI_Reduce_init[c_int], MPI_Reduce_init_c[Count];
}
collective_fns! {
    allreduce<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Allreduce[c_int], MPI_Allreduce_c[Count];
    fn MPI_Iallreduce[c_int], MPI_Iallreduce_c[Count];
    fn MPI_Allreduce_init[c_int], MPI_Allreduce_init_c[Count];
}
collective_fns! {
    reduce_scatter_block<N>(sendbuf: *const u8, recvbuf: *mut u8, recvcount: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Reduce_scatter_block[c_int], MPI_Reduce_scatter_block_c[Count];
    fn MPI_Ireduce_scatter_block[c_int], MPI_Ireduce_scatter_block_c[Count];
    fn MPI_Reduce_scatter_block_init[c_int], MPI_Reduce_scatter_block_init_c[Count];
}
collective_fns! {
    scan<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Scan[c_int], MPI_Scan_c[Count];
    fn MPI_Iscan[c_int], MPI_Iscan_c[Count];
    fn MPI_Scan_init[c_int], MPI_Scan_init_c[Count];
}
collective_fns! {
    exscan<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Exscan[c_int], MPI_Exscan_c[Count];
    fn MPI_Iexscan[c_int], MPI_Iexscan_c[Count];
    fn MPI_Exscan_init[c_int], MPI_Exscan_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn reduce_scatter<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    recvbuf: *mut u8,
    recvcounts: *const N,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let recvcounts = super::vector_variants::counts(object.comm.size(), recvcounts, "recvcounts")?;
    let desc = datatype::require_committed(datatype, "datatype")?;
    let operation = op::resolve(op, desc, datatype)?;
    let total = recvcounts.iter().fold(0u64, |sum, &c| sum.saturating_add(c)).min(i64::MAX as u64) as i64;
    let own = recvcounts[object.comm.rank() as usize];
    let in_place = is_in_place(sendbuf) && !is_inter(object);
    side(process, (recvbuf, if in_place { total } else { own as i64 }, datatype), "recv")?;
    if !in_place {
        side(process, (sendbuf, total, datatype), "send")?;
        check_apart(process, sendbuf, recvbuf, own > 0)?;
    }
    let args = CollArgs {
        sendbuf,
        recvbuf,
        sendtype: desc,
        recvtype: desc,
        recvcounts: recvcounts.as_ptr(),
        ..NOTHING
    };
    process.collective(object, mode, REDUCE_SCATTER, args, Some(&operation))
}
collective_fns! {
    reduce_scatter<N>(sendbuf: *const u8, recvbuf: *mut u8, recvcounts: *const N, datatype: Datatype, op: Op) on comm;
    fn MPI_Reduce_scatter[c_int], MPI_Reduce_scatter_c[Count];
    fn MPI_Ireduce_scatter[c_int], MPI_Ireduce_scatter_c[Count];
    fn MPI_Reduce_scatter_init[c_int], MPI_Reduce_scatter_init_c[Count];
}
