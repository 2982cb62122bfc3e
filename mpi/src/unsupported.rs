//! Functions of later work: each says so by name. Made by `cargo xtask generate` from mpi/abi; do not edit.

use crate::types::*;
use core::ffi::c_int;

// Error handlers, classes and codes (§9.3 to §9.5)
unsupported! {
    MPI_Session_call_errhandler(session: Session, errorcode: c_int) [none];
    MPI_Session_get_errhandler(session: Session, errhandler: usize) [none];
    MPI_Session_set_errhandler(session: Session, errhandler: usize) [none];
    MPI_Win_call_errhandler(win: Win, errorcode: c_int) [none];
    MPI_Win_get_errhandler(win: Win, errhandler: usize) [none];
    MPI_Win_set_errhandler(win: Win, errhandler: usize) [none];
}

// Who talks to whom (§7.4, §7.6, §7.8)
unsupported! {
    MPI_Comm_create_from_group(group: usize, stringtag: usize, info: usize, errhandler: usize, newcomm: usize) [none];
    MPI_Intercomm_create_from_groups(local_group: usize, local_leader: c_int, remote_group: usize, remote_leader: c_int, stringtag: usize, info: usize, errhandler: usize, newintercomm: usize) [none];
}

// Ordered sets of processes (§7.3)
unsupported! {
    MPI_Group_from_session_pset(session: Session, pset_name: usize, newgroup: usize) [none];
}

// Buffered sends and their buffers (§3.6)
unsupported! {
    MPI_Session_attach_buffer(session: Session, buffer: usize, size: c_int) [none];
    MPI_Session_attach_buffer_c(session: Session, buffer: usize, size: Count) [none];
    MPI_Session_detach_buffer(session: Session, buffer_addr: usize, size: usize) [none];
    MPI_Session_detach_buffer_c(session: Session, buffer_addr: usize, size: usize) [none];
    MPI_Session_flush_buffer(session: Session) [none];
    MPI_Session_iflush_buffer(session: Session, request: usize) [none];
}

