//! The collectives that move blocks of different lengths, and all that move data between two groups, against what
//! the standard says of each: the bytes from one rank to another are a function of both, so whatever lands in
//! the wrong place, or not at all, is seen. Types and places differ between ranks; some blocks are empty.

use crate::common::data::{Buffer, HOLE, Random, layouts};
use crate::common::{Args, Blocks, Params, Rank, job, two_groups};
use oxmpi_coll::{IN_PLACE, NO_ROOT, ROOT};
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::Status;
use std::sync::atomic::{AtomicU32, Ordering};

const LARGE: Params = &[("gather_small_msg", "0"), ("alltoall_small_msg", "0"), ("scratch_limit", "0")];

/// Runs `test` in one group of each size and between two groups of each pair of sizes.
fn everywhere(test: impl Fn(&Rank, &mut Random) + Sync) {
    for synchronous in [false, true] {
        for n in 1..=9 {
            job(n, synchronous, LARGE, |rank| test(rank, &mut Random::new(n as u64)));
        }
        job(40, synchronous, &[], |rank| test(rank, &mut Random::new(40)));
    }
    between(test);
}

fn between(test: impl Fn(&Rank, &mut Random) + Sync) {
    for synchronous in [false, true] {
        for sizes in [[1, 1], [1, 4], [3, 2], [4, 4], [2, 7], [20, 3]] {
            let seed = (sizes[0] * 50 + sizes[1]) as u64;
            two_groups(sizes, synchronous, &[], |rank| test(rank, &mut Random::new(seed)));
        }
    }
}

/// Names of a rank and of those it talks with, different in all ranks of both groups.
fn me(rank: &Rank) -> u64 {
    (rank.side * 1000) as u64 + rank.rank as u64
}
fn peers(rank: &Rank) -> Vec<u64> {
    match rank.remote {
        0 => (0..rank.n as u64).collect(),
        remote => (0..remote as u64).map(|r| ((1 - rank.side) * 1000) as u64 + r).collect(),
    }
}

/// Ints that go from one rank to another: a multiple of 12, often 0.
pub fn ints(seed: u64, from: u64, to: u64) -> u64 {
    let mut random = Random::new(seed * 7 + from * 100_003 + to);
    random.next();
    match random.below(8) {
        0..3 => 0,
        3..7 => 12 * (1 + random.below(5)),
        _ => 12 * random.below(200),
    }
}

pub fn content(seed: u64, from: u64, to: u64, ints: u64) -> Vec<u8> {
    Random::new(seed * 13 + from * 1_000_003 + to * 17).bytes(4 * ints)
}

/// One rank's side of a call: blocks of one type at places of their own, in any order, with gaps.
pub struct Side {
    pub dtype: TypeRef,
    pub counts: Vec<u64>,
    pub displs: Vec<i64>,
    pub buffer: Buffer,
    /// What the buffer has to hold, packed.
    expected: Vec<u8>,
}

impl Side {
    /// `blocks`: what each shall hold; `filled`: it is there before the call.
    pub fn new(random: &mut Random, blocks: &[Vec<u8>], filled: bool) -> Side {
        let each = [2, 3, 4, 6][random.below(4) as usize];
        let dtype = layouts(each)[random.below(3) as usize].clone();
        let counts: Vec<u64> = blocks.iter().map(|b| b.len() as u64 / dtype.packed).collect();
        let mut displs = vec![0; blocks.len()];
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        let mut end = random.below(3);
        for i in order {
            displs[i] = end as i64;
            end += counts[i] + random.below(3);
        }
        let mut buffer = Buffer::new(&dtype, end);
        let mut expected = vec![HOLE; (end * dtype.packed) as usize];
        for (block, at) in blocks.iter().zip(&displs) {
            let from = *at as u64 * dtype.packed;
            expected[from as usize..][..block.len()].copy_from_slice(block);
            if filled {
                buffer.put(from, block);
            }
        }
        Side { dtype, counts, displs, buffer, expected }
    }

    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { counts: &self.counts, displs: &self.displs, types: &[] }
    }

    pub fn check(&self, what: &str) {
        assert!(self.buffer.read() == self.expected, "{what}");
    }
}

fn own(random: &mut Random, rank: &Rank) -> (u64, Random) {
    let seed = random.next();
    (seed, Random::new(seed ^ me(rank) << 40))
}

/// Roots to try: (is it our group's?, its rank), the same list in all ranks.
fn roots(rank: &Rank) -> Vec<(bool, u32)> {
    match (rank.remote, rank.side) {
        (0, _) => (0..rank.n).map(|r| (true, r)).collect(),
        (m, 0) => (0..rank.n).map(|r| (true, r)).chain((0..m).map(|r| (false, r))).collect(),
        (m, _) => (0..m).map(|r| (false, r)).chain((0..rank.n).map(|r| (true, r))).collect(),
    }
}

