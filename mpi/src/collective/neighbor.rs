//! Neighborhood collectives (MPI 5.0 §8.6): arguments checked, the calling rank's neighbors added. Arrays have an entry
//! for each source or destination, and nothing is in place.

use super::vector_variants::{blocks, check_places, counts, many, types_of};
use super::*;
use crate::call::memory::{In, slice};
use crate::comm::Placed;
use crate::error::call;
use crate::topo::placed;
use crate::types::{Aint, Comm, Count};
use oxmpi_coll::neighbors;

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
    caller: Caller,
    (object, placed): (&'static CommObject, &Placed),
    collective: Collective,
    args: Arguments,
) -> Res {
    caller.run(object, collective, Arguments { neighbors: Some(&placed.neighbors()), ..args }, None)
}

/// Both sides where all blocks have one length. `each`: a block for each destination, not one for all.
fn equal(process: &Process, placed: &Placed, send: Data, recv: Data) -> Res<Arguments<'static>> {
    let sendtype = side(process, send, "send")?;
    let recvtype = side(process, recv, "recv")?;
    let some = send.1 > 0 && recv.1 > 0 && sendtype.packed > 0 && recvtype.packed > 0;
    check_apart(process, send.0, recv.0, some && placed.sources() > 0 && placed.destinations() > 0)?;
    let send = Half::one(send.0, send.1 as u64, sendtype);
    Ok(Arguments::of(send, Half::one(recv.0, recv.1 as u64, recvtype)))
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_allgather<N: Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    let args = equal(caller.process, at.1, send, recv)?;
    run(caller, at, NEIGHBOR_ALLGATHER, args)
}
collective_fns! {
    neighbor_allgather<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_allgather[c_int], MPI_Neighbor_allgather_c[Count];
    fn MPI_Ineighbor_allgather[c_int], MPI_Ineighbor_allgather_c[Count];
    fn MPI_Neighbor_allgather_init[c_int], MPI_Neighbor_allgather_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoall<N: Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
    let args = equal(caller.process, at.1, send, recv)?;
    run(caller, at, NEIGHBOR_ALLTOALL, args)
}
collective_fns! {
    neighbor_alltoall<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcount: N, recvtype: Datatype) on comm;
    fn MPI_Neighbor_alltoall[c_int], MPI_Neighbor_alltoall_c[Count];
    fn MPI_Ineighbor_alltoall[c_int], MPI_Ineighbor_alltoall_c[Count];
    fn MPI_Neighbor_alltoall_init[c_int], MPI_Neighbor_alltoall_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_allgatherv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<N>,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    let sendcount: i64 = sendcount.into();
    let sendtype = side(caller.process, (sendbuf, sendcount, sendtype), "send")?;
    // SAFETY: the standard has the caller pass both lists with an element for each source.
    let recv = unsafe { blocks(at.1.sources(), recvcounts, displs, ("recvcounts", "displs")) }?;
    let recvtype = many(caller.process, recvbuf, &recv, recvtype, "recv")?;
    let send = Half::one(sendbuf, sendcount as u64, sendtype);
    run(caller, at, NEIGHBOR_ALLGATHERV, Arguments::of(send, Half::many(recvbuf, &recv, recvtype)))
}
collective_fns! {
    neighbor_allgatherv<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, recvbuf: Address, recvcounts: In<N>, displs: In<N>, recvtype: Datatype) on comm;
    fn MPI_Neighbor_allgatherv[c_int], MPI_Neighbor_allgatherv_c[Count];
    fn MPI_Ineighbor_allgatherv[c_int], MPI_Ineighbor_allgatherv_c[Count];
    fn MPI_Neighbor_allgatherv_init[c_int], MPI_Neighbor_allgatherv_init_c[Count];
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoallv<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<N>,
    sendtype: Datatype,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<N>,
    recvtype: Datatype,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    // SAFETY: the standard has the caller pass both lists with an element for each destination.
    let send = unsafe { blocks(at.1.destinations(), sendcounts, sdispls, ("sendcounts", "sdispls")) }?;
    let sendtype = many(caller.process, sendbuf, &send, sendtype, "send")?;
    // SAFETY: the standard has the caller pass both lists with an element for each source.
    let recv = unsafe { blocks(at.1.sources(), recvcounts, rdispls, ("recvcounts", "rdispls")) }?;
    let recvtype = many(caller.process, recvbuf, &recv, recvtype, "recv")?;
    let args = Arguments::of(Half::many(sendbuf, &send, sendtype), Half::many(recvbuf, &recv, recvtype));
    run(caller, at, NEIGHBOR_ALLTOALLV, args)
}
collective_fns! {
    neighbor_alltoallv<N>(sendbuf: Address, sendcounts: In<N>, sdispls: In<N>, sendtype: Datatype, recvbuf: Address, recvcounts: In<N>, rdispls: In<N>, recvtype: Datatype) on comm;
    fn MPI_Neighbor_alltoallv[c_int], MPI_Neighbor_alltoallv_c[Count];
    fn MPI_Ineighbor_alltoallv[c_int], MPI_Ineighbor_alltoallv_c[Count];
    fn MPI_Neighbor_alltoallv_init[c_int], MPI_Neighbor_alltoallv_init_c[Count];
}

