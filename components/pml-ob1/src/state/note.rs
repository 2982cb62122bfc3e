//! A thread's note of what it sent or received last makes the next message like it short.
//!
//! A thread among several mostly posts receive after receive for one source and tag, in a shard whose lock it owns.
//! Where their messages will come ([`Order::first_look`](crate::order::flows::Order::first_look)) takes as long to find out as posting
//! them, and changes once at most, when the source's messages part (`fork.rs`). So the thread notes it, and what follows from that for the next
//! receive: it has a tag and a source, and takes a short way (`receive/post.rs`). Once it has found the shard as its owner, it notes that, too.
//!
//! A note is good for one [`Comm::epoch`](crate::communicators::comm::Comm::epoch): no two communicators have the same, one has another once a
//! source's messages part, and one whose messages may overtake each other has none. A receive's note is a hint as what it says is: where the
//! thread looks first.
//!
//! A send's note says more: the FIFO that messages with that tag take to that rank. It is taken by a send that took that way, once
//! messages of the communicator go by their tags (`fork.rs`). From then on they do, to this rank by this FIFO and with this
//! head, for as long as the communicator lives and its messages may not overtake (`send/eager.rs`).

use crate::matching::Key;
use crate::wire::source_tag;
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

/// Joins rank and tag of a call to one word. They are read one by one, as the caller has just written them: the
/// processor cannot pass two stores on to one load, which would wait until they and all stores before them have left
/// the core.
#[inline(always)]
pub fn word_of(rank: &i32, tag: &i32) -> Key {
    // SAFETY: both are references.
    unsafe { source_tag(core::ptr::read_volatile(rank), core::ptr::read_volatile(tag)) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_good_for_one_epoch_and_one_source_and_tag() {
        let note = Note::default();
        assert_eq!(note.look(NO_EPOCH, 0), None, "nothing is noted yet");
        note.take(7, 3, 5);
        assert_eq!((note.look(7, 3), note.look(7, 4), note.look(8, 3)), (Some(5), None, None));
        note.take(NO_EPOCH, 4, 6);
        assert_eq!((note.look(NO_EPOCH, 4), note.look(7, 3)), (None, Some(5)));
    }
}
