//! Neighborhood collectives (MPI 5.0 §8.6): arguments checked, the calling rank's neighbors added. Arrays have an entry
//! for each source or destination, and nothing is in place.

use super::vector_variants::{Blocks, blocks, check_places, counts, many, types_of};
use super::*;
use crate::call::memory::slice;
use crate::comm::Placed;
use crate::error::call;
use crate::topo::placed;
use crate::types::{Aint, Comm, Count};
use oxmpi_coll::{Neighbors, neighbors};

impl Placed {
    fn sources(&self) -> u32 {
        self.neighbors.sources.len() as u32
    }

    fn destinations(&self) -> u32 {
        self.neighbors.destinations.len() as u32
    }

    /// As components take it; valid as long as `self`.
    fn neighbors(&self) -> Neighbors {
        Neighbors {
            size: size_of::<Neighbors>() as u32,
            flags: if self.neighbors.pairs { neighbors::PAIRS } else { 0 },
            num_sources: self.sources(),
            num_destinations: self.destinations(),
            sources: self.neighbors.sources.as_ptr(),
            destinations: self.neighbors.destinations.as_ptr(),
        }
    }
}

/// The collective with the neighbors added.
fn run(
    process: &Process,
    (object, placed): (&'static CommObject, &Placed),
    mode: CompletionMode,
    collective: Collective,
    args: CollArgs,
) -> Res {
    process.collective(object, mode, collective, CollArgs { neighbors: &placed.neighbors(), ..args }, None)
}

/// Both sides where all blocks have one length. `each`: a block for each destination, not one for all.
fn equal(process: &Process, placed: &Placed, send: Data<*const u8>, recv: Data<*mut u8>) -> Res<CollArgs> {
    let sendtype = side(process, send, "send")?;
    let recvtype = side(process, (recv.0, recv.1, recv.2), "recv")?;
    let some = send.1 > 0 && recv.1 > 0 && sendtype.packed > 0 && recvtype.packed > 0;
    check_apart(process, send.0, recv.0, some && placed.sources() > 0 && placed.destinations() > 0)?;
    Ok(CollArgs {
        sendbuf: send.0,
        sendcount: send.1 as u64,
        sendtype,
        recvbuf: recv.0,
        recvcount: recv.1 as u64,
        recvtype,
        ..NOTHING
    })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_allgather<N: Into<i64>>(
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
    let at = placed(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    run(process, at, mode, NEIGHBOR_ALLGATHER, equal(process, at.1, send, recv)?)
}
collective_fns! {
    neighbor_allgather<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_allgather[c_int], MPI_Neighbor_allgather_c[Count];
    fn MPI_Ineighbor_allgather[c_int], MPI_Ineighbor_allgather_c[Count];
    fn MPI_Neighbor_allgather_init[c_int], MPI_Neighbor_allgather_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoall<N: Into<i64>>(
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
    let at = placed(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    run(process, at, mode, NEIGHBOR_ALLTOALL, equal(process, at.1, send, recv)?)
}
collective_fns! {
    neighbor_alltoall<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_alltoall[c_int], MPI_Neighbor_alltoall_c[Count];
    fn MPI_Ineighbor_alltoall[c_int], MPI_Ineighbor_alltoall_c[Count];
    fn MPI_Neighbor_alltoall_init[c_int], MPI_Neighbor_alltoall_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_allgatherv<N: Copy + Into<i64>>(
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
    let at = placed(comm)?;
    let sendcount: i64 = sendcount.into();
    let sendtype = side(process, (sendbuf, sendcount, sendtype), "send")?;
    let recv = blocks(at.1.sources(), recvcounts, displs, ("recvcounts", "displs"))?;
    let args = CollArgs {
        sendbuf,
        sendcount: sendcount as u64,
        sendtype,
        recvbuf,
        recvtype: many(process, recvbuf, &recv, recvtype, "recv")?,
        recvcounts: recv.counts.as_ptr(),
        rdispls: recv.displs.as_ptr(),
        ..NOTHING
    };
    run(process, at, mode, NEIGHBOR_ALLGATHERV, args)
}
collective_fns! {
    neighbor_allgatherv<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_allgatherv[c_int], MPI_Neighbor_allgatherv_c[Count];
    fn MPI_Ineighbor_allgatherv[c_int], MPI_Ineighbor_allgatherv_c[Count];
    fn MPI_Neighbor_allgatherv_init[c_int], MPI_Neighbor_allgatherv_init_c[Count];
}

fn both((sendbuf, send): (*const u8, &Blocks), (recvbuf, recv): (*mut u8, &Blocks)) -> CollArgs {
    CollArgs {
        sendbuf,
        sendcounts: send.counts.as_ptr(),
        sdispls: send.displs.as_ptr(),
        recvbuf,
        recvcounts: recv.counts.as_ptr(),
        rdispls: recv.displs.as_ptr(),
        ..NOTHING
    }
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoallv<N: Copy + Into<i64>>(
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
    let at = placed(comm)?;
    let send = blocks(at.1.destinations(), sendcounts, sdispls, ("sendcounts", "sdispls"))?;
    let sendtype = many(process, sendbuf, &send, sendtype, "send")?;
    let recv = blocks(at.1.sources(), recvcounts, rdispls, ("recvcounts", "rdispls"))?;
    let recvtype = many(process, recvbuf, &recv, recvtype, "recv")?;
    let args = CollArgs { sendtype, recvtype, ..both((sendbuf, &send), (recvbuf, &recv)) };
    run(process, at, mode, NEIGHBOR_ALLTOALLV, args)
}
collective_fns! {
    neighbor_alltoallv<N>(sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtype: Datatype, recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_alltoallv[c_int], MPI_Neighbor_alltoallv_c[Count];
    fn MPI_Ineighbor_alltoallv[c_int], MPI_Ineighbor_alltoallv_c[Count];
    fn MPI_Neighbor_alltoallv_init[c_int], MPI_Neighbor_alltoallv_init_c[Count];
}

/// Displacements in bytes are wide whatever the counts are.
fn in_bytes<N: Copy + Into<i64>>(
    n: u32,
    counts: *const N,
    displs: *const Aint,
    names: (&str, &str),
) -> Res<Blocks> {
    let counts = self::counts(n, counts, names.0)?;
    Ok(Blocks { counts, displs: slice(displs, n as usize, names.1)?.to_vec() })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoallw<N: Copy + Into<i64>>(
    process: &'static Process,
    mode: CompletionMode,
    sendbuf: *const u8,
    sendcounts: *const N,
    sdispls: *const Aint,
    sendtypes: *const Datatype,
    recvbuf: *mut u8,
    recvcounts: *const N,
    rdispls: *const Aint,
    recvtypes: *const Datatype,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    not_in_place(sendbuf, "send")?;
    not_in_place(recvbuf, "recv")?;
    let send = in_bytes(at.1.destinations(), sendcounts, sdispls, ("sendcounts", "sdispls"))?;
    let sendtypes = types_of(&send, slice(sendtypes, send.counts.len(), "sendtypes")?, "sendtypes")?;
    let recv = in_bytes(at.1.sources(), recvcounts, rdispls, ("recvcounts", "rdispls"))?;
    let recvtypes = types_of(&recv, slice(recvtypes, recv.counts.len(), "recvtypes")?, "recvtypes")?;
    check_places(process, sendbuf, &send, &sendtypes, "sendbuf")?;
    check_places(process, recvbuf, &recv, &recvtypes, "recvbuf")?;
    let args = CollArgs {
        sendtypes: sendtypes.as_ptr(),
        recvtypes: recvtypes.as_ptr(),
        ..both((sendbuf, &send), (recvbuf, &recv))
    };
    run(process, at, mode, NEIGHBOR_ALLTOALLW, args)
}
collective_fns! {
    neighbor_alltoallw<N>(sendbuf: *const u8, sendcounts: *const N, sdispls: *const Aint, sendtypes: *const Datatype, recvbuf: *mut u8, recvcounts: *const N, rdispls: *const Aint, recvtypes: *const Datatype) on comm;
    fn MPI_Neighbor_alltoallw[c_int], MPI_Neighbor_alltoallw_c[Count];
    fn MPI_Ineighbor_alltoallw[c_int], MPI_Ineighbor_alltoallw_c[Count];
    fn MPI_Neighbor_alltoallw_init[c_int], MPI_Neighbor_alltoallw_init_c[Count];
}
