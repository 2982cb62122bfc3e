//! Operations of a whole communicator (§6).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Barrier mpi_barrier_ (comm: handles::In<Comm>)
}
procedure! {
    MPI_Ibarrier mpi_ibarrier_ (comm: handles::In<Comm>, request: handles::Out<Request>)
}
procedure! {
    MPI_Barrier_init mpi_barrier_init_ (comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>)
}
procedure! {
    MPI_Bcast mpi_bcast_ (buffer: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); }
}
procedure! {
    MPI_Bcast_c mpi_bcast_c_ (buffer: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); }
}
procedure! {
    MPI_Allgather mpi_allgather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Allgather_c mpi_allgather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Iallgather mpi_iallgather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Iallgather_c mpi_iallgather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Allgather_init mpi_allgather_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Allgather_init_c mpi_allgather_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Allgatherv mpi_allgatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); }
}
procedure! {
    MPI_Allgatherv_c mpi_allgatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); }
}
procedure! {
    MPI_Iallgatherv mpi_iallgatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Iallgatherv_c mpi_iallgatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Allgatherv_init mpi_allgatherv_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Allgatherv_init_c mpi_allgatherv_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Allreduce mpi_allreduce_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Allreduce_c mpi_allreduce_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Iallreduce mpi_iallreduce_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Iallreduce_c mpi_iallreduce_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Allreduce_init mpi_allreduce_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Allreduce_init_c mpi_allreduce_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Alltoall mpi_alltoall_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Alltoall_c mpi_alltoall_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Ialltoall mpi_ialltoall_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Ialltoall_c mpi_ialltoall_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Alltoall_init mpi_alltoall_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Alltoall_init_c mpi_alltoall_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; peers(comm)); blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Alltoallv mpi_alltoallv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); }
}
procedure! {
    MPI_Alltoallv_c mpi_alltoallv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); }
}
procedure! {
    MPI_Ialltoallv mpi_ialltoallv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Ialltoallv_c mpi_ialltoallv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Alltoallv_init mpi_alltoallv_init_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Alltoallv_init_c mpi_alltoallv_init_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; peers(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Alltoallw mpi_alltoallw_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtypes: handles::Array<Datatype>[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtypes: handles::Array<Datatype>[peers(comm)], comm: handles::In<Comm>) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); }
}
procedure! {
    MPI_Alltoallw_c mpi_alltoallw_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: handles::Array<Datatype>[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: handles::Array<Datatype>[peers(comm)], comm: handles::In<Comm>) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); }
}
procedure! {
    MPI_Ialltoallw mpi_ialltoallw_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtypes: Kept[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtypes: Kept[peers(comm)], comm: handles::In<Comm>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); later(request); }
}
procedure! {
    MPI_Ialltoallw_c mpi_ialltoallw_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: Kept[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: Kept[peers(comm)], comm: handles::In<Comm>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); later(request); }
}
procedure! {
    MPI_Alltoallw_init mpi_alltoallw_init_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtypes: Kept[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtypes: Kept[peers(comm)], comm: handles::In<Comm>, info: handles::In<Info>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Alltoallw_init_c mpi_alltoallw_init_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: Kept[peers_of(sendbuf, comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: Kept[peers(comm)], comm: handles::In<Comm>, info: handles::In<Info>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; peers(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Ibcast mpi_ibcast_ (buffer: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); later(request); }
}
procedure! {
    MPI_Ibcast_c mpi_ibcast_c_ (buffer: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); later(request); }
}
procedure! {
    MPI_Bcast_init mpi_bcast_init_ (buffer: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); started_later(request); }
}
procedure! {
    MPI_Bcast_init_c mpi_bcast_init_c_ (buffer: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [takes_part(root)] data(buffer, count, datatype); started_later(request); }
}
procedure! {
    MPI_Exscan mpi_exscan_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Exscan_c mpi_exscan_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Iexscan mpi_iexscan_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Iexscan_c mpi_iexscan_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Exscan_init mpi_exscan_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Exscan_init_c mpi_exscan_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Gather mpi_gather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Gather_c mpi_gather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); }
}
procedure! {
    MPI_Igather mpi_igather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Igather_c mpi_igather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Gather_init mpi_gather_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Gather_init_c mpi_gather_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] blocks_into(recvbuf, recvcount, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Gatherv mpi_gatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); }
}
procedure! {
    MPI_Gatherv_c mpi_gatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); }
}
procedure! {
    MPI_Igatherv mpi_igatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Igatherv_c mpi_igatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); later(request); }
}
procedure! {
    MPI_Gatherv_init mpi_gatherv_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Gatherv_init_c mpi_gatherv_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] data(sendbuf, sendcount, sendtype); [is_root(root, comm)] vector_into(recvbuf, recvcounts, displs, recvtype; peers(comm)); started_later(request); }
}
procedure! {
    MPI_Reduce mpi_reduce_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Reduce_c mpi_reduce_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Ireduce mpi_ireduce_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Ireduce_c mpi_ireduce_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Reduce_init mpi_reduce_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Reduce_init_c mpi_reduce_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [has_own(root)] reduced_from(sendbuf, datatype; elements(count)); [is_root(root, comm)] reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Reduce_scatter mpi_reduce_scatter_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); }
}
procedure! {
    MPI_Reduce_scatter_c mpi_reduce_scatter_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); }
}
procedure! {
    MPI_Ireduce_scatter mpi_ireduce_scatter_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); later(request); }
}
procedure! {
    MPI_Ireduce_scatter_c mpi_ireduce_scatter_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); later(request); }
}
procedure! {
    MPI_Reduce_scatter_init mpi_reduce_scatter_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); started_later(request); }
}
procedure! {
    MPI_Reduce_scatter_init_c mpi_reduce_scatter_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcounts: Place<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; sum(recvcounts, comm)); reduced_into(recvbuf, datatype; own_of(sendbuf, recvcounts, comm)); started_later(request); }
}
procedure! {
    MPI_Reduce_scatter_block mpi_reduce_scatter_block_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); }
}
procedure! {
    MPI_Reduce_scatter_block_c mpi_reduce_scatter_block_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); }
}
procedure! {
    MPI_Ireduce_scatter_block mpi_ireduce_scatter_block_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); later(request); }
}
procedure! {
    MPI_Ireduce_scatter_block_c mpi_ireduce_scatter_block_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); later(request); }
}
procedure! {
    MPI_Reduce_scatter_block_init mpi_reduce_scatter_block_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); started_later(request); }
}
procedure! {
    MPI_Reduce_scatter_block_init_c mpi_reduce_scatter_block_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, recvcount: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; of_all(recvcount, comm)); reduced_into(recvbuf, datatype; own(sendbuf, recvcount, comm)); started_later(request); }
}
procedure! {
    MPI_Scan mpi_scan_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Scan_c mpi_scan_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Iscan mpi_iscan_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Iscan_c mpi_iscan_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); later(request); }
}
procedure! {
    MPI_Scan_init mpi_scan_init_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Scan_init_c mpi_scan_init_c_ (sendbuf: Choice as descriptor, recvbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { reduced_from(sendbuf, datatype; elements(count)); reduced_into(recvbuf, datatype; elements(count)); started_later(request); }
}
procedure! {
    MPI_Scatter mpi_scatter_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Scatter_c mpi_scatter_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Iscatter mpi_iscatter_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Iscatter_c mpi_iscatter_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Scatter_init mpi_scatter_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); started_later(request); }
}
procedure! {
    MPI_Scatter_init_c mpi_scatter_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] blocks_from(sendbuf, sendcount, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); started_later(request); }
}
procedure! {
    MPI_Scatterv mpi_scatterv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, displs: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Scatterv_c mpi_scatterv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, displs: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Iscatterv mpi_iscatterv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, displs: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Iscatterv_c mpi_iscatterv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, displs: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Scatterv_init mpi_scatterv_init_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, displs: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); started_later(request); }
}
procedure! {
    MPI_Scatterv_init_c mpi_scatterv_init_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, displs: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, root: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { [is_root(root, comm)] vector_from(sendbuf, sendcounts, displs, sendtype; peers(comm)); [has_own(root)] data(recvbuf, recvcount, recvtype); started_later(request); }
}
