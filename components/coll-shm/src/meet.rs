//! Meeting: no rank goes on before all have come. Every rank brings a yes or a no, and all hear whether everybody said yes.
//!
//! How they meet is equal in all ranks ([`Meeting`]). A *few* ranks with a core each look at each other's posts: one step, and one transfer of a line
//! between any two of them. *Many* go up a tree to rank 0 and hear from it: two steps, in which a rank waits for those below it and for rank 0, or for the lowest rank of its
//! group, which says again what it heard (`tree`). A *crowd*, ranks that share cores, counts who has come: the last one looks at all posts, which are there, and tells the others by one word. So each sleeps once, and the
//! last one, which has a core, not at all.

use crate::protocol::{Protocol, Result};
use oxmpi_mca::Status;

/// More ranks than these do not look at all others' posts.
#[cfg(not(loom))]
pub const FEW: u32 = 8;

/// How the ranks of a communicator meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Each has a core, and looks at all others.
    Few,
    /// Each has a core; by a tree.
    Many,
    /// They share cores; by a count.
    Crowd,
}

/// Meets all ranks. `tag`: what the posts are marked with, below 256. MISMATCH: a rank has come for something else.
pub fn meet(desk: &impl Protocol, way: Meeting, tag: u64, yes: bool) -> Result<bool> {
    let word = tag << 1;
    let heard = |header: u64| match header {
        _ if header == word | 1 => Ok(true),
        _ if header == word => Ok(false),
        _ => Err(Status::MISMATCH),
    };
    let step = desk.begin();
    let mut all = yes;
    if way == Meeting::Many {
        return up_and_down(desk, step, word, yes, heard);
    }
    desk.make_room_in_line(step)?;
    desk.post(step, word | u64::from(yes));
    if way == Meeting::Crowd && !desk.arrive() {
        return heard(desk.await_release()?);
    }
    for other in desk.others() {
        all &= heard(desk.see(other, step)?)?;
    }
    if way == Meeting::Crowd {
        desk.release(word | u64::from(all));
    }
    Ok(all)
}

/// By the tree. `heard`: what a post says that has `word`.
fn up_and_down(
    desk: &impl Protocol,
    step: u32,
    word: u64,
    yes: bool,
    heard: impl Fn(u64) -> Result<bool>,
) -> Result<bool> {
    let (rank, branch, back, mut all) = (desk.rank(), desk.branch(), desk.begin(), yes);
    for child in &branch.below {
        all &= heard(desk.see(*child, step)?)?;
    }
    let mine = if rank == 0 { back } else { step };
    desk.make_room_in_line(mine)?;
    desk.post(mine, word | u64::from(all));
    if rank == 0 {
        return Ok(all);
    }
    let said = desk.see(branch.source, back)?;
    if branch.repeats {
        desk.make_room_in_line(back)?;
        desk.post(back, said);
    }
    heard(said)
}
