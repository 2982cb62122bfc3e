//! Collective operations: arguments checked, then handed to the component that serves the
//! communicator.
//!
//! What is significant only at the root is looked at there alone; elsewhere the component gets null
//! buffers and no elements. Where a collective has one buffer or one type, both sides of
//! [`CollArgs`] say so.

use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::datatype;
use crate::error::{self, Failure, Res, call};
use crate::op;
use crate::operands::check_buffer;
use crate::process::{self, Process};
use crate::types::{Comm, Count, Datatype, Op};
use core::ffi::c_int;
use core::ptr::{null, null_mut};
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_datatype::TypeDesc;
use oxmpi_runtime::Communicator;

/// A collective of the runtime's communicator.
type Verb = fn(&Communicator, *mut oxmpi_mca::ThreadCtx, &CollArgs) -> oxmpi_mca::Status;
/// Buffer, count and type as the user gave them.
type Data<P> = (P, i64, Datatype);

const NOTHING: CollArgs = CollArgs {
    sendbuf: null(),
    sendcount: 0,
    sendtype: null(),
    recvbuf: null_mut(),
    recvcount: 0,
    recvtype: null(),
    op: null(),
    root: 0,
    reserved: 0,
};

fn is_in_place(buf: *const u8) -> bool {
    core::ptr::eq(buf, IN_PLACE)
}

/// One side of a collective: the type found, count and buffer good.
fn side(process: &Process, (buf, count, datatype): Data<*const u8>, which: &str) -> Res<&'static TypeDesc> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("{which}count is {count}"));
    }
    let desc = datatype::require_committed(datatype, &format!("{which}type"))?;
    if is_in_place(buf) {
        return Failure::err(MPI_ERR_BUFFER, format!("{which}buf must not be MPI_IN_PLACE here"));
    }
    check_buffer(process, buf, count, desc, &format!("{which}buf"))?;
    Ok(desc)
}

/// The standard forbids send and receive buffers that overlap; the same address is seen.
fn apart(process: &Process, sendbuf: *const u8, recvbuf: *const u8, bytes: bool) -> Res {
    if process.check && bytes && !sendbuf.is_null() && core::ptr::eq(sendbuf, recvbuf) {
        return Failure::err(MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; MPI_IN_PLACE is for that");
    }
    Ok(())
}

fn check_root(object: &CommObject, root: c_int) -> Res {
    if (root as u32) < object.peers {
        return Ok(());
    }
    Failure::err(MPI_ERR_ROOT, format!("root is {root}, ranks are 0 to {}", object.peers.saturating_sub(1)))
}

impl Process {
    /// Runs one collective.
    fn collective(&self, object: &CommObject, verb: Verb, args: &CollArgs) -> Res {
        error::check(verb(&object.comm, self.thread(), args))
    }
}

mpi_fn! {
    fn MPI_Barrier(comm: Comm) -> c_int {
        if let (Some(process), Some(object)) = (process::current(), comm::get(comm))
            && object.comm.barrier(process.thread(), &NOTHING).is_ok()
        {
            return MPI_SUCCESS;
        }
        call(NAME, Some(comm), |_| {
            let object = comm::require(comm)?;
            Failure::err(MPI_ERR_OTHER, format!("the barrier failed on {}", object.describe()))
        })
    }
}
mpi_fn! {
    fn MPI_Bcast[c_int], MPI_Bcast_c[Count]<N>(buffer: *mut u8, count: N, datatype: Datatype, root: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let object = comm::require(comm)?;
            check_root(object, root)?;
            let count = count as i64;
            let desc = side(process, (buffer, count, datatype), "")?;
            let (n, dtype) = (count as u64, desc as *const TypeDesc);
            process.collective(object, Communicator::bcast, &CollArgs {
                sendbuf: buffer, sendcount: n, sendtype: dtype, recvbuf: buffer, recvcount: n, recvtype: dtype, root, ..NOTHING
            })
        })
    }
}

