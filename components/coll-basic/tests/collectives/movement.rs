//! The collectives that move data, against what the standard says of each: n = 1 to 17 ranks, all
//! roots, blocks of many sizes and layouts (which differ between ranks), in place or not, with sends
//! that wait for their receives and sends that do not, with the default limits between algorithms
//! and with limits that choose the ones for large messages.

use crate::common::data::{Buffer, Random, layouts, predefined};
use crate::common::{Args, Params, Rank, job};
use oxmpi_coll::IN_PLACE;
use oxmpi_datatype::{Base, TypeRef};
use oxmpi_mca::Status;
use std::sync::atomic::{AtomicU32, Ordering};

const LARGE: Params = &[
    ("barrier_algorithm", "tree"),
    ("bcast_segment_size", "24"),
    ("allgather_small_msg", "0"),
    ("gather_small_msg", "0"),
    ("alltoall_small_msg", "0"),
    ("scratch_limit", "0"),
];

/// Runs `test` as the ranks of jobs of all sizes.
fn everywhere(test: impl Fn(&Rank, &mut Random) + Sync) {
    for n in 1..=17 {
        for (variant, params) in [(1, &[][..]), (2, LARGE)] {
            for synchronous in [false, true] {
                job(n, synchronous, params, |rank| test(rank, &mut Random::new(n as u64 * 8 + variant)));
            }
        }
    }
}

/// A block and its description in this rank: some type, and how many of it.
struct Choice {
    dtype: TypeRef,
    count: u64,
}

/// Blocks of equal size, described differently in every rank.
struct Block {
    ints: u64,
    bytes: u64,
}

impl Block {
    fn any(random: &mut Random) -> Block {
        // 12 ints go into all layouts of 2, 3, 4 and 6.
        let ints = match random.below(8) {
            0 => 0,
            1..6 => 12 * (1 + random.below(4)),
            6 => 12 * random.below(100),
            _ => 12 * random.below(700),
        };
        Block { ints, bytes: 4 * ints }
    }

    fn described(&self, random: &mut Random) -> Choice {
        let each = [2, 3, 4, 6][random.below(4) as usize];
        let dtype = layouts(each)[random.below(3) as usize].clone();
        Choice { dtype, count: self.ints / each }
    }
}

/// Random numbers that differ between ranks.
fn own(random: &Random, rank: u32) -> Random {
    Random::new(random.clone().next() ^ (rank as u64) << 40)
}

/// What rank `from` has for the call, in all ranks the same.
fn content(random: &Random, from: u32, bytes: u64) -> Vec<u8> {
    Random::new(random.clone().next() + 77 * from as u64).bytes(bytes)
}

#[test]
fn bcast() {
    everywhere(|rank, random| {
        for root in 0..rank.n {
            let block = Block::any(random);
            let choice = block.described(&mut own(random, rank.rank));
            let data = content(random, root, block.bytes);
            let mut buffer = Buffer::new(&choice.dtype, choice.count);
            if rank.rank == root {
                buffer.put(0, &data);
            }
            let recv = (buffer.address(), choice.count, Some(&*choice.dtype));
            let status = rank.call(|t| t.bcast, Args { recv, root, ..Args::default() });
            assert_eq!((status, buffer.read()), (Status::OK, data));
        }
    });
}

#[test]
fn gather() {
    everywhere(|rank, random| {
        for root in 0..rank.n {
            let block = Block::any(random);
            let mine = content(random, rank.rank, block.bytes);
            let mut seeds = own(random, rank.rank);
            let (out, into) = (block.described(&mut seeds), block.described(&mut seeds));
            let in_place = seeds.below(2) == 0;
            let mut send = Buffer::holding(&out.dtype, out.count, &mine);
            let mut args = Args { root, ..Args::default() };
            args.send = (send.address(), out.count, Some(&*out.dtype));
            if rank.rank != root {
                // Not significant, so it may be anything.
                args.recv = (std::ptr::null_mut(), 99, None);
                assert_eq!(rank.call(|t| t.gather, args), Status::OK);
                assert_eq!(send.read(), mine);
                continue;
            }
            let mut recv = Buffer::new(&into.dtype, into.count * rank.n as u64);
            if in_place {
                recv.put(root as u64 * block.bytes, &mine);
                args.send = (IN_PLACE, 99, None);
            }
            args.recv = (recv.address(), into.count, Some(&*into.dtype));
            assert_eq!(rank.call(|t| t.gather, args), Status::OK);
            let all: Vec<u8> = (0..rank.n).flat_map(|r| content(random, r, block.bytes)).collect();
            assert!(recv.read() == all);
        }
    });
}

#[test]
fn scatter() {
    everywhere(|rank, random| {
        for root in 0..rank.n {
            let block = Block::any(random);
            let all = content(random, root, block.bytes * rank.n as u64);
            let mine = &all[(rank.rank as u64 * block.bytes) as usize..][..block.bytes as usize];
            let mut seeds = own(random, rank.rank);
            let (out, into) = (block.described(&mut seeds), block.described(&mut seeds));
            let in_place = rank.rank == root && seeds.below(2) == 0;
            let mut recv = Buffer::new(&into.dtype, into.count);
            let mut args = Args { root, ..Args::default() };
            args.recv = (recv.address(), into.count, Some(&*into.dtype));
            if in_place {
                args.recv = (IN_PLACE.cast_mut(), 99, None);
            }
            let mut send = Buffer::holding(&out.dtype, out.count * rank.n as u64, &all);
            args.send = match rank.rank == root {
                true => (send.address(), out.count, Some(&*out.dtype)),
                false => (std::ptr::null(), 99, None),
            };
            assert_eq!(rank.call(|t| t.scatter, args), Status::OK);
            assert!(send.read() == all);
            if !in_place {
                assert_eq!(recv.read(), mine);
            }
        }
    });
}

