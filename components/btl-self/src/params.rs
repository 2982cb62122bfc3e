//! Parameters. Names and defaults are Open MPI's where the meaning is; its free lists
//! (`btl_self_free_list_*`) have no counterpart here, because messages lie in one queue.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations; the constants of [`index`] are their places.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "exclusivity",
        ParamKind::UNSIGNED,
        8,
        "65536",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Lower it to try another transport within a process",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "eager_limit",
        ParamKind::SIZE,
        6,
        "1k",
        "Largest message, header included, that is sent eagerly. Raise it where a process sends itself longer messages before it receives them",
    )
    .range(128, 1 << 30),
    ParamDecl::new(
        "rndv_eager_limit",
        ParamKind::SIZE,
        6,
        "16k",
        "Bytes of a longer message, header included, that are sent with its rendezvous request. Lower it where receives are mostly posted late",
    )
    .range(128, 1 << 30),
    ParamDecl::new("max_send_size", ParamKind::SIZE, 6, "16k", "Largest message that is sent in one piece. Raise it for long messages within a process")
        .range(128, 1 << 30),
    ParamDecl::new(
        "latency",
        ParamKind::UNSIGNED,
        8,
        "0",
        "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first. Set it where another transport reaches the own process, too",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "bandwidth",
        ParamKind::UNSIGNED,
        8,
        "100",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among transports of one exclusivity. Set it where another transport shares messages to the own process",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "queue_size",
        ParamKind::SIZE,
        9,
        "256k",
        "Bytes of the queue of messages in flight, one for each communication resource instance (CRI). Raise it where a process has many messages to itself under way",
    )
    .range(1024, 1 << 32),
];

/// Places in [`PARAMS`].
pub mod index {
    pub const EXCLUSIVITY: usize = 0;
    pub const EAGER_LIMIT: usize = 1;
    pub const RNDV_EAGER_LIMIT: usize = 2;
    pub const MAX_SEND_SIZE: usize = 3;
    pub const LATENCY: usize = 4;
    pub const BANDWIDTH: usize = 5;
    pub const QUEUE_SIZE: usize = 6;
}

/// The resolved values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub exclusivity: u32,
    pub eager_limit: usize,
    pub rndv_eager_limit: usize,
    pub max_send_size: usize,
    pub latency: u32,
    pub bandwidth: u32,
    pub queue_size: usize,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            exclusivity: params.int(index::EXCLUSIVITY) as u32,
            eager_limit: params.size(index::EAGER_LIMIT),
            rndv_eager_limit: params.size(index::RNDV_EAGER_LIMIT),
            max_send_size: params.size(index::MAX_SEND_SIZE),
            latency: params.int(index::LATENCY) as u32,
            bandwidth: params.int(index::BANDWIDTH) as u32,
            queue_size: params.size(index::QUEUE_SIZE),
        }
    }
}
