//! Equal blocks from a root.

use crate::Args;
use crate::data::Buffer;
use crate::equal::{Block, content, everywhere, own};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(scatter, needs: [scatter], |job| {
    everywhere(job, |rank, random| {
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
});
