//! Neighbours and grids (§8).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Cart_coords mpi_cart_coords_ (comm: handles::In<Comm>, rank: Value<c_int>, maxdims: Value<c_int>, coords: Place<c_int>)
}
procedure! {
    MPI_Cart_create mpi_cart_create_ (comm_old: handles::In<Comm>, ndims: Value<c_int>, dims: Place<c_int>, periods: logical::ArrayIn[len(ndims)], reorder: logical::In, comm_cart: handles::Out<Comm>)
}
procedure! {
    MPI_Cart_get mpi_cart_get_ (comm: handles::In<Comm>, maxdims: Value<c_int>, dims: Place<c_int>, periods: logical::ArrayOut[len(maxdims)], coords: Place<c_int>)
}
procedure! {
    MPI_Cart_map mpi_cart_map_ (comm: handles::In<Comm>, ndims: Value<c_int>, dims: Place<c_int>, periods: logical::ArrayIn[len(ndims)], newrank: Place<c_int>)
}
procedure! {
    MPI_Cart_rank mpi_cart_rank_ (comm: handles::In<Comm>, coords: Place<c_int>, rank: Place<c_int>)
}
procedure! {
    MPI_Cart_shift mpi_cart_shift_ (comm: handles::In<Comm>, direction: Value<c_int>, disp: Value<c_int>, rank_source: Place<c_int>, rank_dest: Place<c_int>)
}
procedure! {
    MPI_Cartdim_get mpi_cartdim_get_ (comm: handles::In<Comm>, ndims: Place<c_int>)
}
procedure! {
    MPI_Dims_create mpi_dims_create_ (nnodes: Value<c_int>, ndims: Value<c_int>, dims: Place<c_int>)
}
procedure! {
    MPI_Dist_graph_create mpi_dist_graph_create_ (comm_old: handles::In<Comm>, n: Value<c_int>, sources: Place<c_int>, degrees: Place<c_int>, destinations: Place<c_int>, weights: Weights, info: handles::In<Info>, reorder: logical::In, comm_dist_graph: handles::Out<Comm>)
}
procedure! {
    MPI_Dist_graph_create_adjacent mpi_dist_graph_create_adjacent_ (comm_old: handles::In<Comm>, indegree: Value<c_int>, sources: Place<c_int>, sourceweights: Weights, outdegree: Value<c_int>, destinations: Place<c_int>, destweights: Weights, info: handles::In<Info>, reorder: logical::In, comm_dist_graph: handles::Out<Comm>)
}
procedure! {
    MPI_Dist_graph_neighbors mpi_dist_graph_neighbors_ (comm: handles::In<Comm>, maxindegree: Value<c_int>, sources: Place<c_int>, sourceweights: Weights, maxoutdegree: Value<c_int>, destinations: Place<c_int>, destweights: Weights)
}
procedure! {
    MPI_Dist_graph_neighbors_count mpi_dist_graph_neighbors_count_ (comm: handles::In<Comm>, indegree: Place<c_int>, outdegree: Place<c_int>, weighted: logical::Out)
}
procedure! {
    MPI_Graph_create mpi_graph_create_ (comm_old: handles::In<Comm>, nnodes: Value<c_int>, index: Place<c_int>, edges: Place<c_int>, reorder: logical::In, comm_graph: handles::Out<Comm>)
}
procedure! {
    MPI_Graph_get mpi_graph_get_ (comm: handles::In<Comm>, maxindex: Value<c_int>, maxedges: Value<c_int>, index: Place<c_int>, edges: Place<c_int>)
}
procedure! {
    MPI_Graph_map mpi_graph_map_ (comm: handles::In<Comm>, nnodes: Value<c_int>, index: Place<c_int>, edges: Place<c_int>, newrank: Place<c_int>)
}
procedure! {
    MPI_Graph_neighbors mpi_graph_neighbors_ (comm: handles::In<Comm>, rank: Value<c_int>, maxneighbors: Value<c_int>, neighbors: Place<c_int>)
}
procedure! {
    MPI_Graph_neighbors_count mpi_graph_neighbors_count_ (comm: handles::In<Comm>, rank: Value<c_int>, nneighbors: Place<c_int>)
}
procedure! {
    MPI_Graphdims_get mpi_graphdims_get_ (comm: handles::In<Comm>, nnodes: Place<c_int>, nedges: Place<c_int>)
}
procedure! {
    MPI_Neighbor_allgather mpi_neighbor_allgather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Neighbor_allgather_c mpi_neighbor_allgather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Ineighbor_allgather mpi_ineighbor_allgather_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Ineighbor_allgather_c mpi_ineighbor_allgather_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Neighbor_allgather_init mpi_neighbor_allgather_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_allgather_init_c mpi_neighbor_allgather_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_allgatherv mpi_neighbor_allgatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Neighbor_allgatherv_c mpi_neighbor_allgatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Ineighbor_allgatherv mpi_ineighbor_allgatherv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Ineighbor_allgatherv_c mpi_ineighbor_allgatherv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Neighbor_allgatherv_init mpi_neighbor_allgatherv_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, displs: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_allgatherv_init_c mpi_neighbor_allgatherv_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, displs: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); vector_into(recvbuf, recvcounts, displs, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoall mpi_neighbor_alltoall_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Neighbor_alltoall_c mpi_neighbor_alltoall_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Ineighbor_alltoall mpi_ineighbor_alltoall_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Ineighbor_alltoall_c mpi_ineighbor_alltoall_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Neighbor_alltoall_init mpi_neighbor_alltoall_init_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoall_init_c mpi_neighbor_alltoall_init_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { blocks_from(sendbuf, sendcount, sendtype; outdegree(comm)); blocks_into(recvbuf, recvcount, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoallv mpi_neighbor_alltoallv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Neighbor_alltoallv_c mpi_neighbor_alltoallv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); }
}
procedure! {
    MPI_Ineighbor_alltoallv mpi_ineighbor_alltoallv_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Ineighbor_alltoallv_c mpi_ineighbor_alltoallv_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); later(request); }
}
procedure! {
    MPI_Neighbor_alltoallv_init mpi_neighbor_alltoallv_init_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<c_int>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<c_int>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoallv_init_c mpi_neighbor_alltoallv_init_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtype: handles::In<Datatype>, recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtype: handles::In<Datatype>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { vector_from(sendbuf, sendcounts, sdispls, sendtype; outdegree(comm)); vector_into(recvbuf, recvcounts, rdispls, recvtype; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoallw mpi_neighbor_alltoallw_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<isize>, sendtypes: handles::Array<Datatype>[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<isize>, recvtypes: handles::Array<Datatype>[indegree(comm)], comm: handles::In<Comm>) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); }
}
procedure! {
    MPI_Neighbor_alltoallw_c mpi_neighbor_alltoallw_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: handles::Array<Datatype>[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: handles::Array<Datatype>[indegree(comm)], comm: handles::In<Comm>) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); }
}
procedure! {
    MPI_Ineighbor_alltoallw mpi_ineighbor_alltoallw_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<isize>, sendtypes: Kept[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<isize>, recvtypes: Kept[indegree(comm)], comm: handles::In<Comm>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); later(request); }
}
procedure! {
    MPI_Ineighbor_alltoallw_c mpi_ineighbor_alltoallw_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: Kept[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: Kept[indegree(comm)], comm: handles::In<Comm>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); later(request); }
}
procedure! {
    MPI_Neighbor_alltoallw_init mpi_neighbor_alltoallw_init_ (sendbuf: Choice as descriptor, sendcounts: Place<c_int>, sdispls: Place<isize>, sendtypes: Kept[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<c_int>, rdispls: Place<isize>, recvtypes: Kept[indegree(comm)], comm: handles::In<Comm>, info: handles::In<Info>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Neighbor_alltoallw_init_c mpi_neighbor_alltoallw_init_c_ (sendbuf: Choice as descriptor, sendcounts: Place<i64>, sdispls: Place<isize>, sendtypes: Kept[outdegree(comm)], recvbuf: Choice as descriptor, recvcounts: Place<i64>, rdispls: Place<isize>, recvtypes: Kept[indegree(comm)], comm: handles::In<Comm>, info: handles::In<Info>, request: kept::Request) on comm(comm) { each(sendbuf, sendcounts, sdispls, sendtypes; outdegree(comm)); each(recvbuf, recvcounts, rdispls, recvtypes; indegree(comm)); started_later(request); }
}
procedure! {
    MPI_Topo_test mpi_topo_test_ (comm: handles::In<Comm>, status: Place<c_int>)
}
