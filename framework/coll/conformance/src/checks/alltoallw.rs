//! Blocks of different lengths and types from all to all.

use crate::blocks::{Described, Side, content, everywhere, ints, me, own, peers, typed};
use crate::{Args, Blocks};
use oxmpi_coll::IN_PLACE;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

// Every block a buffer and a type of its own; displacements are addresses relative to a common base.
crate::check!(alltoallw, needs: [alltoallw], |job| {
    everywhere(job, |rank, random| {
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
});
