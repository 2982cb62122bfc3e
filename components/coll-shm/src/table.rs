//! Blocks of which every rank knows its own alone (scatterv, alltoallv, alltoallw): a rank posts a table of where each rank's block is and how long.
//!
//! The table stands at the beginning of the cell. Where all blocks fit behind it they are there, and an entry has a block's place in the cell; otherwise it has
//! its address in the rank's memory, and the rank waits until all have read. The post depends on
//! the rank's own counts, and whether this way is taken on the communicator alone: a table has to fit a cell, and ranks have to read each other's memory.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::{Place, Room, Source};
use crate::meet::Meeting;
use crate::one_to_all::{given, meet_behind, receives, sends, tag};
use crate::posts::{Kept, Origin};
use crate::protocol::{Desk, Protocol, Result};
use oxmpi_coll::{IN_PLACE, which};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Bytes of an entry: where, and how many.
const ENTRY: u64 = 16;

/// Whether tables serve the communicator; the same in all ranks.
fn serve(call: &Call<'_>) -> bool {
    call.reads_peers() && ENTRY * u64::from(call.ranks()) <= call.area().cell_bytes() as u64
}

/// Bytes of all blocks but this rank's own, each rounded up to words. BAD_PARAM: more than MPI can count.
fn total<'a>(call: &Call<'_>, out: &impl Fn(u32) -> Source<'a>) -> Result<u64> {
    call.others().try_fold(0u64, |total, other| {
        let bytes = out(other).bytes()?.next_multiple_of(8);
        total.checked_add(bytes).ok_or(Status::BAD_PARAM)
    })
}

/// Posts the block of each other rank. `is_copied`: they change before all have read them. True: some rank reads them out of this one's memory.
fn offer<'a>(
    call: &Call<'_>,
    step: u32,
    tag: u32,
    out: impl Fn(u32) -> Source<'a>,
    is_copied: bool,
    kept: &mut Kept,
) -> Result<bool> {
    let (total, table) = (total(call, &out)?, ENTRY * u64::from(call.ranks()));
    call.make_room(step)?;
    let enter = |room: Room<'_>, rank: u32, at: u64, len: u64| {
        room.part(ENTRY * u64::from(rank), ENTRY).copy(Room::of(&mut [at, len]));
    };
    if !call.is_long(table.saturating_add(total)) {
        let (room, mut at) = (call.room(step, table + total), table);
        for other in call.others() {
            let (data, len) = (out(other), out(other).bytes()?);
            data.pack(room.part(at, len))?;
            enter(room, other, at, len);
            at += len.next_multiple_of(8);
        }
        call.post_room(step, tag, table + total);
        return Ok(false);
    }
    let room = call.cell(step, table);
    let is_kept = |data: &Source<'_>| is_copied || data.contiguous().is_none();
    let all_kept = call.others().any(|other| is_kept(&out(other)));
    let packed = kept.of(if all_kept { total } else { 0 })?;
    let mut at = 0;
    for other in call.others() {
        let (data, len) = (out(other), out(other).bytes()?);
        let start = match data.contiguous().filter(|_| !is_kept(&data)) {
            Some(start) => start,
            None => {
                let place = packed.part(at, len);
                data.pack(place)?;
                at += len.next_multiple_of(8);
                place.start().cast_const()
            }
        };
        enter(room, other, start.expose_provenance() as u64, len);
    }
    call.takes(Algorithm::Memory);
    call.post_table(step, tag, table);
    Ok(true)
}

/// Brings this rank's block of another one's post to its place. True: it was read out of the other one's memory.
fn bring(call: &Call<'_>, other: u32, step: u32, tag: u32, place: Place<'_>) -> Result<bool> {
    let post = call.look(other, step, tag)?;
    let here =
        post.here().filter(|here| here.len() >= ENTRY * u64::from(call.ranks())).ok_or(Status::MISMATCH)?;
    let mut entry = [0u64; 2];
    Room::of(&mut entry).copy(here.part(ENTRY * u64::from(call.rank()), ENTRY));
    let [at, len] = entry;
    let origin = match post.is_at_address() {
        true => {
            call.takes(Algorithm::Memory);
            Origin::There(other, at)
        }
        // The other one's word, so it is looked at.
        false if at <= here.len() && len <= here.len() - at => Origin::Here(here.part(at, len)),
        false => return Err(Status::MISMATCH),
    };
    call.bring(origin, len, place)?;
    Ok(post.is_at_address())
}

/// Waits until all of a crowd have posted in a step. True: data is read out of some rank's memory, `is_read` that it is this one's.
fn someone_is_read(call: &Call<'_>, step: u32, tag: u32, is_read: bool) -> Result<bool> {
    if !call.arrive() {
        return Ok(call.await_release()? != 0);
    }
    let mut posts = call.others().map(|other| call.look(other, step, tag));
    let any = posts.try_fold(is_read, |any, post| post.map(|post| any || post.is_at_address()))?;
    call.release(any.into());
    Ok(any)
}

