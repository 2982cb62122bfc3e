//! A word on which threads of several processes sleep until it changes: its value beside the number of those who have announced their sleep.
//!
//! **Neither side may miss the other.** A writer stores the value, runs a fence, and reads the number; a sleeper adds itself to the number,
//! runs a fence, looks at the value once more, and only then sleeps on it, by a futex that compares the value again. One of the two fences comes
//! first, and the other side reads what was written before it: the writer finds a sleeper to wake, or the sleeper finds the new value. A writer that
//! nobody waits for pays the fence and a load.
//!
//! Waking and sleeping are system calls, which are the host's: `wake_word` and `wait_word` of its services. A sleeper takes itself off the
//! number when it is awake, whatever woke it. A process that is killed in its sleep stays in the number for good, and those who write
//! later wake nobody by a system call too many.

use crate::sync::{AtomicU32, Ordering, full_fence};

/// A word that is waited for, in memory that processes may share; 8 zero bytes are one with value 0. A writer does what
/// [`WakingWord::store`] does: it stores the value (release), runs a full fence, looks whether `sleepers` is 0, and otherwise calls the service
/// `wake_word`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct WakingWord {
    /// The value that sleepers wait for a change of; the futex is on this word, the first of the struct.
    pub value: AtomicU32,
    /// Number of those who have announced that they sleep on `value`. Only the host's waits change it.
    pub sleepers: AtomicU32,
}

impl WakingWord {
    /// A word with a value, on which nobody sleeps.
    #[cfg(not(loom))]
    pub const fn new(value: u32) -> WakingWord {
        WakingWord { value: AtomicU32::new(value), sleepers: AtomicU32::new(0) }
    }
    /// A word with a value, of model atomics.
    #[cfg(loom)]
    pub fn new(value: u32) -> WakingWord {
        WakingWord { value: AtomicU32::new(value), sleepers: AtomicU32::new(0) }
    }

    /// The value; what its writer did before is visible then.
    #[inline]
    pub fn load(&self) -> u32 {
        // SYNC POINT with `store` and `add`.
        self.value.load(Ordering::Acquire)
    }

    /// Changes the value. True: somebody sleeps on it, and the caller calls the service `wake_word`.
    #[inline]
    #[must_use = "who sleeps on the word is to be woken"]
    pub fn store(&self, value: u32) -> bool {
        // SYNC POINT with `load`.
        self.value.store(value, Ordering::Release);
        self.has_sleepers()
    }

    /// Adds to the value, around 2^32. Returns the value before, and whether somebody sleeps on it, whom the caller wakes as after
    /// [`WakingWord::store`].
    #[inline]
    pub fn add(&self, n: u32) -> (u32, bool) {
        // SYNC POINT with `load`, and with itself: whoever adds last has seen what the others did before.
        let before = self.value.fetch_add(n, Ordering::AcqRel);
        (before, self.has_sleepers())
    }

    /// True where somebody sleeps on the value; to be asked by the thread that has just changed it.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        // SYNC POINT with `announce`: one of both fences is first.
        full_fence();
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Announces that the calling thread is going to sleep on the value; it looks at it once more afterwards.
    /// [`WakingWord::retract`] follows. For hosts.
    pub fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT with `has_sleepers`.
        full_fence();
    }

    /// Takes an announcement back. For hosts.
    pub fn retract(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// The address of the value, by which it is slept on.
    pub fn address(&self) -> *const u32 {
        core::ptr::from_ref(self).cast()
    }
}

#[cfg(not(loom))]
const _: () = {
    assert!(core::mem::size_of::<WakingWord>() == 8);
    assert!(core::mem::offset_of!(WakingWord, value) == 0);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn writers_hear_of_sleepers_while_there_are_any() {
        let word = WakingWord::new(7);
        assert!(!word.store(8) && word.load() == 8);
        word.announce();
        word.announce();
        assert!(word.store(9));
        word.retract();
        assert_eq!(word.add(u32::MAX), (9, true));
        word.retract();
        assert_eq!((word.add(1), word.load()), ((8, false), 9));
    }
}
