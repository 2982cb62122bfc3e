//! MPI_Gatherv and MPI_Scatterv (MPI 5.0 §6.5, §6.6): directly between the root and each rank, since only the root
//! knows how much the others have. Nothing is sent for an empty block; both sides know of it.

use crate::exchange::{Call, Pending, Result, tag};
use oxmpi_coll::IN_PLACE;

pub fn gatherv(call: &Call<'_>) -> Result {
    if call.rank() != call.root() {
        return give(call, call.root());
    }
    if call.args.sendbuf != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.gives(), call.in_block(call.rank()))? };
    }
    take_all(call)
}

pub fn scatterv(call: &Call<'_>) -> Result {
    if call.rank() != call.root() {
        return take(call, call.root());
    }
    if call.args.recvbuf.cast_const() != IN_PLACE {
        // SAFETY: the user's buffers, which do not overlap (MPI 5.0 §6.1).
        unsafe { call.local().transfer(call.out_block(call.rank()), call.gets())? };
    }
    give_all(call)
}

/// The root of a gather receives everybody's block in its place.
pub fn take_all(call: &Call<'_>) -> Result {
    let mut pending = Pending::<64>::new(call);
    for rank in call.others() {
        let into = call.in_block(rank);
        if into.bytes()? > 0 {
            pending.recv(into, rank, tag::GATHER)?;
        }
    }
    pending.wait()
}

/// The root of a scatter sends everybody's block from its place.
pub fn give_all(call: &Call<'_>) -> Result {
    let mut pending = Pending::<64>::new(call);
    for rank in call.others() {
        let out = call.out_block(rank);
        if out.bytes()? > 0 {
            pending.send(out, rank, tag::SCATTER)?;
        }
    }
    pending.wait()
}

/// Our block of a gather to its root.
pub fn give(call: &Call<'_>, root: u32) -> Result {
    let out = call.gives();
    if out.bytes()? == 0 { Ok(()) } else { call.send(out, root, tag::GATHER) }
}

/// Our block of a scatter from its root.
pub fn take(call: &Call<'_>, root: u32) -> Result {
    let into = call.gets();
    if into.bytes()? == 0 { Ok(()) } else { call.recv(into, root, tag::SCATTER) }
}