#[test]
fn allgather() {
    everywhere(|rank, random| {
        for turn in 0..12 {
            random.next();
            let block = Block::any(random);
            let mine = content(random, rank.rank, block.bytes);
            let mut seeds = own(random, rank.rank);
            let (out, into) = (block.described(&mut seeds), block.described(&mut seeds));
            let mut send = Buffer::holding(&out.dtype, out.count, &mine);
            let mut recv = Buffer::new(&into.dtype, into.count * rank.n as u64);
            let mut args = Args { send: (send.address(), out.count, Some(&*out.dtype)), ..Args::default() };
            if turn % 2 == 1 {
                recv.put(rank.rank as u64 * block.bytes, &mine);
                args.send = (IN_PLACE, 99, None);
            }
            args.recv = (recv.address(), into.count, Some(&*into.dtype));
            assert_eq!(rank.call(|t| t.allgather, args), Status::OK);
            let all: Vec<u8> = (0..rank.n).flat_map(|r| content(random, r, block.bytes)).collect();
            assert!(recv.read() == all && send.read() == mine);
        }
    });
}

#[test]
fn alltoall() {
    everywhere(|rank, random| {
        for turn in 0..12 {
            random.next();
            let block = Block::any(random);
            let whole = block.bytes * rank.n as u64;
            let mine = content(random, rank.rank, whole);
            let mut seeds = own(random, rank.rank);
            let (out, into) = (block.described(&mut seeds), block.described(&mut seeds));
            let mut send = Buffer::holding(&out.dtype, out.count * rank.n as u64, &mine);
            let mut recv = Buffer::new(&into.dtype, into.count * rank.n as u64);
            let mut args = Args { send: (send.address(), out.count, Some(&*out.dtype)), ..Args::default() };
            if turn % 2 == 1 {
                recv.put(0, &mine);
                args.send = (IN_PLACE, 99, None);
            }
            args.recv = (recv.address(), into.count, Some(&*into.dtype));
            assert_eq!(rank.call(|t| t.alltoall, args), Status::OK);
            let start = (rank.rank as u64 * block.bytes) as usize;
            let expected: Vec<u8> = (0..rank.n)
                .flat_map(|r| content(random, r, whole)[start..][..block.bytes as usize].to_vec())
                .collect();
            assert!(recv.read() == expected && send.read() == mine);
        }
    });
}

#[test]
fn barrier() {
    let arrived: Vec<AtomicU32> = (0..40).map(|_| AtomicU32::new(0)).collect();
    for n in 1..=17 {
        for algorithm in [
            &[("barrier_algorithm", "auto")][..],
            &[("barrier_algorithm", "dissemination")],
            &[("barrier_algorithm", "tree")],
            &[("barrier_algorithm", "linear")],
        ] {
            for synchronous in [false, true] {
                for counter in &arrived {
                    counter.store(0, Ordering::Relaxed);
                }
                job(n, synchronous, algorithm, |rank| {
                    for counter in &arrived {
                        if counter.fetch_add(1, Ordering::AcqRel) % 3 == 0 {
                            std::thread::yield_now();
                        }
                        assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK);
                        // Planned ones come second.
                        let all = if rank.planned { 2 * n } else { n };
                        assert_eq!(counter.load(Ordering::Acquire), all, "somebody was let through early");
                    }
                });
            }
        }
    }
}

/// All kinds in a row on one communicator, without anything between: what one leaves behind (late
/// messages, memory) must not disturb the next.
#[test]
fn one_after_another() {
    let int = predefined(Base::I32);
    for n in [2, 3, 5, 8, 16] {
        for synchronous in [false, true] {
            job(n, synchronous, &[], |rank| {
                let mut random = Random::new(5);
                let (me, count) = (rank.rank as i32, rank.n as usize);
                for turn in 0..200 {
                    let root = random.below(rank.n as u64) as u32;
                    let kind = random.below(4);
                    let (mut out, mut all) = ([me + turn, turn], vec![0i32; 2 * count]);
                    let mut args = Args { root, ..Args::default() };
                    args.send = (out.as_ptr().cast(), 2, Some(&*int));
                    args.recv = (all.as_mut_ptr().cast(), 2, Some(&*int));
                    let everybody: Vec<i32> = (0..n as i32).flat_map(|r| [r + turn, turn]).collect();
                    match kind {
                        0 => {
                            assert_eq!(rank.call(|t| t.allgather, args), Status::OK);
                            assert_eq!(all, everybody);
                        }
                        1 => {
                            assert_eq!(rank.call(|t| t.gather, args), Status::OK);
                            assert!(rank.rank != root || all == everybody);
                        }
                        2 => {
                            args.recv = (out.as_mut_ptr().cast(), 2, Some(&*int));
                            assert_eq!(rank.call(|t| t.bcast, args), Status::OK);
                            assert_eq!(out, [root as i32 + turn, turn]);
                        }
                        _ => assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK),
                    }
                }
            });
        }
    }
}
