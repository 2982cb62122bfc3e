//! The beginning of a plan: ranks tell each other their ranges, and decide whether data is exchanged. Everything follows from the layout and from those ranges, so all come to the same.
//!
//! **Ranks that go ahead.** A rank that gains nothing by an exchange transfers its own before it tells its range, and tells how that ended with it. Where all ranks have done so, that
//! was the whole access, of one meeting instead of two; else the others exchange theirs, or transfer it, and such a rank takes part without data. Of bytes that several ranks write any
//! may stay, so it does not matter which of them are written first.

use crate::ending::lost;
use crate::exchange::Exchange;
use oxmpi_fcoll::{Call, Moved, Outcome, Range, want};
use oxmpi_mca::Status;

/// A mark in a range: the rank has gone ahead.
const AHEAD: u64 = 1;

/// Writes down the plan.
pub fn write(call: &Call<'_>) -> Result<(), Status> {
    if call.wanted() == want::NEVER {
        return call.transfer_own(|call, moved| call.end_of_own(moved));
    }
    let range = range(call);
    match goes_ahead(call, &range) {
        true => call.transfer_own(move |call, own| meet(call, range, Some(own))),
        false => meet(call, range, None),
    }
}

/// Tells this rank's range, and how its own transfers ended if it has gone ahead; and does what is left.
fn meet(call: &Call<'_>, range: Range, own: Option<Moved>) -> Result<(), Status> {
    let mine = Range { mark: if own.is_some() { AHEAD } else { 0 }, ..range };
    let outcome = own.map_or(Outcome::FINE, |own| own.outcome);
    call.tell_with(mine, outcome, move |call, told| {
        let Some((ranges, outcome)) = told else { return lost(call) };
        let left = |range: &Range| if range.mark == AHEAD { Range::default() } else { *range };
        let left: Vec<Range> = ranges.iter().map(left).collect();
        if left.iter().all(|range| range.bytes == 0) {
            call.moved(own.map_or(0, |own| own.bytes), outcome.status);
            return Ok(());
        }
        match own {
            _ if call.wanted() != want::AUTOMATIC || interleave(&left) => {
                Exchange::new(call, &left)?.begin(call, own)
            }
            Some(own) => call.end_of_own(own),
            None => call.transfer_own(|call, moved| call.end_of_own(moved)),
        }
    })
}

/// This rank's range.
fn range(call: &Call<'_>) -> Range {
    let (access, view) = (call.access(), call.view());
    let (Some(first), Some(end)) = (view.offset(access.from), view.end(access.from, access.len)) else {
        return Range::default();
    };
    match access.len {
        0 => Range::default(),
        bytes => Range { first, end, bytes, mark: 0 },
    }
}

/// Whether this rank gains nothing by an exchange: its access is one piece, or a read on one node that wants at least every other byte of its range, which a component reads in large
/// windows. A view that has bytes twice cannot be read by others at all.
fn goes_ahead(call: &Call<'_>, range: &Range) -> bool {
    if range.bytes == 0 {
        return false;
    }
    if !call.writes() && call.view().overlaps() {
        return true;
    }
    let span = range.end - range.first;
    call.wanted() == want::AUTOMATIC
        && (span == range.bytes || !call.writes() && call.num_nodes() == 1 && span / 2 <= range.bytes)
}

/// Whether the range of one rank reaches into that of another.
fn interleave(ranges: &[Range]) -> bool {
    let mut ranges: Vec<_> = ranges.iter().filter(|range| range.bytes > 0).collect();
    ranges.sort_by_key(|range| range.first);
    ranges.windows(2).any(|two| two[1].first < two[0].end)
}