/// What to give as root, whether we are it, and whether we have a part.
fn root_of(rank: &Rank, (ours, root): (bool, u32)) -> (u32, bool, bool) {
    let is_root = ours && root == rank.rank;
    match rank.remote {
        0 => (root, is_root, true),
        _ if is_root => (ROOT as u32, true, true),
        _ if ours => (NO_ROOT as u32, false, false),
        _ => (root, false, true),
    }
}

fn named(rank: &Rank, (ours, root): (bool, u32)) -> u64 {
    let side = if ours { rank.side } else { 1 - rank.side };
    (side * 1000) as u64 + root as u64
}

#[test]
fn gatherv_and_scatterv() {
    everywhere(|rank, random| {
        for root in roots(rank).into_iter().take(6) {
            let (seed, mut seeds) = own(random, rank);
            let in_place = seeds.below(2) == 0;
            let (given, is_root, takes_part) = root_of(rank, root);
            let at = named(rank, root);
            let block = |from, to| content(seed, from, to, ints(seed, from, to));
            let mine = [block(me(rank), at)];
            let from_root = [block(at, me(rank))];
            let all: Vec<Vec<u8>> = peers(rank).iter().map(|p| block(*p, at)).collect();
            let out: Vec<Vec<u8>> = peers(rank).iter().map(|p| block(at, *p)).collect();

            // In place our block is where it belongs, or stays where it is.
            let in_place = in_place && is_root && rank.remote == 0;
            let mut one = Side::new(&mut seeds, &mine, true);
            let mut each = Side::new(&mut seeds, &all, in_place);
            let mut args = Args { root: given, ..Args::default() };
            let place = |side: &mut Side| {
                side.buffer.address().wrapping_offset(side.displs[0] as isize * side.dtype.extent as isize)
            };
            if !is_root || rank.remote == 0 {
                args.send = (place(&mut one), one.counts[0], Some(&*one.dtype));
            }
            if in_place {
                args.send = (IN_PLACE, 99, None);
            }
            if is_root {
                args.recv = (each.buffer.address(), 99, Some(&*each.dtype));
                args.recv_blocks = each.blocks();
            }
            assert_eq!(rank.call(|t| t.gatherv, args), Status::OK);
            one.check("what was sent was changed");
            if is_root {
                each.check("gatherv");
            }

            let mut one = Side::new(&mut seeds, &from_root, in_place);
            let mut each = Side::new(&mut seeds, &out, true);
            let mut args = Args { root: given, ..Args::default() };
            if takes_part && (!is_root || rank.remote == 0) {
                args.recv = (place(&mut one), one.counts[0], Some(&*one.dtype));
            }
            if in_place {
                args.recv = (IN_PLACE.cast_mut(), 99, None);
            }
            if is_root {
                args.send = (each.buffer.address(), 99, Some(&*each.dtype));
                args.send_blocks = each.blocks();
            }
            assert_eq!(rank.call(|t| t.scatterv, args), Status::OK);
            each.check("what was scattered was changed");
            if takes_part && (!is_root || rank.remote == 0) {
                one.check("scatterv");
            }
        }
    });
}

#[test]
fn allgatherv() {
    everywhere(|rank, random| {
        for turn in 0..6 {
            let (seed, mut seeds) = own(random, rank);
            let block = |from| content(seed, from, 5, ints(seed, from, 5));
            let in_place = turn % 2 == 1 && rank.remote == 0;
            let all: Vec<Vec<u8>> = peers(rank).into_iter().map(block).collect();
            let mut one = Side::new(&mut seeds, &[block(me(rank))], true);
            let mut each = Side::new(&mut seeds, &all, false);
            if in_place {
                let at = each.displs[rank.rank as usize] as u64 * each.dtype.packed;
                each.buffer.put(at, &all[rank.rank as usize]);
            }
            let start = one.displs[0] as isize * one.dtype.extent as isize;
            let from = one.buffer.address().cast_const().wrapping_offset(start);
            let mut args = Args { send: (from, one.counts[0], Some(&*one.dtype)), ..Args::default() };
            if in_place {
                args.send = (IN_PLACE, 99, None);
            }
            args.recv = (each.buffer.address(), 99, Some(&*each.dtype));
            args.recv_blocks = each.blocks();
            assert_eq!(rank.call(|t| t.allgatherv, args), Status::OK);
            each.check("allgatherv");
            one.check("what was sent was changed");
        }
    });
}

