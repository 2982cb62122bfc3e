//! Equal blocks between two groups.

use crate::Args;
use crate::blocks::{between, content, ints, me, named, own, peers, root_of, roots};
use crate::data::{Buffer, Random, layouts};
use oxmpi_mca::Status;

// The collectives of equal blocks between two groups: bcast, gather, scatter, allgather, alltoall.
crate::check!(equal_blocks_between_groups, needs: [bcast, gather, scatter, allgather, alltoall], |job| {
    between(job, |rank, random| {
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

            // Blocks of one group and of the other may have different lengths, also none.
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
});
