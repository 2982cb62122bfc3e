//! Every algorithm for 1 to 33 ranks: who sends what to whom, played through.

use super::allreduce::{self, Allreduce};
use super::bcast::{self, Bcast};
use super::reduce::{self, Reduce};
use super::reduce_scatter::{self, ReduceScatter};
use super::scan::{self, Scan};
use super::{allgather, alltoall, barrier, gather};
use crate::script::{Area, Me, Script};
use crate::simulator::{Play, Unit, heard, play};
use crate::tree::Shape;

const SHAPES: [Shape; 6] =
    [Shape::Chains(1), Shape::Chains(3), Shape::Binary, Shape::Knomial(2), Shape::Knomial(4), Shape::InOrder];

/// Units with their numbers, of one rank.
fn units(rank: u32, count: u64) -> Vec<Unit> {
    (0..count).map(|unit| vec![(rank, unit)]).collect()
}

/// Numbers of ranks with roots, of which there are a few each.
fn rooted() -> impl Iterator<Item = (u32, u32)> {
    (1..=33).flat_map(|n| {
        let mut roots = vec![0, n / 2, n - 1, n / 3];
        roots.dedup();
        roots.into_iter().map(move |root| (n, root))
    })
}

#[test]
fn nobody_leaves_a_barrier_early() {
    type Barrier = fn(&mut dyn Script, Me);
    let all: [(Barrier, u32, u32); 6] = [
        (barrier::linear, 1, 33),
        (barrier::double_ring, 2, 33),
        (barrier::recursive_doubling, 1, 33),
        (barrier::bruck, 1, 33),
        (barrier::two_proc, 2, 2),
        (barrier::tree, 1, 33),
    ];
    for (algorithm, from, to) in all {
        for n in from..=to {
            assert_eq!(heard(n, algorithm), vec![u64::MAX >> (64 - n); n as usize], "{n} ranks");
        }
    }
}

#[test]
fn broadcasts_bring_all_to_all() {
    for (n, root) in rooted() {
        for total in [1, 7, 40] {
            for staged in [false, true] {
                let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, &Bcast)| {
                    let data = |rank| if rank == root { units(root, total) } else { vec![] };
                    let way = Play { n, given: &data, result: &|_| total, in_place: Some(&|_| 0) };
                    let results = play(&way, |s, me| algorithm(s, &Bcast { me, root, total, staged }));
                    let right = results.iter().all(|result| *result == units(root, total));
                    assert!(right, "{what}: {n} ranks, root {root}, {total} units");
                };
                if !staged {
                    check("linear", &|s, b| bcast::linear(s, b));
                }
                for each in [0, 1, 4] {
                    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::InOrder) {
                        check("tree", &|s, b| bcast::tree(s, b, shape, each));
                    }
                    check("split", &|s, b| bcast::split_binary(s, b, each));
                }
                for ring in [false, true] {
                    check("scatter_allgather", &|s, b| bcast::scatter_allgather(s, b, ring));
                }
            }
        }
    }
}

/// A unit in which the operands of ranks from..to are combined.
fn sum(from: u32, to: u32, unit: u64) -> Unit {
    (from..to).map(|rank| (rank, unit)).collect()
}

/// Whether units are sums; of operations that commute in any order.
fn are_sums(got: &[Unit], first: u64, ranks: (u32, u32), commutes: bool) -> bool {
    got.iter().zip(first..).all(|(got, unit)| {
        let mut got = got.clone();
        if commutes {
            got.sort_unstable();
        }
        got == sum(ranks.0, ranks.1, unit)
    })
}

#[test]
fn reductions_combine_all_in_order() {
    for (n, root) in rooted() {
        for count in [1, 18] {
            for (commutes, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
                let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, &Reduce)| {
                    let given = |rank| units(rank, count);
                    let way = Play { n, given: &given, result: &|_| count, in_place: None };
                    let aliased = Play { in_place: Some(&|_| 0), ..way };
                    let run = |s: &mut dyn Script, me: Me| {
                        let in_place = in_place && me.rank == root;
                        algorithm(s, &Reduce { me, root, count, commutes, in_place, into: Area::Result });
                    };
                    let results = if in_place { play(&aliased, run) } else { play(&way, run) };
                    let right = are_sums(&results[root as usize], 0, (0, n), commutes);
                    assert!(
                        right,
                        "{what}: {n} ranks, root {root}, {count} units: {:?}",
                        results[root as usize]
                    );
                };
                check("linear", &|s, r| reduce::linear(s, r));
                for each in [0, 1, 4] {
                    for shape in SHAPES {
                        check("tree", &|s, r| reduce::tree(s, r, shape, each));
                    }
                }
                check("rabenseifner", &|s, r| allreduce::rabenseifner_reduce(s, r));
            }
        }
    }
}