#[test]
fn alltoallv() {
    everywhere(|rank, random| {
        for turn in 0..6 {
            let (seed, mut seeds) = own(random, rank);
            let in_place = turn % 2 == 1 && rank.remote == 0;
            // In place both directions have one length.
            let length = |a: u64, b: u64| {
                if turn % 2 == 1 { ints(seed, a.min(b), a.max(b)) } else { ints(seed, a, b) }
            };
            let block = |from, to| content(seed, from, to, length(from, to));
            let out: Vec<Vec<u8>> = peers(rank).into_iter().map(|p| block(me(rank), p)).collect();
            let into: Vec<Vec<u8>> = peers(rank).into_iter().map(|p| block(p, me(rank))).collect();
            let mut send = Side::new(&mut seeds, &out, true);
            let mut recv = Side::new(&mut seeds, &into, false);
            let (from, into) = (send.buffer.address().cast_const(), recv.buffer.address());
            if in_place {
                for (block, at) in out.iter().zip(&recv.displs) {
                    recv.buffer.put(*at as u64 * recv.dtype.packed, block);
                }
            }
            let mut args = Args { recv_blocks: recv.blocks(), ..Args::default() };
            args.send = (IN_PLACE, 99, None);
            if !in_place {
                args.send = (from, 99, Some(&*send.dtype));
                args.send_blocks = send.blocks();
            }
            args.recv = (into, 99, Some(&*recv.dtype));
            assert_eq!(rank.call(|t| t.alltoallv, args), Status::OK);
            recv.check("alltoallv");
            send.check("what was sent was changed");
        }
    });
}

pub type Described = (Vec<u64>, Vec<i64>, Vec<*const TypeDesc>);

pub fn typed((counts, displs, types): &Described) -> Blocks<'_> {
    Blocks { counts, displs, types }
}

/// Every block a buffer and a type of its own; displacements are addresses relative to a common base.
#[test]
fn alltoallw() {
    everywhere(|rank, random| {
        for turn in 0..4 {
            let (seed, mut seeds) = own(random, rank);
            let in_place = turn % 2 == 1 && rank.remote == 0;
            let length = |a: u64, b: u64| {
                if turn % 2 == 1 { ints(seed, a.min(b), a.max(b)) } else { ints(seed, a, b) }
            };
            let block = |from, to| content(seed, from, to, length(from, to));
            let mut sides = |filled: &dyn Fn(u64) -> Vec<u8>, there: bool| -> Vec<Side> {
                peers(rank).into_iter().map(|p| Side::new(&mut seeds, &[filled(p)], there)).collect()
            };
            let mut send = sides(&|p| block(me(rank), p), true);
            let mut recv = sides(&|p| block(p, me(rank)), false);
            if in_place {
                for (side, peer) in recv.iter_mut().zip(peers(rank)) {
                    side.buffer.put(side.displs[0] as u64 * side.dtype.packed, &block(me(rank), peer));
                }
            }
            let base = std::ptr::from_ref(rank).cast::<u8>();
            let describe = |sides: &mut [Side]| -> Described {
                let counts: Vec<u64> = sides.iter().map(|s| s.counts[0]).collect();
                let displs: Vec<i64> = sides
                    .iter_mut()
                    .map(|s| {
                        let at = s.buffer.address() as i64 + s.displs[0] * s.dtype.extent;
                        at - base as i64
                    })
                    .collect();
                let types: Vec<*const TypeDesc> = sides.iter().map(|s| &raw const *s.dtype).collect();
                (counts, displs, types)
            };
            let (out, into) = (describe(&mut send), describe(&mut recv));
            let mut args = Args { recv_blocks: typed(&into), ..Args::default() };
            args.send = (base, 99, None);
            args.send_blocks = typed(&out);
            if in_place {
                args.send = (IN_PLACE, 99, None);
                args.send_blocks = Blocks::default();
            }
            args.recv = (base.cast_mut(), 99, None);
            assert_eq!(rank.call(|t| t.alltoallw, args), Status::OK);
            send.iter().for_each(|s| s.check("what was sent was changed"));
            recv.iter().for_each(|s| s.check("alltoallw"));
        }
    });
}

