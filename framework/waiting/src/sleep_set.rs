//! Everything that one sleep waits for: words, and descriptors that the event thread watches.
//!
//! Transports fill a [`WaitSet`]. Words are waited for as they are. `futex_waitv` cannot wait for descriptors, so these go
//! to the instance's event thread (`bell`), and its word is one more to wait for. The order makes that safe: the bell's value is
//! read, then the transports are armed (each looks once more), then the descriptors are watched, then the thread
//! sleeps on the value read: a descriptor that is ready in between rings the bell, and the value differs.

use crate::bell::Bell;
use crate::futex::MOST_WORDS;
use oxmpi_mca::{WaitFd, WaitSet, WaitWord};

/// Descriptors that one sleep can watch.
const MOST_FDS: usize = 256;
/// An empty place for a word.
const NO_WORD: WaitWord = WaitWord { addr: std::ptr::null(), expected: 0, reserved: 0 };

/// The words that one sleep waits for, and the descriptors that the event thread watches for it.
pub(crate) struct SleepSet {
    words: [WaitWord; MOST_WORDS],
    fds: [WaitFd; MOST_FDS],
    num_words: usize,
    num_fds: usize,
}

impl SleepSet {
    /// A set without words and descriptors.
    pub fn new() -> SleepSet {
        SleepSet {
            words: [NO_WORD; MOST_WORDS],
            fds: [WaitFd { fd: -1, events: 0 }; MOST_FDS],
            num_words: 0,
            num_fds: 0,
        }
    }

    /// The set as transports fill it; two places are kept for the bell and the sleeper's own state.
    pub fn set(&mut self) -> Filling<'_> {
        let set = WaitSet::new(&mut self.words[..MOST_WORDS - 2], &mut self.fds);
        Filling { set, num_words: &mut self.num_words, num_fds: &mut self.num_fds }
    }

    /// Has the descriptors watched, and adds the bell's word for them, whose value was `rung` before transports were
    /// armed. False: there is nothing to sleep on.
    pub fn make(&mut self, bell: &Bell, rung: u32) -> bool {
        if self.num_fds > 0 {
            if !bell.watch(&self.fds[..self.num_fds]) {
                return false;
            }
            self.words[self.num_words] = bell.word(rung);
            self.num_words += 1;
        }
        self.num_words > 0
    }

    /// The words to sleep on.
    pub fn words(&self) -> &[WaitWord] {
        &self.words[..self.num_words]
    }
}

/// A set that tells its [`SleepSet`] how much was put in when it goes.
pub(crate) struct Filling<'a> {
    set: WaitSet,
    num_words: &'a mut usize,
    num_fds: &'a mut usize,
}

impl std::ops::Deref for Filling<'_> {
    type Target = WaitSet;
    fn deref(&self) -> &WaitSet {
        &self.set
    }
}

impl std::ops::DerefMut for Filling<'_> {
    fn deref_mut(&mut self) -> &mut WaitSet {
        &mut self.set
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        *self.num_words = self.set.num_words as usize;
        *self.num_fds = self.set.num_fds as usize;
    }
}