/// Displacements in bytes are wide whatever the counts are.
///
/// # Safety
/// As for [`slice()`], of both.
unsafe fn in_bytes<N: Copy + Into<i64>>(
    n: u32,
    counts: In<N>,
    displs: In<Aint>,
    names: (&str, &str),
) -> Res<Blocks> {
    // SAFETY: the caller's promise.
    let counts = unsafe { self::counts(n, counts, names.0) }?;
    // SAFETY: the caller's promise.
    Ok(Blocks { counts, displs: unsafe { slice(displs, n as usize, names.1) }?.to_vec() })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn neighbor_alltoallw<N: Copy + Into<i64>>(
    caller: Caller,
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<Aint>,
    sendtypes: In<Datatype>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<Aint>,
    recvtypes: In<Datatype>,
    comm: Comm,
) -> Res {
    let at = placed(comm)?;
    not_in_place(sendbuf, "send")?;
    not_in_place(recvbuf, "recv")?;
    // SAFETY: the standard has the caller pass the three lists with an element for each destination.
    let (send, sendtypes) = unsafe {
        let send = in_bytes(at.1.destinations(), sendcounts, sdispls, ("sendcounts", "sdispls"))?;
        (send, slice(sendtypes, at.1.destinations() as usize, "sendtypes")?)
    };
    let sendtypes = types_of(&send, sendtypes, "sendtypes")?;
    // SAFETY: the standard has the caller pass the three lists with an element for each source.
    let (recv, recvtypes) = unsafe {
        let recv = in_bytes(at.1.sources(), recvcounts, rdispls, ("recvcounts", "rdispls"))?;
        (recv, slice(recvtypes, at.1.sources() as usize, "recvtypes")?)
    };
    let recvtypes = types_of(&recv, recvtypes, "recvtypes")?;
    check_places(caller.process, sendbuf, &send, &sendtypes, "sendbuf")?;
    check_places(caller.process, recvbuf, &recv, &recvtypes, "recvbuf")?;
    let args =
        Arguments::of(Half::mixed(sendbuf, &send, &sendtypes), Half::mixed(recvbuf, &recv, &recvtypes));
    run(caller, at, NEIGHBOR_ALLTOALLW, args)
}
collective_fns! {
    neighbor_alltoallw<N>(sendbuf: Address, sendcounts: In<N>, sdispls: In<Aint>, sendtypes: In<Datatype>, recvbuf: Address, recvcounts: In<N>, rdispls: In<Aint>, recvtypes: In<Datatype>) on comm;
    fn MPI_Neighbor_alltoallw[c_int], MPI_Neighbor_alltoallw_c[Count];
    fn MPI_Ineighbor_alltoallw[c_int], MPI_Ineighbor_alltoallw_c[Count];
    fn MPI_Neighbor_alltoallw_init[c_int], MPI_Neighbor_alltoallw_init_c[Count];
}
