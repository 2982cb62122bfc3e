//! Equal blocks from all to all.

use crate::Args;
use crate::data::Buffer;
use crate::equal::{Block, content, everywhere, own};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

crate::check!(alltoall, needs: [alltoall], |job| {
    everywhere(job, |rank, random| {
        for turn in 0..12 {
            random.number();
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
});
