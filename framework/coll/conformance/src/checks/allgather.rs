//! Equal blocks to all.

use crate::Args;
use crate::data::Buffer;
use crate::equal::{Block, content, everywhere, own};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(allgather, needs: [allgather], |job| {
    everywhere(job, |rank, random| {
        for turn in 0..12 {
            random.number();
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
});
