//! Barrier, broadcast and scatter.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::{Place, Source};
use crate::meet::{Meeting, meet};
use crate::posts::{Kept, Post};
use crate::protocol::{Desk, Protocol, Result};
use oxmpi_coll::{IN_PLACE, which};
use oxmpi_mca::Status;

/// The mark of a collective's posts.
pub const fn tag(which: u32) -> u32 {
    which + 1
}

/// Meets all ranks, all of whose steps before are finished then.
pub fn meet_behind(call: &Call<'_>, tag: u32) -> Result {
    let step = call.next();
    meet(call, call.meeting(), u64::from(tag), true)?;
    call.all_are_beyond(step);
    Ok(())
}

/// Waits until all ranks have posted in a step, which each does when it has finished those before.
pub fn all_have_posted(call: &Call<'_>, step: u32, tag: u32) -> Result {
    match call.meeting() {
        Meeting::Few => call.others().try_for_each(|other| call.see(other, step).map(|_| ()))?,
        Meeting::Many => _ = meet(call, Meeting::Many, tag.into(), true)?,
        Meeting::Crowd if call.arrive() => call.release(tag.into()),
        Meeting::Crowd => _ = call.await_release()?,
    }
    call.all_are_beyond(step);
    Ok(())
}

pub fn barrier(call: &Call<'_>) -> Result {
    match call.meeting() {
        Meeting::Few => {}
        Meeting::Many => call.takes(Algorithm::Tree),
        Meeting::Crowd => call.takes(Algorithm::Crowd),
    }
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

/// Pieces of a stream, if there are so many; each is at least this long. Several, so that writer and readers are busy at the same time.
const PIECES: u64 = 4;
const SHORTEST_PIECE: u64 = 2048;

/// Posts data as a stream, which all others read.
fn stream_to_all(call: &Call<'_>, data: Source<'_>, tag: u32) -> Result {
    call.takes(Algorithm::Pieces);
    let cell = call.area().cell_bytes() as u64;
    let piece = (data.bytes()?.div_ceil(PIECES)).next_multiple_of(64).max(SHORTEST_PIECE).min(cell);
    let mut from = 0;
    while call.offer_piece(call.begin(), tag, data, from, piece)? {
        call.finish();
        from += piece;
    }
    Ok(())
}

/// Brings a stream to its place, from its first piece on. The error of one that is not as long is noted.
fn bring_stream(call: &Call<'_>, root: u32, first: Post<'_>, tag: u32, place: Place<'_>) -> Result {
    call.takes(Algorithm::Pieces);
    let (room, mut done, mut piece) = (place.bytes()?, 0, first);
    let total = piece.len().saturating_add(piece.rest());
    if total != room {
        call.note(if total > room { Status::TRUNCATED } else { Status::MISMATCH });
    }
    loop {
        let here = piece.here().ok_or(Status::MISMATCH)?;
        place.unpack(done, here.part(0, here.len().min(room - done)))?;
        done += here.len().min(room - done);
        if piece.rest() == 0 {
            return Ok(());
        }
        call.finish();
        piece = call.look(root, call.begin(), tag)?;
    }
}

/// Posts data that all others read, and finishes when they have, where it lies in this rank's memory.
fn offer_to_all(call: &Call<'_>, data: Source<'_>, which: u32) -> Result {
    let (step, mut kept) = (call.begin(), Kept::default());
    call.lead(step);
    call.offer(step, tag(which), data, &mut kept)?;
    if call.own(step, tag(which))?.is_at_address() {
        call.takes(Algorithm::Memory);
        for other in call.others() {
            call.see_finished(other, step)?;
        }
    }
    Ok(())
}

/// The root alone says how its data goes.
pub fn bcast(call: &Call<'_>) -> Result {
    let (root, tag) = (given!(call, call.root()), tag(which::BCAST));
    // SAFETY: a broadcast has these.
    let place = unsafe { receives(call, call.args.recvcount) };
    let len = given!(call, place.bytes());
    if call.leaves_spread(len) {
        return call.hand_down(which::BCAST);
    }
    if call.rank() == root {
        let data = place.source();
        match call.is_long(len) && !(call.reads_at_once(len) && data.contiguous().is_some()) {
            true => stream_to_all(call, data, tag)?,
            false => offer_to_all(call, data, which::BCAST)?,
        }
        call.finish();
        return Ok(());
    }
    let step = call.begin();
    call.follow(root, step);
    let post = call.look(root, step, tag)?;
    if post.is_at_address() {
        call.takes(Algorithm::Memory);
        post.bring(0, post.len(), place)?;
        call.finish_now();
        return Ok(());
    }
    match post.rest() {
        0 => post.bring(0, post.len(), place)?,
        _ => bring_stream(call, root, post, tag, place)?,
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
    if call.leaves_spread(total) || call.is_long(total) && !call.reads_at_once(total) {
        return call.hand_down(which::SCATTER);
    }
    match (blocks, place) {
        (Some(blocks), place) => {
            offer_to_all(call, blocks, which::SCATTER)?;
            if let Some(place) = place {
                let own = blocks.from(u64::from(root) * call.args.sendcount).first(call.args.sendcount);
                if !place.take(own)? {
                    call.note(Status::TRUNCATED);
                }
            }
        }
        (None, Some(place)) => {
            let step = call.begin();
            call.follow(root, step);
            let post = call.look(root, step, tag(which::SCATTER))?;
            let len = post.len() / ranks;
            post.bring(u64::from(call.rank()) * len, len, place)?;
            if post.is_at_address() {
                call.takes(Algorithm::Memory);
                call.finish_now();
            }
        }
        (None, None) => {}
    }
    call.finish();
    Ok(())
}
