//! Barrier, broadcast and scatter.

use crate::call::Call;
use crate::data::{Place, Source};
use crate::meet::meet;
use crate::posts::Kept;
use crate::protocol::{Desk, Protocol, Result};
use oxmpi_coll::{IN_PLACE, which};

/// The mark of a collective's posts.
pub const fn tag(which: u32) -> u32 {
    which + 1
}

/// Meets all ranks, all of whose steps before are finished then.
pub fn meet_behind(call: &Call<'_>, tag: u32) -> Result {
    let step = call.next();
    meet(call, call.is_crowd(), u64::from(tag), true)?;
    call.all_are_beyond(step);
    Ok(())
}

pub fn barrier(call: &Call<'_>) -> Result {
    meet_behind(call, tag(which::BARRIER))
}

/// The place of this rank's data, of `count` elements of the type of the receive buffer.
///
/// # Safety
/// The call's receive buffer has so many.
pub unsafe fn receives<'a>(call: &Call<'a>, count: u64) -> Place<'a> {
    // SAFETY: the caller's promise.
    unsafe { Place::new(call.args.recvbuf, count, &*call.args.recvtype) }
}

/// `count` elements of the type of the send buffer.
///
/// # Safety
/// The call's send buffer has so many.
pub unsafe fn sends<'a>(call: &Call<'a>, count: u64) -> Source<'a> {
    // SAFETY: the caller's promise.
    unsafe { Source::new(call.args.sendbuf, count, &*call.args.sendtype) }
}

/// Has the value, or notes the error and returns from the collective, whose steps have not begun.
macro_rules! given {
    ($call:expr, $value:expr) => {
        match $value {
            Ok(value) => value,
            Err(why) => {
                $call.note(why);
                return Ok(());
            }
        }
    };
}
pub(crate) use given;

/// Posts data that all others read, and finishes when they have, where it lies in this rank's memory.
fn offer_to_all(call: &Call<'_>, data: Source<'_>, which: u32) -> Result {
    let (step, mut kept) = (call.begin(), Kept::default());
    call.offer(step, tag(which), data, &mut kept)?;
    if call.own(step, tag(which))?.is_at_address() {
        for other in call.others() {
            call.see_finished(other, step)?;
        }
    }
    Ok(())
}

pub fn bcast(call: &Call<'_>) -> Result {
    let root = given!(call, call.root());
    // SAFETY: a broadcast has these.
    let place = unsafe { receives(call, call.args.recvcount) };
    if call.is_long(given!(call, place.bytes())) && !call.reads_peers() {
        return call.hand_down(which::BCAST);
    }
    if call.rank() == root {
        offer_to_all(call, place.source(), which::BCAST)?;
    } else {
        let step = call.begin();
        let post = call.look(root, step, tag(which::BCAST))?;
        post.bring(0, post.len(), place)?;
    }
    call.finish();
    Ok(())
}

pub fn scatter(call: &Call<'_>) -> Result {
    let (root, ranks) = (given!(call, call.root()), u64::from(call.ranks()));
    let is_root = call.rank() == root;
    let is_in_place = call.args.recvbuf.cast_const() == IN_PLACE;
    // SAFETY: of a scatter the root has these, and all ranks whose block is not in place have the other.
    let (blocks, place) = unsafe {
        (
            is_root.then(|| sends(call, call.args.sendcount.saturating_mul(ranks))),
            (!(is_root && is_in_place)).then(|| receives(call, call.args.recvcount)),
        )
    };
    let total = match (&blocks, &place) {
        (Some(blocks), _) => given!(call, blocks.bytes()),
        (None, Some(place)) => given!(call, place.bytes()).saturating_mul(ranks),
        (None, None) => 0,
    };
    if call.is_long(total) && !call.reads_peers() {
        return call.hand_down(which::SCATTER);
    }
    match (blocks, place) {
        (Some(blocks), place) => {
            offer_to_all(call, blocks, which::SCATTER)?;
            if let Some(place) = place {
                let own = blocks.from(u64::from(root) * call.args.sendcount).first(call.args.sendcount);
                if !place.take(own)? {
                    call.note(oxmpi_mca::Status::TRUNCATED);
                }
            }
        }
        (None, Some(place)) => {
            let step = call.begin();
            let post = call.look(root, step, tag(which::SCATTER))?;
            let len = post.len() / ranks;
            post.bring(u64::from(call.rank()) * len, len, place)?;
        }
        (None, None) => {}
    }
    call.finish();
    Ok(())
}
