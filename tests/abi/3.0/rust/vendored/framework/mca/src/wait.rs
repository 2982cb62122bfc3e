//! Words and descriptors on which a waiter sleeps, as modules hand them out.

use crate::status::Status;

/// A futex word (it may be shared between processes) that a sleeper sleeps on, and the value it must still have.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitWord {
    /// The word's address, aligned to 4 bytes, readable as long as the set may be slept on.
    pub addr: *const u32,
    /// The value that lets the sleeper sleep; with any other it wakes, or does not fall asleep.
    pub expected: u32,
    /// Must be 0; it is compared when entries are.
    pub reserved: u32,
}

/// A descriptor that a sleeper sleeps on; `events` as in poll(2).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitFd {
    /// The descriptor, open as long as the set may be slept on.
    pub fd: i32,
    /// The events that wake, as in poll(2): POLLIN, POLLOUT and so on.
    pub events: u32,
}

/// Everything that can wake a sleeper: `arm` adds its words and descriptors. Both arrays are the caller's.
#[repr(C)]
#[derive(Debug)]
pub struct WaitSet {
    /// Room for `max_words` words, of which the first `num_words` are set.
    pub words: *mut WaitWord,
    /// Words in the set, at most `max_words`.
    pub num_words: u32,
    /// Words that there is room for.
    pub max_words: u32,
    /// Room for `max_fds` descriptors, of which the first `num_fds` are set.
    pub fds: *mut WaitFd,
    /// Descriptors in the set, at most `max_fds`.
    pub num_fds: u32,
    /// Descriptors that there is room for.
    pub max_fds: u32,
}

impl WaitSet {
    /// A set over arrays that outlive it; empty.
    pub fn new(words: &mut [WaitWord], fds: &mut [WaitFd]) -> WaitSet {
        WaitSet {
            words: words.as_mut_ptr(),
            num_words: 0,
            max_words: words.len() as u32,
            fds: fds.as_mut_ptr(),
            num_fds: 0,
            max_fds: fds.len() as u32,
        }
    }

    /// The words in the set, in the order in which they were added.
    pub fn words(&self) -> &[WaitWord] {
        // SAFETY: so many were written.
        unsafe { core::slice::from_raw_parts(self.words, self.num_words as usize) }
    }

    /// The descriptors in the set, in the order in which they were added.
    pub fn fds(&self) -> &[WaitFd] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts(self.fds, self.num_fds as usize) }
    }

    /// Adds a word, if it is not there yet. NO_RESOURCE: the set is full, and sleeps have to be short.
    pub fn add_word(&mut self, word: WaitWord) -> Status {
        if self.words().contains(&word) {
            return Status::OK;
        }
        if self.num_words == self.max_words {
            return Status::NO_RESOURCE;
        }
        // SAFETY: below `max_words`.
        unsafe { self.words.add(self.num_words as usize).write(word) };
        self.num_words += 1;
        Status::OK
    }

    /// Adds a descriptor, if it is not there yet. NO_RESOURCE as above.
    pub fn add_fd(&mut self, fd: WaitFd) -> Status {
        if self.fds().contains(&fd) {
            return Status::OK;
        }
        if self.num_fds == self.max_fds {
            return Status::NO_RESOURCE;
        }
        // SAFETY: below `max_fds`.
        unsafe { self.fds.add(self.num_fds as usize).write(fd) };
        self.num_fds += 1;
        Status::OK
    }
}

const _: () = {
    assert!(core::mem::size_of::<WaitWord>() == 16);
    assert!(core::mem::size_of::<WaitFd>() == 8);
    assert!(core::mem::size_of::<WaitSet>() == 32);
};
