//! Parameters. Those of sieving and `max_aio_reqs` are Open MPI's; there the system's threads for files do the work, so `num_threads` is ours.

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
            "10",
            "Priority among components that transfer file data. Raise it to prefer threads to other ways",
        )
        .range(0, 100),
        ParamDecl::new(
            "num_threads",
            ParamKind::INT,
            6,
            "4",
            "Number of threads at most that transfer data of nonblocking operations in each process. Raise it where a file system needs many operations at once to be fast",
        )
        .range(1, 1024),
        ParamDecl::new(
            "max_aio_reqs",
            ParamKind::INT,
            9,
            "0",
            "Number of nonblocking operations that may be under way at once; further ones wait for their turn; 0: any number. Lower it to spare a file server",
        )
        .range(0, 1 << 30),
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
    pub const NUM_THREADS: usize = 1;
    pub const MAX_AIO_REQS: usize = 2;
    pub const SIEVING: usize = 3;
}

/// The values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    pub num_threads: usize,
    /// Operations under way at most.
    pub most: usize,
    pub sieving: Sieving,
    /// Sieved writes are asked for, which there are none of.
    pub sieved_writes: bool,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        let most = params.int(index::MAX_AIO_REQS) as usize;
        Settings {
            priority: params.int(index::PRIORITY) as i32,
            num_threads: params.int(index::NUM_THREADS).max(1) as usize,
            most: if most == 0 { usize::MAX } else { most },
            sieving: sieving::sieving(params, index::SIEVING),
            sieved_writes: params.flag(index::SIEVING + sieving::WRITES),
        }
    }
}

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) {
    if params.int(index::MAX_AIO_REQS) == 0 {
        answers.as_set(index::MAX_AIO_REQS, "0: any number");
    }
    if params.flag(index::SIEVING + sieving::WRITES) {
        answers.tell(index::SIEVING + sieving::WRITES, "false", "components never sieve writes");
    }
}
