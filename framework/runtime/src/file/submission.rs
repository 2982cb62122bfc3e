//! A list of pieces that a component has been asked to transfer: the one place where transfers are submitted, counted and seen to their end.
//!
//! **Memory.** The component has the addresses of transfer, list and operation until it has ended the operation, so the first and the last are boxed, and the list is not touched
//! meanwhile. One that is thrown away under way is ended first ([`Submission::break_off`]).

use super::object::File;
use super::presence::Presence;
use oxmpi_fbtl::{Operation, Piece, Transfer, transfer};
use oxmpi_mca::Status;
use std::ptr::null;

/// The structures that the component sees.
struct Asked {
    transfer: Transfer,
    operation: Operation,
}

/// See the essay.
pub(super) struct Submission {
    /// The list. Nobody changes it while it is under way.
    pub pieces: Vec<Piece>,
    asked: Box<Asked>,
    under_way: bool,
    /// A word of the host's says that the component is to be looked at.
    sought: bool,
}

// SAFETY: pieces point to memory that is the user's promise to whichever thread drives the access.
unsafe impl Send for Submission {}

impl Submission {
    /// One of these pieces that was not submitted.
    pub(super) fn of(pieces: Vec<Piece>) -> Submission {
        let transfer = Transfer {
            size: size_of::<Transfer>() as u32,
            what: 0,
            flags: 0,
            reserved: 0,
            pieces: null(),
            num_pieces: 0,
            sieve_bytes: 0,
        };
        let asked = Box::new(Asked { transfer, operation: Operation::new() });
        Submission { pieces, asked, under_way: false, sought: false }
    }

    /// Whether the component has it.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// The outcome of the pieces' transfer, which is submitted now if it was not: status and bytes; `None`: it is under way, or the component has no room for it. `now`: the calling thread
    /// has nothing else to do. A list of pieces may be read with the holes between them.
    pub(super) fn transfer(
        &mut self,
        file: &File,
        here: &Presence,
        what: u32,
        now: bool,
    ) -> Option<(Status, u64)> {
        if !self.under_way {
            let sieves = what == transfer::READ && self.pieces.len() > 1;
            let sieve = if sieves { file.sieve() } else { None };
            match self.submit((file, here), (what, now), sieve) {
                Status::NO_RESOURCE => return None,
                status if status.is_err() => return Some((status, 0)),
                _ => {}
            }
        }
        let outcome = self.asked.operation.result()?;
        self.collect(file, here);
        Some(outcome)
    }

    /// Has the component transfer the pieces; `sieve`: bytes that may be used for holes between them.
    fn submit(
        &mut self,
        (file, here): (&File, &Presence),
        (what, now): (u32, bool),
        sieve: Option<u64>,
    ) -> Status {
        let flags = if now { transfer::NOW } else { 0 };
        let asked = &mut *self.asked;
        asked.transfer.what = what;
        asked.transfer.flags = flags | if sieve.is_some() { transfer::SIEVE } else { 0 };
        (asked.transfer.pieces, asked.transfer.num_pieces) = (self.pieces.as_ptr(), self.pieces.len());
        asked.transfer.sieve_bytes = sieve.unwrap_or(0);
        asked.operation = Operation::new();
        let transfers = &here.transfers;
        // The component may end it before this returns, so the word is counted first.
        let sought = file.host().sought(&transfers.component);
        if let Some(word) = sought {
            word.fetch_add(1, oxmpi_mca::sync::Ordering::Relaxed);
        }
        (self.under_way, self.sought) = (true, sought.is_some());
        let status = (transfers.component.table.submit)(transfers.file, &asked.transfer, &asked.operation);
        match status.is_err() {
            true => self.collect(file, here),
            false => file.count_transfer(self.pieces.len()),
        }
        status
    }

    /// Takes back what the component had.
    fn collect(&mut self, file: &File, here: &Presence) {
        self.under_way = false;
        if std::mem::take(&mut self.sought)
            && let Some(word) = file.host().sought(&here.transfers.component)
        {
            word.fetch_sub(1, oxmpi_mca::sync::Ordering::Relaxed);
        }
    }

    /// Ends a transfer that nobody wants any more.
    pub(super) fn break_off(&mut self, file: &File, here: &Presence) {
        if !self.under_way {
            return;
        }
        let component = &here.transfers.component;
        while self.asked.operation.result().is_none() {
            (component.table.cancel)(here.transfers.file, &self.asked.operation);
            (component.table.harvest)(component.module.state);
            std::thread::yield_now();
        }
        self.collect(file, here);
    }
}
