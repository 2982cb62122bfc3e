//! Gather, allgather and alltoall: blocks that others read, each rank at its own pace.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::{Place, Source};
use crate::meet::Meeting;
use crate::one_to_all::{all_have_posted, given, meet_behind, receives, sends, tag};
use crate::posts::{Kept, Post};
use crate::protocol::{Desk, Protocol, Result};
use oxmpi_coll::{IN_PLACE, which};
use oxmpi_mca::Status;

/// The place of each rank's block in the receive buffer.
#[derive(Clone, Copy)]
enum Blocks<'a> {
    /// Equal ones, side by side: all of them, and the elements of one.
    Equal(Place<'a>, u64),
    /// By counts and displacements: element 0 of the buffer.
    Listed(Place<'a>, &'a [u64], &'a [i64]),
}

impl<'a> Blocks<'a> {
    /// # Safety
    /// The call's receive buffer has a block for each rank, of `recvcount` elements.
    unsafe fn equal(call: &Call<'a>) -> Blocks<'a> {
        let count = call.args.recvcount;
        // SAFETY: the caller's promise.
        Blocks::Equal(unsafe { receives(call, count.saturating_mul(call.ranks().into())) }, count)
    }

    /// # Safety
    /// The call's receive buffer has a block for each rank, as counts and displacements say, which are there.
    unsafe fn listed(call: &Call<'a>) -> Blocks<'a> {
        let ranks = call.ranks() as usize;
        // SAFETY: the caller's promise.
        unsafe {
            let counts = core::slice::from_raw_parts(call.args.recvcounts, ranks);
            let displs = core::slice::from_raw_parts(call.args.rdispls, ranks);
            Blocks::Listed(receives(call, 0), counts, displs)
        }
    }

    /// The block of a rank.
    fn of(self, rank: u32) -> Place<'a> {
        match self {
            Blocks::Equal(all, count) => all.block(rank, count),
            // SAFETY: what the buffer has for the rank (`listed`).
            Blocks::Listed(first, counts, displs) => unsafe {
                first.at(displs[rank as usize], counts[rank as usize])
            },
        }
    }

    /// Bytes of the longest block. BAD_PARAM: more than MPI can count.
    fn longest(self, call: &Call<'_>) -> Result<u64> {
        match self {
            Blocks::Equal(all, count) => {
                all.bytes()?;
                if count == 0 { Ok(0) } else { all.block(0, count).bytes() }
            }
            Blocks::Listed(..) => {
                (0..call.ranks()).try_fold(0, |most, rank| Ok(most.max(self.of(rank).bytes()?)))
            }
        }
    }
}

/// Copies this rank's own block.
fn keep(call: &Call<'_>, own: Source<'_>, place: Place<'_>) -> Result {
    if !place.take(own)? {
        call.note(Status::TRUNCATED);
    }
    Ok(())
}

/// To the root: every rank posts its block, and the root brings all to their places.
fn to_root(
    call: &Call<'_>,
    root: u32,
    own: Option<Source<'_>>,
    blocks: Option<Blocks<'_>>,
    tag: u32,
) -> Result {
    let step = call.begin();
    match (blocks, own) {
        (Some(blocks), own) => {
            let mut is_awaited = false;
            for other in call.others() {
                let post = call.look(other, step, tag)?;
                post.bring(0, post.len(), blocks.of(other))?;
                is_awaited |= post.is_at_address();
            }
            if is_awaited {
                call.takes(Algorithm::Memory);
                call.finish_now();
            }
            if let Some(own) = own {
                keep(call, own, blocks.of(root))?;
            }
        }
        (None, Some(own)) => {
            let mut kept = Kept::default();
            call.offer(step, tag, own, &mut kept)?;
            if call.own(step, tag)?.is_at_address() {
                call.takes(Algorithm::Memory);
                call.see_finished(root, step)?;
            }
        }
        (None, None) => {}
    }
    call.finish();
    Ok(())
}

/// This rank's own block; none where it is in place.
///
/// # Safety
/// The call's send buffer has it, where it is not in place.
unsafe fn own<'a>(call: &Call<'a>) -> Option<Source<'a>> {
    // SAFETY: the caller's promise.
    (call.args.sendbuf != IN_PLACE).then(|| unsafe { sends(call, call.args.sendcount) })
}

