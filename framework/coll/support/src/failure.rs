//! The failures of a call, which it notes and goes on: other ranks wait for its next messages (docs/adding-a-coll.md, "Errors").

use crate::layout::Result;
use core::cell::Cell;
use oxmpi_mca::Status;

/// The failures of a call so far, in all its steps.
pub struct Failure {
    first: Cell<Status>,
    /// Data is missing, and with it what this rank would send.
    spoiled: Cell<bool>,
}

impl Failure {
    /// No failure yet.
    pub fn none() -> Failure {
        Failure { first: Cell::new(Status::OK), spoiled: Cell::new(false) }
    }

    /// The status that a call returns which ended with `done`.
    pub fn outcome(&self, done: Result) -> Status {
        match (self.first.get(), done) {
            (Status::OK, Ok(())) => Status::OK,
            (Status::OK, Err(status)) => status,
            (first, _) => first,
        }
    }

    /// Notes a failure; `spoils`: it left data missing.
    #[cold]
    pub fn note(&self, status: Status, spoils: bool) {
        if self.first.get().is_ok() {
            self.first.set(status);
        }
        self.spoiled.set(self.spoiled.get() | spoils);
    }

    /// Whether data is missing.
    #[inline(always)]
    pub fn has_spoiled(&self) -> bool {
        self.spoiled.get()
    }

    /// The error that others hear of. A length that does not fit is told in its own words where it is found.
    pub fn told(&self) -> Status {
        match self.first.get() {
            Status::TRUNCATED => Status::MISMATCH,
            status => status,
        }
    }
}
