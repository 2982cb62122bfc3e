//! Reductions: Reduce, Allreduce, Reduce_scatter, Reduce_scatter_block, Scan, Exscan (MPI 5.0 §6.9 to §6.11).

use super::*;
use crate::call::memory::In;
use crate::comm;
use crate::error::call;
use crate::types::{Comm, Count, Op};

/// Everything that reduces to a count of elements that each rank gives: Reduce (`root` given), Allreduce, Scan,
/// Exscan, and Reduce_scatter_block, which gets fewer (`times`: a count for each rank).
struct Reducing {
    root: Option<c_int>,
    times: bool,
    collective: Collective,
}

fn reducing(
    caller: Caller,
    how: &Reducing,
    (sendbuf, recvbuf): (Address, Address),
    (count, datatype): (i64, Datatype),
    op: Op,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (gets, gives) = match how.root.map(|root| part(object, root)).transpose()? {
        Some(Part::Idle) => {
            return caller.run(object, how.collective, Arguments::idle(MPI_PROC_NULL), None);
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
        side(caller.process, (recvbuf, count, datatype), "recv")?;
    }
    if gets && gives {
        check_apart(caller.process, sendbuf, recvbuf, count > 0 && desc.packed > 0)?;
    }
    if gives && !(gets && is_in_place(sendbuf) && !is_inter(object)) {
        side(caller.process, (sendbuf, given, datatype), "send")?;
    }
    let send = Half::one(sendbuf, given as u64, desc);
    let recv = Half::one(if gets { recvbuf } else { Address::NULL }, count as u64, desc);
    let args = Arguments::of(send, recv).with_root(how.root.unwrap_or(0));
    caller.run(object, how.collective, args, Some(&operation))
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn reduce<N: Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype,
    op: Op,
    root: c_int,
    comm: Comm,
) -> Res {
    let how = Reducing { root: Some(root), times: false, collective: REDUCE };
    reducing(caller, &how, (sendbuf, recvbuf), (count.into(), datatype), op, comm)
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
            caller: Caller,
            sendbuf: Address,
            recvbuf: Address,
            count: N,
            datatype: Datatype,
            op: Op,
            comm: Comm,
        ) -> Res {
            if $scan {
                one_group(comm)?;
            }
            let how = Reducing { root: None, times: $times, collective: $collective };
            reducing(caller, &how, (sendbuf, recvbuf), (count.into(), datatype), op, comm)
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
    reduce<N>(sendbuf: Address, recvbuf: Address, count: N, datatype: Datatype, op: Op, root: c_int) on comm;
    fn MPI_Reduce[c_int], MPI_Reduce_c[Count];
    fn MPI_Ireduce[c_int], MPI_Ireduce_c[Count];
    fn MPI_Reduce_init[c_int], MPI_Reduce_init_c[Count];
}
collective_fns! {
    allreduce<N>(sendbuf: Address, recvbuf: Address, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Allreduce[c_int], MPI_Allreduce_c[Count];
    fn MPI_Iallreduce[c_int], MPI_Iallreduce_c[Count];
    fn MPI_Allreduce_init[c_int], MPI_Allreduce_init_c[Count];
}
collective_fns! {
    reduce_scatter_block<N>(sendbuf: Address, recvbuf: Address, recvcount: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Reduce_scatter_block[c_int], MPI_Reduce_scatter_block_c[Count];
    fn MPI_Ireduce_scatter_block[c_int], MPI_Ireduce_scatter_block_c[Count];
    fn MPI_Reduce_scatter_block_init[c_int], MPI_Reduce_scatter_block_init_c[Count];
}
collective_fns! {
    scan<N>(sendbuf: Address, recvbuf: Address, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Scan[c_int], MPI_Scan_c[Count];
    fn MPI_Iscan[c_int], MPI_Iscan_c[Count];
    fn MPI_Scan_init[c_int], MPI_Scan_init_c[Count];
}
collective_fns! {
    exscan<N>(sendbuf: Address, recvbuf: Address, count: N, datatype: Datatype, op: Op) on comm;
    fn MPI_Exscan[c_int], MPI_Exscan_c[Count];
    fn MPI_Iexscan[c_int], MPI_Iexscan_c[Count];
    fn MPI_Exscan_init[c_int], MPI_Exscan_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn reduce_scatter<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    recvbuf: Address,
    recvcounts: In<N>,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    // SAFETY: the standard has the caller pass `recvcounts` with an element for each rank.
    let counts = unsafe { super::vector_variants::counts(object.comm.size(), recvcounts, "recvcounts") }?;
    let desc = datatype::require_committed(datatype, "datatype")?;
    let operation = op::resolve(op, desc, datatype)?;
    let total = counts.iter().fold(0u64, |sum, &c| sum.saturating_add(c)).min(i64::MAX as u64) as i64;
    let own = counts[object.comm.rank() as usize];
    let in_place = is_in_place(sendbuf) && !is_inter(object);
    side(caller.process, (recvbuf, if in_place { total } else { own as i64 }, datatype), "recv")?;
    if !in_place {
        side(caller.process, (sendbuf, total, datatype), "send")?;
        check_apart(caller.process, sendbuf, recvbuf, own > 0)?;
    }
    let blocks = Blocks { counts, displs: Vec::new() };
    let args = Arguments::of(Half::one(sendbuf, 0, desc), Half::many(recvbuf, &blocks, desc));
    caller.run(object, REDUCE_SCATTER, args, Some(&operation))
}
collective_fns! {
    reduce_scatter<N>(sendbuf: Address, recvbuf: Address, recvcounts: In<N>, datatype: Datatype, op: Op) on comm;
    fn MPI_Reduce_scatter[c_int], MPI_Reduce_scatter_c[Count];
    fn MPI_Ireduce_scatter[c_int], MPI_Ireduce_scatter_c[Count];
    fn MPI_Reduce_scatter_init[c_int], MPI_Reduce_scatter_init_c[Count];
}
