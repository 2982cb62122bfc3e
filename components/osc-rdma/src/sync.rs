//! Synchronisation: fence, post-start-complete-wait, locks, flushes; and the table of the window.
//!
//! **Post** sets the poster's bit in each origin's state; **start** waits until the bits of its group are set and takes them away. A rank
//! posts to another once before that starts, so a bit is enough, whatever the size of the groups. **Complete** adds one to each target's count, and **wait** takes
//! as many away as its group has ranks; those that count belong to the present exposure, since an origin of the next one waits
//! for its post.

use crate::call::Call;
use crate::epoch::{Access, Held};
use crate::issue::Issue;
use crate::locks;
use crate::mapped_targets::barrier;
use crate::op::Op;
use crate::peer::{Lane, Link, Peer, held_by};
use crate::retry;
use crate::tally::Attempt;
use crate::window::RdmaWindow;
use crate::wire::word;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{RmaArgs, WinCounts, WinDesc, Window, assertion, lock_type};
use std::collections::BTreeMap;

/// A refused attempt in so many says so to those whose lock it is.
const SAID_EVERY: u32 = 4;

impl<'a> Call<'a> {
    /// Waits until all that was issued before has ended, at the targets too if `remote`; the first failure since the last time.
    pub fn settle(&self, peers: &[&Peer], remote: bool) -> Status {
        if remote {
            self.begin_settling(peers);
        } else {
            peers.iter().for_each(|peer| self.settle_at_origin(peer));
        }
        let mut marks: Vec<(&Lane, u32, u64)> = Vec::new();
        for peer in peers {
            let Some(link) = &peer.link else { continue };
            for (ctx, lane) in (0..).zip(&link.lanes) {
                if !lane.flow.is_empty() {
                    marks.push((lane, ctx, lane.flow.mark()));
                }
            }
        }
        let under_way =
            |&(lane, ctx, mark): &(&Lane, u32, u64)| u64::from(!lane.flow.is_complete(mark)) << ctx;
        let waited = self
            .win
            .comm
            .until_idle(self.thread, || marks.iter().fold(0, |contexts, mark| contexts | under_way(mark)));
        barrier();
        let failures = peers.iter().map(|peer| peer.take_failure());
        failures.fold(waited, |first, next| if first.is_err() { first } else { next })
    }

    /// Sends the puts that wait, and issues the flushes of transports that `settle` would wait for.
    fn begin_settling(&self, peers: &[&Peer]) {
        for peer in peers {
            let Some(link) = &peer.link else { continue };
            for (ctx, lane) in (0..).zip(&link.lanes) {
                if lane.batch.waits() {
                    Issue::send_batch(*self, link, peer, ctx, self.enter(ctx));
                }
                // SYNC POINT with `flush_lane`.
                if !link.remote_done && lane.written.load(Ordering::Acquire) != 0 {
                    self.flush_lane(peer, link, ctx);
                }
            }
        }
    }

    /// Issues a flush of the transport's behind what was written, as one more operation.
    pub fn flush_lane(&self, peer: &Peer, link: &Link, ctx: u32) {
        let inside = self.enter(ctx);
        let mut pieces = Issue::begin_on_context(*self, link, ctx, inside, Op::new(self.rdma(), peer));
        // It is counted: whoever finds nothing written finds this flush under way. SYNC POINT with `begin_settling`.
        let lane = &link.lanes[ctx as usize];
        lane.written.store(0, Ordering::Release);
        // SAFETY: the context is entered, and the flush counted.
        unsafe { lane.record.flush(&lane.flow) };
        pieces.flush();
        pieces.end();
    }

    fn settle_rank(&self, rank: u32, remote: bool) -> Status {
        match self.peer(rank) {
            Ok(peer) => self.settle(&[peer], remote),
            Err(status) => status,
        }
    }

    fn settle_all(&self, remote: bool) -> Status {
        self.settle(&self.win.peers.met(), remote)
    }

    /// The first operation to a rank under lock_all, where ranks are locked on demand.
    pub fn lock_on_demand(&self, peer: &Peer) -> Result<(), Status> {
        let has = || peer.epoch.load(Ordering::Acquire) & held_by::LOCK != 0;
        let mut taken = false;
        self.insist(|call| {
            // Another thread may have it meanwhile.
            if has() {
                return Ok(true);
            }
            taken = call.win.tally.tried(Attempt::Shared, locks::try_shared(call, peer.rank))?;
            Ok(taken)
        })?;
        if !taken {
            return Ok(());
        }
        let mut state = self.win.epochs.lock();
        let Access::All { ranks, .. } = &mut state.access else { return Err(Status::RMA_SYNC) };
        // Two threads may have taken it: then it is given back twice.
        ranks.push(peer.rank);
        peer.epoch.fetch_or(held_by::LOCK, Ordering::AcqRel);
        Ok(())
    }

