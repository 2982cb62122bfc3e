/* The blocking collectives by the others: with FORM_NONBLOCKING each call begins the operation and waits for
 * it, with FORM_PERSISTENT it makes a request, starts it, waits, and frees it. So a program tests those with all that
 * it tests the blocking ones with. */
#ifndef FORMS_H
#define FORMS_H

#include <mpi.h>

#if defined FORM_NONBLOCKING || defined FORM_PERSISTENT
static MPI_Request form_request;

static inline int form_done(int code) {
    if (code != MPI_SUCCESS) return code;
#ifdef FORM_PERSISTENT
    code = MPI_Start(&form_request);
    if (code != MPI_SUCCESS) return code;
#endif
    code = MPI_Wait(&form_request, MPI_STATUS_IGNORE);
#ifdef FORM_PERSISTENT
    int freed = MPI_Request_free(&form_request);
    if (code == MPI_SUCCESS) code = freed;
#endif
    return code;
}

#ifdef FORM_NONBLOCKING
#define FORM(later, again, ...) form_done(MPI_##later(__VA_ARGS__, &form_request))
#define FORM_C(later, again, ...) form_done(MPI_##later##_c(__VA_ARGS__, &form_request))
#else
#define FORM(later, again, ...) form_done(MPI_##again##_init(__VA_ARGS__, MPI_INFO_NULL, &form_request))
#define FORM_C(later, again, ...) form_done(MPI_##again##_init_c(__VA_ARGS__, MPI_INFO_NULL, &form_request))
#endif

#define MPI_Barrier(...) FORM(Ibarrier, Barrier, __VA_ARGS__)
#define MPI_Bcast(...) FORM(Ibcast, Bcast, __VA_ARGS__)
#define MPI_Gather(...) FORM(Igather, Gather, __VA_ARGS__)
#define MPI_Gatherv(...) FORM(Igatherv, Gatherv, __VA_ARGS__)
#define MPI_Scatter(...) FORM(Iscatter, Scatter, __VA_ARGS__)
#define MPI_Scatterv(...) FORM(Iscatterv, Scatterv, __VA_ARGS__)
#define MPI_Allgather(...) FORM(Iallgather, Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) FORM(Iallgatherv, Allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) FORM(Ialltoall, Alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) FORM(Ialltoallv, Alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) FORM(Ialltoallw, Alltoallw, __VA_ARGS__)
#define MPI_Reduce(...) FORM(Ireduce, Reduce, __VA_ARGS__)
#define MPI_Allreduce(...) FORM(Iallreduce, Allreduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) FORM(Ireduce_scatter, Reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) FORM(Ireduce_scatter_block, Reduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) FORM(Iscan, Scan, __VA_ARGS__)
#define MPI_Exscan(...) FORM(Iexscan, Exscan, __VA_ARGS__)
#define MPI_Neighbor_allgather(...) FORM(Ineighbor_allgather, Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) FORM(Ineighbor_allgatherv, Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) FORM(Ineighbor_alltoall, Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) FORM(Ineighbor_alltoallv, Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) FORM(Ineighbor_alltoallw, Neighbor_alltoallw, __VA_ARGS__)

#if MPI_VERSION >= 4
#define MPI_Bcast_c(...) FORM_C(Ibcast, Bcast, __VA_ARGS__)
#define MPI_Gather_c(...) FORM_C(Igather, Gather, __VA_ARGS__)
#define MPI_Gatherv_c(...) FORM_C(Igatherv, Gatherv, __VA_ARGS__)
#define MPI_Scatter_c(...) FORM_C(Iscatter, Scatter, __VA_ARGS__)
#define MPI_Scatterv_c(...) FORM_C(Iscatterv, Scatterv, __VA_ARGS__)
#define MPI_Allgather_c(...) FORM_C(Iallgather, Allgather, __VA_ARGS__)
#define MPI_Allgatherv_c(...) FORM_C(Iallgatherv, Allgatherv, __VA_ARGS__)
#define MPI_Alltoall_c(...) FORM_C(Ialltoall, Alltoall, __VA_ARGS__)
#define MPI_Alltoallv_c(...) FORM_C(Ialltoallv, Alltoallv, __VA_ARGS__)
#define MPI_Alltoallw_c(...) FORM_C(Ialltoallw, Alltoallw, __VA_ARGS__)
#define MPI_Reduce_c(...) FORM_C(Ireduce, Reduce, __VA_ARGS__)
#define MPI_Allreduce_c(...) FORM_C(Iallreduce, Allreduce, __VA_ARGS__)
#define MPI_Reduce_scatter_c(...) FORM_C(Ireduce_scatter, Reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block_c(...) FORM_C(Ireduce_scatter_block, Reduce_scatter_block, __VA_ARGS__)
#define MPI_Scan_c(...) FORM_C(Iscan, Scan, __VA_ARGS__)
#define MPI_Exscan_c(...) FORM_C(Iexscan, Exscan, __VA_ARGS__)
#define MPI_Neighbor_allgather_c(...) FORM_C(Ineighbor_allgather, Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv_c(...) FORM_C(Ineighbor_allgatherv, Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall_c(...) FORM_C(Ineighbor_alltoall, Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv_c(...) FORM_C(Ineighbor_alltoallv, Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw_c(...) FORM_C(Ineighbor_alltoallw, Neighbor_alltoallw, __VA_ARGS__)
#endif
#endif

#endif
