//! State that the holder of a context keeps: its operations that have not ended, and flushes that wait for them.
//!
//! An operation is entered by its verb and leaves with its last event, which `progress` takes. Its `done` runs
//! once: with the event that says that local memory is free, or with the last one where there was none before. The table is
//! changed first and `done` called afterwards, with nothing borrowed.

use crate::nic::{Event, Op, Phase};
use oxmpi_btl::Completion;
use oxmpi_mca::Status;

struct Entry {
    /// Counts up; flushes wait for lower ones.
    number: u64,
    peer: usize,
    /// Until it is told.
    done: Option<Completion>,
}

struct Flush {
    peer: Option<usize>,
    /// Operations from this number on were issued later.
    before: u64,
    left: usize,
    status: Status,
    done: Completion,
}

#[derive(Default)]
pub struct Table {
    /// Slots with their lives: an event of an earlier life is none of ours.
    slots: Vec<(u32, Option<Entry>)>,
    free: Vec<u32>,
    next: u64,
    flushes: Vec<Flush>,
    /// Failures of puts behind their `done`, by peer; the next flush tells them.
    errors: Vec<(usize, Status)>,
}

impl Table {
    /// Operations and flushes that have not ended.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len() + self.flushes.len()
    }

    pub fn enter(&mut self, ctx: u32, peer: usize, done: Completion) -> Op {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() as u32 - 1
        });
        let entry = &mut self.slots[slot as usize];
        entry.0 = entry.0.wrapping_add(1) & 0xff_ffff;
        entry.1 = Some(Entry { number: self.next, peer, done: Some(done) });
        self.next += 1;
        (ctx as u64) << 48 | (entry.0 as u64) << 24 | slot as u64
    }

    /// Takes an event; what it ends is added to `calls`.
    pub fn take(&mut self, event: Event, calls: &mut Vec<(Completion, Status)>) {
        let (slot, life) = ((event.op & 0xff_ffff) as usize, (event.op >> 24) as u32 & 0xff_ffff);
        let Some((_, entry)) = self.slots.get_mut(slot).filter(|s| s.0 == life) else { return };
        let Some(open) = entry else { return };
        if let Some(done) = open.done.take() {
            calls.push((done, event.status));
        } else if event.status.is_err() {
            self.errors.push((open.peer, event.status));
        }
        if event.phase == Phase::Local {
            return;
        }
        let (number, peer) = (open.number, open.peer);
        *entry = None;
        self.free.push(slot as u32);
        for flush in &mut self.flushes {
            if number < flush.before && flush.peer.is_none_or(|p| p == peer) {
                flush.left -= 1;
                if event.status.is_err() {
                    flush.status = event.status;
                }
            }
        }
        let (ended, waiting) = self.flushes.drain(..).partition(|f| f.left == 0);
        self.flushes = waiting;
        let ended: Vec<Flush> = ended;
        for flush in ended {
            let before = self.error(flush.peer);
            calls.push((flush.done, if flush.status.is_err() { flush.status } else { before }));
        }
    }

    /// The first failure that nobody was told of.
    fn error(&mut self, peer: Option<usize>) -> Status {
        let of = |(p, _): &(usize, Status)| peer.is_none_or(|peer| peer == *p);
        let status = self.errors.iter().find(|e| of(e)).map_or(Status::OK, |e| e.1);
        self.errors.retain(|e| !of(e));
        status
    }

    /// PENDING: `done` is told when all that was issued before has ended.
    pub fn flush(&mut self, peer: Option<usize>, most: usize, done: Completion) -> Status {
        let entries = self.slots.iter().filter_map(|s| s.1.as_ref());
        let left = entries.filter(|e| peer.is_none_or(|p| p == e.peer)).count();
        if left == 0 {
            return self.error(peer);
        }
        if self.flushes.len() >= most {
            return Status::NO_RESOURCE;
        }
        self.flushes.push(Flush { peer, before: self.next, left, status: Status::OK, done });
        Status::PENDING
    }
}