// Operations of a whole communicator (§6)
unsupported! {
    MPI_Ibarrier(comm: Comm, request: usize) [comm comm];
    MPI_Barrier_init(comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iallgather(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Iallgather_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Allgather_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Allgather_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iallgatherv(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Iallgatherv_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Allgatherv_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Allgatherv_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iallreduce(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Iallreduce_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Allreduce_init(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Allreduce_init_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ialltoall(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ialltoall_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Alltoall_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Alltoall_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ialltoallv(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ialltoallv_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Alltoallv_init(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Alltoallv_init_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ialltoallw(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ialltoallw_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, request: usize) [comm comm];
    MPI_Alltoallw_init(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Alltoallw_init_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ibcast(buffer: usize, count: c_int, datatype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Ibcast_c(buffer: usize, count: Count, datatype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Bcast_init(buffer: usize, count: c_int, datatype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Bcast_init_c(buffer: usize, count: Count, datatype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iexscan(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Iexscan_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Exscan_init(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Exscan_init_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Igather(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Igather_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Gather_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Gather_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Igatherv(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Igatherv_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Gatherv_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Gatherv_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ireduce(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Ireduce_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Reduce_init(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Reduce_init_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ireduce_scatter(sendbuf: usize, recvbuf: usize, recvcounts: usize, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ireduce_scatter_c(sendbuf: usize, recvbuf: usize, recvcounts: usize, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Reduce_scatter_init(sendbuf: usize, recvbuf: usize, recvcounts: usize, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Reduce_scatter_init_c(sendbuf: usize, recvbuf: usize, recvcounts: usize, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Ireduce_scatter_block(sendbuf: usize, recvbuf: usize, recvcount: c_int, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ireduce_scatter_block_c(sendbuf: usize, recvbuf: usize, recvcount: Count, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Reduce_scatter_block_init(sendbuf: usize, recvbuf: usize, recvcount: c_int, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Reduce_scatter_block_init_c(sendbuf: usize, recvbuf: usize, recvcount: Count, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iscan(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Iscan_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, request: usize) [comm comm];
    MPI_Scan_init(sendbuf: usize, recvbuf: usize, count: c_int, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Scan_init_c(sendbuf: usize, recvbuf: usize, count: Count, datatype: usize, op: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iscatter(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Iscatter_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Scatter_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Scatter_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Iscatterv(sendbuf: usize, sendcounts: usize, displs: usize, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Iscatterv_c(sendbuf: usize, sendcounts: usize, displs: usize, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, request: usize) [comm comm];
    MPI_Scatterv_init(sendbuf: usize, sendcounts: usize, displs: usize, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Scatterv_init_c(sendbuf: usize, sendcounts: usize, displs: usize, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, root: c_int, comm: Comm, info: usize, request: usize) [comm comm];
}

// Neighbours and grids (§8)
unsupported! {
    MPI_Cart_coords(comm: Comm, rank: c_int, maxdims: c_int, coords: usize) [comm comm];
    MPI_Cart_create(comm_old: Comm, ndims: c_int, dims: usize, periods: usize, reorder: c_int, comm_cart: usize) [comm comm_old];
    MPI_Cart_get(comm: Comm, maxdims: c_int, dims: usize, periods: usize, coords: usize) [comm comm];
    MPI_Cart_map(comm: Comm, ndims: c_int, dims: usize, periods: usize, newrank: usize) [comm comm];
    MPI_Cart_rank(comm: Comm, coords: usize, rank: usize) [comm comm];
    MPI_Cart_shift(comm: Comm, direction: c_int, disp: c_int, rank_source: usize, rank_dest: usize) [comm comm];
    MPI_Cart_sub(comm: Comm, remain_dims: usize, newcomm: usize) [comm comm];
    MPI_Cartdim_get(comm: Comm, ndims: usize) [comm comm];
    MPI_Dims_create(nnodes: c_int, ndims: c_int, dims: usize) [none];
    MPI_Dist_graph_create(comm_old: Comm, n: c_int, sources: usize, degrees: usize, destinations: usize, weights: usize, info: usize, reorder: c_int, comm_dist_graph: usize) [comm comm_old];
    MPI_Dist_graph_create_adjacent(comm_old: Comm, indegree: c_int, sources: usize, sourceweights: usize, outdegree: c_int, destinations: usize, destweights: usize, info: usize, reorder: c_int, comm_dist_graph: usize) [comm comm_old];
    MPI_Dist_graph_neighbors(comm: Comm, maxindegree: c_int, sources: usize, sourceweights: usize, maxoutdegree: c_int, destinations: usize, destweights: usize) [comm comm];
    MPI_Dist_graph_neighbors_count(comm: Comm, indegree: usize, outdegree: usize, weighted: usize) [comm comm];
    MPI_Graph_create(comm_old: Comm, nnodes: c_int, indx: usize, edges: usize, reorder: c_int, comm_graph: usize) [comm comm_old];
    MPI_Graph_get(comm: Comm, maxindex: c_int, maxedges: c_int, indx: usize, edges: usize) [comm comm];
    MPI_Graph_map(comm: Comm, nnodes: c_int, indx: usize, edges: usize, newrank: usize) [comm comm];
    MPI_Graph_neighbors(comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: usize) [comm comm];
    MPI_Graph_neighbors_count(comm: Comm, rank: c_int, nneighbors: usize) [comm comm];
    MPI_Graphdims_get(comm: Comm, nnodes: usize, nedges: usize) [comm comm];
    MPI_Neighbor_allgather(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm) [comm comm];
    MPI_Neighbor_allgather_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm) [comm comm];
    MPI_Ineighbor_allgather(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ineighbor_allgather_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Neighbor_allgather_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_allgather_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_allgatherv(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm) [comm comm];
    MPI_Neighbor_allgatherv_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm) [comm comm];
    MPI_Ineighbor_allgatherv(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ineighbor_allgatherv_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Neighbor_allgatherv_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_allgatherv_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcounts: usize, displs: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoall(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm) [comm comm];
    MPI_Neighbor_alltoall_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm) [comm comm];
    MPI_Ineighbor_alltoall(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ineighbor_alltoall_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Neighbor_alltoall_init(sendbuf: usize, sendcount: c_int, sendtype: usize, recvbuf: usize, recvcount: c_int, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoall_init_c(sendbuf: usize, sendcount: Count, sendtype: usize, recvbuf: usize, recvcount: Count, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoallv(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm) [comm comm];
    MPI_Neighbor_alltoallv_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm) [comm comm];
    MPI_Ineighbor_alltoallv(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ineighbor_alltoallv_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, request: usize) [comm comm];
    MPI_Neighbor_alltoallv_init(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoallv_init_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtype: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtype: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoallw(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm) [comm comm];
    MPI_Neighbor_alltoallw_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm) [comm comm];
    MPI_Ineighbor_alltoallw(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, request: usize) [comm comm];
    MPI_Ineighbor_alltoallw_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, request: usize) [comm comm];
    MPI_Neighbor_alltoallw_init(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, info: usize, request: usize) [comm comm];
    MPI_Neighbor_alltoallw_init_c(sendbuf: usize, sendcounts: usize, sdispls: usize, sendtypes: usize, recvbuf: usize, recvcounts: usize, rdispls: usize, recvtypes: usize, comm: Comm, info: usize, request: usize) [comm comm];
}

// Windows, put, get, accumulate (§12)
unsupported! {
    MPI_Accumulate(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, op: usize, win: Win) [none];
    MPI_Accumulate_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, op: usize, win: Win) [none];
    MPI_Compare_and_swap(origin_addr: usize, compare_addr: usize, result_addr: usize, datatype: usize, target_rank: c_int, target_disp: Count, win: Win) [none];
    MPI_Fetch_and_op(origin_addr: usize, result_addr: usize, datatype: usize, target_rank: c_int, target_disp: Count, op: usize, win: Win) [none];
    MPI_Get(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, win: Win) [none];
    MPI_Get_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, win: Win) [none];
    MPI_Get_accumulate(origin_addr: usize, origin_count: c_int, origin_datatype: usize, result_addr: usize, result_count: c_int, result_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, op: usize, win: Win) [none];
    MPI_Get_accumulate_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, result_addr: usize, result_count: Count, result_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, op: usize, win: Win) [none];
    MPI_Put(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, win: Win) [none];
    MPI_Put_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, win: Win) [none];
    MPI_Raccumulate(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, op: usize, win: Win, request: usize) [none];
    MPI_Raccumulate_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, op: usize, win: Win, request: usize) [none];
    MPI_Rget(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, win: Win, request: usize) [none];
    MPI_Rget_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, win: Win, request: usize) [none];
    MPI_Rget_accumulate(origin_addr: usize, origin_count: c_int, origin_datatype: usize, result_addr: usize, result_count: c_int, result_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, op: usize, win: Win, request: usize) [none];
    MPI_Rget_accumulate_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, result_addr: usize, result_count: Count, result_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, op: usize, win: Win, request: usize) [none];
    MPI_Rput(origin_addr: usize, origin_count: c_int, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: c_int, target_datatype: usize, win: Win, request: usize) [none];
    MPI_Rput_c(origin_addr: usize, origin_count: Count, origin_datatype: usize, target_rank: c_int, target_disp: Count, target_count: Count, target_datatype: usize, win: Win, request: usize) [none];
    MPI_Win_allocate(size: Count, disp_unit: c_int, info: usize, comm: Comm, baseptr: usize, win: usize) [comm comm];
    MPI_Win_allocate_c(size: Count, disp_unit: Count, info: usize, comm: Comm, baseptr: usize, win: usize) [comm comm];
    MPI_Win_allocate_shared(size: Count, disp_unit: c_int, info: usize, comm: Comm, baseptr: usize, win: usize) [comm comm];
    MPI_Win_allocate_shared_c(size: Count, disp_unit: Count, info: usize, comm: Comm, baseptr: usize, win: usize) [comm comm];
    MPI_Win_attach(win: Win, base: usize, size: Count) [none];
    MPI_Win_complete(win: Win) [none];
    MPI_Win_create(base: usize, size: Count, disp_unit: c_int, info: usize, comm: Comm, win: usize) [comm comm];
    MPI_Win_create_c(base: usize, size: Count, disp_unit: Count, info: usize, comm: Comm, win: usize) [comm comm];
    MPI_Win_create_dynamic(info: usize, comm: Comm, win: usize) [comm comm];
    MPI_Win_create_keyval(win_copy_attr_fn: usize, win_delete_attr_fn: usize, win_keyval: usize, extra_state: usize) [none];
    MPI_Win_delete_attr(win: Win, win_keyval: c_int) [none];
    MPI_Win_detach(win: Win, base: usize) [none];
    MPI_Win_fence(assert: c_int, win: Win) [none];
    MPI_Win_flush(rank: c_int, win: Win) [none];
    MPI_Win_flush_all(win: Win) [none];
    MPI_Win_flush_local(rank: c_int, win: Win) [none];
    MPI_Win_flush_local_all(win: Win) [none];
    MPI_Win_free(win: usize) [none];
    MPI_Win_free_keyval(win_keyval: usize) [none];
    MPI_Win_get_attr(win: Win, win_keyval: c_int, attribute_val: usize, flag: usize) [none];
    MPI_Win_get_group(win: Win, group: usize) [none];
    MPI_Win_get_info(win: Win, info_used: usize) [none];
    MPI_Win_get_name(win: Win, win_name: usize, resultlen: usize) [none];
    MPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: Win) [none];
    MPI_Win_lock_all(assert: c_int, win: Win) [none];
    MPI_Win_post(group: usize, assert: c_int, win: Win) [none];
    MPI_Win_set_attr(win: Win, win_keyval: c_int, attribute_val: usize) [none];
    MPI_Win_set_info(win: Win, info: usize) [none];
    MPI_Win_set_name(win: Win, win_name: usize) [none];
    MPI_Win_shared_query(win: Win, rank: c_int, size: usize, disp_unit: usize, baseptr: usize) [none];
    MPI_Win_shared_query_c(win: Win, rank: c_int, size: usize, disp_unit: usize, baseptr: usize) [none];
    MPI_Win_start(group: usize, assert: c_int, win: Win) [none];
    MPI_Win_sync(win: Win) [none];
    MPI_Win_test(win: Win, flag: usize) [none];
    MPI_Win_unlock(rank: c_int, win: Win) [none];
    MPI_Win_unlock_all(win: Win) [none];
    MPI_Win_wait(win: Win) [none];
}

// Processes and connections made at run time (§11.8 to §11.10)
unsupported! {
    MPI_Close_port(port_name: usize) [none];
    MPI_Comm_accept(port_name: usize, info: usize, root: c_int, comm: Comm, newcomm: usize) [comm comm];
    MPI_Comm_connect(port_name: usize, info: usize, root: c_int, comm: Comm, newcomm: usize) [comm comm];
    MPI_Comm_join(fd: c_int, intercomm: usize) [none];
    MPI_Comm_spawn(command: usize, argv: usize, maxprocs: c_int, info: usize, root: c_int, comm: Comm, intercomm: usize, array_of_errcodes: usize) [comm comm];
    MPI_Comm_spawn_multiple(count: c_int, array_of_commands: usize, array_of_argv: usize, array_of_maxprocs: usize, array_of_info: usize, root: c_int, comm: Comm, intercomm: usize, array_of_errcodes: usize) [comm comm];
    MPI_Lookup_name(service_name: usize, info: usize, port_name: usize) [none];
    MPI_Open_port(info: usize, port_name: usize) [none];
    MPI_Publish_name(service_name: usize, info: usize, port_name: usize) [none];
    MPI_Unpublish_name(service_name: usize, info: usize, port_name: usize) [none];
}

// Starting without a world (§11.3)
unsupported! {
    MPI_Session_init(info: usize, errhandler: usize, session: usize) [none];
    MPI_Session_finalize(session: usize) [none];
    MPI_Session_get_info(session: Session, info_used: usize) [none];
    MPI_Session_get_nth_pset(session: Session, info: usize, n: c_int, pset_len: usize, pset_name: usize) [none];
    MPI_Session_get_num_psets(session: Session, info: usize, npset_names: usize) [none];
    MPI_Session_get_pset_info(session: Session, pset_name: usize, info: usize) [none];
}

// Files (§14)
unsupported! {
    MPI_File_call_errhandler(fh: File, errorcode: c_int) [none];
    MPI_File_close(fh: usize) [none];
    MPI_File_delete(filename: usize, info: usize) [none];
    MPI_File_get_amode(fh: File, amode: usize) [none];
    MPI_File_get_atomicity(fh: File, flag: usize) [none];
    MPI_File_get_byte_offset(fh: File, offset: Count, disp: usize) [none];
    MPI_File_get_errhandler(file: File, errhandler: usize) [none];
    MPI_File_get_group(fh: File, group: usize) [none];
    MPI_File_get_info(fh: File, info_used: usize) [none];
    MPI_File_get_position(fh: File, offset: usize) [none];
    MPI_File_get_position_shared(fh: File, offset: usize) [none];
    MPI_File_get_size(fh: File, size: usize) [none];
    MPI_File_get_type_extent(fh: File, datatype: usize, extent: usize) [none];
    MPI_File_get_type_extent_c(fh: File, datatype: usize, extent: usize) [none];
    MPI_File_get_view(fh: File, disp: usize, etype: usize, filetype: usize, datarep: usize) [none];
    MPI_File_iread(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iread_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iread_all(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iread_all_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iread_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iread_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iread_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iread_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iread_shared(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iread_shared_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iwrite(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iwrite_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iwrite_all(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iwrite_all_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iwrite_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iwrite_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iwrite_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iwrite_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_iwrite_shared(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [none];
    MPI_File_iwrite_shared_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [none];
    MPI_File_open(comm: Comm, filename: usize, amode: c_int, info: usize, fh: usize) [comm comm];
    MPI_File_preallocate(fh: File, size: Count) [none];
    MPI_File_read(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_read_all(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_all_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_read_all_begin(fh: File, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_read_all_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_read_all_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_read_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_read_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_read_at_all_begin(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_read_at_all_begin_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_read_at_all_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_read_ordered(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_ordered_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_read_ordered_begin(fh: File, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_read_ordered_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_read_ordered_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_read_shared(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_read_shared_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_seek(fh: File, offset: Count, whence: c_int) [none];
    MPI_File_seek_shared(fh: File, offset: Count, whence: c_int) [none];
    MPI_File_set_atomicity(fh: File, flag: c_int) [none];
    MPI_File_set_errhandler(file: File, errhandler: usize) [none];
    MPI_File_set_info(fh: File, info: usize) [none];
    MPI_File_set_size(fh: File, size: Count) [none];
    MPI_File_set_view(fh: File, disp: Count, etype: usize, filetype: usize, datarep: usize, info: usize) [none];
    MPI_File_sync(fh: File) [none];
    MPI_File_write(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_write_all(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_all_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_write_all_begin(fh: File, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_write_all_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_write_all_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_write_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_write_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_write_at_all_begin(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_write_at_all_begin_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_write_at_all_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_write_ordered(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_ordered_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_File_write_ordered_begin(fh: File, buf: usize, count: c_int, datatype: usize) [none];
    MPI_File_write_ordered_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [none];
    MPI_File_write_ordered_end(fh: File, buf: usize, status: usize) [none];
    MPI_File_write_shared(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [none];
    MPI_File_write_shared_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [none];
    MPI_Register_datarep(datarep: usize, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) [none];
    MPI_Register_datarep_c(datarep: usize, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) [none];
}

// The MPI tool information interface and profiling (§15)
unsupported! {
    MPI_T_category_changed(update_number: usize) [tool];
    MPI_T_category_get_categories(cat_index: c_int, len: c_int, indices: usize) [tool];
    MPI_T_category_get_cvars(cat_index: c_int, len: c_int, indices: usize) [tool];
    MPI_T_category_get_events(cat_index: c_int, len: c_int, indices: usize) [tool];
    MPI_T_category_get_index(name: usize, cat_index: usize) [tool];
    MPI_T_category_get_info(cat_index: c_int, name: usize, name_len: usize, desc: usize, desc_len: usize, num_cvars: usize, num_pvars: usize, num_categories: usize) [tool];
    MPI_T_category_get_num(num_cat: usize) [tool];
    MPI_T_category_get_num_events(cat_index: c_int, num_events: usize) [tool];
    MPI_T_category_get_pvars(cat_index: c_int, len: c_int, indices: usize) [tool];
    MPI_T_cvar_get_index(name: usize, cvar_index: usize) [tool];
    MPI_T_cvar_get_info(cvar_index: c_int, name: usize, name_len: usize, verbosity: usize, datatype: usize, enumtype: usize, desc: usize, desc_len: usize, bind: usize, scope: usize) [tool];
    MPI_T_cvar_get_num(num_cvar: usize) [tool];
    MPI_T_cvar_handle_alloc(cvar_index: c_int, obj_handle: usize, handle: usize, count: usize) [tool];
    MPI_T_cvar_handle_free(handle: usize) [tool];
    MPI_T_cvar_read(handle: usize, buf: usize) [tool];
    MPI_T_cvar_write(handle: usize, buf: usize) [tool];
    MPI_T_enum_get_info(enumtype: usize, num: usize, name: usize, name_len: usize) [tool];
    MPI_T_enum_get_item(enumtype: usize, indx: c_int, value: usize, name: usize, name_len: usize) [tool];
    MPI_T_event_callback_get_info(event_registration: usize, cb_safety: c_int, info_used: usize) [tool];
    MPI_T_event_callback_set_info(event_registration: usize, cb_safety: c_int, info: usize) [tool];
    MPI_T_event_copy(event_instance: usize, buffer: usize) [tool];
    MPI_T_event_get_index(name: usize, event_index: usize) [tool];
    MPI_T_event_get_info(event_index: c_int, name: usize, name_len: usize, verbosity: usize, array_of_datatypes: usize, array_of_displacements: usize, num_elements: usize, enumtype: usize, info: usize, desc: usize, desc_len: usize, bind: usize) [tool];
    MPI_T_event_get_num(num_events: usize) [tool];
    MPI_T_event_get_source(event_instance: usize, source_index: usize) [tool];
    MPI_T_event_get_timestamp(event_instance: usize, event_timestamp: usize) [tool];
    MPI_T_event_handle_alloc(event_index: c_int, obj_handle: usize, info: usize, event_registration: usize) [tool];
    MPI_T_event_handle_free(event_registration: usize, user_data: usize, free_cb_function: usize) [tool];
    MPI_T_event_handle_get_info(event_registration: usize, info_used: usize) [tool];
    MPI_T_event_handle_set_info(event_registration: usize, info: usize) [tool];
    MPI_T_event_read(event_instance: usize, element_index: c_int, buffer: usize) [tool];
    MPI_T_event_register_callback(event_registration: usize, cb_safety: c_int, info: usize, user_data: usize, event_cb_function: usize) [tool];
    MPI_T_event_set_dropped_handler(event_registration: usize, dropped_cb_function: usize) [tool];
    MPI_T_finalize() [tool];
    MPI_T_init_thread(required: c_int, provided: usize) [tool];
    MPI_T_pvar_get_index(name: usize, var_class: c_int, pvar_index: usize) [tool];
    MPI_T_pvar_get_info(pvar_index: c_int, name: usize, name_len: usize, verbosity: usize, var_class: usize, datatype: usize, enumtype: usize, desc: usize, desc_len: usize, bind: usize, readonly: usize, continuous: usize, atomic: usize) [tool];
    MPI_T_pvar_get_num(num_pvar: usize) [tool];
    MPI_T_pvar_handle_alloc(session: usize, pvar_index: c_int, obj_handle: usize, handle: usize, count: usize) [tool];
    MPI_T_pvar_handle_free(session: usize, handle: usize) [tool];
    MPI_T_pvar_read(session: usize, handle: usize, buf: usize) [tool];
    MPI_T_pvar_readreset(session: usize, handle: usize, buf: usize) [tool];
    MPI_T_pvar_reset(session: usize, handle: usize) [tool];
    MPI_T_pvar_session_create(session: usize) [tool];
    MPI_T_pvar_session_free(session: usize) [tool];
    MPI_T_pvar_start(session: usize, handle: usize) [tool];
    MPI_T_pvar_stop(session: usize, handle: usize) [tool];
    MPI_T_pvar_write(session: usize, handle: usize, buf: usize) [tool];
    MPI_T_source_get_info(source_index: c_int, name: usize, name_len: usize, desc: usize, desc_len: usize, ordering: usize, ticks_per_second: usize, max_ticks: usize, info: usize) [tool];
    MPI_T_source_get_num(num_sources: usize) [tool];
    MPI_T_source_get_timestamp(source_index: c_int, timestamp: usize) [tool];
}
