//! Equal blocks to a root.

use crate::Args;
use crate::data::Buffer;
use crate::equal::{Block, content, everywhere, own};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(gather, needs: [gather], |job| {
    everywhere(job, |rank, random| {
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
});