    fn take(&self, rank: u32, kind: Held) -> Result<(), Status> {
        let (levels, peer, mut tries) = (self.win.rules.levels, self.peer(rank)?, 0u32);
        if kind == Held::Unchecked {
            return Ok(());
        }
        self.yield_lock(peer)?;
        self.leave_processor();
        self.insist(|call| {
            let (attempt, outcome) = match kind {
                Held::Exclusive => (Attempt::Exclusive, locks::try_exclusive(call, rank, levels)),
                _ => (Attempt::Shared, locks::try_shared(call, rank)),
            };
            let had = call.win.tally.tried(attempt, outcome)?;
            tries += 1;
            // Of those that ask again and again, once for each while.
            if !had && tries % SAID_EVERY == 1 {
                call.add_later(peer, word::REFUSED, retry::refused(peer))?;
            }
            Ok(had)
        })
    }

    fn give_back(&self, rank: u32, kind: Held) -> Result<(), Status> {
        match kind {
            Held::Unchecked => Ok(()),
            Held::Shared => locks::release_shared(self, rank),
            Held::Exclusive => locks::release_exclusive(self, rank, self.win.rules.levels),
        }
    }

    /// Marks ranks as those that operations may go to, or not.
    fn mark(&self, ranks: &[u32], bit: u32, on: bool) -> Result<(), Status> {
        for rank in ranks {
            let epoch = &self.peer(*rank)?.epoch;
            match on {
                true => epoch.fetch_or(bit, Ordering::AcqRel),
                false => epoch.fetch_and(!bit, Ordering::AcqRel),
            };
        }
        Ok(())
    }

    fn lock(&self, kind: u32, rank: u32, assert: u32) -> Result<(), Status> {
        let (win, peer) = (self.win, self.peer(rank)?);
        if win.rules.no_locks() {
            return Err(Status::RMA_SYNC);
        }
        let kind = match kind {
            _ if assert & assertion::NOCHECK != 0 => Held::Unchecked,
            lock_type::SHARED => Held::Shared,
            lock_type::EXCLUSIVE => Held::Exclusive,
            _ => return Err(Status::BAD_PARAM),
        };
        {
            let mut state = win.epochs.lock();
            match &mut state.access {
                Access::Locks(ranks) if !ranks.contains_key(&rank) => {
                    ranks.insert(rank, None);
                }
                Access::Locks(_) => return Err(Status::RMA_SYNC),
                _ => {
                    win.epochs.may_begin(&state).ok()?;
                    let ranks = BTreeMap::from([(rank, None)]);
                    win.epochs.set(&mut state, Access::Locks(ranks), false);
                }
            }
        }
        let taken = self.take(rank, kind);
        let mut state = win.epochs.lock();
        if let Access::Locks(ranks) = &mut state.access {
            match taken {
                Ok(()) => {
                    ranks.insert(rank, Some(kind));
                    peer.epoch.fetch_or(held_by::LOCK, Ordering::AcqRel);
                }
                Err(_) => {
                    ranks.remove(&rank);
                }
            }
            if ranks.is_empty() {
                win.epochs.set(&mut state, Access::None, false);
            }
        }
        barrier();
        taken
    }

    fn unlock(&self, rank: u32) -> Result<(), Status> {
        let (win, peer) = (self.win, self.peer(rank)?);
        let kind = match &win.epochs.lock().access {
            Access::Locks(ranks) => ranks.get(&rank).copied().flatten().ok_or(Status::RMA_SYNC)?,
            _ => return Err(Status::RMA_SYNC),
        };
        let done = self.settle(&[peer], true);
        {
            let mut state = win.epochs.lock();
            peer.epoch.fetch_and(!held_by::LOCK, Ordering::AcqRel);
            if let Access::Locks(ranks) = &mut state.access {
                ranks.remove(&rank);
                if ranks.is_empty() {
                    win.epochs.set(&mut state, Access::None, false);
                }
            }
        }
        self.give_back(rank, kind)?;
        done.ok().map(|_| ())
    }

    fn lock_all(&self, assert: u32) -> Result<(), Status> {
        let win = self.win;
        if win.rules.no_locks() {
            return Err(Status::RMA_SYNC);
        }
        let (checked, levels) = (assert & assertion::NOCHECK == 0, win.rules.levels);
        win.epochs.may_begin(&win.epochs.lock()).ok()?;
        if checked && levels {
            self.insist(|call| call.win.tally.tried(Attempt::Shared, locks::try_all(call)))?;
        }
        {
            let mut state = win.epochs.lock();
            win.epochs.set(&mut state, Access::All { checked, ranks: Vec::new() }, !levels);
        }
        if checked && !levels {
            // The own rank is locked at once: loads and stores of the program are operations, too.
            self.lock_on_demand(self.peer(win.comm.rank())?)?;
        }
        barrier();
        Ok(())
    }

