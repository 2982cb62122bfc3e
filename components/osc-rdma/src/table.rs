//! The table of a window: which function carries out each of the host's calls.

use crate::epoch::Access;
use crate::mapped_targets::barrier;
use crate::window::RdmaWindow;
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{RmaArgs, WinCounts, WinDesc, Window, assertion};

fn of(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(Status::OK)
}

impl Window for RdmaWindow {
    fn put(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        if !wanted && self.copies(args, true) {
            return Ok(core::ptr::null_mut());
        }
        self.call(args.thread).put(args, wanted)
    }
    fn get(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        if !wanted && self.copies(args, false) {
            return Ok(core::ptr::null_mut());
        }
        self.call(args.thread).get(args, wanted)
    }
    fn accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        let same =
            core::ptr::eq(args.origin_type, args.target_type) && args.origin_count == args.target_count;
        if !wanted && same && self.updates(args, args.origin_count, core::ptr::null_mut()) {
            return Ok(core::ptr::null_mut());
        }
        self.call(args.thread).accumulate(args, false, wanted)
    }
    fn get_accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.call(args.thread).accumulate(args, true, wanted)
    }
    fn fetch_and_op(&self, args: &RmaArgs) -> Status {
        if self.updates(args, 1, args.result) {
            return Status::OK;
        }
        let one = RmaArgs {
            origin_count: 1,
            result_count: 1,
            result_type: args.origin_type,
            target_count: 1,
            target_type: args.origin_type,
            ..*args
        };
        of(self.call(args.thread).accumulate(&one, true, false).map(|_| ()))
    }
    fn compare_and_swap(&self, args: &RmaArgs) -> Status {
        if self.swaps(args) {
            return Status::OK;
        }
        of(self.call(args.thread).compare_and_swap(args))
    }

    fn fence(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        let may = self.epochs.may_end();
        if may.is_err() {
            return may;
        }
        let done = self.call(thread).settle_all(true);
        let met = self.comm.barrier(thread);
        barrier();
        let next = if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence };
        self.epochs.set(&mut self.epochs.lock(), next, false);
        if done.is_err() { done } else { met }
    }

    fn post(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        of(self.call(thread).post(ranks, assert))
    }
    fn start(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        of(self.call(thread).start(ranks, assert))
    }
    fn complete(&self, thread: *mut ThreadCtx) -> Status {
        of(self.call(thread).end_access())
    }
    fn wait(&self, thread: *mut ThreadCtx, block: bool) -> Status {
        self.call(thread).wait(block).unwrap_or_else(|status| status)
    }
    fn lock(&self, thread: *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status {
        of(self.call(thread).lock(kind, rank, assert))
    }
    fn unlock(&self, thread: *mut ThreadCtx, rank: u32) -> Status {
        of(self.call(thread).unlock(rank))
    }
    fn lock_all(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        of(self.call(thread).lock_all(assert))
    }
    fn unlock_all(&self, thread: *mut ThreadCtx) -> Status {
        of(self.call(thread).unlock_all())
    }

    fn flush(&self, thread: *mut ThreadCtx, rank: Option<u32>, local: bool) -> Status {
        let may = self.epochs.may_flush(rank);
        if may.is_err() {
            return may;
        }
        match rank {
            // All of it is mapped: nothing is ever under way there.
            Some(rank) if self.peers.near(rank).is_some_and(|peer| peer.link.is_none()) => {
                barrier();
                Status::OK
            }
            Some(rank) => self.call(thread).settle_rank(rank, !local),
            None => self.call(thread).settle_all(!local),
        }
    }

    fn sync(&self, thread: *mut ThreadCtx) -> Status {
        barrier();
        (self.comm.services().progress)(self.comm.get().comm, thread);
        barrier();
        Status::OK
    }

    fn attach(&self, _: *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status {
        if !self.dynamic {
            return Status::RMA_FLAVOR;
        }
        let home = &self.home;
        home.attached.attach(&home.registrar, &home.shelf, base, bytes)
    }
    fn detach(&self, _: *mut ThreadCtx, base: *mut u8) -> Status {
        if !self.dynamic {
            return Status::RMA_FLAVOR;
        }
        self.home.attached.detach(&self.home.shelf, base)
    }

    fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        self.rules.set(hints, ordering);
        Status::OK
    }

    fn free(&self, thread: *mut ThreadCtx, discard: bool) -> Status {
        if discard {
            return Status::OK;
        }
        let agreed = self.comm.agree(thread, self.epochs.may_end());
        if agreed.is_err() {
            return agreed;
        }
        // A failure of an operation is not one of freeing; nobody asks for it any more.
        let _ = self.call(thread).settle_all(true);
        let met = self.comm.barrier(thread);
        if met.is_err() { met } else { Status::OK }
    }

    fn put_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        of(self.call(args.thread).notified(args, true, counter))
    }
    fn get_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        of(self.call(args.thread).notified(args, false, counter))
    }
    fn notify_read(&self, thread: *mut ThreadCtx, counter: u32, reset: bool) -> Result<u64, Status> {
        self.call(thread).notifications(counter, reset)
    }
    fn notify_wait(&self, thread: *mut ThreadCtx, counter: u32, threshold: u64) -> Result<u64, Status> {
        self.call(thread).await_notifications(counter, threshold)
    }

    fn dup(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Box<RdmaWindow>, Status> {
        self.duplicate(desc, thread).map(Box::new)
    }
    fn counts(&self) -> Option<WinCounts> {
        Some(self.counted())
    }
    fn flush_begin(&self, thread: *mut ThreadCtx, rank: Option<u32>) -> Status {
        let may = self.epochs.may_flush(rank);
        if may.is_err() {
            return may;
        }
        let call = self.call(thread);
        match rank {
            Some(rank) => self.peers.get(rank).into_iter().for_each(|peer| call.begin_settling(&[peer])),
            None => call.begin_settling(&self.peers.met()),
        }
        Status::OK
    }
}
