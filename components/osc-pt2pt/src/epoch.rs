//! Epochs of one rank on one window: which calls are allowed (MPI 5.0 §12.5).

use oxmpi_mca::Status;
use std::collections::BTreeMap;

/// The access epoch.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    None,
    /// Behind a fence. Until it is `used` it may as well have been none: a fence opens an epoch only if operations follow.
    Fence { used: bool },
    /// To these ranks.
    Start(Vec<u32>),
    /// Locked ranks, and whether the target knows (MPI_MODE_NOCHECK: it does not).
    Locks(BTreeMap<u32, bool>),
    /// Whether the targets know.
    LockAll(bool),
}

#[derive(Debug, Default)]
pub struct Epochs {
    pub access: Access,
    /// Ranks to which this one's memory is exposed by MPI_Win_post.
    pub exposure: Option<Vec<u32>>,
}

impl Epochs {
    /// An operation to a rank.
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

    /// No access epoch is open.
    pub fn may_begin(&self) -> Status {
        of(matches!(self.access, Access::None | Access::Fence { used: false }))
    }

    pub fn may_fence(&self) -> Status {
        of(matches!(self.access, Access::None | Access::Fence { .. }) && self.exposure.is_none())
    }

    /// `checked`: the target is to know.
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

    /// The epoch is one of locks.
    pub fn is_passive(&self) -> bool {
        matches!(self.access, Access::Locks(_) | Access::LockAll(_))
    }

    /// A passive epoch to the rank is open (`None`: to any).
    pub fn may_flush(&self, rank: Option<u32>) -> Status {
        of(match (&self.access, rank) {
            (Access::LockAll(_), _) => true,
            (Access::Locks(ranks), Some(rank)) => ranks.contains_key(&rank),
            (Access::Locks(_), None) => true,
            _ => false,
        })
    }

    /// The rank is locked no more; whether its target knew.
    pub fn unlock(&mut self, rank: u32) -> Result<bool, Status> {
        let Access::Locks(ranks) = &mut self.access else { return Err(Status::RMA_SYNC) };
        let checked = ranks.remove(&rank).ok_or(Status::RMA_SYNC)?;
        if ranks.is_empty() {
            self.access = Access::None;
        }
        Ok(checked)
    }

    /// The window may be freed.
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