#[test]
fn all_get_the_same_sum() {
    for n in 1..=33 {
        for count in [1, 5, 40] {
            for (commutes, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
                let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, &Allreduce)| {
                    let given = |rank| units(rank, count);
                    let way = Play { n, given: &given, result: &|_| count, in_place: None };
                    let aliased = Play { in_place: Some(&|_| 0), ..way };
                    let run = |s: &mut dyn Script, me: Me| {
                        algorithm(s, &Allreduce { me, count, commutes, in_place })
                    };
                    let results = if in_place { play(&aliased, run) } else { play(&way, run) };
                    assert!(are_sums(&results[0], 0, (0, n), commutes), "{what}: {n} ranks, {count} units");
                    assert!(results.iter().all(|result| *result == results[0]), "{what}: not the same");
                };
                check("linear", &|s, a| allreduce::linear(s, a));
                check("nonoverlapping", &|s, a| allreduce::nonoverlapping(s, a));
                check("doubling", &|s, a| allreduce::recursive_doubling(s, a));
                check("rabenseifner", &|s, a| allreduce::rabenseifner(s, a));
                check("allgather_reduce", &|s, a| allreduce::allgather_reduce(s, a));
                for each in [0, 1, 3].into_iter().filter(|_| commutes) {
                    check("ring", &|s, a| allreduce::ring(s, a, each));
                }
            }
        }
    }
}

#[test]
fn each_gets_its_block_of_the_sum() {
    for n in 1..=33 {
        for kind in 0..3 {
            let counts = (0..u64::from(n)).map(|rank| [rank * 5 % 4, 3, 0][kind]);
            let mut starts = vec![0];
            counts.for_each(|count| starts.push(starts[starts.len() - 1] + count));
            let total = starts[n as usize];
            let own = |rank: u32| starts[rank as usize + 1] - starts[rank as usize];
            for (commutes, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
                let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, &ReduceScatter<'_>)| {
                    let given = |rank| units(rank, total);
                    let way = Play { n, given: &given, result: &own, in_place: None };
                    let aliased = Play { result: &|_| total, in_place: Some(&|_| 0), ..way };
                    let run = |s: &mut dyn Script, me: Me| {
                        algorithm(s, &ReduceScatter { me, starts: &starts, commutes })
                    };
                    let results = if in_place { play(&aliased, run) } else { play(&way, run) };
                    for (rank, got) in (0..n).zip(results) {
                        let right =
                            are_sums(&got[..own(rank) as usize], starts[rank as usize], (0, n), commutes);
                        assert!(right, "{what}: {n} ranks, rank {rank}: {got:?}");
                    }
                };
                check("nonoverlapping", &|s, r| reduce_scatter::nonoverlapping(s, r, false));
                check("linear", &|s, r| reduce_scatter::nonoverlapping(s, r, true));
                check("butterfly", &|s, r| reduce_scatter::halving(s, r, true));
                check("doubling", &|s, r| reduce_scatter::recursive_doubling(s, r));
                if commutes {
                    check("halving", &|s, r| reduce_scatter::halving(s, r, false));
                    check("ring", &|s, r| reduce_scatter::ring(s, r));
                }
            }
        }
    }
}

#[test]
fn scans_combine_those_before() {
    for n in 1..=33 {
        for (exclusive, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
            let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, &Scan)| {
                let given = |rank| units(rank, 3);
                let way = Play { n, given: &given, result: &|_| 3, in_place: None };
                let aliased = Play { in_place: Some(&|_| 0), ..way };
                let run = |s: &mut dyn Script, me: Me| algorithm(s, &Scan { me, count: 3, exclusive });
                let results = if in_place { play(&aliased, run) } else { play(&way, run) };
                for (rank, got) in (0..n).zip(results).skip(exclusive.into()) {
                    let ranks = (0, if exclusive { rank } else { rank + 1 });
                    assert!(are_sums(&got, 0, ranks, false), "{what}: {n} ranks, rank {rank}: {got:?}");
                }
            };
            check("linear", &|s, scan| scan::linear(s, scan));
            check("doubling", &|s, scan| scan::recursive_doubling(s, scan));
        }
    }
}

