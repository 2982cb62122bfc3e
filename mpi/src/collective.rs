//! Collective operations: arguments checked, then handed to the component that serves the
//! communicator. Those with a count and a place for each rank are in `collective_v`.
//!
//! What is significant only at the root is looked at there alone; elsewhere the component gets null
//! buffers and no elements. Where a collective has one buffer or one type, both sides of
//! [`CollArgs`] say so.
//!
//! On an inter-communicator a rank of the root's group names MPI_ROOT or MPI_PROC_NULL, has only one side of
//! the data, and nothing is in place ([`Part`]).

use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::datatype;
use crate::error::{self, Failure, Res, call};
use crate::op;
use crate::operands::check_buffer;
use crate::process::{self, Process};
use crate::types::{Comm, Count, Datatype, Op};
use core::ffi::c_int;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_datatype::TypeDesc;
use oxmpi_runtime::Communicator;

const _: () = assert!(oxmpi_coll::ROOT == MPI_ROOT && oxmpi_coll::NO_ROOT == MPI_PROC_NULL);

/// A collective of the runtime's communicator.
pub type Verb = fn(&Communicator, *mut oxmpi_mca::ThreadCtx, &CollArgs) -> oxmpi_mca::Status;
/// Buffer, count and type as the user gave them.
pub type Data<P> = (P, i64, Datatype);

pub const NOTHING: CollArgs = CollArgs::NONE;

pub fn is_in_place(buf: *const u8) -> bool {
    core::ptr::eq(buf, IN_PLACE)
}

/// One side of a collective: the type found, count and buffer good.
pub fn side(
    process: &Process,
    (buf, count, datatype): Data<*const u8>,
    which: &str,
) -> Res<&'static TypeDesc> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("{which}count is {count}"));
    }
    let desc = datatype::require_committed(datatype, &format!("{which}type"))?;
    not_in_place(buf, which)?;
    check_buffer(process, buf, count, desc, &format!("{which}buf"))?;
    Ok(desc)
}

pub fn not_in_place(buf: *const u8, which: &str) -> Res {
    if is_in_place(buf) {
        return Failure::err(MPI_ERR_BUFFER, format!("{which}buf must not be MPI_IN_PLACE here"));
    }
    Ok(())
}

/// The standard forbids send and receive buffers that overlap; the same address is seen. `bytes`: there is data
/// at both.
pub fn apart(process: &Process, sent: *const u8, received: *const u8, bytes: bool) -> Res {
    if process.check && bytes && !sent.is_null() && core::ptr::eq(sent, received) {
        return Failure::err(MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; MPI_IN_PLACE is for that");
    }
    Ok(())
}

/// Where element `index` is in a buffer.
pub fn place(buf: *const u8, index: i64, desc: &TypeDesc) -> *const u8 {
    buf.wrapping_offset(index.wrapping_mul(desc.extent) as isize)
}

/// What the calling rank is in a collective with a root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The root, which is one of those that give or get, too.
    Root,
    /// The root of an inter-communicator, for which only the other group gives or gets.
    FarRoot,
    /// Gives to the root or gets from it.
    Leaf,
    /// In the root's group of an inter-communicator: only there so that all call.
    Idle,
}

pub fn part(object: &CommObject, root: c_int) -> Res<Part> {
    let inter = object.comm.remote_group().is_some();
    match root {
        MPI_ROOT if inter => Ok(Part::FarRoot),
        MPI_PROC_NULL if inter => Ok(Part::Idle),
        _ if (root as u32) < object.peers => {
            Ok(if !inter && root as u32 == object.comm.rank() { Part::Root } else { Part::Leaf })
        }
        _ => Failure::err(
            MPI_ERR_ROOT,
            format!("root is {root}, ranks are 0 to {}", object.peers.saturating_sub(1)),
        ),
    }
}

pub fn is_inter(object: &CommObject) -> bool {
    object.comm.remote_group().is_some()
}

impl Process {
    /// Runs one collective.
    pub fn collective(&self, object: &CommObject, verb: Verb, args: &CollArgs) -> Res {
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
            if part(object, root)? == Part::Idle {
                return process.collective(object, Communicator::bcast, &CollArgs { root, ..NOTHING });
            }
            let count = count as i64;
            let desc = side(process, (buffer, count, datatype), "")?;
            let (n, dtype) = (count as u64, desc as *const TypeDesc);
            process.collective(object, Communicator::bcast, &CollArgs {
                sendbuf: buffer, sendcount: n, sendtype: dtype, recvbuf: buffer, recvcount: n, recvtype: dtype, root, ..NOTHING
            })
        })
    }
}

