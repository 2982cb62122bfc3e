//! Blocks of different lengths to all.

use crate::Args;
use crate::blocks::{Side, content, everywhere, ints, me, own, peers};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(allgatherv, needs: [allgatherv], |job| {
    everywhere(job, |rank, random| {
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
});
