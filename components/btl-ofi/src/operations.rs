//! Puts, gets and atomics that a context has issued, and the flushes that wait for them.
//!
//! An operation has a ticket, which its record carries. `D` is what the host gave for telling its end: a [`oxmpi_btl::Completion`].

use crate::buffers::{Purpose, Record};
use crate::issue::Issue;
use core::ffi::c_void;
use oxmpi_mca::Status;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

pub struct Operations<D> {
    /// Of the next operation.
    number: u64,
    total: u64,
    /// By ticket. Boxed, because the library keeps a record's address.
    #[expect(clippy::vec_box, reason = "the library keeps the address while the list grows")]
    records: Vec<Box<Record>>,
    issued: Vec<Option<Issued<D>>>,
    free: Vec<u32>,
    by_proc: HashMap<u32, u64>,
    flushes: Vec<Flush<D>>,
    /// Ends that the host is to be told.
    pub over: VecDeque<(D, Status)>,
    /// Transfers to be tried once more, by ticket, one after the other.
    pub again: VecDeque<u32>,
    /// The one of those that is under way.
    pub alone: Option<u32>,
}

/// An operation under way.
pub struct Issued<D> {
    /// In the order of the context's operations.
    number: u64,
    pub proc: u32,
    pub done: D,
    pub what: Issue,
    /// When it failed first; it is tried again since.
    pub failed: Option<Instant>,
}

struct Flush<D> {
    /// Operations below this one are waited for.
    number: u64,
    /// `None`: to anybody.
    proc: Option<u32>,
    left: u64,
    status: Status,
    done: D,
}

impl<D> Default for Operations<D> {
    fn default() -> Operations<D> {
        Operations {
            number: 0,
            total: 0,
            records: Vec::new(),
            issued: Vec::new(),
            free: Vec::new(),
            by_proc: HashMap::new(),
            flushes: Vec::new(),
            over: VecDeque::new(),
            again: VecDeque::new(),
            alone: None,
        }
    }
}

impl<D> Operations<D> {
    /// The ticket of the next operation, and its record's address.
    pub fn next(&mut self) -> (u32, *mut c_void) {
        if self.free.is_empty() {
            let ticket = self.records.len() as u32;
            self.records.push(Box::new(Record::new(Purpose::Operation(ticket))));
            self.issued.push(None);
            self.free.push(ticket);
        }
        let ticket = self.free[self.free.len() - 1];
        (ticket, self.records[ticket as usize].context())
    }

    /// The record of an operation that is under way.
    pub fn context(&self, ticket: u32) -> *mut c_void {
        self.records[ticket as usize].context()
    }

    /// The operation with the next ticket was issued.
    pub fn began(&mut self, proc: u32, done: D, what: Issue) {
        let Some(ticket) = self.free.pop() else { return };
        let issued = Issued { number: self.number, proc, done, what, failed: None };
        self.issued[ticket as usize] = Some(issued);
        self.number += 1;
        self.total += 1;
        *self.by_proc.entry(proc).or_default() += 1;
    }

    /// An operation under way.
    pub fn issued(&mut self, ticket: u32) -> Option<&mut Issued<D>> {
        self.issued.get_mut(ticket as usize)?.as_mut()
    }

    /// An operation is over; it, and flushes that are by that, are to be told.
    pub fn ended(&mut self, ticket: u32, status: Status) {
        let Some(op) = self.issued.get_mut(ticket as usize).and_then(Option::take) else { return };
        self.free.push(ticket);
        self.total -= 1;
        if let Some(count) = self.by_proc.get_mut(&op.proc) {
            *count -= 1;
        }
        self.over.push_back((op.done, status));
        for flush in &mut self.flushes {
            if op.number < flush.number && flush.proc.is_none_or(|p| p == op.proc) {
                flush.left -= 1;
                if status.is_err() {
                    flush.status = status;
                }
            }
        }
        let ended = self.flushes.extract_if(.., |flush| flush.left == 0);
        self.over.extend(ended.map(|flush| (flush.done, flush.status)));
    }

    /// Waits for what was issued before: PENDING, and `done` is told behind all of that. Failures that an operation's own end has told are
    /// not told again: a put is told as done when it is at its target, so there are no later ones.
    pub fn flush(&mut self, proc: Option<u32>, done: D) -> Status {
        let left = match proc {
            Some(proc) => self.by_proc.get(&proc).copied().unwrap_or(0),
            None => self.total,
        };
        if left == 0 {
            return Status::OK;
        }
        self.flushes.push(Flush { number: self.number, proc, left, status: Status::OK, done });
        Status::PENDING
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::issue::Transfer;

    #[test]
    fn a_flush_waits_for_what_was_before_it_and_tells_its_failures() {
        let mut all = Operations::default();
        let issue = |all: &mut Operations<&'static str>, proc: u32, done| {
            let (ticket, _) = all.next();
            all.began(proc, done, Issue::Transfer(Transfer::default()));
            ticket
        };
        let (first, second) = (issue(&mut all, 1, "first"), issue(&mut all, 2, "second"));
        assert_eq!(all.flush(Some(3), "none"), Status::OK, "nothing to that one");
        assert_eq!(all.flush(Some(1), "to its process"), Status::PENDING);
        assert_eq!(all.flush(None, "to all"), Status::PENDING);
        let third = issue(&mut all, 1, "third");
        let end = |all: &mut Operations<_>, ticket, status| {
            all.ended(ticket, status);
            core::mem::take(&mut all.over)
        };
        let told = end(&mut all, third, Status::PEER_FAILED);
        assert_eq!(told, [("third", Status::PEER_FAILED)], "it is behind both flushes");
        let told = end(&mut all, first, Status::OK);
        assert_eq!(told, [("first", Status::OK), ("to its process", Status::OK)]);
        let told = end(&mut all, second, Status::NO_PERMISSION);
        assert_eq!(told, [("second", Status::NO_PERMISSION), ("to all", Status::NO_PERMISSION)]);
        assert_eq!(all.total, 0);
        assert_eq!(end(&mut all, second, Status::OK), [], "told once");
        assert_eq!(all.flush(None, "none"), Status::OK, "nothing is under way");
    }

    #[test]
    fn tickets_are_of_one_operation_at_a_time() {
        let mut all = Operations::default();
        let mut under_way = Vec::new();
        for round in 0..100u64 {
            for _ in 0..3 {
                let (ticket, _) = all.next();
                assert!(under_way.iter().all(|(other, _)| *other != ticket), "{ticket} is taken");
                all.began(0, round, Issue::Transfer(Transfer::default()));
                under_way.push((ticket, round));
            }
            let (ticket, done) = under_way.swap_remove((round * 7) as usize % under_way.len());
            all.ended(ticket, Status::OK);
            assert_eq!(core::mem::take(&mut all.over), [(done, Status::OK)]);
        }
        assert_eq!(under_way.len(), 200);
    }
}
