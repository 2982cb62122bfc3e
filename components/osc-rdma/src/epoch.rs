//! Epochs of one rank on one window: which calls are allowed (MPI 5.0 §12.5).
//!
//! Operations look at one word, and at a word of their target's where the epoch is to some ranks; calls that change the epoch do so under a
//! mutex. So operations of several threads write nothing that they share.

use crate::peer::{Peer, held, held_by};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// How a rank was locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Shared,
    Exclusive,
    /// MPI_MODE_NOCHECK: the target's word says nothing.
    Unchecked,
}

/// The access epoch.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    None,
    /// Behind a fence. Until an operation follows it may as well have been none.
    Fence,
    Start(Vec<u32>),
    /// `None`: the lock is being waited for.
    Locks(BTreeMap<u32, Option<Held>>),
    /// Whether it was checked, and the ranks that were locked on demand.
    All {
        checked: bool,
        ranks: Vec<u32>,
    },
}

#[derive(Debug, Default)]
pub struct EpochState {
    pub access: Access,
    /// Ranks to which this one's memory is exposed by MPI_Win_post; and whether they tell.
    pub exposure: Option<Vec<u32>>,
}

/// Values of [`Epochs::now`].
mod now {
    pub const NONE: u32 = 0;
    pub const FENCE: u32 = 1;
    /// A fence that operations have followed.
    pub const USED: u32 = 2;
    pub const START: u32 = 3;
    pub const LOCKS: u32 = 4;
    pub const ALL: u32 = 5;
    /// lock_all, where each rank is locked when it is first operated on.
    pub const ON_DEMAND: u32 = 6;
}

#[derive(Default)]
pub struct Epochs {
    now: AtomicU32,
    state: Mutex<EpochState>,
}

/// Whether an operation may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    Yes,
    /// Lock the rank first.
    Lock,
}

impl Epochs {
    pub fn lock(&self) -> MutexGuard<'_, EpochState> {
        held(&self.state)
    }

    /// Changes the access epoch; the guard is that of `lock`.
    pub fn set(&self, state: &mut EpochState, access: Access, on_demand: bool) {
        let word = match &access {
            Access::None => now::NONE,
            Access::Fence => now::FENCE,
            Access::Start(_) => now::START,
            Access::Locks(_) => now::LOCKS,
            Access::All { checked: true, .. } if on_demand => now::ON_DEMAND,
            Access::All { .. } => now::ALL,
        };
        state.access = access;
        self.now.store(word, Ordering::Release);
    }

    /// An operation to a rank.
    #[inline(always)]
    pub fn operate(&self, peer: &Peer) -> Result<Allowed, Status> {
        let has = |bit| peer.epoch.load(Ordering::Acquire) & bit != 0;
        let yes = match self.now.load(Ordering::Acquire) {
            now::ALL | now::USED => true,
            now::FENCE => {
                // Alike by whichever thread; a call that changes the epoch meanwhile is the program's mistake.
                let _ = self.now.compare_exchange(now::FENCE, now::USED, Ordering::AcqRel, Ordering::Relaxed);
                true
            }
            now::START => has(held_by::START),
            now::LOCKS => has(held_by::LOCK),
            now::ON_DEMAND if !has(held_by::LOCK) => return Ok(Allowed::Lock),
            now::ON_DEMAND => true,
            _ => false,
        };
        if yes { Ok(Allowed::Yes) } else { Err(Status::RMA_SYNC) }
    }

    fn is_used_fence(&self) -> bool {
        self.now.load(Ordering::Acquire) == now::USED
    }

    /// The epoch is one of locks.
    pub fn is_passive(&self) -> bool {
        matches!(self.now.load(Ordering::Acquire), now::LOCKS | now::ALL | now::ON_DEMAND)
    }

    /// No access epoch is open; a fence that nothing followed is none.
    pub fn may_begin(&self, state: &EpochState) -> Status {
        of(match state.access {
            Access::None => true,
            Access::Fence => !self.is_used_fence(),
            _ => false,
        })
    }

    /// A fence is called, or the window freed.
    pub fn may_end(&self) -> Status {
        let state = self.lock();
        of(matches!(state.access, Access::None | Access::Fence) && state.exposure.is_none())
    }

    /// A passive epoch to the rank is open (`None`: to any).
    #[inline(always)]
    pub fn may_flush(&self, rank: Option<u32>) -> Status {
        match (self.now.load(Ordering::Acquire), rank) {
            (now::ALL | now::ON_DEMAND, _) | (now::LOCKS, None) => Status::OK,
            (now::LOCKS, Some(rank)) => self.has_locked(rank),
            _ => Status::RMA_SYNC,
        }
    }

    #[inline(never)]
    fn has_locked(&self, rank: u32) -> Status {
        let state = self.lock();
        let Access::Locks(ranks) = &state.access else { return Status::RMA_SYNC };
        of(matches!(ranks.get(&rank), Some(Some(_))))
    }
}

fn of(allowed: bool) -> Status {
    if allowed { Status::OK } else { Status::RMA_SYNC }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn in_epoch(access: Access, on_demand: bool) -> Epochs {
        let epochs = Epochs::default();
        epochs.set(&mut epochs.lock(), access, on_demand);
        epochs
    }

    #[test]
    fn operations_need_an_epoch() {
        let peer = Peer::new(1);
        assert_eq!(Epochs::default().operate(&peer), Err(Status::RMA_SYNC));
        let fence = in_epoch(Access::Fence, false);
        assert_eq!(fence.may_begin(&fence.lock()), Status::OK);
        assert_eq!(fence.operate(&peer), Ok(Allowed::Yes));
        let begins = fence.may_begin(&fence.lock());
        assert_eq!((begins, fence.may_end()), (Status::RMA_SYNC, Status::OK));
        let start = in_epoch(Access::Start(vec![1]), false);
        assert_eq!((start.operate(&peer), start.may_end()), (Err(Status::RMA_SYNC), Status::RMA_SYNC));
        peer.epoch.store(held_by::START, Ordering::Release);
        assert_eq!((start.operate(&peer), start.may_flush(None)), (Ok(Allowed::Yes), Status::RMA_SYNC));
    }

    #[test]
    fn locks_are_by_rank() {
        let peer = Peer::new(1);
        let ranks = BTreeMap::from([(1, Some(Held::Shared)), (2, None)]);
        let locks = in_epoch(Access::Locks(ranks), false);
        assert_eq!(locks.operate(&peer), Err(Status::RMA_SYNC));
        peer.epoch.store(held_by::LOCK, Ordering::Release);
        assert_eq!(locks.operate(&peer), Ok(Allowed::Yes));
        let flush = [Some(1), Some(2), Some(3), None].map(|rank| locks.may_flush(rank).is_ok());
        assert_eq!(flush, [true, false, false, true]);
    }

    #[test]
    fn lock_all_locks_on_demand_where_it_is_to() {
        let peer = Peer::new(1);
        let all = |checked| Access::All { checked, ranks: Vec::new() };
        assert_eq!(in_epoch(all(true), false).operate(&peer), Ok(Allowed::Yes));
        assert_eq!(in_epoch(all(true), true).operate(&peer), Ok(Allowed::Lock));
        assert_eq!(in_epoch(all(false), true).operate(&peer), Ok(Allowed::Yes));
    }
}
