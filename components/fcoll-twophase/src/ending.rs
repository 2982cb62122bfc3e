//! The end of a plan: an outcome that all ranks agree on, and the count of each.

use oxmpi_fcoll::{Call, Moved, Outcome};
use oxmpi_mca::Status;

/// The end for a rank that has lost messages: the host has the error.
pub fn lost(call: &Call<'_>) -> Result<(), Status> {
    call.moved(0, Status::OK);
    Ok(())
}

/// The end of a plan in which data was exchanged: agrees with the others, and counts what this rank has got.
pub fn end(call: &Call<'_>, outcome: Outcome, own: Option<Moved>) -> Result<(), Status> {
    let mine = own.map_or(outcome, |own| outcome.and(own.outcome));
    call.agree(mine, move |call, outcome| {
        let Some(outcome) = outcome else { return lost(call) };
        let access = call.access();
        let bytes = match own {
            Some(own) => own.bytes,
            None if outcome.status.is_err() => 0,
            None if call.writes() || outcome.end == u64::MAX => access.len,
            None => call.view().position(outcome.end).saturating_sub(access.from).min(access.len),
        };
        call.moved(bytes, outcome.status);
        Ok(())
    })
}
