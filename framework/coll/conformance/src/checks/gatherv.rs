//! Blocks of different lengths to and from a root.

use crate::Args;
use crate::blocks::{Side, content, everywhere, ints, me, named, own, peers, root_of, roots};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(gatherv_and_scatterv, needs: [gatherv, scatterv], |job| {
    everywhere(job, |rank, random| {
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
});
