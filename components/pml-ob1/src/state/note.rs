//! A thread's note of what it sent or received last (`protocol/flow_cache.rs`).

use crate::matching::Key;
use core::cell::Cell;

/// The epoch of a communicator whose messages' FIFOs do not follow from their tags, or did not once; nothing is noted
/// in it.
pub const NO_EPOCH: u64 = 0;

/// A thread's note of the last source and tag, or the last rank and tag. Touched by that thread alone.
pub struct Note<T> {
    epoch: Cell<u64>,
    about: Cell<Key>,
    what: Cell<Option<T>>,
}

impl<T> Default for Note<T> {
    fn default() -> Note<T> {
        Note { epoch: Cell::new(NO_EPOCH), about: Cell::new(0), what: Cell::new(None) }
    }
}

impl<T: Copy> Note<T> {
    /// Notes `what` for the source (or rank) and tag in `about`, good while the communicator's epoch is `epoch`.
    /// Nothing is noted with [`NO_EPOCH`].
    #[inline(always)]
    pub fn take(&self, epoch: u64, about: Key, what: T) {
        if epoch != NO_EPOCH {
            self.epoch.set(epoch);
            self.about.set(about);
            self.what.set(Some(what));
        }
    }

    /// Gives the note about this source (or rank) and tag in this epoch. `None`: the note is about others, or old.
    #[inline(always)]
    pub fn look(&self, epoch: u64, about: Key) -> Option<T> {
        if self.epoch.get() == epoch && self.about.get() == about { self.what.get() } else { None }
    }
}