/// Waits until all others have finished a step in which they read this rank's memory.
fn await_readers(call: &Call<'_>, step: u32) -> Result {
    call.others().try_for_each(|other| call.see_finished(other, step))
}

pub fn scatterv(call: &Call<'_>) -> Result {
    if !serve(call) {
        return call.hand_down(which::SCATTERV);
    }
    let (root, tag) = (given!(call, call.root()), tag(which::SCATTERV));
    let is_in_place = call.args.recvbuf.cast_const() == IN_PLACE;
    let step = call.begin();
    if call.rank() != root {
        // SAFETY: of a scatterv all ranks but the root have this.
        let place = unsafe { receives(call, call.args.recvcount) };
        let is_awaited = bring(call, root, step, tag, place)?;
        if is_awaited {
            call.finish_now()
        } else {
            call.finish()
        }
        return Ok(());
    }
    let out = |rank: u32| listed(call, call.args.sendcounts, call.args.sdispls, rank);
    let mut kept = Kept::default();
    let is_read = offer(call, step, tag, out, false, &mut kept)?;
    if !is_in_place {
        // SAFETY: the root has a place for its own block, where that is not in place.
        let place = unsafe { receives(call, call.args.recvcount) };
        if !place.take(out(root))? {
            call.note(Status::TRUNCATED);
        }
    }
    call.finish();
    if is_read { await_readers(call, step) } else { Ok(()) }
}

/// The block of a rank in the send buffer, by counts and displacements that the call's arguments have for all ranks.
fn listed<'a>(call: &Call<'a>, counts: *const u64, displs: *const i64, rank: u32) -> Source<'a> {
    debug_assert!(rank < call.ranks());
    // SAFETY: the arguments of the call, with an entry for each rank; the buffer has the block.
    unsafe { sends(call, 0).at(*displs.add(rank as usize), *counts.add(rank as usize)) }
}

pub fn alltoallv(call: &Call<'_>) -> Result {
    // SAFETY: an alltoallv has an entry for each rank, and a place for its block.
    let into = |rank: u32| unsafe {
        let (at, args) = (rank as usize, call.args);
        receives(call, 0).at(*args.rdispls.add(at), *args.recvcounts.add(at))
    };
    let out = |rank: u32| listed(call, call.args.sendcounts, call.args.sdispls, rank);
    among_pairs(call, which::ALLTOALLV, out, into)
}

pub fn alltoallw(call: &Call<'_>) -> Result {
    let args = call.args;
    // SAFETY: an alltoallw has an entry for each rank, whose type is valid during the call.
    let dtype = |types: *const *const TypeDesc, rank: u32| unsafe { &**types.add(rank as usize) };
    // SAFETY: an alltoallw has an entry for each rank, with its displacement in bytes, and the block there.
    let into = |rank: u32| unsafe {
        let at = rank as usize;
        let start = args.recvbuf.wrapping_offset(*args.rdispls.add(at) as isize);
        Place::new(start, *args.recvcounts.add(at), dtype(args.recvtypes, rank))
    };
    // SAFETY: as above, where it is not in place.
    let out = |rank: u32| unsafe {
        let at = rank as usize;
        let start = args.sendbuf.wrapping_offset(*args.sdispls.add(at) as isize);
        Source::new(start, *args.sendcounts.add(at), dtype(args.sendtypes, rank))
    };
    among_pairs(call, which::ALLTOALLW, out, into)
}

/// Exchanges the blocks that `out` and `into` say of each rank; in place `out` is not asked.
fn among_pairs<'a>(
    call: &Call<'_>,
    which: u32,
    out: impl Fn(u32) -> Source<'a>,
    into: impl Fn(u32) -> Place<'a>,
) -> Result {
    if !serve(call) {
        return call.hand_down(which);
    }
    let (tag, rank) = (tag(which), call.rank());
    let is_in_place = call.args.sendbuf == IN_PLACE;
    let data = |other: u32| if is_in_place { into(other).source() } else { out(other) };
    given!(call, total(call, &data));
    let (step, mut kept) = (call.begin(), Kept::default());
    let is_read = offer(call, step, tag, data, is_in_place, &mut kept)?;
    let all_meet = call.meeting() == Meeting::Crowd && someone_is_read(call, step, tag, is_read)?;
    let mut is_awaited = false;
    for other in call.others() {
        is_awaited |= bring(call, other, step, tag, into(other))?;
    }
    if !is_in_place && !into(rank).take(out(rank))? {
        call.note(Status::TRUNCATED);
    }
    if all_meet {
        return meet_behind(call, tag);
    }
    call.all_are_beyond(step);
    // Before it waits: the others wait for this one, too.
    if is_awaited {
        call.finish_now()
    } else {
        call.finish()
    }
    if is_read { await_readers(call, step) } else { Ok(()) }
}
