//! The collectives of a communicator: one call each into what was chosen when it was made.

use crate::coll::slot::Slot;
use crate::objects::Communicator;
use oxmpi_coll::CollArgs;
use oxmpi_mca::{Entry, Status};

/// Collectives: who does them was decided when the communicator was made.
macro_rules! collectives {
    ($($name:ident, $slot:ident;)*) => {
        impl Communicator {
            $(
                #[doc = concat!("The collective `", stringify!($name), "`, by the component chosen for this communicator.")]
                ///
                /// # Safety
                /// Buffers, types and lists of the arguments are there during the call, as long as counts and types say, as [`CollArgs`] has it.
                #[inline]
                pub unsafe fn $name(&self, entry: &mut Entry, args: &CollArgs) -> Status {
                    // SAFETY: the caller's promise.
                    unsafe { self.coll.run(Slot::$slot, self, entry, args) }
                }
            )*
        }
    };
}

collectives! {
    barrier, Barrier;
    bcast, Bcast;
    reduce, Reduce;
    allreduce, Allreduce;
    allgather, Allgather;
    gather, Gather;
    scatter, Scatter;
    alltoall, Alltoall;
    gatherv, Gatherv;
    scatterv, Scatterv;
    allgatherv, Allgatherv;
    alltoallv, Alltoallv;
    alltoallw, Alltoallw;
    scan, Scan;
    exscan, Exscan;
    reduce_scatter, ReduceScatter;
    reduce_scatter_block, ReduceScatterBlock;
    neighbor_allgather, NeighborAllgather;
    neighbor_allgatherv, NeighborAllgatherv;
    neighbor_alltoall, NeighborAlltoall;
    neighbor_alltoallv, NeighborAlltoallv;
    neighbor_alltoallw, NeighborAlltoallw;
}
