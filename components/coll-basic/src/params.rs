//! Parameters. All ranks of a job must have the same values, since they decide who
//! sends what to whom; `mpirun` sees to that. `priority` is Open MPI's; its decisions between
//! algorithms are in another component (`tuned`) and by other rules, so the other names are ours.

use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params, Process, StrRef};

const BARRIER_ALGORITHMS: &[StrRef] =
    &[StrRef::new("auto"), StrRef::new("dissemination"), StrRef::new("tree"), StrRef::new("linear")];

/// From so many ranks on the one in the middle of `linear` has more to do than the others wait for.
const LINEAR_UP_TO: u32 = 64;

/// The declarations; the constants of [`index`] are their places.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        "10",
        "Priority among collective components; each operation is served by the component of highest priority that implements it. Lower it to prefer another component",
    )
    .range(0, 100),
    ParamDecl::new(
        "barrier_algorithm",
        ParamKind::ENUM,
        6,
        "auto",
        "How MPI_Barrier synchronises: dissemination (log2(n) steps, n messages in each), tree (twice as many steps, 2(n-1) messages in all), linear (all ranks send to rank 0, which sends to all), or auto, which is linear (up to 64 ranks) or tree where there are more ranks than cores, else dissemination. Set it to compare, or where other programs share the cores",
    )
    .one_of(BARRIER_ALGORITHMS),
    ParamDecl::new(
        "bcast_segment_size",
        ParamKind::SIZE,
        7,
        "64k",
        "Bytes of a segment of large broadcasts, which are pipelined along a chain of ranks; 0: always a tree. Raise it where starting a message is slow",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "reduce_small_msg",
        ParamKind::SIZE,
        7,
        "10000",
        "Largest message that reduce and allreduce combine as a whole and that reduce_scatter combines in log2(n) steps; larger ones are divided among the ranks. Raise it on networks with long latency",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "allgather_small_msg",
        ParamKind::SIZE,
        7,
        "80k",
        "Largest total size for which allgather takes log2(n) steps; larger ones use a ring. Raise it on networks with long latency",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "gather_small_msg",
        ParamKind::SIZE,
        7,
        "4k",
        "Largest block for which gather and scatter use a tree; larger ones are sent directly. Raise it on networks with long latency",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "alltoall_small_msg",
        ParamKind::SIZE,
        7,
        "3000",
        "Largest block for which alltoall sends to many processes at once; larger ones use pairwise exchange. Raise it on networks with long latency",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "scratch_limit",
        ParamKind::SIZE,
        9,
        "4m",
        "Largest temporary buffer that a communicator keeps for its next collective. Lower it to save memory with many communicators",
    )
    .range(0, 1 << 40),
];

/// Places in [`PARAMS`].
mod index {
    pub const PRIORITY: usize = 0;
    pub const BARRIER_ALGORITHM: usize = 1;
    pub const BCAST_SEGMENT_SIZE: usize = 2;
    pub const REDUCE_SMALL_MSG: usize = 3;
    pub const ALLGATHER_SMALL_MSG: usize = 4;
    pub const GATHER_SMALL_MSG: usize = 5;
    pub const ALLTOALL_SMALL_MSG: usize = 6;
    pub const SCRATCH_LIMIT: usize = 7;
}

/// See the parameter's help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierAlgorithm {
    Auto,
    Dissemination,
    Tree,
    Linear,
}

impl BarrierAlgorithm {
    /// By the place of its name among the enumerators.
    fn of(place: i64) -> BarrierAlgorithm {
        match place {
            1 => BarrierAlgorithm::Dissemination,
            2 => BarrierAlgorithm::Tree,
            3 => BarrierAlgorithm::Linear,
            _ => BarrierAlgorithm::Auto,
        }
    }

    /// The one that is used on a communicator of so many ranks; never `Auto`.
    pub fn for_ranks(self, ranks: u32, oversubscribed: bool) -> BarrierAlgorithm {
        match self {
            BarrierAlgorithm::Auto if !oversubscribed => BarrierAlgorithm::Dissemination,
            BarrierAlgorithm::Auto if ranks <= LINEAR_UP_TO => BarrierAlgorithm::Linear,
            BarrierAlgorithm::Auto => BarrierAlgorithm::Tree,
            set => set,
        }
    }
}

/// The resolved values; sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    pub barrier: BarrierAlgorithm,
    pub bcast_segment_size: u64,
    pub reduce_small_msg: u64,
    pub allgather_small_msg: u64,
    pub gather_small_msg: u64,
    pub alltoall_small_msg: u64,
    pub scratch_limit: usize,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            priority: params.int(index::PRIORITY) as i32,
            barrier: BarrierAlgorithm::of(params.int(index::BARRIER_ALGORITHM)),
            bcast_segment_size: params.size(index::BCAST_SEGMENT_SIZE) as u64,
            reduce_small_msg: params.size(index::REDUCE_SMALL_MSG) as u64,
            allgather_small_msg: params.size(index::ALLGATHER_SMALL_MSG) as u64,
            gather_small_msg: params.size(index::GATHER_SMALL_MSG) as u64,
            alltoall_small_msg: params.size(index::ALLTOALL_SMALL_MSG) as u64,
            scratch_limit: params.size(index::SCRATCH_LIMIT),
        }
    }
}

/// See `Component::resolve`.
pub fn tell(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) {
    let settings = Settings::of(params);
    if settings.barrier == BarrierAlgorithm::Auto {
        let (ranks, oversubscribed) = (process.job.job_size, process.job.oversubscribed != 0);
        let chosen = settings.barrier.for_ranks(ranks, oversubscribed);
        // SAFETY: static text.
        let name = unsafe { BARRIER_ALGORITHMS[chosen as usize].get() }.unwrap_or_default();
        let because = match chosen {
            BarrierAlgorithm::Dissemination => "there are no more ranks than cores".to_owned(),
            BarrierAlgorithm::Linear => {
                format!("there are more ranks than cores, and {ranks} are at most {LINEAR_UP_TO}")
            }
            _ => format!("there are more ranks than cores, and {ranks} are more than {LINEAR_UP_TO}"),
        };
        answers.tell(index::BARRIER_ALGORITHM, name, format!("auto: on MPI_COMM_WORLD {because}"));
    }
    for (param, because) in [
        (index::BCAST_SEGMENT_SIZE, "0: broadcasts of any length go down a tree"),
        (index::REDUCE_SMALL_MSG, "0: messages of any length are split over the ranks"),
        (index::ALLGATHER_SMALL_MSG, "0: blocks of any length go round a ring"),
        (index::GATHER_SMALL_MSG, "0: blocks of any length go directly"),
        (index::ALLTOALL_SMALL_MSG, "0: blocks of any length go pair by pair"),
        (index::SCRATCH_LIMIT, "0: no buffer is kept"),
    ] {
        if params.size(param) == 0 {
            answers.as_set(param, because);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_algorithms_stand_at_their_numbers() {
        for place in 0..BARRIER_ALGORITHMS.len() {
            let algorithm = BarrierAlgorithm::of(place as i64);
            assert_eq!(algorithm as usize, place);
            assert_ne!(algorithm.for_ranks(2, true), BarrierAlgorithm::Auto);
        }
        let for_ranks = |ranks, oversubscribed| BarrierAlgorithm::Auto.for_ranks(ranks, oversubscribed);
        assert_eq!(for_ranks(4, false), BarrierAlgorithm::Dissemination);
        assert_eq!([64, 65].map(|n| for_ranks(n, true)), [BarrierAlgorithm::Linear, BarrierAlgorithm::Tree]);
    }
}
