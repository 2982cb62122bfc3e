//! Puts, gets and atomics that a lane has issued, and the flushes that wait for them.
//!
//! An operation has a ticket, by which its posts and whoever finds it over name it; what the host gave for telling its end is kept here. `D` is that:
//! a [`oxmpi_btl::Completion`].

use crate::posts::Detour;
use oxmpi_mca::Status;
use std::collections::HashMap;

pub struct PendingOperations<D> {
    /// Of the next operation.
    number: u64,
    total: u64,
    /// By ticket, and tickets that are free.
    issued: Vec<Option<Issued<D>>>,
    free: Vec<u32>,
    by_proc: HashMap<u32, u64>,
    /// By device.
    pub on_device: Vec<u32>,
    flushes: Vec<Flush<D>>,
}

/// An operation under way.
pub struct Issued<D> {
    /// In the order of the lane's operations.
    pub number: u64,
    /// Process that it goes to, and device that it is on.
    pub proc: u32,
    pub device: usize,
    /// Where the whole of it lands before it is copied to its place.
    pub detour: Option<Detour>,
    pub done: D,
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

impl<D> Default for PendingOperations<D> {
    fn default() -> PendingOperations<D> {
        PendingOperations {
            number: 0,
            total: 0,
            issued: Vec::new(),
            free: Vec::new(),
            by_proc: HashMap::new(),
            on_device: Vec::new(),
            flushes: Vec::new(),
        }
    }
}

impl<D> PendingOperations<D> {
    pub fn next_number(&self) -> u64 {
        self.number
    }

    /// The ticket of the next operation.
    pub fn next_ticket(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.issued.len() as u32)
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// An operation was issued, with the next number and the next ticket.
    pub fn began(&mut self, op: Issued<D>) {
        self.number = op.number + 1;
        self.total += 1;
        *self.by_proc.entry(op.proc).or_default() += 1;
        if self.on_device.len() <= op.device {
            self.on_device.resize(op.device + 1, 0);
        }
        self.on_device[op.device] += 1;
        match self.free.pop() {
            Some(ticket) => self.issued[ticket as usize] = Some(op),
            None => self.issued.push(Some(op)),
        }
    }

    /// An operation is over. It, and flushes that are by that, are put into `over`; where it landed on the way is returned.
    pub fn ended(&mut self, ticket: u32, status: Status, over: &mut Vec<(D, Status)>) -> Option<Detour> {
        let op = self.issued.get_mut(ticket as usize)?.take()?;
        self.free.push(ticket);
        self.total -= 1;
        self.on_device[op.device] -= 1;
        if let Some(count) = self.by_proc.get_mut(&op.proc) {
            *count -= 1;
        }
        over.push((op.done, status));
        for flush in &mut self.flushes {
            if op.number < flush.number && flush.proc.is_none_or(|p| p == op.proc) {
                flush.left -= 1;
                if status.is_err() {
                    flush.status = status;
                }
            }
        }
        let ended = self.flushes.extract_if(.., |flush| flush.left == 0);
        over.extend(ended.map(|flush| (flush.done, flush.status)));
        op.detour
    }

    /// Waits for what was issued before: PENDING, and `done` comes out of [`PendingOperations::ended`]. Failures that were told by an operation's
    /// own completion before are not told again: a put is told as done when it is at its target, so there are no later ones.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_what_was_before_it_and_tells_its_failures() {
        let mut all = PendingOperations::default();
        let issue = |all: &mut PendingOperations<&'static str>, proc: u32, done| {
            let (number, ticket) = (all.next_number(), all.next_ticket());
            all.began(Issued { number, proc, device: 0, detour: None, done });
            ticket
        };
        let (first, second) = (issue(&mut all, 1, "first"), issue(&mut all, 2, "second"));
        assert_eq!(all.flush(Some(3), "none"), Status::OK, "nothing to that one");
        assert_eq!(all.flush(Some(1), "to its process"), Status::PENDING);
        assert_eq!(all.flush(None, "to all"), Status::PENDING);
        let third = issue(&mut all, 1, "third");
        let mut over = Vec::new();
        let mut end = |all: &mut PendingOperations<_>, ticket, status| {
            assert!(all.ended(ticket, status, &mut over).is_none());
            core::mem::take(&mut over)
        };
        let told = end(&mut all, third, Status::PEER_FAILED);
        assert_eq!(told, [("third", Status::PEER_FAILED)], "it is behind both flushes");
        let told = end(&mut all, first, Status::OK);
        assert_eq!(told, [("first", Status::OK), ("to its process", Status::OK)]);
        let told = end(&mut all, second, Status::NO_PERMISSION);
        assert_eq!(told, [("second", Status::NO_PERMISSION), ("to all", Status::NO_PERMISSION)]);
        assert!(all.is_empty());
        assert_eq!(end(&mut all, second, Status::OK), [], "told once");
        assert_eq!(all.flush(None, "none"), Status::OK, "nothing is under way");
    }

    #[test]
    fn tickets_are_of_one_operation_at_a_time() {
        let mut all = PendingOperations::default();
        let mut under_way = Vec::new();
        for round in 0..100u64 {
            for _ in 0..3 {
                let (number, ticket) = (all.next_number(), all.next_ticket());
                assert!(under_way.iter().all(|(other, _)| *other != ticket), "{ticket} is taken");
                all.began(Issued { number, proc: 0, device: 0, detour: None, done: number });
                under_way.push((ticket, number));
            }
            let (ticket, number) = under_way.swap_remove((round * 7) as usize % under_way.len());
            let mut over = Vec::new();
            all.ended(ticket, Status::OK, &mut over);
            assert_eq!(over, [(number, Status::OK)]);
        }
        assert_eq!(under_way.len(), 200);
    }
}