/// Block of rank `from` for rank `to`.
fn block(from: u32, to: u32) -> Unit {
    vec![(from, to.into())]
}

#[test]
fn all_get_all_blocks() {
    for n in 1..=33 {
        let all: Vec<Unit> = (0..n).map(|from| block(from, 0)).collect();
        for in_place in [false, true] {
            let check = |what: &str, fits: bool, algorithm: &dyn Fn(&mut dyn Script, Me)| {
                let given = |rank| vec![block(rank, 0)];
                let way = Play { n, given: &given, result: &|_| n.into(), in_place: None };
                let aliased = Play { in_place: Some(&|rank| rank as usize), ..way };
                if fits {
                    let results = if in_place { play(&aliased, algorithm) } else { play(&way, algorithm) };
                    assert!(results.iter().all(|result| *result == all), "{what}: {n} ranks: {results:?}");
                }
            };
            check("linear", true, &|s, me| allgather::linear(s, me));
            for radix in [2, 3, 4, 50] {
                check("bruck", true, &|s, me| allgather::bruck(s, me, radix));
            }
            check("doubling", n.is_power_of_two(), &|s, me| allgather::recursive_doubling(s, me));
            check("ring", true, &|s, me| allgather::ring(s, me));
            check("neighbor", n.is_multiple_of(2), &|s, me| allgather::neighbor(s, me));
            check("two_proc", n == 2, &|s, me| allgather::two_proc(s, me));
            check("sparbit", true, &|s, me| allgather::sparbit(s, me));
            check("direct", true, &|s, me| allgather::direct(s, me));
        }
    }
}

#[test]
fn the_root_gets_all_blocks() {
    for (n, root) in rooted() {
        for in_place in [false, true] {
            let check = |what: &str, algorithm: fn(&mut dyn Script, Me, u32)| {
                let given = |rank| vec![block(rank, 0)];
                let way = Play { n, given: &given, result: &|_| n.into(), in_place: None };
                let aliased = Play { in_place: Some(&|rank| rank as usize), ..way };
                let run = |s: &mut dyn Script, me: Me| algorithm(s, me, root);
                let results = if in_place { play(&aliased, run) } else { play(&way, run) };
                let all: Vec<Unit> = (0..n).map(|from| block(from, 0)).collect();
                assert!(results[root as usize] == all, "{what}: {n} ranks, root {root}");
            };
            check("linear", gather::gather_linear);
            check("linear_sync", gather::gather_linear_sync);
            check("binomial", gather::gather_binomial);
        }
    }
}

#[test]
fn each_gets_its_block_of_the_roots() {
    for (n, root) in rooted() {
        let check = |what: &str, algorithm: &dyn Fn(&mut dyn Script, Me)| {
            let given = |rank| (0..n).filter(|_| rank == root).map(|to| block(root, to)).collect();
            let results = play(&Play { n, given: &given, result: &|_| 1, in_place: None }, algorithm);
            let right = (0..n).zip(&results).all(|(rank, result)| *result == [block(root, rank)]);
            assert!(right, "{what}: {n} ranks, root {root}: {results:?}");
        };
        for most in [0, 1, 3] {
            check("linear", &|s, me| gather::scatter_linear(s, me, root, most));
        }
        check("binomial", &|s, me| gather::scatter_binomial(s, me, root));
    }
}

#[test]
fn blocks_go_from_each_to_each() {
    for n in 1..=33 {
        let check = |what: &str, fits: bool, algorithm: &dyn Fn(&mut dyn Script, Me)| {
            let given = |rank| (0..n).map(|to| block(rank, to)).collect();
            if fits {
                let way = Play { n, given: &given, result: &|_| n.into(), in_place: None };
                for (rank, result) in (0..n).zip(play(&way, algorithm)) {
                    let right = (0..n).map(|from| block(from, rank)).collect::<Vec<_>>();
                    assert!(result == right, "{what}: {n} ranks, rank {rank}: {result:?}");
                }
            }
        };
        for most in [0, 1, 5] {
            check("linear", true, &|s, me| alltoall::linear(s, me, Area::Given, most));
        }
        check("pairwise", true, &|s, me| alltoall::pairwise(s, me, Area::Given));
        check("two_proc", n == 2, &|s, me| alltoall::two_proc(s, me, Area::Given));
        for radix in [2, 3, 4, 50] {
            check("bruck", true, &|s, me| alltoall::bruck(s, me, Area::Given, radix));
        }
    }
}
