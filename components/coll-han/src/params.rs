//! Parameters. All ranks of a job must have the same values, since they decide who sends what to whom; `mpirun` sees to that. Names are Open MPI's.

use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params};

/// The operations that are served, in the order of their switches in [`PARAMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Allgather,
    Allgatherv,
    Allreduce,
    Barrier,
    Bcast,
    Gather,
    Reduce,
    Scatter,
}

macro_rules! switch {
    ($name:literal, $op:literal) => {
        ParamDecl::new(
            $name,
            ParamKind::BOOL,
            8,
            "false",
            concat!("Whether ", $op, " is left to the components below, as if all ranks were equally far from each other. Set it to compare, or where a measurement says so"),
        )
    };
}

macro_rules! segments {
    ($name:literal, $op:literal) => {
        ParamDecl::new(
            $name,
            ParamKind::SIZE,
            6,
            "512k",
            concat!("Bytes of a segment of ", $op, ", which goes through both levels while the next one follows; 0: no segments. Lower it where nodes are many and data long, raise it where messages cost much"),
        )
        .range(0, 1 << 40)
    };
}

/// The declarations; the constants of [`index`] are their places.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        6,
        "35",
        "Priority among collective components; each operation is served by the component of highest priority that implements it. Lower it to prefer another component on several nodes",
    )
    .range(0, 100),
    segments!("bcast_segsize", "a broadcast"),
    segments!("reduce_segsize", "a reduce"),
    segments!("allreduce_segsize", "an allreduce"),
    switch!("disable_allgather", "allgather"),
    switch!("disable_allgatherv", "allgatherv"),
    switch!("disable_allreduce", "allreduce"),
    switch!("disable_barrier", "barrier"),
    switch!("disable_bcast", "bcast"),
    switch!("disable_gather", "gather"),
    switch!("disable_reduce", "reduce"),
    switch!("disable_scatter", "scatter"),
];

/// Places in [`PARAMS`].
mod index {
    pub const PRIORITY: usize = 0;
    pub const BCAST_SEGMENT: usize = 1;
    pub const REDUCE_SEGMENT: usize = 2;
    pub const ALLREDUCE_SEGMENT: usize = 3;
    /// From here on one for each operation.
    pub const DISABLE: usize = 4;
    pub const OPERATIONS: usize = 8;
}

/// The resolved values; sizes in bytes, 0: no segments.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    pub bcast_segment: u64,
    pub reduce_segment: u64,
    pub allreduce_segment: u64,
    disabled: [bool; index::OPERATIONS],
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        let size = |at| params.size(at) as u64;
        Settings {
            priority: params.int(index::PRIORITY) as i32,
            bcast_segment: size(index::BCAST_SEGMENT),
            reduce_segment: size(index::REDUCE_SEGMENT),
            allreduce_segment: size(index::ALLREDUCE_SEGMENT),
            disabled: core::array::from_fn(|op| params.flag(index::DISABLE + op)),
        }
    }

    /// Whether an operation is left to the components below.
    pub fn leaves(&self, op: Op) -> bool {
        self.disabled[op as usize]
    }
}

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) {
    let blocking = "it counts for blocking operations alone; plans of nonblocking and persistent ones are made by tuned or basic, one of which has to be in use, too";
    answers.as_set(index::PRIORITY, blocking);
    for at in [index::BCAST_SEGMENT, index::REDUCE_SEGMENT, index::ALLREDUCE_SEGMENT] {
        if params.size(at) == 0 {
            answers.as_set(at, "0: data is not cut into segments");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_at_their_places() {
        // SAFETY: static text.
        let name = |at: usize| unsafe { PARAMS[at].name.get() }.expect("a name");
        assert_eq!(PARAMS.len(), index::DISABLE + index::OPERATIONS);
        assert_eq!(name(index::ALLREDUCE_SEGMENT), "allreduce_segsize");
        assert_eq!(name(index::DISABLE + Op::Allgather as usize), "disable_allgather");
        assert_eq!(name(index::DISABLE + Op::Reduce as usize), "disable_reduce");
        assert_eq!(name(index::DISABLE + Op::Scatter as usize), "disable_scatter");
    }
}
