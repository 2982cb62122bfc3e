//! Parameters. All ranks of a job must have the same values, since they decide who sends what to whom; `mpirun` sees to that. Names and numbers
//! are Open MPI's, but `operations` and `dynamic_rules`, which the file of rules is read into.

use crate::choice::Choice;
use crate::decision::wins;
use crate::op::{Op, algorithms};
use crate::rules::Rules;
use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params, Process, Refused, StrRef};

const OPERATIONS: &[StrRef] = &[StrRef::new("chosen"), StrRef::new("all")];

/// Declarations, and behind them those of each operation: algorithm, segment size, fanouts of trees and chains.
macro_rules! declared {
    ([$($general:expr),* $(,)?] $($name:literal: $algorithms:ident;)*) => {
        &[$($general,)* $(
            ParamDecl::new(
                concat!($name, "_algorithm"),
                ParamKind::ENUM,
                6,
                "ignore",
                concat!("Algorithm of ", $name, ", by name or number; ignore: rules decide, or the number of ranks and bytes. Set it to compare algorithms, or where a measurement says so"),
            )
            .one_of(algorithms::$algorithms),
            ParamDecl::new(
                concat!($name, "_algorithm_segmentsize"),
                ParamKind::SIZE,
                7,
                "0",
                concat!("Bytes of a segment of ", $name, " where the algorithm that is set has segments; 0: none. Set it together with the algorithm"),
            )
            .range(0, 1 << 40),
            ParamDecl::new(
                concat!($name, "_algorithm_tree_fanout"),
                ParamKind::INT,
                7,
                "0",
                concat!("Radix of ", $name, " where the algorithm that is set has one; 0: coll_tuned_init_tree_fanout. Set it together with the algorithm"),
            )
            .range(0, 1 << 20),
            ParamDecl::new(
                concat!($name, "_algorithm_chain_fanout"),
                ParamKind::INT,
                7,
                "0",
                concat!("Number of chains of ", $name, " where the algorithm that is set has them; 0: coll_tuned_init_chain_fanout. Set it together with the algorithm"),
            )
            .range(0, 1 << 20),
        )*]
    };
}

/// The declarations; the constants of [`index`] are their places.
pub const PARAMS: &[ParamDecl] = declared! {
    [
        ParamDecl::new(
            "priority",
            ParamKind::INT,
            6,
            "30",
            "Priority among collective components, for the operations that this one offers; each operation is served by the component of highest priority that offers it. Lower it to prefer another component",
        )
        .range(0, 100),
        ParamDecl::new(
            "operations",
            ParamKind::ENUM,
            6,
            "chosen",
            "Operations that are offered: chosen, those with an algorithm or rules that are set, and those on many ranks of several nodes that take fewer steps than coll-basic's; all. Set it to all to compare the components",
        )
        .one_of(OPERATIONS),
        ParamDecl::new(
            "use_dynamic_rules",
            ParamKind::BOOL,
            6,
            "false",
            "Whether the rules that are given choose algorithms. Set it together with coll_tuned_dynamic_rules",
        ),
        ParamDecl::new(
            "dynamic_rules_filename",
            ParamKind::STRING,
            6,
            "",
            "File of rules, which mpirun reads once for the job: its text is coll_tuned_dynamic_rules. Set it together with coll_tuned_use_dynamic_rules",
        )
        .file_of_next(),
        ParamDecl::new(
            "dynamic_rules",
            ParamKind::STRING,
            6,
            "",
            "Rules as text: tables in TOML, or the numbers of Open MPI's files (docs/collectives.md). Set it where the defaults are not the best on a machine",
        ),
        ParamDecl::new(
            "init_tree_fanout",
            ParamKind::INT,
            7,
            "4",
            "Radix of trees and of Bruck's algorithm where an algorithm is set and its own is not. Raise it on networks with many messages under way at once",
        )
        .range(2, 1 << 20),
        ParamDecl::new(
            "init_chain_fanout",
            ParamKind::INT,
            7,
            "4",
            "Number of chains where an algorithm with chains is set and its own number is not. Raise it where chains are too long",
        )
        .range(1, 1 << 20),
        ParamDecl::new(
            "bcast_algorithm_knomial_radix",
            ParamKind::INT,
            6,
            "4",
            "Radix of the k-nomial tree of broadcasts, where that algorithm is set. Raise it for short messages on fast networks",
        )
        .range(2, 1 << 20),
        ParamDecl::new(
            "alltoall_algorithm_max_requests",
            ParamKind::INT,
            6,
            "0",
            "Messages that alltoall has under way at once where linear or linear_sync is set; 0: all, or 4 with linear_sync. Lower it where many messages at once overload the network",
        )
        .range(0, 1 << 20),
        ParamDecl::new(
            "scatter_algorithm_max_requests",
            ParamKind::INT,
            6,
            "0",
            "Messages that the root of a scatter has under way at once where linear_nb is set; 0: all. Lower it where many messages at once overload the network",
        )
        .range(0, 1 << 20),
    ]
    "allgather": ALLGATHER;
    "allgatherv": ALLGATHERV;
    "allreduce": ALLREDUCE;
    "alltoall": ALLTOALL;
    "alltoallv": ALLTOALLV;
    "barrier": BARRIER;
    "bcast": BCAST;
    "exscan": EXSCAN;
    "gather": GATHER;
    "reduce": REDUCE;
    "reduce_scatter": REDUCE_SCATTER;
    "reduce_scatter_block": REDUCE_SCATTER_BLOCK;
    "scan": SCAN;
    "scatter": SCATTER;
};

