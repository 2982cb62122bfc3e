//! Collective commands: the nonblocking function of each, or the one that makes it persistent.

use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::{Server, Work};

/// The nonblocking function, or the persistent one, which takes an info object more.
macro_rules! either {
    ($persistent:expr, $to:expr, $now:ident, $init:ident, ($($a:expr),*)) => {
        match &$persistent {
            Some(hints) => pmpi::$init($($a,)* hints.0, $to),
            None => pmpi::$now($($a,)* $to),
        }
    };
}

impl Server {
    pub fn collective(&mut self, index: u32, record: &mut Record) {
        let mut work = Work::new(index);
        let [s, r] = match self.bind(record, &mut work) {
            Ok(bound) => bound,
            Err(class) => return self.complete(index, class),
        };
        let (comm, root, sum) = (record.comm as usize, record.root, record.mpi_op as usize);
        let (v, w) = (self.vector(record, 0), self.vector(record, 1));
        let mut request = REQUEST_NULL;
        let to = &raw mut request;
        let persistent = (record.op & op::PERSISTENT != 0).then(|| self.hints(record));
        // SAFETY: buffers and lists are mapped here and stay until the operation is complete.
        let error = unsafe {
            match record.op & !op::PERSISTENT {
                op::BARRIER => either!(persistent, to, MPI_Ibarrier, MPI_Barrier_init, (comm)),
                op::BCAST => either!(
                    persistent,
                    to,
                    MPI_Ibcast_c,
                    MPI_Bcast_init_c,
                    (s.at, s.count, s.dtype, root, comm)
                ),
                op::GATHER => either!(
                    persistent,
                    to,
                    MPI_Igather_c,
                    MPI_Gather_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, root, comm)
                ),
                op::GATHERV => either!(
                    persistent,
                    to,
                    MPI_Igatherv_c,
                    MPI_Gatherv_init_c,
                    (s.at, s.count, s.dtype, r.at, w.counts, w.displs, r.dtype, root, comm)
                ),
                op::SCATTER => either!(
                    persistent,
                    to,
                    MPI_Iscatter_c,
                    MPI_Scatter_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, root, comm)
                ),
                op::SCATTERV => either!(
                    persistent,
                    to,
                    MPI_Iscatterv_c,
                    MPI_Scatterv_init_c,
                    (s.at, v.counts, v.displs, s.dtype, r.at, r.count, r.dtype, root, comm)
                ),
                op::ALLGATHER => either!(
                    persistent,
                    to,
                    MPI_Iallgather_c,
                    MPI_Allgather_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, comm)
                ),
                op::ALLGATHERV => either!(
                    persistent,
                    to,
                    MPI_Iallgatherv_c,
                    MPI_Allgatherv_init_c,
                    (s.at, s.count, s.dtype, r.at, w.counts, w.displs, r.dtype, comm)
                ),
                op::ALLTOALL => either!(
                    persistent,
                    to,
                    MPI_Ialltoall_c,
                    MPI_Alltoall_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, comm)
                ),
                op::ALLTOALLV => either!(
                    persistent,
                    to,
                    MPI_Ialltoallv_c,
                    MPI_Alltoallv_init_c,
                    (s.at, v.counts, v.displs, s.dtype, r.at, w.counts, w.displs, r.dtype, comm)
                ),
                op::ALLTOALLW => either!(
                    persistent,
                    to,
                    MPI_Ialltoallw_c,
                    MPI_Alltoallw_init_c,
                    (s.at, v.counts, v.displs, v.types, r.at, w.counts, w.displs, w.types, comm)
                ),
                op::REDUCE => either!(
                    persistent,
                    to,
                    MPI_Ireduce_c,
                    MPI_Reduce_init_c,
                    (s.at, r.at, r.count, r.dtype, sum, root, comm)
                ),
                op::ALLREDUCE => either!(
                    persistent,
                    to,
                    MPI_Iallreduce_c,
                    MPI_Allreduce_init_c,
                    (s.at, r.at, r.count, r.dtype, sum, comm)
                ),
                op::REDUCE_SCATTER => either!(
                    persistent,
                    to,
                    MPI_Ireduce_scatter_c,
                    MPI_Reduce_scatter_init_c,
                    (s.at, r.at, w.counts, r.dtype, sum, comm)
                ),
                op::REDUCE_SCATTER_BLOCK => either!(
                    persistent,
                    to,
                    MPI_Ireduce_scatter_block_c,
                    MPI_Reduce_scatter_block_init_c,
                    (s.at, r.at, r.count, r.dtype, sum, comm)
                ),
                op::SCAN => either!(
                    persistent,
                    to,
                    MPI_Iscan_c,
                    MPI_Scan_init_c,
                    (s.at, r.at, r.count, r.dtype, sum, comm)
                ),
                op::EXSCAN => either!(
                    persistent,
                    to,
                    MPI_Iexscan_c,
                    MPI_Exscan_init_c,
                    (s.at, r.at, r.count, r.dtype, sum, comm)
                ),
                op::NEIGHBOR_ALLGATHER => either!(
                    persistent,
                    to,
                    MPI_Ineighbor_allgather_c,
                    MPI_Neighbor_allgather_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, comm)
                ),
                op::NEIGHBOR_ALLGATHERV => either!(
                    persistent,
                    to,
                    MPI_Ineighbor_allgatherv_c,
                    MPI_Neighbor_allgatherv_init_c,
                    (s.at, s.count, s.dtype, r.at, w.counts, w.displs, r.dtype, comm)
                ),
                op::NEIGHBOR_ALLTOALL => either!(
                    persistent,
                    to,
                    MPI_Ineighbor_alltoall_c,
                    MPI_Neighbor_alltoall_init_c,
                    (s.at, s.count, s.dtype, r.at, r.count, r.dtype, comm)
                ),
                op::NEIGHBOR_ALLTOALLV => either!(
                    persistent,
                    to,
                    MPI_Ineighbor_alltoallv_c,
                    MPI_Neighbor_alltoallv_init_c,
                    (s.at, v.counts, v.displs, s.dtype, r.at, w.counts, w.displs, r.dtype, comm)
                ),
                _ => either!(
                    persistent,
                    to,
                    MPI_Ineighbor_alltoallw_c,
                    MPI_Neighbor_alltoallw_init_c,
                    (s.at, v.counts, v.displs, v.types, r.at, w.counts, w.displs, w.types, comm)
                ),
            }
        };
        self.started(index, error, request, work, persistent.is_some());
    }
}
