//! The verbs of a window: operations are passed on, synchronisation is done here.
//!
//! A synchronisation first sends what waits and asks for an answer that stands for all of it ([`LockedState::ask`]); then it waits with nothing
//! locked. It waits for what was issued before it: by number, so operations that other threads issue meanwhile do not keep it.

use crate::state::{Core, LockedState};
use crate::window::Pt2ptWindow;
use crate::wire::{Head, kind};
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{RmaArgs, WinCounts, WinDesc, Window, assertion, hint, lock_type};
use oxmpi_osc_support::{Access, Epochs};

/// The counts that a synchronisation waits for from one rank.
#[derive(Clone, Copy)]
struct AwaitedCounts {
    rank: u32,
    /// Operations with lower numbers are to be over at the origin.
    before: u64,
    /// This FLUSH or UNLOCK, and those before it, are to be answered.
    answer: u64,
}

impl LockedState<'_> {
    /// Sends what waits for the rank, and asks whether it is done.
    fn ask(&mut self, rank: u32) -> AwaitedCounts {
        self.ask_by(rank, kind::FLUSH)
    }

    fn ask_by(&mut self, rank: u32, kind: u8) -> AwaitedCounts {
        let peer = self.peer(rank);
        if peer.behind || peer.posted || kind == kind::UNLOCK {
            let number = peer.number();
            (peer.behind, peer.posted, peer.asked) = (false, false, number);
            self.tell(rank, Head { kind, number, ..Head::default() });
        }
        self.push(rank);
        let peer = self.peer(rank);
        AwaitedCounts { rank, before: peer.next, answer: peer.asked }
    }

    /// Operations that are to be over at the origin; sends only those that are answered.
    fn ask_here(&mut self, rank: u32) -> AwaitedCounts {
        if self.peer(rank).urgent {
            self.push(rank);
        }
        AwaitedCounts { rank, before: self.peer(rank).next, answer: 0 }
    }
}

impl Core {
    /// Waits for all of it, and says what failed.
    fn settle(&self, thread: *mut ThreadCtx, awaited: &[AwaitedCounts]) -> Status {
        let mut next = 0;
        let waited = self.wait_until(thread, |locked| {
            while let Some(counts) = awaited.get(next) {
                let peer = locked.peer(counts.rank);
                if !peer.local_before(counts.before) || !peer.answered(counts.answer) {
                    return false;
                }
                next += 1;
            }
            true
        });
        if waited.is_err() {
            return waited;
        }
        fence(Ordering::SeqCst);
        let mut locked = self.enter(thread);
        let failures = awaited.iter().map(|counts| locked.peer(counts.rank).take_failure());
        failures.fold(Status::OK, |first, next| if first.is_err() { first } else { next })
    }

    /// All operations are done at their targets.
    fn flush(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(thread);
            ranks.iter().map(|rank| locked.ask(*rank)).collect()
        };
        self.settle(thread, &awaited)
    }

    fn flush_local(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(thread);
            ranks.iter().map(|rank| locked.ask_here(*rank)).collect()
        };
        // Also where nothing is to be waited for: programs loop over it until another rank has done something.
        self.link.comm.progress(thread);
        self.settle(thread, &awaited)
    }

    fn all(&self) -> Vec<u32> {
        (0..self.link.comm.num_ranks()).collect()
    }

    fn knows(&self, ranks: &[u32]) -> bool {
        ranks.iter().all(|rank| *rank < self.link.comm.num_ranks())
    }

    /// The program has said that there are no locks.
    fn has_locks(&self, thread: *mut ThreadCtx) -> Status {
        if self.enter(thread).hints & hint::NO_LOCKS != 0 { Status::RMA_SYNC } else { Status::OK }
    }

    /// Asks for locks and waits for them.
    fn lock_ranks(&self, thread: *mut ThreadCtx, ranks: &[u32], lock: u32) -> Status {
        {
            let mut locked = self.enter(thread);
            let counts = &mut locked.counts;
            let attempts = match lock {
                lock_type::EXCLUSIVE => &mut counts.exclusive_attempts,
                _ => &mut counts.shared_attempts,
            };
            *attempts += ranks.len() as u64;
            for &rank in ranks {
                locked.peer(rank).granted = false;
                locked.tell(rank, Head { kind: kind::LOCK, code: lock as u16, ..Head::default() });
                locked.push(rank);
            }
        }
        let mut next = 0;
        let waited = self.wait_until(thread, |locked| {
            while let Some(rank) = ranks.get(next) {
                let peer = locked.peer(*rank);
                if !peer.granted && !peer.broken.is_err() {
                    return false;
                }
                next += 1;
            }
            true
        });
        fence(Ordering::SeqCst);
        if waited.is_err() { waited } else { self.broken(thread, ranks) }
    }

    /// The first rank's failure that no message reaches.
    fn broken(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let mut locked = self.enter(thread);
        ranks.iter().map(|rank| locked.peer(*rank).broken).find(|s| s.is_err()).unwrap_or(Status::OK)
    }

    /// Gives locks back; all operations are done at their targets before.
    fn unlock_ranks(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(thread);
            ranks.iter().map(|rank| locked.ask_by(*rank, kind::UNLOCK)).collect()
        };
        self.settle(thread, &awaited)
    }

    fn epoch(&self, thread: *mut ThreadCtx, change: impl FnOnce(&mut Epochs) -> Status) -> Status {
        change(&mut self.enter(thread).epochs)
    }
}

