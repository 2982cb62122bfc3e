//! The plan of an access: ranks tell each other their ranges; if anybody has data each transfers its own, and all agree on how that ended.

use oxmpi_fcoll::{Call, Range};
use oxmpi_mca::Status;

/// Writes down the plan. It says "and then" where something has to be waited for: a function goes on when all steps before it are done.
pub fn write(call: &Call<'_>) -> Result<(), Status> {
    // No step so far has moved a byte, and none has when this function returns: the host carries out what it has written down.
    call.tell(range(call), |call, ranges| {
        // `None`: a message was lost. The host has the error; the rank says that it has moved nothing.
        let anybody = ranges.is_some_and(|ranges| ranges.iter().any(|range| range.bytes > 0));
        if !anybody {
            call.moved(0, Status::OK);
            return Ok(());
        }
        // Everything that decides about messages is equal in all ranks here: an agreement in one of them only would wait for ever.
        call.transfer_own(|call, moved| call.end_of_own(moved))
    })
}

/// The part of the file that this rank accesses.
fn range(call: &Call<'_>) -> Range {
    let (access, view) = (call.access(), call.view());
    match (view.offset(access.from), view.end(access.from, access.len)) {
        (Some(first), Some(end)) => Range { first, end, bytes: access.len, mark: 0 },
        _ => Range::default(),
    }
}