pub fn gather(call: &Call<'_>) -> Result {
    let root = given!(call, call.root());
    // SAFETY: of a gather the root has the blocks, and all ranks whose block is not in place have their own.
    let (blocks, own) = unsafe { ((call.rank() == root).then(|| Blocks::equal(call)), own(call)) };
    let len = match (blocks, own) {
        (Some(blocks), _) => given!(call, blocks.longest(call)),
        (None, Some(own)) => given!(call, own.bytes()),
        (None, None) => 0,
    };
    let total = len.saturating_mul(call.ranks().into());
    if call.is_long(len) && !call.reads_at_once(total) {
        return call.hand_down(which::GATHER);
    }
    to_root(call, root, own, blocks, tag(which::GATHER))
}

/// Ranks know their own counts alone, so by the communicator it is decided who does it.
pub fn gatherv(call: &Call<'_>) -> Result {
    if !call.reads_peers() {
        return call.hand_down(which::GATHERV);
    }
    let root = given!(call, call.root());
    // SAFETY: of a gatherv the root has the blocks, and all ranks whose block is not in place have their own.
    let (blocks, own) = unsafe { ((call.rank() == root).then(|| Blocks::listed(call)), own(call)) };
    to_root(call, root, own, blocks, tag(which::GATHERV))
}

/// Each rank posts `own`, and brings what `bring` says from the posts of all others. `is_long`: some rank's post is an address, so nobody returns before
/// all have read.
fn among_all(
    call: &Call<'_>,
    own: Source<'_>,
    is_copied: bool,
    is_long: bool,
    tag: u32,
    mut bring: impl FnMut(u32, Post<'_>) -> Result,
) -> Result {
    let (step, mut kept) = (call.begin(), Kept::default());
    match is_copied {
        false => call.offer(step, tag, own, &mut kept)?,
        true => call.offer_copy(step, tag, own, &mut kept)?,
    }
    if call.meeting() != Meeting::Few {
        all_have_posted(call, step, tag)?;
    }
    for other in call.others() {
        bring(other, call.look(other, step, tag)?)?;
    }
    if is_long {
        call.takes(Algorithm::Memory);
        return meet_behind(call, tag);
    }
    call.all_are_beyond(step);
    call.finish();
    Ok(())
}

fn gather_to_all(call: &Call<'_>, blocks: Blocks<'_>, which: u32) -> Result {
    let longest = given!(call, blocks.longest(call));
    let is_long = call.is_long(longest);
    let total = longest.saturating_mul(call.ranks().into());
    if call.leaves_exchange(longest) || is_long && !call.reads_at_once(total) {
        return call.hand_down(which);
    }
    // SAFETY: of an allgather all ranks whose block is not in place have their own.
    let own = unsafe { own(call) };
    let mine = blocks.of(call.rank());
    let source = own.unwrap_or_else(|| mine.source());
    given!(call, source.bytes());
    among_all(call, source, false, is_long, tag(which), |other, post| {
        post.bring(0, post.len(), blocks.of(other))
    })?;
    own.map_or(Ok(()), |own| keep(call, own, mine))
}

pub fn allgather(call: &Call<'_>) -> Result {
    // SAFETY: an allgather has these.
    gather_to_all(call, unsafe { Blocks::equal(call) }, which::ALLGATHER)
}

/// All ranks have the counts of all.
pub fn allgatherv(call: &Call<'_>) -> Result {
    // SAFETY: an allgatherv has these.
    gather_to_all(call, unsafe { Blocks::listed(call) }, which::ALLGATHERV)
}

pub fn alltoall(call: &Call<'_>) -> Result {
    let (rank, ranks) = (call.rank(), u64::from(call.ranks()));
    let is_in_place = call.args.sendbuf == IN_PLACE;
    let (count, each) = (call.args.recvcount, call.args.sendcount);
    // SAFETY: an alltoall has a block for each rank in both buffers; in place they are one.
    let (place, own) = unsafe {
        let place = receives(call, count.saturating_mul(ranks));
        (place, if is_in_place { place.source() } else { sends(call, each.saturating_mul(ranks)) })
    };
    let len = given!(call, own.bytes().and_then(|len| place.bytes().map(|_| len)));
    let is_long = call.is_long(len);
    if call.leaves_exchange(len) || is_long && !call.reads_at_once(len) {
        return call.hand_down(which::ALLTOALL);
    }
    among_all(call, own, is_in_place, is_long, tag(which::ALLTOALL), |other, post| {
        let len = post.len() / ranks;
        post.bring(u64::from(rank) * len, len, place.block(other, count))
    })?;
    match is_in_place {
        true => Ok(()),
        false => keep(call, own.from(u64::from(rank) * each).first(each), place.block(rank, count)),
    }
}
