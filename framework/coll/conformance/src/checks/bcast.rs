//! One block to all.

use crate::Args;
use crate::data::Buffer;
use crate::equal::{Block, content, everywhere, own};
use oxmpi_mca::Status;

crate::check!(bcast, needs: [bcast], |job| {
    everywhere(job, |rank, random| {
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
});
