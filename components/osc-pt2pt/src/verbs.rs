//! The verbs of a window: operations are passed on, synchronisation is done here.
//!
//! A synchronisation first asks and sends what waits, with a record that is answered when all messages before it are done ([`LockedState::close`]); then it waits with nothing
//! locked. It waits for what was issued before it: by number, so operations that other threads issue meanwhile do not keep it.

use crate::peer::Peer;
use crate::state::{Core, LockedState, State};
use crate::window::Pt2ptWindow;
use crate::wire::{Head, kind};
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{
    Asked, Flush, LockKind, Memory, Rma, Vouched, Want, WinCounts, WinDesc, Window, assertion, hint,
};
use oxmpi_osc_support::{Access, Epochs, Request};

/// The counts that a synchronisation waits for from one rank.
#[derive(Clone, Copy)]
struct AwaitedCounts {
    rank: u32,
    /// Operations with lower numbers are to be over at the origin.
    before: u64,
    /// This FLUSH or UNLOCK, and those before it, are to be answered.
    answer: u64,
    /// So many questions are to have ended.
    questions: u64,
}

impl LockedState<'_> {
    /// Sends what waits for the rank, and asks whether it is done.
    fn close(&mut self, rank: u32) -> AwaitedCounts {
        self.close_by(rank, kind::FLUSH)
    }

    fn close_by(&mut self, rank: u32, kind: u8) -> AwaitedCounts {
        let peer = self.peer(rank);
        if peer.behind || peer.posted || kind == kind::UNLOCK {
            self.come_behind_questions(rank);
        }
        let peer = self.peer(rank);
        if peer.behind || peer.posted || kind == kind::UNLOCK {
            let number = peer.number();
            (peer.behind, peer.posted, peer.asked) = (false, false, number);
            self.tell(rank, Head { kind, number, ..Head::default() });
        }
        self.push(rank);
        let peer = self.peer(rank);
        AwaitedCounts { rank, before: peer.next, answer: peer.asked, questions: peer.questions() }
    }

    /// Operations that are to be over at the origin; sends only those that are answered.
    fn close_here(&mut self, rank: u32) -> AwaitedCounts {
        let peer = self.peer(rank);
        if peer.urgent || peer.line.as_ref().is_some_and(|line| !line.question.awaited.is_empty()) {
            self.push(rank);
        }
        let peer = self.peer(rank);
        AwaitedCounts { rank, before: peer.next, answer: 0, questions: peer.awaited_questions() }
    }
}

impl Core {
    /// Waits for all of it, and says what failed.
    fn settle(&self, entry: &mut Entry, awaited: &[AwaitedCounts]) -> Status {
        let mut next = 0;
        let waited = self.wait_until(entry, |state| {
            while let Some(counts) = awaited.get(next) {
                let peer = state.peer(counts.rank);
                let answered = peer.local_before(counts.before) && peer.answered(counts.answer);
                if !answered || !peer.has_asked(counts.questions) {
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
        let mut state = self.look();
        let failures = awaited.iter().map(|counts| state.peer(counts.rank).take_failure());
        failures.fold(Status::OK, |first, next| if first.is_err() { first } else { next })
    }

    /// All operations are done at their targets.
    fn flush(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(entry);
            ranks.iter().map(|rank| locked.close(*rank)).collect()
        };
        self.settle(entry, &awaited)
    }

    fn flush_local(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(entry);
            ranks.iter().map(|rank| locked.close_here(*rank)).collect()
        };
        // Also where nothing is to be waited for: programs loop over it until another rank has done something.
        self.link.comm.progress(entry);
        self.settle(entry, &awaited)
    }

    fn all(&self) -> Vec<u32> {
        (0..self.link.comm.num_ranks()).collect()
    }

    fn knows(&self, ranks: &[u32]) -> bool {
        ranks.iter().all(|rank| *rank < self.link.comm.num_ranks())
    }

    /// The program has said that there are no locks.
    fn has_locks(&self) -> Status {
        if self.look().hints & hint::NO_LOCKS != 0 { Status::RMA_SYNC } else { Status::OK }
    }

    /// Asks for locks and waits for them.
    fn lock_ranks(&self, entry: &mut Entry, ranks: &[u32], lock: LockKind) -> Status {
        {
            let mut locked = self.enter(entry);
            let counts = &mut locked.counts;
            let attempts = match lock {
                LockKind::Exclusive => &mut counts.exclusive_attempts,
                LockKind::Shared => &mut counts.shared_attempts,
            };
            *attempts += ranks.len() as u64;
            for &rank in ranks {
                locked.peer(rank).granted = false;
                locked.tell(rank, Head { kind: kind::LOCK, code: lock.number() as u16, ..Head::default() });
                locked.push(rank);
            }
        }
        let mut next = 0;
        let waited = self.wait_until(entry, |state| {
            while let Some(rank) = ranks.get(next) {
                let peer = state.peer(*rank);
                if !peer.granted && !peer.broken.is_err() {
                    return false;
                }
                next += 1;
            }
            true
        });
        fence(Ordering::SeqCst);
        if waited.is_err() { waited } else { self.broken(ranks) }
    }

    /// The first rank's failure that no message reaches.
    fn broken(&self, ranks: &[u32]) -> Status {
        let mut state = self.look();
        ranks.iter().map(|rank| state.peer(*rank).broken).find(|s| s.is_err()).unwrap_or(Status::OK)
    }

    /// Gives locks back; all operations are done at their targets before.
    fn unlock_ranks(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = self.enter(entry);
            ranks.iter().map(|rank| locked.close_by(*rank, kind::UNLOCK)).collect()
        };
        self.settle(entry, &awaited)
    }

    fn epoch(&self, change: impl FnOnce(&mut Epochs) -> Status) -> Status {
        change(&mut self.look().epochs)
    }
}

/// Takes one POST or COMPLETE of each rank, if all have come; `count` names which.
fn use_up(state: &mut State, ranks: &[u32], count: impl Fn(&mut Peer) -> &mut u32) -> Option<Status> {
    let broken = ranks.iter().map(|rank| state.peers[*rank as usize].broken).find(|s| s.is_err());
    if broken.is_some() {
        return broken;
    }
    if !ranks.iter().all(|rank| *count(state.peer(*rank)) > 0) {
        return None;
    }
    ranks.iter().for_each(|rank| *count(state.peer(*rank)) -= 1);
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

impl Pt2ptWindow {
    /// The exposure epoch is over; `used`: what came of using up what its origins have sent.
    fn end_exposure(&self, used: Option<Status>) -> Status {
        fence(Ordering::SeqCst);
        self.0.look().epochs.exposure = None;
        used.unwrap_or(Status::INTERNAL)
    }
}

impl Window for Pt2ptWindow {
    type Request = Request;

    fn put(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.0.operate(entry, kind::PUT, args, want)
    }
    fn get(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.0.operate(entry, kind::GET, args, want)
    }
    fn accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.0.operate(entry, kind::ACCUMULATE, args, want)
    }
    fn get_accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.0.operate(entry, kind::FETCH, args, want)
    }
    fn fetch_and_op(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        self.0.operate_on_one(entry, kind::FETCH, args)
    }
    fn compare_and_swap(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        self.0.operate_on_one(entry, kind::SWAP, args)
    }

    fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        let core = &*self.0;
        go!(core.epoch(|e| e.may_fence()));
        let done = core.flush(entry, &core.all());
        let met = core.link.comm.barrier(entry);
        fence(Ordering::SeqCst);
        let next =
            if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence { used: false } };
        core.look().epochs.access = next;
        first(done, met)
    }

    fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        if !self.0.knows(ranks) {
            return Status::BAD_PARAM;
        }
        let mut locked = self.0.enter(entry);
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

    fn start(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        if !self.0.knows(ranks) {
            return Status::BAD_PARAM;
        }
        go!(self.0.epoch(|e| {
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
        let waited = self.0.wait_until(entry, |state| {
            used = use_up(state, ranks, |peer| &mut peer.posts);
            used.is_some()
        });
        first(waited, used.unwrap_or(Status::INTERNAL))
    }

    fn complete(&self, entry: &mut Entry) -> Status {
        let core = &*self.0;
        let ranks = match &core.look().epochs.access {
            Access::Start(ranks) => ranks.clone(),
            _ => return Status::RMA_SYNC,
        };
        // Elsewhere ranges are known here, so nothing fails at the target.
        let done = if core.dynamic { core.flush(entry, &ranks) } else { Status::OK };
        let awaited: Vec<AwaitedCounts> = {
            let mut locked = core.enter(entry);
            let tell = |rank: &u32| {
                locked.come_behind_questions(*rank);
                locked.tell(*rank, Head { kind: kind::COMPLETE, ..Head::default() });
                locked.push(*rank);
                locked.close_here(*rank)
            };
            ranks.iter().map(tell).collect()
        };
        let over = core.settle(entry, &awaited);
        core.look().epochs.access = Access::None;
        first(done, over)
    }

    fn wait(&self, entry: &mut Entry) -> Status {
        let core = &*self.0;
        let Some(ranks) = core.look().epochs.exposure.clone() else { return Status::RMA_SYNC };
        let mut used = None;
        go!(core.wait_until(entry, |state| {
            used = use_up(state, &ranks, |peer| &mut peer.completes);
            used.is_some()
        }));
        self.end_exposure(used)
    }

    fn test(&self, entry: &mut Entry) -> Status {
        let core = &*self.0;
        let Some(ranks) = core.look().epochs.exposure.clone() else { return Status::RMA_SYNC };
        core.link.comm.progress(entry);
        let used = use_up(&mut core.look(), &ranks, |peer| &mut peer.completes);
        if used.is_some() { self.end_exposure(used) } else { Status::PENDING }
    }

    fn lock(&self, entry: &mut Entry, kind: LockKind, rank: u32, assert: u32) -> Status {
        if !self.0.knows(&[rank]) {
            return Status::BAD_PARAM;
        }
        go!(self.0.has_locks());
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.0.epoch(|e| e.lock(rank, checked)));
        if checked { self.0.lock_ranks(entry, &[rank], kind) } else { Status::OK }
    }

    fn unlock(&self, entry: &mut Entry, rank: u32) -> Status {
        let core = &*self.0;
        let checked = match core.look().epochs.access {
            Access::Locks(ref ranks) => ranks.get(&rank).copied(),
            _ => None,
        };
        let done = match checked {
            None => return Status::RMA_SYNC,
            Some(true) => core.unlock_ranks(entry, &[rank]),
            Some(false) => core.flush(entry, &[rank]),
        };
        let ended = core.epoch(|e| e.unlock(rank).err().unwrap_or(Status::OK));
        first(done, ended)
    }

    fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status {
        go!(self.0.has_locks());
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.0.epoch(|e| {
            let status = e.may_begin();
            if !status.is_err() {
                e.access = Access::LockAll(checked);
            }
            status
        }));
        if checked { self.0.lock_ranks(entry, &self.0.all(), LockKind::Shared) } else { Status::OK }
    }

    fn unlock_all(&self, entry: &mut Entry) -> Status {
        let core = &*self.0;
        let all = core.all();
        let done = match core.look().epochs.access {
            Access::LockAll(checked) => checked,
            _ => return Status::RMA_SYNC,
        };
        let done = if done { core.unlock_ranks(entry, &all) } else { core.flush(entry, &all) };
        core.look().epochs.access = Access::None;
        done
    }

    fn flush(&self, entry: &mut Entry, rank: Option<u32>, how: Flush) -> Status {
        let core = &*self.0;
        go!(core.epoch(|e| e.may_flush(rank)));
        let ranks = rank.map_or_else(|| core.all(), |rank| vec![rank]);
        match how {
            Flush::Here => core.flush_local(entry, &ranks),
            Flush::Everywhere => core.flush(entry, &ranks),
        }
    }

    fn sync(&self, entry: &mut Entry) -> Status {
        fence(Ordering::SeqCst);
        self.0.link.comm.progress(entry);
        fence(Ordering::SeqCst);
        Status::OK
    }

    fn attach(&self, _: &mut Entry, memory: Memory) -> Status {
        // SAFETY: the program's, which leaves it attached as long as it is there.
        unsafe { self.0.exposed().attach(memory) }
    }

    fn detach(&self, _: &mut Entry, base: usize) -> Status {
        self.0.exposed().detach(base)
    }

    fn free(&self, entry: &mut Entry) -> Status {
        let core = &*self.0;
        let comm = core.link.comm;
        let own = core.epoch(|e| e.may_end());
        go!(comm.agree(entry, own));
        // A failure of an operation is not one of freeing; nobody asks for it any more.
        let _ = core.flush(entry, &core.all());
        go!(comm.barrier(entry));
        // All that was sent has come; what is left learns of it.
        go!(core.wait_until(entry, |state| state.transfers.is_empty()));
        self.vanish(entry);
        Status::OK
    }

    fn discard(&self, entry: &mut Entry) {
        self.vanish(entry);
    }

    fn set_hints(&self, hints: u32, _: u32) -> Status {
        self.0.look().hints = hints;
        Status::OK
    }

    fn put_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        self.0.notified(entry, kind::PUT, args, counter)
    }
    fn get_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        self.0.notified(entry, kind::GET, args, counter)
    }
    fn notify_read(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        self.0.notifications(entry, counter, |value| *value)
    }
    fn notify_take(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        self.0.notifications(entry, counter, core::mem::take)
    }
    fn notify_wait(&self, entry: &mut Entry, counter: u32, threshold: u64) -> Result<u64, Status> {
        self.0.await_notifications(entry, counter, threshold)
    }

    fn dup(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Pt2ptWindow>, Status> {
        self.duplicate(entry, desc).map(Box::new)
    }
    fn counts(&self) -> Option<WinCounts> {
        let state = self.0.look();
        let ranks_by_requests = state.peers.iter().filter(|peer| peer.line.is_some()).count() as u64;
        let ranks_by_messages = u64::from(self.0.link.comm.num_ranks()) - ranks_by_requests;
        Some(WinCounts { ranks_by_requests, ranks_by_messages, ..state.counts })
    }
    fn flush_begin(&self, entry: &mut Entry, rank: Option<u32>) -> Status {
        let core = &*self.0;
        go!(core.epoch(|e| e.may_flush(rank)));
        let ranks = rank.map_or_else(|| core.all(), |rank| vec![rank]);
        let mut locked = core.enter(entry);
        for rank in ranks {
            locked.close(rank);
        }
        Status::OK
    }
}