/// Takes one POST or COMPLETE of each rank, if all have come; `count` names which.
fn use_up(
    locked: &mut LockedState<'_>,
    ranks: &[u32],
    count: impl Fn(&mut crate::peer::Peer) -> &mut u32,
) -> Option<Status> {
    let broken = ranks.iter().map(|rank| locked.peers[*rank as usize].broken).find(|s| s.is_err());
    if broken.is_some() {
        return broken;
    }
    if !ranks.iter().all(|rank| *count(locked.peer(*rank)) > 0) {
        return None;
    }
    ranks.iter().for_each(|rank| *count(locked.peer(*rank)) -= 1);
    Some(Status::OK)
}

/// Ends a verb whose status is a failure.
macro_rules! go {
    ($status:expr) => {
        let status = $status;
        if status.is_err() {
            return status;
        }
    };
}

fn first(one: Status, other: Status) -> Status {
    if one.is_err() { one } else { other }
}

impl Window for Pt2ptWindow {
    fn put(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.0.operate(kind::PUT, args, wanted)
    }
    fn get(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.0.operate(kind::GET, args, wanted)
    }
    fn accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.0.operate(kind::ACCUMULATE, args, wanted)
    }
    fn get_accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.0.operate(kind::FETCH, args, wanted)
    }
    fn fetch_and_op(&self, args: &RmaArgs) -> Status {
        self.0.operate_on_one(kind::FETCH, args)
    }
    fn compare_and_swap(&self, args: &RmaArgs) -> Status {
        self.0.operate_on_one(kind::SWAP, args)
    }

    fn fence(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        let core = &*self.0;
        go!(core.epoch(thread, |e| e.may_fence()));
        let done = core.flush(thread, &core.all());
        let met = core.link.comm.barrier(thread);
        fence(Ordering::SeqCst);
        let next =
            if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence { used: false } };
        core.enter(thread).epochs.access = next;
        first(done, met)
    }

    fn post(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        if !self.0.knows(ranks) {
            return Status::BAD_PARAM;
        }
        let mut locked = self.0.enter(thread);
        if locked.epochs.exposure.is_some() {
            return Status::RMA_SYNC;
        }
        locked.epochs.exposure = Some(ranks.to_vec());
        fence(Ordering::SeqCst);
        if assert & assertion::NOCHECK == 0 {
            for &rank in ranks {
                locked.tell(rank, Head { kind: kind::POST, ..Head::default() });
                locked.peer(rank).posted = true;
                locked.push(rank);
            }
        }
        Status::OK
    }

    fn start(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        if !self.0.knows(ranks) {
            return Status::BAD_PARAM;
        }
        go!(self.0.epoch(thread, |e| {
            let status = e.may_begin();
            if !status.is_err() {
                e.access = Access::Start(ranks.to_vec());
            }
            status
        }));
        if assert & assertion::NOCHECK != 0 {
            return Status::OK;
        }
        let mut used = None;
        let waited = self.0.wait_until(thread, |locked| {
            used = use_up(locked, ranks, |peer| &mut peer.posts);
            used.is_some()
        });
        first(waited, used.unwrap_or(Status::INTERNAL))
    }

    fn complete(&self, thread: *mut ThreadCtx) -> Status {
        let core = &*self.0;
        let ranks = match &core.enter(thread).epochs.access {
            Access::Start(ranks) => ranks.clone(),
            _ => return Status::RMA_SYNC,
        };
        // Elsewhere ranges are known here, so nothing fails at the target.
        let done = if core.dynamic { core.flush(thread, &ranks) } else { Status::OK };
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = core.enter(thread);
            let tell = |rank: &u32| {
                locked.tell(*rank, Head { kind: kind::COMPLETE, ..Head::default() });
                locked.push(*rank);
                locked.ask_here(*rank)
            };
            ranks.iter().map(tell).collect()
        };
        let over = core.settle(thread, &awaited);
        core.enter(thread).epochs.access = Access::None;
        first(done, over)
    }

    fn wait(&self, thread: *mut ThreadCtx, block: bool) -> Status {
        let core = &*self.0;
        let Some(ranks) = core.enter(thread).epochs.exposure.clone() else { return Status::RMA_SYNC };
        let mut used = None;
        if block {
            go!(core.wait_until(thread, |locked| {
                used = use_up(locked, &ranks, |peer| &mut peer.completes);
                used.is_some()
            }));
        } else {
            core.link.comm.progress(thread);
            used = use_up(&mut core.enter(thread), &ranks, |peer| &mut peer.completes);
            if used.is_none() {
                return Status::PENDING;
            }
        }
        fence(Ordering::SeqCst);
        core.enter(thread).epochs.exposure = None;
        used.unwrap_or(Status::INTERNAL)
    }

    fn lock(&self, thread: *mut ThreadCtx, lock: u32, rank: u32, assert: u32) -> Status {
        if !self.0.knows(&[rank]) {
            return Status::BAD_PARAM;
        }
        go!(self.0.has_locks(thread));
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.0.epoch(thread, |e| e.lock(rank, checked)));
        if checked { self.0.lock_ranks(thread, &[rank], lock) } else { Status::OK }
    }

    fn unlock(&self, thread: *mut ThreadCtx, rank: u32) -> Status {
        let core = &*self.0;
        let checked = match core.enter(thread).epochs.access {
            Access::Locks(ref ranks) => ranks.get(&rank).copied(),
            _ => None,
        };
        let done = match checked {
            None => return Status::RMA_SYNC,
            Some(true) => core.unlock_ranks(thread, &[rank]),
            Some(false) => core.flush(thread, &[rank]),
        };
        let ended = core.epoch(thread, |e| e.unlock(rank).err().unwrap_or(Status::OK));
        first(done, ended)
    }

    fn lock_all(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        go!(self.0.has_locks(thread));
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.0.epoch(thread, |e| {
            let status = e.may_begin();
            if !status.is_err() {
                e.access = Access::LockAll(checked);
            }
            status
        }));
        if checked { self.0.lock_ranks(thread, &self.0.all(), lock_type::SHARED) } else { Status::OK }
    }

    fn unlock_all(&self, thread: *mut ThreadCtx) -> Status {
        let core = &*self.0;
        let all = core.all();
        let done = match core.enter(thread).epochs.access {
            Access::LockAll(checked) => checked,
            _ => return Status::RMA_SYNC,
        };
        let done = if done { core.unlock_ranks(thread, &all) } else { core.flush(thread, &all) };
        core.enter(thread).epochs.access = Access::None;
        done
    }

    fn flush(&self, thread: *mut ThreadCtx, rank: Option<u32>, local: bool) -> Status {
        let core = &*self.0;
        go!(core.epoch(thread, |e| e.may_flush(rank)));
        let ranks = rank.map_or_else(|| core.all(), |rank| vec![rank]);
        if local { core.flush_local(thread, &ranks) } else { core.flush(thread, &ranks) }
    }

    fn sync(&self, thread: *mut ThreadCtx) -> Status {
        fence(Ordering::SeqCst);
        self.0.link.comm.progress(thread);
        fence(Ordering::SeqCst);
        Status::OK
    }

    fn attach(&self, thread: *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status {
        let _ = thread;
        self.0.exposed().attach(base, bytes)
    }

    fn detach(&self, thread: *mut ThreadCtx, base: *mut u8) -> Status {
        let _ = thread;
        self.0.exposed().detach(base)
    }

    fn free(&self, thread: *mut ThreadCtx, discard: bool) -> Status {
        let core = &*self.0;
        if !discard {
            let comm = core.link.comm;
            let own = core.epoch(thread, |e| e.may_end());
            go!(comm.agree(thread, own));
            // A failure of an operation is not one of freeing; nobody asks for it any more.
            let _ = core.flush(thread, &core.all());
            go!(comm.barrier(thread));
            // All that was sent has come; what is left learns of it.
            go!(core.wait_until(thread, |locked| locked.transfers.is_empty()));
        }
        self.vanish(thread);
        Status::OK
    }

    fn set_hints(&self, hints: u32, _: u32) -> Status {
        // The host gives no thread: none of the state's users needs one.
        self.0.enter(core::ptr::null_mut()).hints = hints;
        Status::OK
    }

    fn put_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        self.0.notified(kind::PUT, args, counter)
    }
    fn get_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        self.0.notified(kind::GET, args, counter)
    }
    fn notify_read(&self, thread: *mut ThreadCtx, counter: u32, reset: bool) -> Result<u64, Status> {
        self.0.notifications(thread, counter, reset)
    }
    fn notify_wait(&self, thread: *mut ThreadCtx, counter: u32, threshold: u64) -> Result<u64, Status> {
        self.0.await_notifications(thread, counter, threshold)
    }

    fn dup(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Box<Pt2ptWindow>, Status> {
        self.duplicate(desc, thread).map(Box::new)
    }
    fn counts(&self) -> Option<WinCounts> {
        Some(self.0.enter(core::ptr::null_mut()).counts)
    }
    fn flush_begin(&self, thread: *mut ThreadCtx, rank: Option<u32>) -> Status {
        let core = &*self.0;
        go!(core.epoch(thread, |e| e.may_flush(rank)));
        let ranks = rank.map_or_else(|| core.all(), |rank| vec![rank]);
        let mut locked = core.enter(thread);
        for rank in ranks {
            locked.ask(rank);
        }
        Status::OK
    }
}
