//! Meeting: no rank goes on before all have come. Every rank brings a yes or a no, and all hear whether everybody said yes.
//!
//! A few ranks with a core each look at each other's posts: one step, and one transfer of a line between any two of them. A *crowd*, of more ranks or
//! of ranks that share cores, goes up a tree to rank 0 and hears from it: two steps, in which a rank waits for those below it and for rank 0, so that
//! most ranks sleep once at most.

use crate::protocol::{Protocol, Result};
use crate::tree::{above, below};
use oxmpi_mca::Status;

/// More ranks than these do not look at all others' posts.
#[cfg(not(loom))]
pub const FEW: u32 = 8;

/// Meets all ranks. `tag`: what the posts are marked with, below 256. MISMATCH: a rank has come for something else.
pub fn meet(desk: &impl Protocol, is_crowd: bool, tag: u64, yes: bool) -> Result<bool> {
    let word = tag << 1;
    let heard = |header: u64| match header {
        _ if header == word | 1 => Ok(true),
        _ if header == word => Ok(false),
        _ => Err(Status::MISMATCH),
    };
    let step = desk.begin();
    let mut all = yes;
    if !is_crowd {
        desk.make_room(step)?;
        desk.post(step, word | u64::from(yes));
        for other in desk.others() {
            all &= heard(desk.see(other, step)?)?;
        }
        return Ok(all);
    }
    let (rank, back) = (desk.rank(), desk.begin());
    for child in below(rank, desk.ranks()) {
        all &= heard(desk.see(child, step)?)?;
    }
    if rank == 0 {
        desk.make_room(back)?;
        desk.post(back, word | u64::from(all));
        return Ok(all);
    }
    desk.make_room(step)?;
    desk.post(step, word | u64::from(all));
    debug_assert!(above(rank) < rank);
    heard(desk.see(0, back)?)
}
