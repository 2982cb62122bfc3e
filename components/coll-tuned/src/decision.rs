//! Decisions between algorithms: pure functions of facts that are equal in all ranks of a communicator.
//!
//! An algorithm that a parameter names is taken, else the one that a rule names, else the one that this file does ([`by_default`]). One that a
//! call cannot have (two processes, an even number, an operation that commutes) gives way to the default.

use crate::choice::Choice;
use crate::op::Op;
use crate::rules::Rules;

/// Facts of a call, equal in all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub n: u32,
    /// Bytes of an operand or of a broadcast; of all blocks together where there are blocks. 0 where counts are given per rank, but for
    /// reduce_scatter: they need not be known in all ranks.
    pub bytes: u64,
    /// Of the operation; true where there is none.
    pub commutes: bool,
    /// There are more ranks than cores.
    pub oversubscribed: bool,
}

/// Whether a call can have an algorithm.
pub fn fits(op: Op, algorithm: u32, facts: &Facts) -> bool {
    match (op, algorithm) {
        (Op::Allgather, 6) | (Op::Allgatherv, 5) | (Op::Alltoall, 5) | (Op::Barrier, 5) => facts.n == 2,
        (Op::Allgather, 3) => facts.n.is_power_of_two(),
        (Op::Allgather, 5) | (Op::Allgatherv, 4) => facts.n.is_multiple_of(2),
        (Op::Allreduce, 4 | 5) | (Op::ReduceScatter, 2 | 3) | (Op::ReduceScatterBlock, 3) => facts.commutes,
        _ => true,
    }
}

/// The algorithm of a call.
pub fn decide(op: Op, set: Choice, rules: &Rules, facts: &Facts) -> Choice {
    let named = if set.algorithm != 0 { Some(set) } else { rules.find(op, facts.n, facts.bytes) };
    let usable = named.filter(|choice| choice.algorithm != 0 && fits(op, choice.algorithm, facts));
    usable.unwrap_or_else(|| by_default(op, facts))
}

/// Up to so many bytes a message's start costs more than its data.
const SHORT: u64 = 10_000;
/// Bytes of a segment where data is pipelined.
const SEGMENT: u64 = 64 << 10;

/// The default.
pub fn by_default(op: Op, facts: &Facts) -> Choice {
    let Facts { n, bytes, commutes, oversubscribed } = *facts;
    let block = bytes / u64::from(n);
    let number = match op {
        Op::Barrier if n == 2 => 5,
        Op::Barrier if oversubscribed => {
            if n <= 64 {
                1
            } else {
                6
            }
        }
        Op::Barrier => 4,
        Op::Bcast if bytes <= SHORT || n <= 2 => 6,
        // Two steps of all data but a share, where a tree has log n of them.
        Op::Bcast if n >= 8 && block >= 16 << 10 => 9,
        Op::Bcast if n >= 8 => 8,
        Op::Bcast => return Choice { segment: SEGMENT, ..Choice::of(3) },
        Op::Reduce if bytes <= SHORT => 5,
        Op::Reduce if commutes => 7,
        Op::Reduce => return Choice { segment: SEGMENT, ..Choice::of(6) },
        Op::Allreduce if bytes <= SHORT => 3,
        Op::Allreduce if commutes && block >= SEGMENT => return Choice { segment: SEGMENT, ..Choice::of(5) },
        Op::Allreduce => 6,
        Op::Allgather if n == 2 => 6,
        Op::Allgather if bytes <= 8 * SHORT => {
            if n.is_power_of_two() {
                3
            } else {
                2
            }
        }
        Op::Allgather => {
            if n.is_multiple_of(2) {
                5
            } else {
                4
            }
        }
        Op::Allgatherv if n == 2 => 5,
        Op::Allgatherv => {
            if n.is_multiple_of(2) {
                4
            } else {
                3
            }
        }
        Op::Alltoall if n == 2 => 5,
        Op::Alltoall if n >= 12 && block <= 256 => 3,
        Op::Alltoall if block <= 3000 => return Choice { requests: 64, ..Choice::of(4) },
        Op::Alltoall => 2,
        Op::Alltoallv => 1,
        Op::Gather if block <= 4096 => 2,
        Op::Gather => 1,
        Op::Scatter if block <= 4096 => 2,
        Op::Scatter => return Choice { requests: 32, ..Choice::of(3) },
        Op::Scan | Op::Exscan => 2,
        Op::ReduceScatter if !commutes => 4,
        Op::ReduceScatter => {
            if bytes <= SHORT {
                2
            } else {
                3
            }
        }
        Op::ReduceScatterBlock if !commutes => 4,
        Op::ReduceScatterBlock => 3,
    };
    Choice::of(number)
}

/// Whether this component should serve an operation on several nodes where it was not asked to: the algorithms that it has beyond coll-basic's kind take
/// fewer steps there by their structure.
pub fn wins(op: Op, n: u32) -> bool {
    match op {
        // Short blocks: log n messages instead of n; long data: two times the data instead of log n times.
        Op::Alltoall | Op::Bcast => n >= 32,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_facts() -> impl Iterator<Item = Facts> {
        (1..=33).flat_map(|n| {
            [0, 1, 9_000, 100_000, 1 << 20, 1 << 30].into_iter().flat_map(move |bytes| {
                [(true, false), (false, true)].map(|(commutes, oversubscribed)| Facts {
                    n,
                    bytes,
                    commutes,
                    oversubscribed,
                })
            })
        })
    }

    #[test]
    fn defaults_are_algorithms_that_fit() {
        for facts in all_facts() {
            for op in Op::ALL {
                let choice = by_default(op, &facts);
                assert!(choice.algorithm != 0 && op.algorithm(choice.algorithm).is_some());
                assert!(facts.n == 1 || fits(op, choice.algorithm, &facts), "{op:?} {facts:?}");
            }
        }
    }

    #[test]
    fn parameters_come_before_rules_before_defaults() {
        let facts = Facts { n: 7, bytes: 5000, commutes: false, oversubscribed: false };
        let rules =
            Rules::of("rule = [{operation = 'reduce', bytes = 5000, algorithm = 'chain', fanout = 3}]")
                .expect("rules");
        let ruled = Choice { fanout: 3, ..Choice::of(2) };
        assert_eq!(decide(Op::Reduce, Choice::default(), &rules, &facts), ruled);
        assert_eq!(decide(Op::Reduce, Choice::of(1), &rules, &facts), Choice::of(1));
        let shorter = Facts { bytes: 4999, ..facts };
        assert_eq!(decide(Op::Reduce, Choice::default(), &rules, &shorter), by_default(Op::Reduce, &shorter));
        // An algorithm that cannot be had gives way.
        assert_eq!(decide(Op::Allreduce, Choice::of(4), &rules, &facts), by_default(Op::Allreduce, &facts));
        assert_eq!(decide(Op::Allgather, Choice::of(5), &rules, &facts), by_default(Op::Allgather, &facts));
    }
}
