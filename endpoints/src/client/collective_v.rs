//! Collectives on endpoints whose blocks have counts, displacements and datatypes of their own.

use super::buffers::Buffer;
use super::collective::{NOTHING, Plan, collective, into, not_negative, role};
use super::{comm, error};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{access, op};

const READ: u32 = access::READ;
const BOTH: u32 = access::READ | access::WRITE;

/// A count or displacement of any width.
pub trait Word: Copy {
    fn wide(self) -> i64;
}

macro_rules! words { ($($t:ty)+) => {$(
    impl Word for $t {
        fn wide(self) -> i64 { self as i64 }
    }
)+} }
words!(c_int i64 isize);

/// The program's list.
///
/// # Safety
/// It has that many entries.
pub unsafe fn list<W: Word>(at: *const W, count: c_int) -> Vec<i64> {
    // SAFETY: the caller's promise.
    (0..count.max(0) as usize).map(|i| unsafe { *at.add(i) }.wide()).collect()
}

/// Blocks of one datatype.
///
/// # Safety
/// The lists have that many entries.
unsafe fn blocks<C: Word, D: Word>(
    at: *const c_void,
    counts: *const C,
    displs: *const D,
    count: c_int,
    dtype: Datatype,
) -> Result<Buffer, c_int> {
    if at as usize == IN_PLACE {
        return Ok(Buffer::InPlace);
    }
    // SAFETY: the caller's promise.
    let (counts, displs) = unsafe { (list(counts, count), list(displs, count)) };
    not_negative(&counts)?;
    Ok(Buffer::Blocks { at: at.cast_mut().cast(), counts, displs, dtype })
}

/// Blocks with datatypes of their own.
///
/// # Safety
/// As above.
unsafe fn typed<C: Word, D: Word>(
    at: *const c_void,
    counts: *const C,
    displs: *const D,
    types: *const Datatype,
    count: c_int,
) -> Result<Buffer, c_int> {
    if at as usize == IN_PLACE {
        return Ok(Buffer::InPlace);
    }
    // SAFETY: the caller's promise.
    let (counts, displs, types) = unsafe {
        let types = (0..count.max(0) as usize).map(|i| *types.add(i)).collect();
        (list(counts, count), list(displs, count), types)
    };
    not_negative(&counts)?;
    Ok(Buffer::Types { at: at.cast_mut().cast(), counts, displs, types })
}

collective! {
    fn [MPI_Gatherv, MPI_Gatherv_c, MPI_Igatherv, MPI_Igatherv_c, MPI_Gatherv_init, MPI_Gatherv_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcounts: *const N, displs: *const D,
     recvtype: Datatype, root: c_int) |ep| {
        let (is_root, sends) = role(ep, root)?;
        let first = if sends { Buffer::plain(sendbuf, sendcount as i64, sendtype) } else { NOTHING.0 };
        let mut second = NOTHING;
        if is_root {
            second = into(&first, blocks(recvbuf, recvcounts, displs, ep.peers(), recvtype)?);
        }
        Plan::new(op::GATHERV, (first, READ), second).root(root)
    }
}

collective! {
    fn [MPI_Scatterv, MPI_Scatterv_c, MPI_Iscatterv, MPI_Iscatterv_c, MPI_Scatterv_init, MPI_Scatterv_init_c]
    (sendbuf: *const c_void, sendcounts: *const N, displs: *const D, sendtype: Datatype, recvbuf: *mut c_void, recvcount: N,
     recvtype: Datatype, root: c_int) |ep| {
        let (is_root, receives) = role(ep, root)?;
        let mut first = NOTHING;
        if is_root {
            first = (blocks(sendbuf, sendcounts, displs, ep.peers(), sendtype)?, READ);
        }
        let second = if receives { Buffer::plain(recvbuf, recvcount as i64, recvtype) } else { NOTHING.0 };
        Plan::new(op::SCATTERV, first, (second, access::WRITE)).root(root)
    }
}

