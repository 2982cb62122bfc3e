//! Collectives with one count for all ranks: Barrier, Bcast, Gather, Scatter, Allgather, Alltoall.

use super::*;
use crate::call::process;
use crate::comm::{self, CommObject};
use crate::error::call;
use crate::types::{Comm, Count};

mpi_fn! {
    fn MPI_Barrier(comm: Comm) -> c_int {
        if let (Some(process), Some(object)) = (process::current(), comm::get(comm))
            && object.comm.barrier(process.thread(), &NOTHING).is_ok()
        {
            crate::call::counting::collective(&object.comm);
            return MPI_SUCCESS;
        }
        call(NAME, Some(comm), |_| {
            let object = comm::require(comm)?;
            Failure::err(MPI_ERR_OTHER, format!("the barrier failed on {}", object.describe()))
        })
    }
}
mpi_fn! {
    fn MPI_Ibarrier(comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            process.collective(comm::require(comm)?, CompletionMode::nonblocking(request)?, BARRIER, NOTHING, None)
        })
    }
}
mpi_fn! {
    fn MPI_Barrier_init(comm: Comm, info: Info, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            process.collective(comm::require(comm)?, CompletionMode::persistent(info, request)?, BARRIER, NOTHING, None)
        })
    }
}

fn bcast<N: Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    buffer: *mut u8,
    count: N,
    datatype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    if part(object, root)? == Part::Idle {
        return process.collective(object, mode, BCAST, CollArgs { root, ..NOTHING }, None);
    }
    let count = count.into();
    let desc = side(process, (buffer, count, datatype), "")?;
    let (n, dtype) = (count as u64, desc as *const TypeDesc);
    let args = CollArgs {
        sendbuf: buffer,
        sendcount: n,
        sendtype: dtype,
        recvbuf: buffer,
        recvcount: n,
        recvtype: dtype,
        root,
        ..NOTHING
    };
    process.collective(object, mode, BCAST, args, None)
}
collective_fns! {
    bcast<N>(buffer: *mut u8, count: N, datatype: Datatype, root: c_int) on comm;
    fn MPI_Bcast[c_int], MPI_Bcast_c[Count];
    fn MPI_Ibcast[c_int], MPI_Ibcast_c[Count];
    fn MPI_Bcast_init[c_int], MPI_Bcast_init_c[Count];
}

/// Both sides here: Allgather, Alltoall, Gather at its root. In place stands in `sendbuf`, and then
/// the send side is the receive side.
fn both(
    process: &'static Process,
    object: &'static CommObject,
    (mode, collective): (CompletionMode, Collective),
    send: Data<*const u8>,
    recv: Data<*mut u8>,
    root: c_int,
) -> Res {
    let recvtype = side(process, (recv.0, recv.1, recv.2), "recv")?;
    let (sendcount, sendtype) = if is_in_place(send.0) && !is_inter(object) {
        (recv.1, recvtype)
    } else {
        let sendtype = side(process, send, "send")?;
        let some = send.1 > 0 && sendtype.packed > 0;
        check_apart(process, send.0, recv.0, some)?;
        if !is_inter(object) {
            // Where our block goes in an allgather or gather.
            let own = i64::from(object.comm.rank()).wrapping_mul(recv.1);
            check_apart(process, send.0, place(recv.0, own, recvtype), some)?;
        }
        (send.1, sendtype)
    };
    let args = CollArgs {
        sendbuf: send.0,
        sendcount: sendcount as u64,
        sendtype,
        recvbuf: recv.0,
        recvcount: recv.1 as u64,
        recvtype,
        root,
        ..NOTHING
    };
    process.collective(object, mode, collective, args, None)
}

macro_rules! with_both {
    ($($name:ident $collective:ident;)*) => { $(
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        fn $name<N: Into<i64>>(
            process: &'static Process,
            mode: CompletionMode,
            sendbuf: *const u8,
            sendcount: N,
            sendtype: Datatype,
            recvbuf: *mut u8,
            recvcount: N,
            recvtype: Datatype,
            comm: Comm,
        ) -> Res {
            let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
            both(process, comm::require(comm)?, (mode, $collective), send, recv, 0)
        }
    )* };
}
with_both! {
    allgather ALLGATHER;
    alltoall ALLTOALL;
}
collective_fns! {
    allgather<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Allgather[c_int], MPI_Allgather_c[Count];
    fn MPI_Iallgather[c_int], MPI_Iallgather_c[Count];
    fn MPI_Allgather_init[c_int], MPI_Allgather_init_c[Count];
}
collective_fns! {
    alltoall<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Alltoall[c_int], MPI_Alltoall_c[Count];
    fn MPI_Ialltoall[c_int], MPI_Ialltoall_c[Count];
    fn MPI_Alltoall_init[c_int], MPI_Alltoall_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn gather<N: Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    let args = match part(object, root)? {
        Part::Root => return both(process, object, (mode, GATHER), send, recv, root),
        Part::Idle => CollArgs { root, ..NOTHING },
        Part::FarRoot => {
            let desc = side(process, (recv.0, recv.1, recv.2), "recv")?;
            CollArgs { sendtype: desc, recvbuf, recvcount: recv.1 as u64, recvtype: desc, root, ..NOTHING }
        }
        Part::Leaf => {
            let desc = side(process, send, "send")?;
            CollArgs { sendbuf, sendcount: send.1 as u64, sendtype: desc, recvtype: desc, root, ..NOTHING }
        }
    };
    process.collective(object, mode, GATHER, args, None)
}
collective_fns! {
    gather<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Gather[c_int], MPI_Gather_c[Count];
    fn MPI_Igather[c_int], MPI_Igather_c[Count];
    fn MPI_Gather_init[c_int], MPI_Gather_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn scatter<N: Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: *mut u8,
    recvcount: N,
    recvtype: Datatype,
    root: c_int,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    let (send, recv) =
        ((sendbuf, sendcount.into(), sendtype), (recvbuf.cast_const(), recvcount.into(), recvtype));
    let part = part(object, root)?;
    let args = match part {
        Part::Idle => CollArgs { root, ..NOTHING },
        Part::Leaf => {
            let desc = side(process, recv, "recv")?;
            CollArgs { sendtype: desc, recvbuf, recvcount: recv.1 as u64, recvtype: desc, root, ..NOTHING }
        }
        Part::Root | Part::FarRoot => {
            let sendtype = side(process, send, "send")?;
            let (recvcount, recvtype) = if part == Part::FarRoot || is_in_place(recvbuf) {
                (send.1, sendtype)
            } else {
                let recvtype = side(process, recv, "recv")?;
                let own = place(sendbuf, i64::from(object.comm.rank()).wrapping_mul(send.1), sendtype);
                check_apart(process, own, recvbuf, recv.1 > 0 && recvtype.packed > 0)?;
                (recv.1, recvtype)
            };
            CollArgs {
                sendbuf,
                sendcount: send.1 as u64,
                sendtype,
                recvbuf,
                recvcount: recvcount as u64,
                recvtype,
                root,
                ..NOTHING
            }
        }
    };
    process.collective(object, mode, SCATTER, args, None)
}
collective_fns! {
    scatter<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int) on comm;
    fn MPI_Scatter[c_int], MPI_Scatter_c[Count];
    fn MPI_Iscatter[c_int], MPI_Iscatter_c[Count];
    fn MPI_Scatter_init[c_int], MPI_Scatter_init_c[Count];
}
