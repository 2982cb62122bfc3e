//! Scan and exscan: every rank posts its operand, and combines those of the ranks before it.

use crate::call::Call;
use crate::fold::fold;
use crate::one_to_all::{given, tag};
use crate::posts::Kept;
use crate::protocol::{Desk, Protocol, Result};
use crate::reduction::Reduction;
use oxmpi_coll::which;

/// `ranks`: the number of ranks whose operands this rank combines, from rank 0 on.
fn scanned(call: &Call<'_>, ranks: u32, which: u32) -> Result {
    // SAFETY: a scan has an operand, and a place for the result where this rank has one.
    let (op, own, place) = unsafe {
        let op = given!(call, Reduction::of(call));
        let count = call.args.recvcount;
        (op, op.operand(call, count), (ranks > 0).then(|| op.result(call, count)))
    };
    let len = given!(call, own.bytes());
    if call.is_long(len) || !op.is_contiguous() {
        return call.hand_down(which);
    }
    if len == 0 {
        return Ok(());
    }
    let step = call.begin();
    call.offer(step, tag(which), own, &mut Kept::default())?;
    if let Some(result) = place.and_then(|place| place.room().transpose()) {
        fold(call, op, (0..ranks).rev(), (step, tag(which), len), 0, result?)?;
    }
    call.finish();
    Ok(())
}

pub fn scan(call: &Call<'_>) -> Result {
    scanned(call, call.rank() + 1, which::SCAN)
}

pub fn exscan(call: &Call<'_>) -> Result {
    scanned(call, call.rank(), which::EXSCAN)
}
