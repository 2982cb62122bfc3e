//! Cells: memory that two peers hand each other with the messages in it.
//!
//! Who writes a message into the lines or the bulk of its ring has to take those lines back from the receiver, who read them
//! last, and the receiver then has to get them from the writer. Of messages that go both ways half of that is for nothing:
//! the receiver, who has the lines now, is about to write a message itself. So each ring has *cells* behind its bulk, places for one
//! message each, and a cell **belongs to one of both sides**: at first to the sender of its ring. Who has a cell may write a
//! message into it and announce it in a line of its ring ([`CELL`](crate::wire::CELL)); with that the cell is the
//! receiver's, who uses it for the next message back. In a ping-pong one cell goes to and fro, in MPI_Sendrecv both
//! are exchanged. Where long messages go through shared memory in pieces (`copy.rs`) a ring's eight cells are used, one for each
//! piece that is under way; elsewhere one is: with more of them rows of messages both ways were slower. Who has none, because
//! messages go one way only, uses its ring, and nobody waits for a cell or asks for one back.
//!
//! **Whose it is** nobody writes down where others see it: each side keeps that in its [`Hand`]. What
//! gives a cell away is the line that announces it (release); what takes it is the read of that line (acquire), and it
//! counts only when the message has been dealt with. Thus a cell is in one hand or under way, never in two. A side that comes back after
//! an earlier life knows of no cells but those that come, so one may be lost, and the two go on without it.
//!
//! **A peer is not trusted.** A message in a cell that is in our own hand, in one that does not exist, or longer than the
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
#[derive(Default)]
pub struct Hand {
    /// A bit for each.
    held: u32,
    /// In the order in which they came.
    came: [u8; MOST as usize],
    count: u32,
}

const MOST: u64 = 2 * MOST_CELLS;

/// How the receiver of a line calls the cell that the line's sender calls `which`.
#[inline(always)]
pub const fn seen_from_here(which: u64) -> u64 {
    which ^ (THIS_RINGS ^ THE_OTHERS)
}

/// Whether it lies behind our own ring, and which of those there it is.
#[inline(always)]
pub const fn place_of(which: u64) -> (bool, u64) {
    (which & 1 == THIS_RINGS, which >> 1)
}

impl Hand {
    /// The cell for the next message: the one that came last, whose lines are nearest.
    #[inline(always)]
    pub fn next(&self) -> Option<u64> {
        let last = self.count.checked_sub(1)?;
        self.came.get(last as usize).map(|&which| which.into())
    }

    #[inline(always)]
    pub fn has(&self, which: u64) -> bool {
        self.held >> (which & 31) & 1 != 0
    }

    /// The cell for the next message goes to the peer.
    #[inline(always)]
    pub fn give(&mut self) {
        if let Some(which) = self.next() {
            self.held &= !(1 << which);
            self.count -= 1;
        }
    }

    /// The cell has come from the peer, or with a new ring. One that we have, or that cannot be, stays where it is.
    #[inline(always)]
    pub fn take(&mut self, which: u64) {
        if which < MOST && !self.has(which) {
            self.held |= 1 << which;
            self.came[self.count as usize] = which as u8;
            self.count += 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever comes and goes: a cell is in the hand as often as it should be, and the last that came goes first.
        #[test]
        fn a_hand_is_a_stack_of_different_cells(all in prop::collection::vec(prop::option::of(0..MOST + 3), 0..200)) {
            let (mut hand, mut model) = (Hand::default(), Vec::new());
            for which in all {
                match which {
                    Some(which) if which < MOST && !model.contains(&which) => {
                        hand.take(which);
                        model.push(which);
                    }
                    Some(which) => hand.take(which),
                    None => {
                        hand.give();
                        model.pop();
                    }
                }
                prop_assert_eq!(hand.next(), model.last().copied());
                prop_assert!((0..MOST).all(|which| hand.has(which) == model.contains(&which)));
            }
        }
    }
}
