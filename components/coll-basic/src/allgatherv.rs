//! MPI_Allgatherv (MPI 5.0 §6.7): the blocks go round a ring. Everybody knows all lengths, so nothing is sent
//! for an empty block.

use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;

pub fn allgatherv(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    if call.args.sendbuf != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.gives(), call.in_block(rank))? };
    }
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    // In step s the block of the rank s places behind us goes on.
    for step in 0..n - 1 {
        let given = call.in_block((rank + n - step) % n);
        let taken = call.in_block((rank + n - step - 1) % n);
        let mut pending = Pending::<1>::new(call);
        if taken.bytes()? > 0 {
            pending.recv(taken, left, tag::ALLGATHER)?;
        }
        if given.bytes()? > 0 {
            call.send(given.source(), right, tag::ALLGATHER)?;
        }
        pending.wait()?;
    }
    Ok(())
}
