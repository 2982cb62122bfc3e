//! The collectives, by their place in the stack.

/// The collectives, by their place in the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Slot {
    Barrier = 0,
    Bcast = 1,
    Reduce = 2,
    Allreduce = 3,
    Allgather = 4,
    Gather = 5,
    Scatter = 6,
    Alltoall = 7,
    Gatherv = 8,
    Scatterv = 9,
    Allgatherv = 10,
    Alltoallv = 11,
    Alltoallw = 12,
    Scan = 13,
    Exscan = 14,
    ReduceScatter = 15,
    ReduceScatterBlock = 16,
    NeighborAllgather = 17,
    NeighborAllgatherv = 18,
    NeighborAlltoall = 19,
    NeighborAlltoallv = 20,
    NeighborAlltoallw = 21,
}

impl Slot {
    /// The collective of that number (`oxmpi_coll::which`); `None` for those on graphs, which have no number.
    pub(crate) fn by_number(number: u32) -> Option<Slot> {
        const ALL: [Slot; 17] = [
            Slot::Barrier,
            Slot::Bcast,
            Slot::Reduce,
            Slot::Allreduce,
            Slot::Allgather,
            Slot::Gather,
            Slot::Scatter,
            Slot::Alltoall,
            Slot::Gatherv,
            Slot::Scatterv,
            Slot::Allgatherv,
            Slot::Alltoallv,
            Slot::Alltoallw,
            Slot::Scan,
            Slot::Exscan,
            Slot::ReduceScatter,
            Slot::ReduceScatterBlock,
        ];
        ALL.get(number as usize).copied()
    }
}

/// How many collectives a stack has.
pub(crate) const SLOTS: usize = 22;

/// Names of the collectives for the log, in the order of [`Slot`].
pub(crate) const NAMES: [&str; SLOTS] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "gather",
    "scatter",
    "alltoall",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "alltoallw",
    "scan",
    "exscan",
    "reduce_scatter",
    "reduce_scatter_block",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
];
