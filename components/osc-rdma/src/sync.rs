//! Synchronisation: fence, post-start-complete-wait, locks, flushes.
//!
//! **Post** sets the poster's bit in each origin's state; **start** waits until the bits of its group are set and takes them away. A rank
//! posts to another once before that starts, so a bit is enough, whatever the size of the groups. **Complete** adds one to each target's count, and **wait** takes
//! as many away as its group has ranks; those that count belong to the present exposure, since an origin of the next one waits
//! for its post.

use crate::call::Call;
use crate::epoch::{Access, Held};
use crate::locks;
use crate::mapped_targets::barrier;
use crate::peer::{Met, held_by};
use crate::retry;
use crate::tally::Attempt;
use crate::wire::word;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_osc::{LockKind, assertion};
use std::collections::BTreeMap;

/// A refused attempt in so many says so to those whose lock it is.
const SAID_EVERY: u32 = 4;

impl<'a> Call<'a> {
    pub fn settle_rank(&mut self, rank: u32, remote: bool) -> Status {
        match self.peer(rank) {
            Ok(peer) => self.settle(&[peer], remote),
            Err(status) => status,
        }
    }

    pub fn settle_all(&mut self, remote: bool) -> Status {
        self.settle(&self.win.peers.all(), remote)
    }

    fn take(&mut self, rank: u32, kind: Held) -> Result<(), Status> {
        let (levels, peer, mut tries) = (self.win.rules.levels, self.peer(rank)?, 0u32);
        if kind == Held::Unchecked {
            return Ok(());
        }
        self.send_what_rests();
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
                call.add_later(peer, word::REFUSED, retry::refused(peer.peer()))?;
            }
            Ok(had)
        })
    }

    fn give_back(&mut self, rank: u32, kind: Held) -> Result<(), Status> {
        match kind {
            Held::Unchecked => Ok(()),
            Held::Shared => locks::release_shared(self, rank),
            Held::Exclusive => locks::release_exclusive(self, rank, self.win.rules.levels),
        }
    }

    /// Marks ranks as those that operations may go to, or not.
    fn mark(&mut self, ranks: &[u32], bit: u32, on: bool) -> Result<(), Status> {
        for rank in ranks {
            let epoch = &self.peer(*rank)?.peer().epoch;
            match on {
                true => epoch.fetch_or(bit, Ordering::AcqRel),
                false => epoch.fetch_and(!bit, Ordering::AcqRel),
            };
        }
        Ok(())
    }

    pub fn lock(&mut self, kind: LockKind, rank: u32, assert: u32) -> Result<(), Status> {
        let (win, peer) = (self.win, self.peer(rank)?);
        if win.rules.no_locks() {
            return Err(Status::RMA_SYNC);
        }
        let kind = match kind {
            _ if assert & assertion::NOCHECK != 0 => Held::Unchecked,
            LockKind::Shared => Held::Shared,
            LockKind::Exclusive => Held::Exclusive,
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

    pub fn unlock(&mut self, rank: u32) -> Result<(), Status> {
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

    pub fn lock_all(&mut self, assert: u32) -> Result<(), Status> {
        let win = self.win;
        if win.rules.no_locks() {
            return Err(Status::RMA_SYNC);
        }
        let (checked, levels) = (assert & assertion::NOCHECK == 0, win.rules.levels);
        win.epochs.may_begin(&win.epochs.lock()).ok()?;
        if checked && levels {
            self.insist(|call| win.tally.tried(Attempt::Shared, locks::try_all(call)))?;
        }
        {
            let mut state = win.epochs.lock();
            win.epochs.set(&mut state, Access::All { checked, ranks: Vec::new() }, !levels);
        }
        if checked && !levels {
            // The own rank is locked at once: loads and stores of the program are operations, too.
            let own = self.peer(win.comm.rank())?;
            self.lock_on_demand(own)?;
        }
        barrier();
        Ok(())
    }

    pub fn unlock_all(&mut self) -> Result<(), Status> {
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

    pub fn post(&mut self, ranks: &[u32], assert: u32) -> Result<(), Status> {
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

    pub fn start(&mut self, ranks: &[u32], assert: u32) -> Result<(), Status> {
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

    pub fn end_access(&mut self) -> Result<(), Status> {
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
            self.add_later(*peer, word::COMPLETES, 1)?;
        }
        // A target that hears of this call by a message, which may be faster than a transport's atomic, finds MPI_Win_test true (MPI 5.0 §12.5.2).
        let told = self.settle(&peers, false);
        done.ok()?;
        told.ok().map(|_| ())
    }

    /// MPI_Win_wait.
    pub fn wait(&mut self) -> Result<(), Status> {
        let (own, ranks) = self.exposed()?;
        let count = own.peer().mapped_word(word::COMPLETES).ok_or(Status::INTERNAL)?;
        self.until(|| count.load(Ordering::SeqCst) >= ranks).ok()?;
        self.end_exposure(own, ranks)
    }

    /// MPI_Win_test. PENDING: the epoch cannot end yet.
    pub fn test(&mut self) -> Result<Status, Status> {
        let (own, ranks) = self.exposed()?;
        let count = own.peer().mapped_word(word::COMPLETES).ok_or(Status::INTERNAL)?;
        self.progress();
        if count.load(Ordering::SeqCst) < ranks {
            return Ok(Status::PENDING);
        }
        self.end_exposure(own, ranks).map(|()| Status::OK)
    }

    /// This rank, and to how many it is exposed.
    fn exposed(&mut self) -> Result<(Met<'a>, u64), Status> {
        let win = self.win;
        let ranks = win.epochs.lock().exposure.as_ref().map(Vec::len).ok_or(Status::RMA_SYNC)? as u64;
        Ok((self.peer(win.comm.rank())?, ranks))
    }

    /// All of them have told that they are done.
    fn end_exposure(&mut self, own: Met<'_>, ranks: u64) -> Result<(), Status> {
        self.win.epochs.lock().exposure = None;
        self.add_at(own, word::COMPLETES, ranks.wrapping_neg())?;
        barrier();
        Ok(())
    }
}

/// The word and the bit of a rank among those that have posted.
fn post_bit(rank: u32) -> (u64, u64) {
    (word::POSTS + u64::from(rank / 64), 1 << (rank % 64))
}