collective! {
    fn [MPI_Allgatherv, MPI_Allgatherv_c, MPI_Iallgatherv, MPI_Iallgatherv_c, MPI_Allgatherv_init, MPI_Allgatherv_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcounts: *const N, displs: *const D,
     recvtype: Datatype) |ep| {
        let first = Buffer::plain(sendbuf, sendcount as i64, sendtype);
        let second = into(&first, blocks(recvbuf, recvcounts, displs, ep.peers(), recvtype)?);
        Plan::new(op::ALLGATHERV, (first, READ), second)
    }
}

collective! {
    fn [MPI_Alltoallv, MPI_Alltoallv_c, MPI_Ialltoallv, MPI_Ialltoallv_c, MPI_Alltoallv_init, MPI_Alltoallv_init_c]
    (sendbuf: *const c_void, sendcounts: *const N, sdispls: *const D, sendtype: Datatype, recvbuf: *mut c_void,
     recvcounts: *const N, rdispls: *const D, recvtype: Datatype) |ep| {
        let first = blocks(sendbuf, sendcounts, sdispls, ep.peers(), sendtype)?;
        let second = into(&first, blocks(recvbuf, recvcounts, rdispls, ep.peers(), recvtype)?);
        Plan::new(op::ALLTOALLV, (first, READ), second)
    }
}

collective! {
    fn [MPI_Alltoallw, MPI_Alltoallw_c, MPI_Ialltoallw, MPI_Ialltoallw_c, MPI_Alltoallw_init, MPI_Alltoallw_init_c]
    (sendbuf: *const c_void, sendcounts: *const N, sdispls: *const D, sendtypes: *const Datatype, recvbuf: *mut c_void,
     recvcounts: *const N, rdispls: *const D, recvtypes: *const Datatype) |ep| {
        let first = typed(sendbuf, sendcounts, sdispls, sendtypes, ep.peers())?;
        let second = into(&first, typed(recvbuf, recvcounts, rdispls, recvtypes, ep.peers())?);
        Plan::new(op::ALLTOALLW, (first, READ), second)
    }
}

collective! {
    fn [MPI_Neighbor_allgatherv, MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv, MPI_Ineighbor_allgatherv_c,
        MPI_Neighbor_allgatherv_init, MPI_Neighbor_allgatherv_init_c]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, recvbuf: *mut c_void, recvcounts: *const N, displs: *const D,
     recvtype: Datatype) |ep| {
        let (sources, _) = ep.degrees()?;
        let first = Buffer::plain(sendbuf, sendcount as i64, sendtype);
        let second = blocks(recvbuf, recvcounts, displs, sources, recvtype)?;
        Plan::new(op::NEIGHBOR_ALLGATHERV, (first, READ), (second, BOTH))
    }
}

collective! {
    fn [MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallv_c,
        MPI_Neighbor_alltoallv_init, MPI_Neighbor_alltoallv_init_c]
    (sendbuf: *const c_void, sendcounts: *const N, sdispls: *const D, sendtype: Datatype, recvbuf: *mut c_void,
     recvcounts: *const N, rdispls: *const D, recvtype: Datatype) |ep| {
        let (sources, destinations) = ep.degrees()?;
        let first = blocks(sendbuf, sendcounts, sdispls, destinations, sendtype)?;
        let second = blocks(recvbuf, recvcounts, rdispls, sources, recvtype)?;
        Plan::new(op::NEIGHBOR_ALLTOALLV, (first, READ), (second, BOTH))
    }
}

collective! {
    fn [MPI_Neighbor_alltoallw, MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoallw_c,
        MPI_Neighbor_alltoallw_init, MPI_Neighbor_alltoallw_init_c]
    (sendbuf: *const c_void, sendcounts: *const N, sdispls: *const isize, sendtypes: *const Datatype, recvbuf: *mut c_void,
     recvcounts: *const N, rdispls: *const isize, recvtypes: *const Datatype) |ep| {
        let (sources, destinations) = ep.degrees()?;
        let first = typed(sendbuf, sendcounts, sdispls, sendtypes, destinations)?;
        let second = typed(recvbuf, recvcounts, rdispls, recvtypes, sources)?;
        Plan::new(op::NEIGHBOR_ALLTOALLW, (first, READ), (second, BOTH))
    }
}
