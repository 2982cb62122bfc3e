//! Puts, gets and atomics that a lane has issued, and the flushes that wait for them. Used by the holder of the context alone.

use crate::posts::Operation;
use core::ffi::c_void;
use oxmpi_btl::{Done, FlushDesc};
use oxmpi_mca::Status;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub struct PendingOperations {
    /// Of the next operation.
    number: u64,
    total: u64,
    by_proc: HashMap<u32, u64>,
    /// By device.
    pub on_device: Vec<u32>,
    flushes: Vec<Flush>,
}

struct Flush {
    /// Operations below this one are waited for.
    number: u64,
    /// `None`: to anybody.
    proc: Option<u32>,
    left: u64,
    status: Status,
    notice: Notice,
}

/// A `done` to call.
#[derive(Clone, Copy)]
pub struct Notice {
    pub done: Option<Done>,
    pub ctx: *mut c_void,
}

impl Notice {
    pub fn call(self, status: Status) {
        if let Some(done) = self.done {
            done(self.ctx, status);
        }
    }
}

impl PendingOperations {
    pub fn next_number(&self) -> u64 {
        self.number
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// An operation was issued.
    pub fn began(&mut self, op: &Operation) {
        self.number = op.number + 1;
        self.total += 1;
        *self.by_proc.entry(op.core.proc).or_default() += 1;
        if self.on_device.len() <= op.device {
            self.on_device.resize(op.device + 1, 0);
        }
        self.on_device[op.device] += 1;
    }

    /// An operation is over; flushes that are by that are put into `over`.
    pub fn ended(&mut self, op: &Arc<Operation>, status: Status, over: &mut Vec<(Notice, Status)>) {
        self.total -= 1;
        self.on_device[op.device] -= 1;
        if let Some(count) = self.by_proc.get_mut(&op.core.proc) {
            *count -= 1;
        }
        for flush in &mut self.flushes {
            if op.number < flush.number && flush.proc.is_none_or(|p| p == op.core.proc) {
                flush.left -= 1;
                if status.is_err() {
                    flush.status = status;
                }
            }
        }
        self.flushes.retain(|flush| {
            if flush.left == 0 {
                over.push((flush.notice, flush.status));
            }
            flush.left > 0
        });
    }

    /// Waits for what was issued before. Failures that were told by an operation's own `done` before are not told again: a put is told as done
    /// when it is at its target, so there are no later ones.
    pub fn flush(&mut self, proc: Option<u32>, desc: &FlushDesc) -> Status {
        let left = match proc {
            Some(proc) => self.by_proc.get(&proc).copied().unwrap_or(0),
            None => self.total,
        };
        if left == 0 {
            return Status::OK;
        }
        let notice = Notice { done: desc.done, ctx: desc.done_ctx };
        self.flushes.push(Flush { number: self.number, proc, left, status: Status::OK, notice });
        Status::PENDING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Core;
    use core::sync::atomic::AtomicBool;
    use oxmpi_btl::Loss;
    use std::sync::OnceLock;

    fn core(proc: u32) -> Arc<Core> {
        Arc::new(Core { proc, card: OnceLock::new(), loss: Loss::default(), gone: AtomicBool::new(false) })
    }

    #[test]
    fn a_flush_waits_for_what_was_before_it_and_tells_its_failures() {
        let mut all = PendingOperations::default();
        let (a, b) = (core(1), core(2));
        let issue = |all: &mut PendingOperations, core: &Arc<Core>| {
            let op = Operation::new(0, all.next_number(), core.clone(), 0, None, core::ptr::null_mut());
            all.began(&op);
            Arc::new(op)
        };
        let desc = FlushDesc { done: None, done_ctx: core::ptr::null_mut() };
        let (first, second) = (issue(&mut all, &a), issue(&mut all, &b));
        assert_eq!(all.flush(Some(3), &desc), Status::OK, "nothing to that one");
        assert_eq!(all.flush(Some(1), &desc), Status::PENDING);
        assert_eq!(all.flush(None, &desc), Status::PENDING);
        let third = issue(&mut all, &a);
        let mut over = Vec::new();
        all.ended(&third, Status::PEER_FAILED, &mut over);
        assert!(over.is_empty(), "it is behind both");
        all.ended(&first, Status::OK, &mut over);
        assert_eq!(over.len(), 1, "the one to its process");
        all.ended(&second, Status::NO_PERMISSION, &mut over);
        let told: Vec<Status> = over.iter().map(|(_, status)| *status).collect();
        assert_eq!(told, [Status::OK, Status::NO_PERMISSION]);
        assert!(all.is_empty());
        assert_eq!(all.flush(None, &desc), Status::OK, "nothing is under way");
    }
}
