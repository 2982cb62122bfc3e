//! State of a window at one rank: its epochs, the lock of its memory, the other ranks, operations that wait for answers.
//!
//! The layer has it behind a lock: verbs lock it for a moment (`Call::with`), messages that come are taken with it locked. So there is no lock here, and nothing
//! that waits.
//!
//! **Counting.** Messages to a rank arrive and are answered in their order. So two numbers for each rank say what is complete there: an operation that was
//! sent as message n is when n answers have come.

use crate::wire::{HEAD, Message};
use core::mem::replace;
use oxmpi_mca::Status;
use oxmpi_osc::{WinDesc, flavor};
use oxmpi_osc_support::simple::{Desk, Meeting, Open, Result};
use oxmpi_osc_support::{Epochs, Locks};
use std::collections::BTreeMap;

pub struct TemplateWindow {
    /// Targets are named by address, and nobody but the target knows what is there.
    pub is_dynamic: bool,
    /// Bytes of runs and data that a message has room for.
    pub room: usize,
    /// This rank's.
    pub epochs: Epochs,
    /// Of this rank's memory.
    pub locks: Locks,
    /// All ranks, this one among them.
    pub peers: Vec<Peer>,
    /// Operations that wait for data, by number.
    pub operations: BTreeMap<u64, Waiting>,
}

/// A rank as this one knows it.
pub struct Peer {
    /// Its memory, and the unit of displacements in it.
    pub bytes: u64,
    pub unit: i64,
    /// Messages to it that are answered, and answers.
    pub sent: u64,
    pub answered: u64,
    /// The first failure of an operation since the last synchronisation.
    pub failure: Status,
    /// Not OK: no message reaches it any more.
    pub lost: Status,
    /// It has granted the lock that was asked for.
    pub granted: bool,
    /// Its MPI_Win_post and MPI_Win_complete that no call here has used up.
    pub posts: u32,
    pub completes: u32,
}

/// An operation with a result.
pub struct Waiting {
    pub target: u32,
    /// Parts that are not here.
    pub left: u64,
    pub open: Open,
    pub failure: Status,
}

impl TemplateWindow {
    /// Makes the state, and tells all ranks what this one has.
    pub fn create(meeting: &mut Meeting<'_>, desc: &WinDesc, message_size: usize) -> Result<TemplateWindow> {
        let told = meeting.tell_all([desc.bytes, desc.disp_unit.cast_unsigned()])?;
        let peer = |[bytes, unit]: [u64; 2]| Peer {
            bytes,
            unit: unit.cast_signed(),
            sent: 0,
            answered: 0,
            failure: Status::OK,
            lost: Status::OK,
            granted: false,
            posts: 0,
            completes: 0,
        };
        Ok(TemplateWindow {
            is_dynamic: desc.flavor == flavor::DYNAMIC,
            room: message_size - HEAD,
            epochs: Epochs::default(),
            locks: Locks::default(),
            peers: told.into_iter().map(peer).collect(),
            operations: BTreeMap::new(),
        })
    }

    /// A rank that the layer or [`TemplateWindow::know`] has vouched for.
    pub fn peer(&mut self, rank: u32) -> &mut Peer {
        &mut self.peers[rank as usize]
    }

    /// Checks that there are such ranks: others would be out of the range of the table.
    pub fn know(&self, ranks: &[u32]) -> Result {
        let known = ranks.iter().all(|rank| (*rank as usize) < self.peers.len());
        if known { Ok(()) } else { Err(Status::BAD_PARAM) }
    }

    /// Sends a message that its receiver answers.
    pub fn ask(&mut self, desk: &mut Desk, rank: u32, message: Vec<u8>) {
        self.peer(rank).sent += 1;
        desk.send(rank, message);
    }

    /// The same to several ranks, without data.
    pub fn ask_all(&mut self, desk: &mut Desk, ranks: &[u32], message: &Message) {
        ranks.iter().for_each(|rank| self.ask(desk, *rank, message.encode()));
    }

    /// Ends an operation.
    pub fn end(&mut self, desk: &mut Desk, operation: Waiting) {
        self.peer(operation.target).fail(operation.failure);
        desk.end(operation.open, operation.failure);
    }

    /// No message reaches a rank any more: operations to it end.
    pub fn lose(&mut self, desk: &mut Desk, rank: u32, status: Status) {
        if self.peer(rank).lost.is_ok() {
            self.peer(rank).lost = status;
        }
        let theirs = self.operations.extract_if(.., |_, operation| operation.target == rank);
        let theirs: Vec<Waiting> = theirs.map(|(_, operation)| operation).collect();
        theirs.into_iter().for_each(|operation| self.end(desk, Waiting { failure: status, ..operation }));
    }
}

impl Peer {
    /// Notes a failure for the next synchronisation.
    pub fn fail(&mut self, status: Status) {
        if self.failure.is_ok() {
            self.failure = status;
        }
    }

    /// Takes the first failure since the last call.
    pub fn take_failure(&mut self) -> Result {
        let failure = replace(&mut self.failure, Status::OK);
        let first = if self.lost.is_err() { self.lost } else { failure };
        first.ok().map(drop)
    }
}