/// Reduce (`root` given) and Allreduce.
fn reduce(
    process: &'static Process,
    (sendbuf, recvbuf): (*const u8, *mut u8),
    (count, datatype): (i64, Datatype),
    op: Op,
    root: Option<c_int>,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    if let Some(root) = root {
        check_root(object, root)?;
    }
    let here = root.is_none_or(|root| root as u32 == object.comm.rank());
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    let desc = datatype::require_committed(datatype, "datatype")?;
    let operation = op::resolve(op, desc, datatype)?;
    if here {
        side(process, (recvbuf, count, datatype), "recv")?;
        apart(process, sendbuf, recvbuf, count > 0 && desc.packed > 0)?;
    }
    if !(here && is_in_place(sendbuf)) {
        side(process, (sendbuf, count, datatype), "send")?;
    }
    let op = operation.desc();
    let args = CollArgs {
        sendbuf,
        sendcount: count as u64,
        sendtype: desc,
        recvbuf: if here { recvbuf } else { null_mut() },
        recvcount: count as u64,
        recvtype: desc,
        op: &op,
        root: root.unwrap_or(0),
        ..NOTHING
    };
    process.collective(
        object,
        if root.is_some() { Communicator::reduce } else { Communicator::allreduce },
        &args,
    )
}

mpi_fn! {
    fn MPI_Reduce[c_int], MPI_Reduce_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, root: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| reduce(process, (sendbuf, recvbuf), (count as i64, datatype), op, Some(root), comm))
    }
}
mpi_fn! {
    fn MPI_Allreduce[c_int], MPI_Allreduce_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| reduce(process, (sendbuf, recvbuf), (count as i64, datatype), op, None, comm))
    }
}

/// Both sides here: Allgather, Alltoall, Gather at its root. In place stands in `sendbuf`, and then
/// the send side is the receive side.
fn both(
    process: &'static Process,
    object: &CommObject,
    send: Data<*const u8>,
    recv: Data<*mut u8>,
    root: c_int,
    verb: Verb,
) -> Res {
    let recvtype = side(process, (recv.0, recv.1, recv.2), "recv")?;
    let (sendcount, sendtype) = if is_in_place(send.0) {
        (recv.1, recvtype)
    } else {
        let sendtype = side(process, send, "send")?;
        apart(process, send.0, recv.0, send.1 > 0 && sendtype.packed > 0)?;
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
    process.collective(object, verb, &args)
}

mpi_fn! {
    fn MPI_Allgather[c_int], MPI_Allgather_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf, recvcount as i64, recvtype));
            both(process, comm::require(comm)?, send, recv, 0, Communicator::allgather)
        })
    }
}
mpi_fn! {
    fn MPI_Alltoall[c_int], MPI_Alltoall_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf, recvcount as i64, recvtype));
            both(process, comm::require(comm)?, send, recv, 0, Communicator::alltoall)
        })
    }
}
mpi_fn! {
    fn MPI_Gather[c_int], MPI_Gather_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let object = comm::require(comm)?;
            check_root(object, root)?;
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf, recvcount as i64, recvtype));
            if root as u32 == object.comm.rank() {
                return both(process, object, send, recv, root, Communicator::gather);
            }
            let desc = side(process, send, "send")?;
            process.collective(object, Communicator::gather, &CollArgs {
                sendbuf, sendcount: send.1 as u64, sendtype: desc, recvtype: desc, root, ..NOTHING
            })
        })
    }
}

mpi_fn! {
    fn MPI_Scatter[c_int], MPI_Scatter_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let object = comm::require(comm)?;
            check_root(object, root)?;
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf as *const u8, recvcount as i64, recvtype));
            if root as u32 != object.comm.rank() {
                let desc = side(process, recv, "recv")?;
                return process.collective(object, Communicator::scatter, &CollArgs {
                    sendtype: desc, recvbuf, recvcount: recv.1 as u64, recvtype: desc, root, ..NOTHING
                });
            }
            let sendtype = side(process, send, "send")?;
            let (recvcount, recvtype) = if is_in_place(recvbuf) {
                (send.1, sendtype)
            } else {
                let recvtype = side(process, recv, "recv")?;
                apart(process, sendbuf, recvbuf, recv.1 > 0 && recvtype.packed > 0)?;
                (recv.1, recvtype)
            };
            process.collective(object, Communicator::scatter, &CollArgs {
                sendbuf, sendcount: send.1 as u64, sendtype, recvbuf, recvcount: recvcount as u64, recvtype, root, ..NOTHING
            })
        })
    }
}