/// Everything that reduces to a count of elements that each rank gives: Reduce (`root` given), Allreduce, Scan,
/// Exscan, and Reduce_scatter_block, which gets fewer (`times`: a count for each rank).
struct Reducing {
    root: Option<c_int>,
    times: bool,
    verb: Verb,
}

fn reduce(
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
            return process.collective(object, how.verb, &CollArgs { root, ..NOTHING });
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
        apart(process, sendbuf, recvbuf, count > 0 && desc.packed > 0)?;
    }
    if gives && !(gets && is_in_place(sendbuf) && !is_inter(object)) {
        side(process, (sendbuf, given, datatype), "send")?;
    }
    let op = operation.desc();
    let args = CollArgs {
        sendbuf,
        sendcount: given as u64,
        sendtype: desc,
        recvbuf: if gets { recvbuf } else { null_mut() },
        recvcount: count as u64,
        recvtype: desc,
        op: &op,
        root: how.root.unwrap_or(0),
        ..NOTHING
    };
    process.collective(object, how.verb, &args)
}

mpi_fn! {
    fn MPI_Reduce[c_int], MPI_Reduce_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, root: c_int, comm: Comm) -> c_int {
        let how = Reducing { root: Some(root), times: false, verb: Communicator::reduce };
        call(NAME, Some(comm), |process| reduce(process, &how, (sendbuf, recvbuf), (count as i64, datatype), op, comm))
    }
}
mpi_fn! {
    fn MPI_Allreduce[c_int], MPI_Allreduce_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, comm: Comm) -> c_int {
        let how = Reducing { root: None, times: false, verb: Communicator::allreduce };
        call(NAME, Some(comm), |process| reduce(process, &how, (sendbuf, recvbuf), (count as i64, datatype), op, comm))
    }
}
mpi_fn! {
    fn MPI_Reduce_scatter_block[c_int], MPI_Reduce_scatter_block_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, recvcount: N, datatype: Datatype, op: Op, comm: Comm) -> c_int {
        let how = Reducing { root: None, times: true, verb: Communicator::reduce_scatter_block };
        call(NAME, Some(comm), |process| reduce(process, &how, (sendbuf, recvbuf), (recvcount as i64, datatype), op, comm))
    }
}

/// Scans are defined inside one group only (MPI 5.0 §6.11).
fn scan(
    process: &'static Process,
    verb: Verb,
    buffers: (*const u8, *mut u8),
    data: (i64, Datatype),
    op: Op,
    comm: Comm,
) -> Res {
    let object = comm::require(comm)?;
    if is_inter(object) {
        return Failure::err(MPI_ERR_COMM, format!("comm is {}, an inter-communicator", object.describe()));
    }
    reduce(process, &Reducing { root: None, times: false, verb }, buffers, data, op, comm)
}

mpi_fn! {
    fn MPI_Scan[c_int], MPI_Scan_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| scan(process, Communicator::scan, (sendbuf, recvbuf), (count as i64, datatype), op, comm))
    }
}
mpi_fn! {
    fn MPI_Exscan[c_int], MPI_Exscan_c[Count]<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| scan(process, Communicator::exscan, (sendbuf, recvbuf), (count as i64, datatype), op, comm))
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
    let (sendcount, sendtype) = if is_in_place(send.0) && !is_inter(object) {
        (recv.1, recvtype)
    } else {
        let sendtype = side(process, send, "send")?;
        let some = send.1 > 0 && sendtype.packed > 0;
        apart(process, send.0, recv.0, some)?;
        if !is_inter(object) {
            // Where our block goes in an allgather or gather.
            let own = i64::from(object.comm.rank()).wrapping_mul(recv.1);
            apart(process, send.0, place(recv.0, own, recvtype), some)?;
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
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf, recvcount as i64, recvtype));
            let args = match part(object, root)? {
                Part::Root => return both(process, object, send, recv, root, Communicator::gather),
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
            process.collective(object, Communicator::gather, &args)
        })
    }
}

mpi_fn! {
    fn MPI_Scatter[c_int], MPI_Scatter_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let object = comm::require(comm)?;
            let (send, recv) = ((sendbuf, sendcount as i64, sendtype), (recvbuf as *const u8, recvcount as i64, recvtype));
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
                        apart(process, own, recvbuf, recv.1 > 0 && recvtype.packed > 0)?;
                        (recv.1, recvtype)
                    };
                    CollArgs { sendbuf, sendcount: send.1 as u64, sendtype, recvbuf, recvcount: recvcount as u64, recvtype, root, ..NOTHING }
                }
            };
            process.collective(object, Communicator::scatter, &args)
        })
    }
}
