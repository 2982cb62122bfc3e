//! A state machine of one rank's epochs on one window answers which calls are allowed (MPI 5.0 §12.5).
//!
//! It has no lock of its own: its component changes it under the lock of the window.

use oxmpi_mca::Status;
use std::collections::BTreeMap;

/// The access epoch is one of these.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// No access epoch is open.
    #[default]
    None,
    /// A fence came last. Until the epoch is `used` it may as well have been none: a fence opens one only if operations follow.
    Fence {
        /// An operation has followed the fence.
        used: bool,
    },
    /// MPI_Win_start opened it to these ranks.
    Start(Vec<u32>),
    /// These ranks are locked; the value says whether the target knows (with MPI_MODE_NOCHECK it does not).
    Locks(BTreeMap<u32, bool>),
    /// MPI_Win_lock_all opened it; the value says whether the targets know.
    LockAll(bool),
}

/// One rank has these epochs on one window.
#[derive(Debug, Default)]
pub struct Epochs {
    /// The access epoch is kept here.
    pub access: Access,
    /// MPI_Win_post has exposed this rank's memory to these ranks.
    pub exposure: Option<Vec<u32>>,
}

impl Epochs {
    /// An operation to a rank is issued; the answer is RMA_SYNC if no epoch allows it.
    pub fn operate(&mut self, rank: u32) -> Status {
        let allowed = match &mut self.access {
            Access::None => false,
            Access::Fence { used } => {
                *used = true;
                true
            }
            Access::Start(ranks) => ranks.contains(&rank),
            Access::Locks(ranks) => ranks.contains_key(&rank),
            Access::LockAll(_) => true,
        };
        of(allowed)
    }

    /// Answers OK if no access epoch is open.
    pub fn may_begin(&self) -> Status {
        of(matches!(self.access, Access::None | Access::Fence { used: false }))
    }

    /// Answers OK if a fence may be called.
    pub fn may_fence(&self) -> Status {
        of(matches!(self.access, Access::None | Access::Fence { .. }) && self.exposure.is_none())
    }

    /// Opens the epoch of a lock of a rank, or adds the rank to it; `checked` says that the target is to know.
    pub fn lock(&mut self, rank: u32, checked: bool) -> Status {
        match &mut self.access {
            Access::Locks(ranks) if !ranks.contains_key(&rank) => {
                ranks.insert(rank, checked);
                Status::OK
            }
            Access::None | Access::Fence { used: false } => {
                self.access = Access::Locks(BTreeMap::from([(rank, checked)]));
                Status::OK
            }
            _ => Status::RMA_SYNC,
        }
    }

    /// Tells whether the epoch is one of locks.
    pub fn is_passive(&self) -> bool {
        matches!(self.access, Access::Locks(_) | Access::LockAll(_))
    }

    /// Answers OK if a passive epoch to the rank is open (`None`: to any rank).
    pub fn may_flush(&self, rank: Option<u32>) -> Status {
        of(match (&self.access, rank) {
            (Access::LockAll(_), _) => true,
            (Access::Locks(ranks), Some(rank)) => ranks.contains_key(&rank),
            (Access::Locks(_), None) => true,
            _ => false,
        })
    }

    /// Takes a rank out of the epoch of locks; the answer says whether its target knew of the lock.
    pub fn unlock(&mut self, rank: u32) -> Result<bool, Status> {
        let Access::Locks(ranks) = &mut self.access else { return Err(Status::RMA_SYNC) };
        let checked = ranks.remove(&rank).ok_or(Status::RMA_SYNC)?;
        if ranks.is_empty() {
            self.access = Access::None;
        }
        Ok(checked)
    }

    /// Answers OK if the window may be freed.
    pub fn may_end(&self) -> Status {
        of(matches!(self.access, Access::None | Access::Fence { .. }) && self.exposure.is_none())
    }
}

fn of(allowed: bool) -> Status {
    if allowed { Status::OK } else { Status::RMA_SYNC }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_need_an_epoch() {
        let mut e = Epochs::default();
        assert_eq!(e.operate(0), Status::RMA_SYNC);
        e.access = Access::Fence { used: false };
        assert_eq!((e.may_begin(), e.operate(0), e.may_begin()), (Status::OK, Status::OK, Status::RMA_SYNC));
        e.access = Access::Start(vec![1]);
        assert_eq!(
            (e.operate(1), e.operate(0), e.may_fence()),
            (Status::OK, Status::RMA_SYNC, Status::RMA_SYNC)
        );
    }

    #[test]
    fn locks_are_by_rank() {
        let mut e = Epochs::default();
        assert_eq!(
            (e.lock(1, true), e.lock(2, false), e.lock(1, true)),
            (Status::OK, Status::OK, Status::RMA_SYNC)
        );
        assert_eq!((e.operate(2), e.operate(3)), (Status::OK, Status::RMA_SYNC));
        assert_eq!(
            (e.may_flush(Some(3)), e.may_flush(None), e.may_end()),
            (Status::RMA_SYNC, Status::OK, Status::RMA_SYNC)
        );
        assert_eq!((e.unlock(2), e.unlock(2), e.unlock(1)), (Ok(false), Err(Status::RMA_SYNC), Ok(true)));
        assert_eq!((e.may_flush(None), e.may_end()), (Status::RMA_SYNC, Status::OK));
    }
}
