//! Parameters. Those of sieving have the names that Open MPI gives them in its component `posix`; the others are ours.

use oxmpi_fbtl_support::{Sieving, params as sieving};
use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params};

/// The declarations; the constants of [`index`] are their places.
const LIST: [ParamDecl; 3 + sieving::COUNT] = {
    let [reads, writes, block, gap, buffer] = sieving::DECLARATIONS;
    [
        ParamDecl::new(
            "priority",
            ParamKind::INT,
            9,
            "20",
            "Priority among components that transfer file data. Lower it below that of posix to prefer threads",
        )
        .range(0, 100),
        ParamDecl::new(
            "queue_depth",
            ParamKind::INT,
            6,
            "256",
            "Number of requests that may be in the ring of each process at once; an operation has one or more, and further operations wait for their turn. Raise it for devices that are fast with many requests",
        )
        .range(1, 4096),
        ParamDecl::new(
            "num_workers",
            ParamKind::INT,
            6,
            "4",
            "Number of threads at most that the kernel uses for requests of each process that need one. Raise it where a file system needs many operations at once to be fast",
        )
        .range(1, 1024),
        reads,
        writes,
        block,
        gap,
        buffer,
    ]
};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &LIST;

/// Places in [`PARAMS`].
mod index {
    pub const PRIORITY: usize = 0;
    pub const QUEUE_DEPTH: usize = 1;
    pub const NUM_WORKERS: usize = 2;
    pub const SIEVING: usize = 3;
}

/// The values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    /// Requests in the ring at most.
    pub depth: u32,
    /// Workers of the kernel at most.
    pub workers: u32,
    pub sieving: Sieving,
    /// Sieved writes are asked for, which there are none of.
    pub sieved_writes: bool,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            priority: params.int(index::PRIORITY) as i32,
            depth: params.int(index::QUEUE_DEPTH).max(1) as u32,
            workers: params.int(index::NUM_WORKERS).max(1) as u32,
            sieving: sieving::sieving(params, index::SIEVING),
            sieved_writes: params.flag(index::SIEVING + sieving::WRITES),
        }
    }
}

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) {
    if params.flag(index::SIEVING + sieving::WRITES) {
        answers.tell(index::SIEVING + sieving::WRITES, "false", "components never sieve writes");
    }
}