/// Places in [`PARAMS`].
mod index {
    pub const PRIORITY: usize = 0;
    pub const OPERATIONS: usize = 1;
    pub const USE_RULES: usize = 2;
    pub const RULES_FILE: usize = 3;
    pub const RULES: usize = 4;
    pub const TREE_FANOUT: usize = 5;
    pub const CHAIN_FANOUT: usize = 6;
    pub const KNOMIAL_RADIX: usize = 7;
    pub const ALLTOALL_REQUESTS: usize = 8;
    pub const SCATTER_REQUESTS: usize = 9;
    /// From here on four for each operation.
    pub const PER_OPERATION: usize = 10;
}

/// The resolved values.
#[derive(Clone, Debug)]
pub struct Settings {
    pub priority: i32,
    all: bool,
    /// The settings of each operation.
    set: [Choice; crate::op::COUNT],
    pub rules: Rules,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Result<Settings, Refused> {
        let is_used = params.flag(index::USE_RULES);
        if is_used && !params.text(index::RULES_FILE).is_empty() && params.text(index::RULES).is_empty() {
            let why = "coll_tuned_dynamic_rules_filename: the file has no text, or mpirun did not see this component and handed none on; ranks read no files. Give the text as coll_tuned_dynamic_rules";
            return Err(Refused::bad(index::RULES_FILE, why));
        }
        let rules = Rules::of(params.text(index::RULES))
            .map_err(|why| Refused::bad(index::RULES, format!("coll_tuned_dynamic_rules: {why}")))?;
        Ok(Settings {
            priority: params.int(index::PRIORITY) as i32,
            all: params.int(index::OPERATIONS) == 1,
            set: Op::ALL.map(|op| choice(op, params)),
            rules: if is_used { rules } else { Rules::default() },
        })
    }

    /// The settings of an operation.
    pub fn set(&self, op: Op) -> Choice {
        self.set[op as usize]
    }

    /// Whether an operation is offered to a communicator of `n` ranks. `far`: they are on several nodes, and have a core each.
    pub fn offers(&self, op: Op, n: u32, far: bool) -> bool {
        self.all || self.set(op).algorithm != 0 || self.rules.has(op, n) || far && wins(op, n)
    }
}

/// The settings of an operation; its own fanout, or the general one.
fn choice(op: Op, params: Params<'_>) -> Choice {
    let own = |which: usize| index::PER_OPERATION + 4 * op as usize + which;
    let int = |at: usize| u32::try_from(params.int(at)).unwrap_or(0);
    let algorithm = int(own(0));
    let (is_chain, is_knomial) =
        (matches!((op, algorithm), (Op::Bcast | Op::Reduce, 2)), (op, algorithm) == (Op::Bcast, 7));
    let (mine, general) = match (is_chain, is_knomial) {
        (true, _) => (int(own(3)), index::CHAIN_FANOUT),
        (_, true) => (int(own(2)), index::KNOMIAL_RADIX),
        _ => (int(own(2)), index::TREE_FANOUT),
    };
    let requests = match op {
        Op::Alltoall => int(index::ALLTOALL_REQUESTS),
        Op::Scatter => int(index::SCATTER_REQUESTS),
        _ => 0,
    };
    let fanout = if mine == 0 { int(general) } else { mine };
    Choice { algorithm, segment: params.size(own(1)) as u64, fanout, requests }
}

/// See `Component::resolve`.
pub fn tell(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
    let settings = Settings::of(params)?;
    let job = process.job;
    let (ranks, far) = (job.job_size, job.local_size < job.job_size && job.oversubscribed == 0);
    if !settings.all {
        let offered = Op::ALL.into_iter().filter(|op| settings.offers(*op, ranks, far));
        let offered: Vec<&str> = offered.map(Op::name).collect();
        let because = match &offered[..] {
            [] => "none on MPI_COMM_WORLD, where no algorithm is set and no rule given".into(),
            offered => format!("on MPI_COMM_WORLD {}", offered.join(", ")),
        };
        answers.as_set(index::OPERATIONS, because);
    }
    for at in [index::RULES, index::RULES_FILE] {
        match (params.text(at).is_empty(), params.flag(index::USE_RULES)) {
            (true, _) => answers.as_set(at, "empty: no rules are given"),
            (false, false) => answers.as_set(at, "not used, since coll_tuned_use_dynamic_rules is false"),
            (false, true) => {}
        }
    }
    for (at, because) in [
        (index::ALLTOALL_REQUESTS, "0: all messages at once"),
        (index::SCATTER_REQUESTS, "0: all messages at once"),
    ] {
        if params.int(at) == 0 {
            answers.as_set(at, because);
        }
    }
    for op in Op::ALL {
        let (at, choice) = (index::PER_OPERATION + 4 * op as usize, settings.set(op));
        for (which, because) in [
            (1, "0: data is not cut into segments".to_owned()),
            (2, "0: the radix that is set for all operations".to_owned()),
            (3, "0: the number of chains that is set for all operations".to_owned()),
        ] {
            if params.int(at + which) == 0 {
                answers.as_set(at + which, because);
            }
        }
        if choice.algorithm == 0 {
            answers.as_set(at, "ignore: rules decide, or the number of ranks and bytes");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_at_their_places() {
        // SAFETY: static text.
        let name = |at: usize| unsafe { PARAMS[at].name.get() }.expect("a name");
        assert_eq!(name(index::SCATTER_REQUESTS), "scatter_algorithm_max_requests");
        for op in Op::ALL {
            let at = index::PER_OPERATION + 4 * op as usize;
            assert_eq!(name(at), format!("{}_algorithm", op.name()));
            assert_eq!(name(at + 3), format!("{}_algorithm_chain_fanout", op.name()));
            // SAFETY: static data.
            assert_eq!(unsafe { PARAMS[at].enumerators.get() }.len(), op.algorithms().len());
        }
    }
}
