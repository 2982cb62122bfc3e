//! The table of a window: which function carries out each of the host's calls.

use crate::epoch::Access;
use crate::mapped_targets::barrier;
use crate::window::RdmaWindow;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Asked, Flush, LockKind, Memory, Rma, Vouched, Want, WinCounts, WinDesc, Window, assertion};
use oxmpi_osc_support::Request;

fn of(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(Status::OK)
}

impl Window for RdmaWindow {
    type Request = Request;

    #[inline(always)]
    fn put(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        if want == Want::Nothing && self.puts(&args) {
            return Ok(None);
        }
        self.call(entry).put(args, want)
    }
    #[inline(always)]
    fn get(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        if want == Want::Nothing && self.gets(&args) {
            return Ok(None);
        }
        self.call(entry).get(args, want)
    }
    #[inline(always)]
    fn accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        let same =
            core::ptr::eq(args.origin_type, args.target_type) && args.origin_count == args.target_count;
        if want == Want::Nothing && same && self.accumulates(&args) {
            return Ok(None);
        }
        self.call(entry).accumulate(&args, want)
    }
    fn get_accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.call(entry).get_accumulate(&args, want)
    }
    #[inline(always)]
    fn fetch_and_op(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        if self.fetches(&args) {
            return Status::OK;
        }
        of(self.call(entry).fetch_and_op(&args))
    }
    #[inline(always)]
    fn compare_and_swap(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        if self.swaps(&args) {
            return Status::OK;
        }
        of(self.call(entry).compare_and_swap(args))
    }

    fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        let may = self.epochs.may_end();
        if may.is_err() {
            return may;
        }
        let done = self.call(entry).settle_all(true);
        let met = self.comm.barrier(entry);
        barrier();
        let next = if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence };
        self.epochs.set(&mut self.epochs.lock(), next, false);
        if done.is_err() { done } else { met }
    }

    fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        of(self.call(entry).post(ranks, assert))
    }
    fn start(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        of(self.call(entry).start(ranks, assert))
    }
    fn complete(&self, entry: &mut Entry) -> Status {
        of(self.call(entry).end_access())
    }
    fn wait(&self, entry: &mut Entry) -> Status {
        of(self.call(entry).wait())
    }
    fn test(&self, entry: &mut Entry) -> Status {
        let mut call = self.call(entry);
        call.send_what_rests();
        call.test().unwrap_or_else(|status| status)
    }
    fn lock(&self, entry: &mut Entry, kind: LockKind, rank: u32, assert: u32) -> Status {
        of(self.call(entry).lock(kind, rank, assert))
    }
    fn unlock(&self, entry: &mut Entry, rank: u32) -> Status {
        of(self.call(entry).unlock(rank))
    }
    fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status {
        of(self.call(entry).lock_all(assert))
    }
    fn unlock_all(&self, entry: &mut Entry) -> Status {
        of(self.call(entry).unlock_all())
    }

    #[inline(always)]
    fn flush(&self, entry: &mut Entry, rank: Option<u32>, how: Flush) -> Status {
        let may = self.epochs.may_flush(rank);
        if may.is_err() {
            return may;
        }
        let remote = how == Flush::Everywhere;
        match rank {
            // All of it is mapped: nothing is ever under way there.
            Some(rank) if self.peers.near(rank).is_some_and(|peer| peer.link.is_none()) => {
                if self.resting.any() {
                    self.call(entry).send_what_rests();
                }
                barrier();
                Status::OK
            }
            Some(rank) => self.call(entry).settle_rank(rank, remote),
            None => self.call(entry).settle_all(remote),
        }
    }

    fn sync(&self, entry: &mut Entry) -> Status {
        barrier();
        self.call(entry).send_what_rests();
        self.comm.progress(entry);
        barrier();
        Status::OK
    }

    fn attach(&self, _: &mut Entry, memory: Memory) -> Status {
        if !self.dynamic {
            return Status::RMA_FLAVOR;
        }
        let home = &self.home;
        // SAFETY: the program's, which leaves it attached as long as it is there.
        unsafe { home.attached.attach(&home.registrar, &home.shelf, &home.served, memory) }
    }
    fn detach(&self, _: &mut Entry, base: usize) -> Status {
        if !self.dynamic {
            return Status::RMA_FLAVOR;
        }
        self.home.attached.detach(&self.home.shelf, &self.home.served, base)
    }

    fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        self.rules.set(hints, ordering);
        Status::OK
    }

    fn free(&self, entry: &mut Entry) -> Status {
        let agreed = self.comm.agree(entry, self.epochs.may_end());
        if agreed.is_err() {
            return agreed;
        }
        // A failure of an operation is not one of freeing; nobody asks for it any more.
        let _ = self.call(entry).settle_all(true);
        let met = self.comm.barrier(entry);
        if met.is_err() { met } else { Status::OK }
    }

    fn discard(&self, _: &mut Entry) {}

    fn put_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        of(self.call(entry).put_notified(args, counter))
    }
    fn get_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        of(self.call(entry).get_notified(args, counter))
    }
    fn notify_read(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        self.call(entry).notifications(counter, |word| word.load(Ordering::SeqCst))
    }
    fn notify_take(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        self.call(entry).notifications(counter, |word| word.swap(0, Ordering::SeqCst))
    }
    fn notify_wait(&self, entry: &mut Entry, counter: u32, threshold: u64) -> Result<u64, Status> {
        self.call(entry).await_notifications(counter, threshold)
    }

    fn dup(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<RdmaWindow>, Status> {
        self.duplicate(entry, desc).map(Box::new)
    }
    fn counts(&self) -> Option<WinCounts> {
        Some(self.counted())
    }
    fn flush_begin(&self, entry: &mut Entry, rank: Option<u32>) -> Status {
        let may = self.epochs.may_flush(rank);
        if may.is_err() {
            return may;
        }
        let mut call = self.call(entry);
        match rank {
            Some(rank) => self.peers.get(rank).into_iter().for_each(|peer| call.begin_settling(&[peer])),
            None => call.begin_settling(&self.peers.all()),
        }
        Status::OK
    }
}
