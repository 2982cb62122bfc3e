//! Collectives on endpoints whose blocks are all alike.
//!
//! Each of the three forms (blocking, nonblocking, persistent) of a collective makes a `Plan` of its arguments. The proxy runs
//! the nonblocking or the persistent function, in the order in which the endpoint's calls were issued.

use super::buffers::Buffer;
use super::comm::{self, EpComm};
use super::error;
use super::message::{complete, start};
use super::persistent::make;
use super::request::{self, FollowUpWork, Kind, Slot};
use super::state::Words;
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{access, op};

pub struct Plan {
    pub op: u32,
    pub root: c_int,
    pub mpi_op: Op,
    pub first: (Buffer, u32),
    pub second: (Buffer, u32),
    pub typed: bool,
    /// Counts of MPI_Reduce_scatter.
    pub counts: Option<Vec<i64>>,
    pub follow_up: FollowUpWork,
}

impl Plan {
    pub fn new(op: u32, first: (Buffer, u32), second: (Buffer, u32)) -> Plan {
        Plan {
            op,
            root: 0,
            mpi_op: OP_NULL,
            first,
            second,
            typed: false,
            counts: None,
            follow_up: FollowUpWork::Nothing,
        }
    }

    pub fn root(self, root: c_int) -> Plan {
        Plan { root, ..self }
    }
}

pub const NOTHING: (Buffer, u32) = (Buffer::None(0, BYTE), 0);
const READ: u32 = access::READ;

/// A receive buffer: read, too, where the send buffer is MPI_IN_PLACE.
pub fn into(first: &Buffer, second: Buffer) -> (Buffer, u32) {
    let in_place = matches!(first, Buffer::InPlace);
    (second, if in_place { access::READ | access::WRITE } else { access::WRITE })
}

