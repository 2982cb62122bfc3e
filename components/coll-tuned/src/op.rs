//! The operations of this component, with the names and numbers that Open MPI gives them and their algorithms.

use oxmpi_mca::StrRef;

/// An operation; the number is the place among [`Op::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Allgather,
    Allgatherv,
    Allreduce,
    Alltoall,
    Alltoallv,
    Barrier,
    Bcast,
    Exscan,
    Gather,
    Reduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Scatter,
}

/// Number of operations.
pub const COUNT: usize = 14;

/// An algorithm by its number, from 1 on; 0 leaves the decision to others. Its name is the parameter's enumerator.
macro_rules! names {
    ($($operation:ident $word:literal: $($name:literal)*;)*) => {
        $(pub const $operation: &[StrRef] = &[StrRef::new("ignore"), $(StrRef::new($name)),*];)*
        /// Names of the algorithms of all operations, each with its operation's, as tools see them in counters.
        pub const COUNTED: &[StrRef] = &[$($(StrRef::new(concat!($word, "_", $name))),*),*];
    };
}

/// Names of algorithms, each at its number.
pub mod algorithms {
    use oxmpi_mca::StrRef;
    names! {
        ALLGATHER "allgather": "linear" "bruck-k-fanout" "recursive_doubling" "ring" "neighbor" "two_proc" "sparbit" "direct-messaging";
        ALLGATHERV "allgatherv": "default" "bruck" "ring" "neighbor" "two_proc" "sparbit";
        ALLREDUCE "allreduce": "basic_linear" "nonoverlapping" "recursive_doubling" "ring" "segmented_ring" "rabenseifner" "allgather_reduce";
        ALLTOALL "alltoall": "linear" "pairwise" "modified_bruck" "linear_sync" "two_proc";
        ALLTOALLV "alltoallv": "basic_linear" "pairwise";
        BARRIER "barrier": "linear" "double_ring" "recursive_doubling" "bruck" "two_proc" "tree";
        BCAST "bcast": "basic_linear" "chain" "pipeline" "split_binary_tree" "binary_tree" "binomial" "knomial" "scatter_allgather" "scatter_allgather_ring";
        EXSCAN "exscan": "linear" "recursive_doubling";
        GATHER "gather": "basic_linear" "binomial" "linear_sync";
        REDUCE "reduce": "linear" "chain" "pipeline" "binary" "binomial" "in-order_binary" "rabenseifner" "knomial";
        REDUCE_SCATTER "reduce_scatter": "non-overlapping" "recursive_halving" "ring" "butterfly";
        REDUCE_SCATTER_BLOCK "reduce_scatter_block": "basic_linear" "recursive_doubling" "recursive_halving" "butterfly";
        SCAN "scan": "linear" "recursive_doubling";
        SCATTER "scatter": "basic_linear" "binomial" "linear_nb";
    }
}

impl Op {
    pub const ALL: [Op; COUNT] = [
        Op::Allgather,
        Op::Allgatherv,
        Op::Allreduce,
        Op::Alltoall,
        Op::Alltoallv,
        Op::Barrier,
        Op::Bcast,
        Op::Exscan,
        Op::Gather,
        Op::Reduce,
        Op::ReduceScatter,
        Op::ReduceScatterBlock,
        Op::Scan,
        Op::Scatter,
    ];

    /// As in the names of parameters and in rules.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Allgather => "allgather",
            Op::Allgatherv => "allgatherv",
            Op::Allreduce => "allreduce",
            Op::Alltoall => "alltoall",
            Op::Alltoallv => "alltoallv",
            Op::Barrier => "barrier",
            Op::Bcast => "bcast",
            Op::Exscan => "exscan",
            Op::Gather => "gather",
            Op::Reduce => "reduce",
            Op::ReduceScatter => "reduce_scatter",
            Op::ReduceScatterBlock => "reduce_scatter_block",
            Op::Scan => "scan",
            Op::Scatter => "scatter",
        }
    }

    /// Names of its algorithms, each at its number.
    pub const fn algorithms(self) -> &'static [StrRef] {
        match self {
            Op::Allgather => algorithms::ALLGATHER,
            Op::Allgatherv => algorithms::ALLGATHERV,
            Op::Allreduce => algorithms::ALLREDUCE,
            Op::Alltoall => algorithms::ALLTOALL,
            Op::Alltoallv => algorithms::ALLTOALLV,
            Op::Barrier => algorithms::BARRIER,
            Op::Bcast => algorithms::BCAST,
            Op::Exscan => algorithms::EXSCAN,
            Op::Gather => algorithms::GATHER,
            Op::Reduce => algorithms::REDUCE,
            Op::ReduceScatter => algorithms::REDUCE_SCATTER,
            Op::ReduceScatterBlock => algorithms::REDUCE_SCATTER_BLOCK,
            Op::Scan => algorithms::SCAN,
            Op::Scatter => algorithms::SCATTER,
        }
    }

    /// The name of an algorithm, if there is one of that number.
    pub fn algorithm(self, number: u32) -> Option<&'static str> {
        // SAFETY: static text.
        self.algorithms().get(number as usize).and_then(|name| unsafe { name.get() })
    }

    /// The number of an algorithm's name in [`algorithms::COUNTED`].
    pub const fn counter(self, algorithm: u32) -> u32 {
        let (mut before, mut op) = (0, 0);
        while op < self as usize {
            // The first name of an operation stands for no algorithm.
            before += Op::ALL[op].algorithms().len() - 1;
            op += 1;
        }
        before as u32 + algorithm - 1
    }

    /// An algorithm by its name or number.
    pub fn number_of(self, text: &str) -> Option<u32> {
        let numbers = 0..self.algorithms().len() as u32;
        let by_number = text.parse().ok().filter(|number| numbers.contains(number));
        by_number.or_else(|| numbers.clone().find(|number| self.algorithm(*number) == Some(text)))
    }

    /// The operation of a number in Open MPI's files of rules. `None`: one that this component does not have. Numbers end at
    /// [`Op::LAST_NUMBER`].
    pub fn of_number(number: u64) -> Option<Op> {
        Some(match number {
            0 => Op::Allgather,
            1 => Op::Allgatherv,
            2 => Op::Allreduce,
            3 => Op::Alltoall,
            4 => Op::Alltoallv,
            6 => Op::Barrier,
            7 => Op::Bcast,
            8 => Op::Exscan,
            9 => Op::Gather,
            11 => Op::Reduce,
            12 => Op::ReduceScatter,
            13 => Op::ReduceScatterBlock,
            14 => Op::Scan,
            15 => Op::Scatter,
            _ => return None,
        })
    }

    /// The last number that Open MPI gives to an operation.
    pub const LAST_NUMBER: u64 = 21;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_find_each_other() {
        for (place, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, place);
            for number in 0..op.algorithms().len() as u32 {
                let name = op.algorithm(number).expect("a name");
                assert_eq!([op.number_of(name), op.number_of(&number.to_string())], [Some(number); 2]);
            }
            assert_eq!(op.number_of("99"), None);
            for number in 1..op.algorithms().len() as u32 {
                // SAFETY: static text.
                let counted = unsafe { algorithms::COUNTED[op.counter(number) as usize].get() };
                let name = op.algorithm(number).expect("a name");
                assert_eq!(counted, Some(&*format!("{}_{name}", op.name())));
            }
        }
        let found = (0..=Op::LAST_NUMBER).filter_map(Op::of_number);
        assert!(found.eq(Op::ALL));
    }
}
