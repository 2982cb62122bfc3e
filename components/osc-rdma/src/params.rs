//! The parameters. Full names are `osc_rdma_<name>`.

use oxmpi_mca::{ParamDecl, ParamKind, Params, StrRef};

const MODES: &[StrRef] = &[StrRef::new("two_level"), StrRef::new("on_demand")];

/// The largest `osc_rdma_max_attach`.
pub const MOST_REGIONS: u32 = 1 << 16;
/// Place in [`PARAMS`].
pub const PRIORITY: usize = 0;
/// Place in [`PARAMS`].
pub const ACCUMULATE_GRANULARITY: usize = 3;
/// Place in [`PARAMS`].
pub const AGGREGATION_LIMIT: usize = 4;

pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        "20",
        "Priority among the components that serve a window; the highest serves it. Lower it to prefer another component",
    )
    .range(0, 100),
    ParamDecl::new(
        "locking_mode",
        ParamKind::ENUM,
        5,
        "two_level",
        "How MPI_Win_lock_all locks: two_level by one word for all ranks, on_demand each rank when it is first operated on. Choose on_demand where programs take many exclusive locks, or operate on few of many ranks under MPI_Win_lock_all",
    )
    .one_of(MODES),
    ParamDecl::new(
        "max_attach",
        ParamKind::UNSIGNED,
        6,
        "1024",
        "Pieces of memory that a rank can have attached to a dynamic window at once. Raise it where MPI_Win_attach fails with MPI_ERR_RMA_ATTACH",
    )
    .range(1, MOST_REGIONS as i64),
    ParamDecl::new(
        "accumulate_granularity",
        ParamKind::SIZE,
        7,
        "0",
        "Bytes that an accumulate updates under one lock, for windows whose info does not say; up to 8: each element by an atomic of its own, which suits counters; 0: atomics where all memory is mapped or, between nodes, reached by lists of them, else the lock, which few elements share. Raise it above 8 where long accumulates go to memory that is not mapped",
    )
    .range(0, 1 << 30),
    ParamDecl::new(
        "aggregation_limit",
        ParamKind::SIZE,
        6,
        "512",
        "Longest put that is collected with others to the same rank until the next flush, where memory is not mapped and the transport has lists, and longest accumulate and get where those are messages; 0: none. Lower it where operations are to be under way before the flush",
    )
    .range(0, 1 << 16),
];

/// The resolved values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    pub on_demand: bool,
    pub max_attach: u32,
    pub granularity: u64,
    /// Longest put that is gathered.
    pub aggregation: u64,
}

impl Settings {
    pub fn of(p: Params<'_>) -> Settings {
        Settings {
            priority: p.int(0) as i32,
            on_demand: p.int(1) == 1,
            max_attach: p.int(2) as u32,
            granularity: p.size(ACCUMULATE_GRANULARITY) as u64,
            aggregation: p.size(AGGREGATION_LIMIT) as u64,
        }
    }
}
