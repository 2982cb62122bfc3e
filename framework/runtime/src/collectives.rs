//! The collectives of a communicator: one counted call each into what was chosen when it was made.

use crate::coll::Slot;
use crate::communicator::Communicator;
use crate::spc::Counter;
use oxmpi_coll::CollArgs;
use oxmpi_mca::{Status, ThreadCtx};

/// Collectives: who does them was decided when the communicator was made.
macro_rules! collectives {
    ($($name:ident, $counter:ident, $slot:ident;)*) => {
        impl Communicator {
            $(
                #[doc = concat!("The collective `", stringify!($name), "`, by the component chosen for this communicator.")]
                #[inline]
                pub fn $name(&self, thread: *mut ThreadCtx, args: &CollArgs) -> Status {
                    self.note(thread, Counter::$counter);
                    self.coll.run(Slot::$slot, self, thread, args)
                }
            )*
        }
    };
}

collectives! {
    barrier, Barrier, Barrier;
    bcast, Bcast, Bcast;
    reduce, Reduce, Reduce;
    allreduce, Allreduce, Allreduce;
    allgather, Allgather, Allgather;
    gather, Gather, Gather;
    scatter, Scatter, Scatter;
    alltoall, Alltoall, Alltoall;
    gatherv, Gatherv, Gatherv;
    scatterv, Scatterv, Scatterv;
    allgatherv, Allgatherv, Allgatherv;
    alltoallv, Alltoallv, Alltoallv;
    alltoallw, Alltoallw, Alltoallw;
    scan, Scan, Scan;
    exscan, Exscan, Exscan;
    reduce_scatter, ReduceScatter, ReduceScatter;
    reduce_scatter_block, ReduceScatterBlock, ReduceScatterBlock;
    neighbor_allgather, NeighborAllgather, NeighborAllgather;
    neighbor_allgatherv, NeighborAllgatherv, NeighborAllgatherv;
    neighbor_alltoall, NeighborAlltoall, NeighborAlltoall;
    neighbor_alltoallv, NeighborAlltoallv, NeighborAlltoallv;
    neighbor_alltoallw, NeighborAlltoallw, NeighborAlltoallw;
}
