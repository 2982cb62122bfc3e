//! Parameters. All ranks of a job must have the same values, since they decide who reads what from whom; `mpirun` sees to that.

use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params, StrRef};

const OPERATIONS: &[StrRef] = &[StrRef::new("faster"), StrRef::new("all")];

/// The declarations; the constants of [`index`] are their places.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        "20",
        "Priority among collective components; each operation is served by the component of highest priority that implements it. Lower it to prefer another component",
    )
    .range(0, 100),
    ParamDecl::new(
        "operations",
        ParamKind::ENUM,
        6,
        "faster",
        "Operations and lengths that are served: faster, those that are faster than messages; all, everything there is. Set it to all to compare, or where processes read what others have written fast",
    )
    .one_of(OPERATIONS),
    ParamDecl::new(
        "memory",
        ParamKind::SIZE,
        6,
        "4m",
        "Most memory that the ranks of a communicator share for its collectives; where cells of 256 bytes do not fit, its collectives go by messages. Lower it where many communicators share little memory, raise it for more than 100 ranks on a node",
    )
    .range(4096, 1 << 40),
    ParamDecl::new(
        "single_copy",
        ParamKind::BOOL,
        6,
        "true",
        "Whether ranks read longer data straight out of each other's memory, where the system permits that; otherwise such collectives go by messages. Set it to false to compare",
    ),
    ParamDecl::new(
        "split_min",
        ParamKind::SIZE,
        7,
        "16k",
        "Bytes that a rank of a few reads of the others' operands in an allreduce from which on each combines a slice only; where there are fewer each combines all. Raise it where reductions are cheap and cores far from each other",
    )
    .range(64, 1 << 30),
    ParamDecl::new(
        "single_copy_min",
        ParamKind::SIZE,
        7,
        "128k",
        "Bytes of all blocks of an allgather or alltoall from which on ranks that share cores read them straight out of each other's memory; fewer that do not fit a cell go by messages. Lower it where the system reads other processes' memory fast",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "stream_max",
        ParamKind::SIZE,
        7,
        "4m",
        "Bytes of a collective from which on ranks with a core each read them straight out of each other's memory; fewer that do not fit a cell are copied through shared memory piece by piece, or go by messages. Lower it where the system reads other processes' memory fast",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "group_size",
        ParamKind::INT,
        7,
        "0",
        "Ranks that follow each other and are taken for near each other, where more than eight that have a core each meet: one of them speaks for the others; 0: those are together that share a cache or a NUMA node. Set it where the system does not tell of caches, or to the number of ranks for no groups",
    )
    .range(0, 1 << 20),
];

/// Places in [`PARAMS`].
mod index {
    pub const PRIORITY: usize = 0;
    pub const OPERATIONS: usize = 1;
    pub const MEMORY: usize = 2;
    pub const SINGLE_COPY: usize = 3;
    pub const SPLIT_MIN: usize = 4;
    pub const SINGLE_COPY_MIN: usize = 5;
    pub const STREAM_MAX: usize = 6;
    pub const GROUP_SIZE: usize = 7;
}

/// The resolved values; sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    /// All operations of all lengths.
    pub all: bool,
    pub memory: u64,
    pub single_copy: bool,
    pub split_min: u64,
    pub single_copy_min: u64,
    pub stream_max: u64,
    /// Ranks of a group; 0: by where they run.
    pub group_size: u32,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            priority: params.int(index::PRIORITY) as i32,
            all: params.int(index::OPERATIONS) == 1,
            memory: params.size(index::MEMORY) as u64,
            single_copy: params.flag(index::SINGLE_COPY),
            split_min: params.size(index::SPLIT_MIN) as u64,
            single_copy_min: params.size(index::SINGLE_COPY_MIN) as u64,
            stream_max: params.size(index::STREAM_MAX) as u64,
            group_size: params.int(index::GROUP_SIZE) as u32,
        }
    }
}

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) {
    let blocking = "it counts for blocking operations alone; plans of nonblocking and persistent ones are made by tuned or basic, one of which has to be in use, too";
    answers.as_set(index::PRIORITY, blocking);
    if params.int(index::GROUP_SIZE) == 0 {
        answers
            .as_set(index::GROUP_SIZE, "0: by cache and NUMA node, as ranks are bound and the system tells");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_at_their_places() {
        // SAFETY: static text.
        let name = |at: usize| unsafe { PARAMS[at].name.get() }.expect("a name");
        assert_eq!((name(index::STREAM_MAX), name(index::GROUP_SIZE)), ("stream_max", "group_size"));
        assert_eq!(PARAMS.len(), index::GROUP_SIZE + 1);
    }
}