fn prepare(comm: &EpComm, name: &'static str, plan: Plan, kind: Kind) -> Result<&'static mut Slot, c_int> {
    let persistent = if kind == Kind::Persistent { op::PERSISTENT } else { 0 };
    let slot = request::new(comm, name, plan.op | persistent, kind)?;
    let record = slot.record();
    record.root = plan.root;
    record.mpi_op = plan.mpi_op as u64;
    slot.follow_up = plan.follow_up;
    match slot.place_both(plan.first, plan.second, plan.typed, plan.counts.as_deref()) {
        Ok(()) => Ok(slot),
        Err(class) => {
            slot.free();
            Err(class)
        }
    }
}

pub fn blocking(comm: &EpComm, name: &'static str, plan: Plan) -> Result<(), c_int> {
    complete(prepare(comm, name, plan, Kind::Transfer)?, core::ptr::null_mut())
}

/// # Safety
/// `request` is the program's place for it.
pub unsafe fn nonblocking(
    comm: &EpComm,
    name: &'static str,
    plan: Plan,
    request: *mut Request,
) -> Result<(), c_int> {
    // SAFETY: the caller's promise.
    unsafe { start(prepare(comm, name, plan, Kind::Transfer)?, request) };
    Ok(())
}

/// # Safety
/// As above.
pub unsafe fn persistent(
    comm: &EpComm,
    name: &'static str,
    plan: Plan,
    info: Info,
    request: *mut Request,
) -> Result<(), c_int> {
    let hints = Words::of_hints(info)?;
    let slot = prepare(comm, name, plan, Kind::Persistent)?;
    slot.attach_hints(hints);
    // SAFETY: the caller's promise.
    unsafe { make(slot, request) }
}

/// Defines the forms of a collective, each in two widths; the body makes the plan.
macro_rules! collective {
    (fn [$b:ident, $bc:ident, $i:ident, $ic:ident, $p:ident, $pc:ident] ($($a:ident: $t:ty),* $(,)?) |$ep:ident| $body:block) => {
        on_endpoints! {
            fn [$b [c_int, c_int], $bc [i64, isize]] ($($a: $t,)* comm: Comm) on comm, $ep {
                let plan = $body;
                super::collective::blocking($ep, NAME, plan)
            }
        }
        on_endpoints! {
            fn [$i [c_int, c_int], $ic [i64, isize]] ($($a: $t,)* comm: Comm, request: *mut Request) on comm, $ep {
                let plan = $body;
                super::collective::nonblocking($ep, NAME, plan, request)
            }
        }
        on_endpoints! {
            fn [$p [c_int, c_int], $pc [i64, isize]] ($($a: $t,)* comm: Comm, info: Info, request: *mut Request) on comm, $ep {
                let plan = $body;
                super::collective::persistent($ep, NAME, plan, info, request)
            }
        }
    };
}
pub(super) use collective;

/// What this endpoint does in an operation with a root: is it the root, and does it take part as one of the others?
pub fn role(comm: &EpComm, root: c_int) -> Result<(bool, bool), c_int> {
    if comm.is_inter() {
        return match root {
            ROOT => Ok((true, false)),
            PROC_NULL => Ok((false, false)),
            root if (0..comm.remote_size).contains(&root) => Ok((false, true)),
            _ => Err(ERR_ROOT),
        };
    }
    if !(0..comm.size).contains(&root) {
        return Err(ERR_ROOT);
    }
    Ok((comm.rank == root, true))
}

pub fn not_negative(counts: &[i64]) -> Result<(), c_int> {
    if counts.iter().any(|c| *c < 0) { Err(ERR_COUNT) } else { Ok(()) }
}

on_endpoints! {
    fn [MPI_Barrier] (comm: Comm) on comm, ep {
        blocking(ep, NAME, Plan::new(op::BARRIER, NOTHING, NOTHING))
    }
}

on_endpoints! {
    fn [MPI_Ibarrier] (comm: Comm, request: *mut Request) on comm, ep {
        nonblocking(ep, NAME, Plan::new(op::BARRIER, NOTHING, NOTHING), request)
    }
}

on_endpoints! {
    fn [MPI_Barrier_init] (comm: Comm, info: Info, request: *mut Request) on comm, ep {
        persistent(ep, NAME, Plan::new(op::BARRIER, NOTHING, NOTHING), info, request)
    }
}

collective! {
    fn [MPI_Bcast, MPI_Bcast_c, MPI_Ibcast, MPI_Ibcast_c, MPI_Bcast_init, MPI_Bcast_init_c]
    (buffer: *mut c_void, count: N, datatype: Datatype, root: c_int) |ep| {
        let (is_root, takes_part) = role(ep, root)?;
        not_negative(&[count as i64])?;
        let used = if is_root { access::READ } else { access::WRITE };
        let data = match is_root || takes_part {
            true => Buffer::plain(buffer, count as i64, datatype),
            false => Buffer::None(0, BYTE),
        };
        Plan::new(op::BCAST, (data, used), NOTHING).root(root)
    }
}

collective! {
    fn [MPI_Gather, MPI_Gather_c, MPI_Igather, MPI_Igather_c, MPI_Gather_init, MPI_Gather_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype,
     root: c_int) |ep| {
        let (is_root, sends) = role(ep, root)?;
        let first = if sends { Buffer::plain(sendbuf, sendcount as i64, sendtype) } else { NOTHING.0 };
        let mut second = NOTHING;
        if is_root {
            not_negative(&[recvcount as i64])?;
            second = into(&first, Buffer::times(recvbuf, recvcount as i64, ep.peers(), recvtype));
        }
        Plan::new(op::GATHER, (first, READ), second).root(root)
    }
}

collective! {
    fn [MPI_Scatter, MPI_Scatter_c, MPI_Iscatter, MPI_Iscatter_c, MPI_Scatter_init, MPI_Scatter_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype,
     root: c_int) |ep| {
        let (is_root, receives) = role(ep, root)?;
        let mut first = NOTHING;
        if is_root {
            not_negative(&[sendcount as i64])?;
            first = (Buffer::times(sendbuf, sendcount as i64, ep.peers(), sendtype), READ);
        }
        let second = if receives { Buffer::plain(recvbuf, recvcount as i64, recvtype) } else { NOTHING.0 };
        Plan::new(op::SCATTER, first, (second, access::WRITE)).root(root)
    }
}

collective! {
    fn [MPI_Allgather, MPI_Allgather_c, MPI_Iallgather, MPI_Iallgather_c, MPI_Allgather_init, MPI_Allgather_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype)
    |ep| {
        not_negative(&[recvcount as i64])?;
        let first = Buffer::plain(sendbuf, sendcount as i64, sendtype);
        let second = into(&first, Buffer::times(recvbuf, recvcount as i64, ep.peers(), recvtype));
        Plan::new(op::ALLGATHER, (first, READ), second)
    }
}

collective! {
    fn [MPI_Alltoall, MPI_Alltoall_c, MPI_Ialltoall, MPI_Ialltoall_c, MPI_Alltoall_init, MPI_Alltoall_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype)
    |ep| {
        not_negative(&[recvcount as i64])?;
        let first = Buffer::times(sendbuf, sendcount as i64, ep.peers(), sendtype);
        let second = into(&first, Buffer::times(recvbuf, recvcount as i64, ep.peers(), recvtype));
        Plan::new(op::ALLTOALL, (first, READ), second)
    }
}

collective! {
    fn [MPI_Neighbor_allgather, MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather, MPI_Ineighbor_allgather_c,
        MPI_Neighbor_allgather_init, MPI_Neighbor_allgather_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype)
    |ep| {
        let (sources, _) = ep.degrees()?;
        not_negative(&[sendcount as i64, recvcount as i64])?;
        let first = Buffer::plain(sendbuf, sendcount as i64, sendtype);
        // Blocks of MPI_PROC_NULL are left alone.
        let second = (Buffer::times(recvbuf, recvcount as i64, sources, recvtype), access::READ | access::WRITE);
        Plan::new(op::NEIGHBOR_ALLGATHER, (first, READ), second)
    }
}

collective! {
    fn [MPI_Neighbor_alltoall, MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoall_c,
        MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoall_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N, recvtype: Datatype)
    |ep| {
        let (sources, destinations) = ep.degrees()?;
        not_negative(&[sendcount as i64, recvcount as i64])?;
        let first = Buffer::times(sendbuf, sendcount as i64, destinations, sendtype);
        let second = (Buffer::times(recvbuf, recvcount as i64, sources, recvtype), access::READ | access::WRITE);
        Plan::new(op::NEIGHBOR_ALLTOALL, (first, READ), second)
    }
}
