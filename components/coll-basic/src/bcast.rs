//! MPI_Bcast (MPI 5.0 §6.4).
//!
//! Ranks may describe the data by different types of the same signature, so only its bytes decide
//! between algorithms, and pieces are cut out of packed bytes.

use crate::algorithm::Algorithm;
use crate::exchange::{Call, Pending, Result, tag};

pub fn bcast(call: &Call<'_>) -> Result {
    let total = call.gets().bytes()?;
    if call.num_ranks() == 1 || total == 0 {
        return Ok(());
    }
    match pieces(call, total) {
        Some(pieces) => {
            call.goes_by(Algorithm::BcastChain);
            chain(call, total, pieces)
        }
        None => {
            call.goes_by(Algorithm::BcastBinomial);
            binomial(call, total)
        }
    }
}

/// In how many pieces the data should go down a chain; `None` if a tree takes fewer steps. A chain
/// takes a step for each piece, and one for each rank but two until the first has arrived; a tree
/// takes a step for each piece and level.
fn pieces(call: &Call<'_>, total: u64) -> Option<u64> {
    let (n, segment) = (call.num_ranks() as u64, call.module().settings.bcast_segment_size);
    if segment == 0 {
        return None;
    }
    let pieces = total.div_ceil(segment);
    let levels = n.next_power_of_two().ilog2() as u64;
    (pieces + n - 2 < levels.saturating_mul(pieces)).then_some(pieces)
}

/// Place in a tree or chain that begins at the root, and back.
fn from_root(call: &Call<'_>, rank: u32) -> u32 {
    (rank + call.num_ranks() - call.root()) % call.num_ranks()
}
fn to_rank(call: &Call<'_>, place: u32) -> u32 {
    (place + call.root()) % call.num_ranks()
}

/// Up to this size a child is sent to at once, without a request: the message leaves our hands when
/// the call returns.
const AT_ONCE: u64 = 1024;

fn binomial(call: &Call<'_>, total: u64) -> Result {
    let (n, place) = (call.num_ranks(), from_root(call, call.rank()));
    let data = call.gets();
    let mut bit = 1;
    while bit < n && place & bit == 0 {
        bit *= 2;
    }
    if place != 0 {
        let parent = to_rank(call, place - bit);
        if let Some((wrong, len)) = call.recv_whole(data, parent, tag::BCAST)? {
            pass_on(call, total, len, (1..n).take_while(|b| *b < bit).filter(|b| b.is_power_of_two()))?;
            return Err(wrong);
        }
    }
    let mut pending = Pending::<32>::new(call);
    while bit > 1 {
        bit /= 2;
        if place + bit < n {
            let child = to_rank(call, place + bit);
            if total <= AT_ONCE {
                call.send(data.source(), child, tag::BCAST)?;
            } else {
                pending.send(data.source(), child, tag::BCAST)?;
            }
        }
    }
    pending.wait()
}

/// A message of another length than this rank's is its error and goes on all the same, as long as it came: those below
/// wait for one, and those that asked for the wrong length hear of it, too.
#[cold]
fn pass_on(call: &Call<'_>, total: u64, len: u64, below: impl Iterator<Item = u32>) -> Result {
    let place = from_root(call, call.rank());
    let scratch = call.scratch(total.max(len))?;
    let (last, ..) = scratch.bytes(total.max(len) - 1, 1).raw();
    // SAFETY: a byte of memory of ours, which does not overlap the user's buffer; it is the one that is too much, or written once more.
    unsafe {
        last.write(0);
        call.local().pack(call.gets().source(), 0, scratch.bytes(0, total))?;
    }
    let children = below.map(|bit| place + bit).filter(|child| *child < call.num_ranks());
    for child in children {
        call.send(scratch.bytes(0, len).source(), to_rank(call, child), tag::BCAST)?;
    }
    Ok(())
}

/// Everyone receives from the one before and sends to the one behind, piece by piece: while one piece
/// goes on, the next is on its way.
fn chain(call: &Call<'_>, total: u64, pieces: u64) -> Result {
    let place = from_root(call, call.rank());
    let (first, last) = (place == 0, place + 1 == call.num_ranks());
    let before = to_rank(call, place + call.num_ranks() - 1);
    let behind = to_rank(call, place + 1);
    let user = call.gets();
    let segment = call.module().settings.bcast_segment_size;
    let piece = |i: u64| (i * segment, segment.min(total - i * segment));

    let packed = !user.is_contiguous();
    let scratch = if packed { Some(call.scratch(total)?) } else { None };
    let data = scratch.as_ref().map_or_else(|| user.contiguous(), |s| Ok(s.bytes(0, total)))?;

    // The receive of the next piece is always posted before this one is waited for. Of sends two are
    // pending; a third waits for the first.
    let mut arriving = [0; 2].map(|_| Pending::<1>::new(call));
    let mut leaving = [0; 2].map(|_| Pending::<1>::new(call));
    if !first {
        let (offset, len) = piece(0);
        arriving[0].recv(data.part(offset, len), before, tag::BCAST)?;
    }
    for i in 0..pieces {
        let (offset, len) = piece(i);
        let turn = (i % 2) as usize;
        if first && packed {
            // SAFETY: the user's buffer, and as much of the packed copy, in memory of ours.
            unsafe { call.local().pack(user.source(), offset, data.part(offset, len))? };
        }
        if !first {
            if i + 1 < pieces {
                let (offset, len) = piece(i + 1);
                arriving[1 - turn].recv(data.part(offset, len), before, tag::BCAST)?;
            }
            arriving[turn].wait()?;
        }
        if !last {
            leaving[turn].send(data.part(offset, len).source(), behind, tag::BCAST)?;
        }
        if !first && packed {
            // SAFETY: the user's buffer, and as much of the packed copy, in memory of ours.
            unsafe { call.local().unpack(user, offset, data.part(offset, len).source())? };
        }
    }
    let [one, other] = &mut leaving;
    one.wait()?;
    other.wait()
}
