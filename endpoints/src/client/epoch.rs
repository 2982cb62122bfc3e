//! The epochs that a window has open at one endpoint, and which calls they allow (MPI 5.0 §12.5).

use crate::abi::*;
use std::collections::BTreeMap;

/// Open epochs of one endpoint.
#[derive(Debug, Default)]
pub struct Epoch {
    /// Since the last fence, unless nothing was to follow it.
    pub fenced: bool,
    /// The group of MPI_Win_start.
    pub started: Option<Vec<c_int>>,
    /// MPI_Win_post was called.
    pub posted: bool,
    /// Locks by target, and whether the target knows of them.
    pub locks: BTreeMap<c_int, bool>,
    pub all: Option<bool>,
}

/// MPI_ERR_RMA_SYNC unless this holds.
pub fn must(holds: bool) -> Result<(), c_int> {
    if holds { Ok(()) } else { Err(ERR_RMA_SYNC) }
}

impl Epoch {
    pub fn is_passive(&self) -> bool {
        self.all.is_some() || !self.locks.is_empty()
    }

    /// Is this target under a lock?
    pub fn locks(&self, rank: c_int) -> bool {
        self.all.is_some() || self.locks.contains_key(&rank)
    }

    /// May operations go to this target?
    pub fn allows(&self, rank: c_int) -> bool {
        self.locks(rank) || self.fenced || self.started.as_ref().is_some_and(|s| s.contains(&rank))
    }

    /// May the window be freed?
    pub fn is_open(&self) -> bool {
        self.is_passive() || self.started.is_some() || self.posted
    }
}

#[cfg(test)]
mod tests {
    use super::Epoch;

    #[test]
    fn operations_need_an_epoch_that_has_their_target() {
        let mut epoch = Epoch::default();
        assert!(!epoch.allows(0) && !epoch.is_open());
        epoch.started = Some(vec![2]);
        assert!(epoch.allows(2) && !epoch.allows(1) && epoch.is_open());
        epoch.started = None;
        epoch.locks.insert(1, true);
        assert!(epoch.allows(1) && !epoch.allows(2) && epoch.is_passive());
        epoch.locks.clear();
        epoch.fenced = true;
        assert!(epoch.allows(7) && !epoch.is_open());
    }
}
