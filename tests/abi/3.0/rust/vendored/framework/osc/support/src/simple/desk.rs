//! Verbs that do not wait, for whoever has the window locked: messages out, memory, ends of operations.

use super::loans::{Loans, Open};
use crate::exposed::Exposed;
use oxmpi_mca::Status;

/// A locked window's messages, memory and operations under way.
pub struct Desk {
    rank: u32,
    num_ranks: u32,
    /// Messages that are to be sent when the window is unlocked, with their receivers.
    pub(super) outbox: Vec<(u32, Vec<u8>)>,
    pub(super) exposed: Exposed,
    pub(super) loans: Loans,
}

impl Desk {
    pub(super) fn new(rank: u32, num_ranks: u32, exposed: Exposed) -> Desk {
        Desk { rank, num_ranks, outbox: Vec::new(), exposed, loans: Loans::default() }
    }

    /// Tells which rank this process is.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Tells how many ranks the window has.
    pub fn num_ranks(&self) -> u32 {
        self.num_ranks
    }

    /// Sends a message to a rank, perhaps this one, of at most as many bytes as [`module`](super::module) was told. Messages to a rank arrive in the order in which they
    /// are sent. One that cannot be sent is told by [`Arrivals::lost`](super::Arrivals::lost).
    pub fn send(&mut self, to: u32, message: Vec<u8>) {
        self.outbox.push((to, message));
    }

    /// Gives this rank's memory, which blocks are found in (`Exposed::find`). As long as the window is locked no other operation of its is carried out, which
    /// makes those that are to each other atomic.
    pub fn memory(&self) -> &Exposed {
        &self.exposed
    }

    /// Puts bytes of an operation's result where the packed ones from `at` on belong; false: the result has fewer.
    #[must_use]
    pub fn fill(&self, open: &Open, at: u64, bytes: &[u8]) -> bool {
        self.loans.fill(open, at, bytes)
    }

    /// Ends an operation: its result is there, its data may be changed, and its request, if it has one, is complete with this status. That uses the right up:
    ///
    /// ```compile_fail,E0382
    /// use oxmpi_mca::Status;
    /// use oxmpi_osc_support::simple::{Desk, Open};
    /// fn twice(desk: &mut Desk, open: Open) {
    ///     desk.end(open, Status::OK);
    ///     desk.end(open, Status::OK);
    /// }
    /// ```
    pub fn end(&mut self, open: Open, status: Status) {
        self.loans.end(open, status);
    }
}
