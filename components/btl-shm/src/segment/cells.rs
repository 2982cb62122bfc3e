//! Cells: memory that two peers pass to each other with the messages in it.
//!
//! A sender that writes a message into the lines or the bulk of its ring has to take those lines back from the receiver, who read them
//! last, and the receiver then has to get them from the writer. Of messages that go both ways half of that is for nothing:
//! the receiver, who has the lines now, is about to write a message itself. So each ring has *cells* behind its bulk, places for one
//! message each, and a cell **belongs to one of both sides**: at first to the sender of its ring. The side that has a cell may write a
//! message into it and announce it in a line of its ring ([`CELL`](crate::wire::CELL)); with that the cell is the receiver's, which
//! uses it for the next message back. In a ping-pong one cell goes to and fro, in MPI_Sendrecv both are exchanged. Where copies go by
//! string (`copy.rs`) a ring has up to eight of them, for as many messages or fragments under way; elsewhere it has one: with more of
//! them rows of messages both ways were slower. A side that has none, because messages go one way only, uses its ring, and nobody
//! waits for a cell or asks for one back.
//!
//! **Its owner** is written down nowhere that others see: each side keeps that in its [`CellPool`]. A cell is given away by the line that
//! announces it (release) and taken by the read of that line (acquire), which counts only when the message has been dealt with. Thus a
//! cell is in one pool or under way, never in both. A side that comes back after an earlier life knows of no cells but those that come,
//! so one may be lost, and the two go on without it.
//!
//! **A peer is not trusted.** A message in a cell that is in our own pool, in one that does not exist, or longer than the
//! cell, is garbage. A peer that writes into a cell that it gave away spoils messages and nothing else, as with the ring.
//!
//! Model: `model.rs`, `model_cells_*`.

use crate::wire::{MOST_CELLS, THE_OTHERS, THIS_RINGS};

/// A cell's memory in this process.
#[derive(Clone, Copy)]
pub struct CellMem {
    pub at: *mut u8,
    pub size: u64,
}

/// The cells of one pair that are ours now, by where they lie: behind our ring to the peer ([`THIS_RINGS`] and every second number
/// from there on) or behind the peer's to us ([`THE_OTHERS`]).
///
/// **Which of them is used:** the one whose last message was the shortest that was no shorter than this one; of several the one behind
/// that which went last, else the one that came first. If all were shorter, the one behind that which went last, else the one that came last.
/// So messages that take turns, as the parts of a long one do, keep the same cells, and
/// their lines are those that both sides used a moment ago. Lines that were not part of a cell's last message are somewhere else, and
/// take three to five times as long to write. And parts of a message lie in memory as they follow each other: where they do not,
/// each costs its reader as much time as a line takes from one core to the other.
#[derive(Default)]
pub struct CellPool {
    /// A bit for each.
    held: u32,
    count: u32,
    /// The one behind that which went last.
    next: u32,
    /// In the order in which they came.
    came: [Held; MOST as usize],
}

/// A cell in our pool.
#[derive(Clone, Copy, Default)]
struct Held {
    which: u32,
    /// Length of the message that it came with.
    last: u32,
}

/// Cells of a pair at most: those behind both rings.
const MOST: u64 = 2 * MOST_CELLS;

/// How the receiver of a line calls the cell that the line's sender calls `which`.
#[inline(always)]
pub const fn seen_from_here(which: u64) -> u64 {
    which ^ (THIS_RINGS ^ THE_OTHERS)
}

/// Whether cell `which` lies behind our own ring, and its index among the cells there.
#[inline(always)]
pub const fn place_of(which: u64) -> (bool, u64) {
    (which & 1 == THIS_RINGS, which >> 1)
}

/// The number of the cell that follows `which` in memory; behind the last one of a ring comes the first of the other
/// ring.
const fn behind(which: u64) -> u32 {
    let (next, first) = (which + 2, (which & 1) ^ (THIS_RINGS ^ THE_OTHERS));
    (if next < MOST { next } else { first }) as u32
}

impl CellPool {
    /// Chooses the cell for a message of `len` bytes by the rule of [`CellPool`]; the cell stays in the pool. `None`:
    /// we have none.
    #[inline]
    pub fn best_for(&self, len: u64) -> Option<u64> {
        let held = self.came.get(..self.count as usize)?;
        let mut best: Option<&Held> = None;
        for cell in held.iter().filter(|cell| u64::from(cell.last) >= len) {
            if best.is_none_or(|b| cell.last < b.last || cell.last == b.last && cell.which == self.next) {
                best = Some(cell);
            }
        }
        let best = best.or_else(|| held.iter().find(|cell| cell.which == self.next)).or(held.last())?;
        Some(best.which.into())
    }

    /// Whether cell `which` is ours now.
    #[inline(always)]
    pub fn has(&self, which: u64) -> bool {
        self.held >> (which & 31) & 1 != 0
    }

    /// Removes a cell from the pool, because it goes to the peer with a message; nothing happens if it is not there.
    #[inline]
    pub fn give(&mut self, which: u64) {
        let all = ..self.count as usize;
        if let Some(at) =
            self.came.get(all).and_then(|held| held.iter().rposition(|c| u64::from(c.which) == which))
        {
            self.held &= !(1 << which);
            self.next = behind(which);
            self.came.copy_within(at + 1..self.count as usize, at);
            self.count -= 1;
        }
    }

    /// Adds a cell to the pool that has come from the peer with a message of `len` bytes, or with a new ring (0). One
    /// that we have, or that cannot be, is left out.
    #[inline]
    pub fn take(&mut self, which: u64, len: u64) {
        if which < MOST && !self.has(which) {
            self.held |= 1 << which;
            self.came[self.count as usize] = Held { which: which as u32, last: len as u32 };
            self.count += 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// In any order of messages a cell is in the pool as often as it should be, and the one that fits best goes first.
        #[test]
        fn a_hand_knows_its_cells(all in prop::collection::vec((prop::option::of(0..MOST + 3), 0..5u64), 0..200)) {
            let (mut cells, mut model, mut next) = (CellPool::default(), Vec::new(), 0);
            for (which, len) in all {
                match which {
                    Some(which) => {
                        cells.take(which, len);
                        if which < MOST && !model.iter().any(|&(w, _)| w == which) {
                            model.push((which, len));
                        }
                    }
                    None => {
                        let least = model.iter().filter(|&&(_, last)| last >= len).map(|&(_, last)| last).min();
                        let fits = |last| least.is_none_or(|least| last == least);
                        let follows = model.iter().position(|&(which, last)| fits(last) && which == next);
                        let best = follows.or_else(|| match least {
                            Some(_) => model.iter().position(|&(_, last)| fits(last)),
                            None => model.len().checked_sub(1),
                        });
                        let which = best.map(|at| model.remove(at).0);
                        prop_assert_eq!(cells.best_for(len), which);
                        if let Some(which) = which {
                            cells.give(which);
                            next = if which < 14 { which + 2 } else { 15 - which };
                        }
                    }
                }
                prop_assert!((0..MOST).all(|which| cells.has(which) == model.iter().any(|&(w, _)| w == which)));
            }
        }
    }
}
