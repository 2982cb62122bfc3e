//! The beginning of a plan: ranks tell each other their ranges, and decide whether data is exchanged. Everything follows from the layout and from those ranges, so all come to the same.

use crate::ending::lost;
use crate::exchange::Exchange;
use oxmpi_fcoll::{Call, Range, want};
use oxmpi_mca::Status;

/// A mark in a range: the rank's view has bytes twice, so it reads for itself.
const BY_ITSELF: u64 = 1;

/// Writes down the plan.
pub fn write(call: &Call<'_>) -> Result<(), Status> {
    if call.wanted() == want::NEVER {
        return call.transfer_own(|call, moved| call.end_of_own(moved));
    }
    call.tell(range(call), |call, ranges| {
        let Some(ranges) = ranges else { return lost(call) };
        if ranges.iter().all(|range| range.bytes == 0) {
            call.moved(0, Status::OK);
            return Ok(());
        }
        if call.wanted() == want::AUTOMATIC && !interleave(&ranges) {
            return call.transfer_own(|call, moved| call.end_of_own(moved));
        }
        let by_itself = ranges[call.rank() as usize].mark == BY_ITSELF;
        let exchanged: Vec<Range> = ranges
            .iter()
            .map(|range| if range.mark == BY_ITSELF { Range::default() } else { *range })
            .collect();
        Exchange::new(call, &exchanged)?.begin(call, by_itself)
    })
}

/// This rank's range.
fn range(call: &Call<'_>) -> Range {
    let (access, view) = (call.access(), call.view());
    let (Some(first), Some(end)) = (view.offset(access.from), view.end(access.from, access.len)) else {
        return Range::default();
    };
    if access.len == 0 {
        return Range::default();
    }
    let mark = if !call.writes() && view.overlaps() { BY_ITSELF } else { 0 };
    Range { first, end, bytes: access.len, mark }
}

/// Whether the range of one rank reaches into that of another.
fn interleave(ranges: &[Range]) -> bool {
    let mut ranges: Vec<_> = ranges.iter().filter(|range| range.bytes > 0).collect();
    ranges.sort_by_key(|range| range.first);
    ranges.windows(2).any(|two| two[1].first < two[0].end)
}
