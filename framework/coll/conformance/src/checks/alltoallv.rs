//! Blocks of different lengths from all to all.

use crate::Args;
use crate::blocks::{Side, content, everywhere, ints, me, own, peers};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(alltoallv, needs: [alltoallv], |job| {
    everywhere(job, |rank, random| {
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
});