/// The collectives of equal blocks between two groups: bcast, gather, scatter, allgather, alltoall.
#[test]
fn equal_blocks_between_groups() {
    between(|rank, random| {
        for root in roots(rank) {
            let (seed, mut seeds) = own(random, rank);
            let ints = ints(seed, 0, 0);
            let at = named(rank, root);
            let (given, is_root, takes_part) = root_of(rank, root);
            let block = |from, to| content(seed, from, to, ints);
            let dense = |random: &mut Random, blocks: Vec<Vec<u8>>, filled: bool| {
                let each = [2, 3, 4, 6][random.below(4) as usize];
                let dtype = layouts(each)[random.below(3) as usize].clone();
                let all = blocks.concat();
                let count = all.len() as u64 / dtype.packed;
                let buffer =
                    if filled { Buffer::holding(&dtype, count, &all) } else { Buffer::new(&dtype, count) };
                (buffer, dtype, all, ints / each)
            };
            let from_all: Vec<Vec<u8>> = peers(rank).iter().map(|p| block(*p, at)).collect();
            let to_all: Vec<Vec<u8>> = peers(rank).iter().map(|p| block(at, *p)).collect();

            let (mut data, dtype, expected, count) = dense(&mut seeds, vec![block(at, 9)], is_root);
            let mut args = Args { root: given, ..Args::default() };
            if takes_part {
                args.recv = (data.address(), count, Some(&*dtype));
            }
            assert_eq!(rank.call(|t| t.bcast, args), Status::OK);
            assert!(!takes_part || data.read() == expected, "bcast");

            let (mut one, one_type, _, count) = dense(&mut seeds, vec![block(me(rank), at)], true);
            let (mut all, all_type, expected, all_count) = dense(&mut seeds, from_all, false);
            let mut args = Args { root: given, ..Args::default() };
            match (is_root, takes_part) {
                (true, _) => args.recv = (all.address(), all_count, Some(&*all_type)),
                (false, true) => args.send = (one.address(), count, Some(&*one_type)),
                _ => {}
            }
            assert_eq!(rank.call(|t| t.gather, args), Status::OK);
            assert!(!is_root || all.read() == expected, "gather");

            let (mut one, one_type, expected, count) = dense(&mut seeds, vec![block(at, me(rank))], false);
            let (mut all, all_type, _, all_count) = dense(&mut seeds, to_all, true);
            let mut args = Args { root: given, ..Args::default() };
            match (is_root, takes_part) {
                (true, _) => args.send = (all.address(), all_count, Some(&*all_type)),
                (false, true) => args.recv = (one.address(), count, Some(&*one_type)),
                _ => {}
            }
            assert_eq!(rank.call(|t| t.scatter, args), Status::OK);
            assert!(is_root || !takes_part || one.read() == expected, "scatter");

            // What one group gives and the other may have different lengths, also none.
            let side = |s: usize| if seed % 3 == s as u64 { 0 } else { ints * (1 + s as u64) };
            let (mine, theirs) = (side(rank.side), side(1 - rank.side));
            let send = content(seed, me(rank), 3, mine);
            let recv: Vec<u8> = peers(rank).iter().flat_map(|p| content(seed, *p, 3, theirs)).collect();
            let int = layouts(2)[0].clone();
            let mut got = Buffer::new(&int, recv.len() as u64 / 8);
            let args = Args {
                send: (send.as_ptr(), mine / 2, Some(&*int)),
                recv: (got.address(), theirs / 2, Some(&*int)),
                ..Args::default()
            };
            assert_eq!(rank.call(|t| t.allgather, args), Status::OK);
            assert!(got.read() == recv, "allgather");

            let send: Vec<u8> = peers(rank).iter().flat_map(|p| content(seed, me(rank), *p, mine)).collect();
            let recv: Vec<u8> =
                peers(rank).iter().flat_map(|p| content(seed, *p, me(rank), theirs)).collect();
            let mut got = Buffer::new(&int, recv.len() as u64 / 8);
            let args = Args {
                send: (send.as_ptr(), mine / 2, Some(&*int)),
                recv: (got.address(), theirs / 2, Some(&*int)),
                ..Args::default()
            };
            assert_eq!(rank.call(|t| t.alltoall, args), Status::OK);
            assert!(got.read() == recv, "alltoall");
        }
    });
}

/// Nobody leaves before all of the other group have come.
#[test]
fn barrier_between_groups() {
    for sizes in [[1, 1], [1, 5], [4, 3]] {
        let arrived = [const { AtomicU32::new(0) }; 2];
        two_groups(sizes, false, &[], |rank| {
            // Planned ones come second.
            let first = if rank.planned { 31 } else { 1 };
            for turn in first..first + 30 {
                arrived[rank.side].fetch_add(1, Ordering::AcqRel);
                assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK);
                assert!(arrived[1 - rank.side].load(Ordering::Acquire) >= turn * rank.remote);
            }
        });
    }
}

#[test]
fn scans_are_not_defined_between_groups() {
    two_groups([1, 2], false, &[], |rank| {
        assert_eq!(rank.call(|t| t.scan, Args::default()), Status::NOT_SUPPORTED);
        assert_eq!(rank.call(|t| t.exscan, Args::default()), Status::NOT_SUPPORTED);
    });
}
