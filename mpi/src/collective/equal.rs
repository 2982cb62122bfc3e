//! Collectives with one count for all ranks: Barrier, Bcast, Gather, Scatter, Allgather, Alltoall.

use super::*;
use crate::comm::{self, CommObject};
use crate::error::call;
use crate::types::{Comm, Count};

mpi_fn! {
    fn MPI_Barrier(comm: Comm) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let object = comm::require(comm)?;
            // SAFETY: there is no data.
            if unsafe { object.comm.barrier(entry, &CollArgs::NONE) }.is_err() {
                return Failure::err(MPI_ERR_OTHER, format!("the barrier failed on {}", object.describe()));
            }
            crate::call::counting::collective(&object.comm);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Ibarrier(comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = comm::require(comm)?;
            let mode = CompletionMode::nonblocking(request)?;
            Caller { process, entry, mode }.run(object, BARRIER, Arguments::NONE, None)
        })
    }
}
mpi_fn! {
    fn MPI_Barrier_init(comm: Comm, info: Info, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = comm::require(comm)?;
            let mode = CompletionMode::persistent(info, request)?;
            Caller { process, entry, mode }.run(object, BARRIER, Arguments::NONE, None)
        })
    }
}

fn bcast<N: Into<i64>>(
    caller: Caller,
    buffer: Address,
    count: N,
    datatype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    if part(object, root)? == Part::Idle {
        return caller.run(object, BCAST, Arguments::idle(root), None);
    }
    let count = count.into();
    let desc = side(caller.process, (buffer, count, datatype), "")?;
    let data = Half::one(buffer, count as u64, desc);
    caller.run(object, BCAST, Arguments::of(data, data).with_root(root), None)
}
collective_fns! {
    bcast<N>(buffer: Address, count: N, datatype: Datatype, root: c_int) on comm;
    fn MPI_Bcast[c_int], MPI_Bcast_c[Count];
    fn MPI_Ibcast[c_int], MPI_Ibcast_c[Count];
    fn MPI_Bcast_init[c_int], MPI_Bcast_init_c[Count];
}

/// Both sides here: Allgather, Alltoall, Gather at its root. In place stands in `sendbuf`, and then
/// the send side is the receive side.
fn both(
    caller: Caller,
    object: &'static CommObject,
    collective: Collective,
    send: Data,
    recv: Data,
    root: c_int,
) -> Res {
    let recvtype = side(caller.process, recv, "recv")?;
    let (sendcount, sendtype) = if is_in_place(send.0) && !is_inter(object) {
        (recv.1, recvtype)
    } else {
        let sendtype = side(caller.process, send, "send")?;
        let some = send.1 > 0 && sendtype.packed > 0;
        check_apart(caller.process, send.0, recv.0, some)?;
        if !is_inter(object) {
            // Where our block goes in an allgather or gather.
            let own = i64::from(object.comm.rank()).wrapping_mul(recv.1);
            check_apart(caller.process, send.0, place(recv.0, own, recvtype), some)?;
        }
        (send.1, sendtype)
    };
    let send = Half::one(send.0, sendcount as u64, sendtype);
    let recv = Half::one(recv.0, recv.1 as u64, recvtype);
    caller.run(object, collective, Arguments::of(send, recv).with_root(root), None)
}

macro_rules! with_both {
    ($($name:ident $collective:ident;)*) => { $(
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        fn $name<N: Into<i64>>(
            caller: Caller,
            sendbuf: Address,
            sendcount: N,
            sendtype: Datatype,
            recvbuf: Address,
            recvcount: N,
            recvtype: Datatype,
            comm: Comm,
        ) -> Res {
            let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
            both(caller, comm::require(comm)?, $collective, send, recv, 0)
        }
    )* };
}
with_both! {
    allgather ALLGATHER;
    alltoall ALLTOALL;
}
collective_fns! {
    allgather<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Allgather[c_int], MPI_Allgather_c[Count];
    fn MPI_Iallgather[c_int], MPI_Iallgather_c[Count];
    fn MPI_Allgather_init[c_int], MPI_Allgather_init_c[Count];
}
collective_fns! {
    alltoall<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Alltoall[c_int], MPI_Alltoall_c[Count];
    fn MPI_Ialltoall[c_int], MPI_Ialltoall_c[Count];
    fn MPI_Alltoall_init[c_int], MPI_Alltoall_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn gather<N: Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    let args = match part(object, root)? {
        Part::Root => return both(caller, object, GATHER, send, recv, root),
        Part::Idle => Arguments::NONE,
        Part::FarRoot => {
            let desc = side(caller.process, recv, "recv")?;
            Arguments::of(Half::one(Address::NULL, 0, desc), Half::one(recvbuf, recv.1 as u64, desc))
        }
        Part::Leaf => {
            let desc = side(caller.process, send, "send")?;
            Arguments::of(Half::one(sendbuf, send.1 as u64, desc), Half::one(Address::NULL, 0, desc))
        }
    };
    caller.run(object, GATHER, args.with_root(root), None)
}
collective_fns! {
    gather<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Gather[c_int], MPI_Gather_c[Count];
    fn MPI_Igather[c_int], MPI_Igather_c[Count];
    fn MPI_Gather_init[c_int], MPI_Gather_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn scatter<N: Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    let part = part(object, root)?;
    let args = match part {
        Part::Idle => Arguments::NONE,
        Part::Leaf => {
            let desc = side(caller.process, recv, "recv")?;
            Arguments::of(Half::one(Address::NULL, 0, desc), Half::one(recvbuf, recv.1 as u64, desc))
        }
        Part::Root | Part::FarRoot => {
            let sendtype = side(caller.process, send, "send")?;
            let (recvcount, recvtype) = if part == Part::FarRoot || is_in_place(recvbuf) {
                (send.1, sendtype)
            } else {
                let recvtype = side(caller.process, recv, "recv")?;
                let own = place(sendbuf, i64::from(object.comm.rank()).wrapping_mul(send.1), sendtype);
                check_apart(caller.process, own, recvbuf, recv.1 > 0 && recvtype.packed > 0)?;
                (recv.1, recvtype)
            };
            Arguments::of(
                Half::one(sendbuf, send.1 as u64, sendtype),
                Half::one(recvbuf, recvcount as u64, recvtype),
            )
        }
    };
    caller.run(object, SCATTER, args.with_root(root), None)
}
collective_fns! {
    scatter<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Scatter[c_int], MPI_Scatter_c[Count];
    fn MPI_Iscatter[c_int], MPI_Iscatter_c[Count];
    fn MPI_Scatter_init[c_int], MPI_Scatter_init_c[Count];
}
