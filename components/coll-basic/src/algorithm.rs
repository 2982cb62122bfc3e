//! Names of the algorithms, as tools see them in counters.

use oxmpi_mca::StrRef;

macro_rules! algorithms {
    ($($variant:ident $name:literal)*) => {
        /// An algorithm of an operation; the number is its place in [`NAMES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Algorithm { $($variant),* }

        /// The names, by number.
        pub const NAMES: &[StrRef] = &[$(StrRef::new($name)),*];

        #[cfg(test)]
        const ALL: &[(Algorithm, &str)] = &[$((Algorithm::$variant, $name)),*];
    };
}

algorithms! {
    BarrierLinear "barrier_linear"
    BarrierTree "barrier_tree"
    BarrierDissemination "barrier_dissemination"
    BarrierBetweenGroups "barrier_between_groups"
    BcastBinomial "bcast_binomial"
    BcastChain "bcast_chain"
    BcastBetweenGroups "bcast_between_groups"
    ReduceBinomial "reduce_binomial"
    ReduceHalving "reduce_halving"
    ReduceRing "reduce_ring"
    ReduceBetweenGroups "reduce_between_groups"
    AllreduceDoubling "allreduce_recursive_doubling"
    AllreduceHalving "allreduce_halving"
    AllreduceRing "allreduce_ring"
    AllreduceBetweenGroups "allreduce_between_groups"
    AllgatherDoubling "allgather_recursive_doubling"
    AllgatherBruck "allgather_bruck"
    AllgatherRing "allgather_ring"
    AllgatherBetweenGroups "allgather_between_groups"
    GatherBinomial "gather_binomial"
    GatherDirect "gather_direct"
    GatherBetweenGroups "gather_between_groups"
    ScatterBinomial "scatter_binomial"
    ScatterDirect "scatter_direct"
    ScatterBetweenGroups "scatter_between_groups"
    AlltoallAtOnce "alltoall_at_once"
    AlltoallPairwise "alltoall_pairwise"
    AlltoallBetweenGroups "alltoall_between_groups"
    GathervDirect "gatherv_direct"
    GathervBetweenGroups "gatherv_between_groups"
    ScattervDirect "scatterv_direct"
    ScattervBetweenGroups "scatterv_between_groups"
    AllgathervRing "allgatherv_ring"
    AllgathervBetweenGroups "allgatherv_between_groups"
    AlltoallvDirect "alltoallv_direct"
    AlltoallvBetweenGroups "alltoallv_between_groups"
    AlltoallwDirect "alltoallw_direct"
    AlltoallwBetweenGroups "alltoallw_between_groups"
    ScanDoubling "scan_recursive_doubling"
    ExscanDoubling "exscan_recursive_doubling"
    ReduceScatterHalving "reduce_scatter_halving"
    ReduceScatterPairwise "reduce_scatter_pairwise"
    ReduceScatterBetweenGroups "reduce_scatter_between_groups"
    ReduceScatterBlockHalving "reduce_scatter_block_halving"
    ReduceScatterBlockPairwise "reduce_scatter_block_pairwise"
    ReduceScatterBlockBetweenGroups "reduce_scatter_block_between_groups"
    NeighborAllgatherDirect "neighbor_allgather_direct"
    NeighborAllgathervDirect "neighbor_allgatherv_direct"
    NeighborAlltoallDirect "neighbor_alltoall_direct"
    NeighborAlltoallvDirect "neighbor_alltoallv_direct"
    NeighborAlltoallwDirect "neighbor_alltoallw_direct"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_has_its_number_and_a_name_of_its_own() {
        for (place, (algorithm, name)) in ALL.iter().enumerate() {
            assert_eq!(*algorithm as usize, place);
            // SAFETY: static text.
            assert_eq!(unsafe { NAMES[place].get() }, Some(*name));
            assert_eq!(ALL.iter().filter(|(_, other)| other == name).count(), 1, "{name}");
        }
    }
}
