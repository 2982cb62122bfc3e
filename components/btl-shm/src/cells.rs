//! Cells: memory that two peers hand each other with the messages in it.
//!
//! Who writes a message into the lines or the bulk of its ring has to take those lines back from the receiver, who read them
//! last, and the receiver then has to get them from the writer. Of messages that go both ways half of that is for nothing:
//! the receiver, who has the lines now, is about to write a message itself. So each ring has a *cell* behind its bulk, a place for one
//! message, and a cell **belongs to one of both sides**: at first to the sender of its ring. Who has a cell may write a
//! message into it and announce it in a line of its ring ([`CELL`](crate::wire::CELL)); with that the cell is the
//! receiver's, who uses it for the next message back. In a ping-pong one cell goes to and fro, in MPI_Sendrecv both
//! are exchanged. Who has none, because messages go one way only, uses its ring, and nobody waits for a cell or asks for one back.
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

use crate::wire::{THE_OTHERS, THIS_RINGS};

/// A cell's memory in this process.
#[derive(Clone, Copy)]
pub struct CellMem {
    pub at: *mut u8,
    pub size: u64,
}

/// The cells of one pair that are ours now, by where they lie: behind our ring to the peer ([`THIS_RINGS`]) or behind
/// the peer's to us ([`THE_OTHERS`]).
#[derive(Default)]
pub struct Hand {
    held: [bool; 2],
    /// The one that came last, whose lines are nearest.
    latest: u64,
}

/// How the receiver of a line calls the cell that the line's sender calls `which`.
#[inline(always)]
pub const fn seen_from_here(which: u64) -> u64 {
    THIS_RINGS + THE_OTHERS - which
}

impl Hand {
    /// The cell for the next message.
    #[inline(always)]
    pub fn next(&self) -> Option<u64> {
        let other = THIS_RINGS + THE_OTHERS - self.latest;
        [self.latest, other].into_iter().find(|&which| self.has(which))
    }

    #[inline(always)]
    pub fn has(&self, which: u64) -> bool {
        self.held[which as usize]
    }

    /// The cell goes to the peer.
    #[inline(always)]
    pub fn give(&mut self, which: u64) {
        self.held[which as usize] = false;
    }

    /// The cell has come from the peer, or with a new ring.
    #[inline(always)]
    pub fn take(&mut self, which: u64) {
        self.held[which as usize] = true;
        self.latest = which;
    }
}