    fn unlock_all(&self) -> Result<(), Status> {
        let win = self.win;
        if !matches!(win.epochs.lock().access, Access::All { .. }) {
            return Err(Status::RMA_SYNC);
        }
        let done = self.settle_all(true);
        let ended = {
            let mut state = win.epochs.lock();
            let ended = core::mem::take(&mut state.access);
            win.epochs.set(&mut state, Access::None, false);
            ended
        };
        let Access::All { checked, ranks } = ended else { return Err(Status::RMA_SYNC) };
        if checked && win.rules.levels {
            locks::release_all(self)?;
        }
        self.mark(&ranks, held_by::LOCK, false)?;
        for rank in ranks {
            locks::release_shared(self, rank)?;
        }
        done.ok().map(|_| ())
    }

    fn post(&self, ranks: &[u32], assert: u32) -> Result<(), Status> {
        let peers = ranks.iter().map(|rank| self.peer(*rank)).collect::<Result<Vec<_>, _>>()?;
        {
            let mut state = self.win.epochs.lock();
            if state.exposure.is_some() {
                return Err(Status::RMA_SYNC);
            }
            state.exposure = Some(ranks.to_vec());
        }
        barrier();
        if assert & assertion::NOCHECK == 0 {
            let (at, bit) = post_bit(self.win.comm.rank());
            for peer in peers {
                self.add_later(peer, at, bit)?;
            }
        }
        Ok(())
    }

    fn start(&self, ranks: &[u32], assert: u32) -> Result<(), Status> {
        let win = self.win;
        let own = self.peer(win.comm.rank())?;
        {
            let state = win.epochs.lock();
            win.epochs.may_begin(&state).ok()?;
        }
        self.mark(ranks, held_by::START, true)?;
        {
            let mut state = win.epochs.lock();
            win.epochs.set(&mut state, Access::Start(ranks.to_vec()), false);
        }
        if assert & assertion::NOCHECK == 0 {
            let posted = |rank: &u32| {
                let (at, bit) = post_bit(*rank);
                own.mapped_word(at).is_some_and(|word| word.load(Ordering::SeqCst) & bit != 0)
            };
            self.until(|| ranks.iter().all(posted)).ok()?;
            for rank in ranks {
                let (at, bit) = post_bit(*rank);
                self.add_at(own, at, bit.wrapping_neg())?;
            }
        }
        barrier();
        Ok(())
    }

    fn end_access(&self) -> Result<(), Status> {
        let win = self.win;
        let ranks = match &win.epochs.lock().access {
            Access::Start(ranks) => ranks.clone(),
            _ => return Err(Status::RMA_SYNC),
        };
        let peers = ranks.iter().map(|rank| self.peer(*rank)).collect::<Result<Vec<_>, _>>()?;
        let done = self.settle(&peers, true);
        {
            let mut state = win.epochs.lock();
            win.epochs.set(&mut state, Access::None, false);
        }
        self.mark(&ranks, held_by::START, false)?;
        for peer in &peers {
            self.add_later(peer, word::COMPLETES, 1)?;
        }
        // A target that hears of this call by a message, which may be faster than a transport's atomic, finds MPI_Win_test true (MPI 5.0 §12.5.2).
        let told = self.settle(&peers, false);
        done.ok()?;
        told.ok().map(|_| ())
    }

    fn wait(&self, block: bool) -> Result<Status, Status> {
        let win = self.win;
        let ranks = win.epochs.lock().exposure.as_ref().map(Vec::len).ok_or(Status::RMA_SYNC)? as u64;
        let own = self.peer(win.comm.rank())?;
        let count = own.mapped_word(word::COMPLETES).ok_or(Status::INTERNAL)?;
        let complete = || count.load(Ordering::SeqCst) >= ranks;
        if block {
            self.until(complete).ok()?;
        } else {
            (win.comm.services().progress)(win.comm.get().comm, self.thread);
            if !complete() {
                return Ok(Status::PENDING);
            }
        }
        win.epochs.lock().exposure = None;
        self.add_at(own, word::COMPLETES, ranks.wrapping_neg())?;
        barrier();
        Ok(Status::OK)
    }
}

/// The word and the bit of a rank among those that have posted.
fn post_bit(rank: u32) -> (u64, u64) {
    (word::POSTS + u64::from(rank / 64), 1 << (rank % 64))
}

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
