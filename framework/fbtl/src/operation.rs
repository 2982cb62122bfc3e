//! An operation under way: its result, a word that tells its end, and room for the component's own.
//!
//! SYNC POINT: the component writes status and bytes, then `ended` (release); whoever has read 1 there (acquire) reads them, and may free the operation at once. So that
//! store is the component's last touch of it. Sleepers do not sleep on the operation but on the host's bell, which outlives it: behind the store the component adds to the
//! bell, and a sleeper that has announced itself there looks at its operations once more ([`WakingWord`]).

use core::cell::UnsafeCell;
use core::ffi::c_void;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Status, WakingWord};

/// The state of one transfer: made by the host, in memory that does not move, and the component's from `submit` to its end.
#[repr(C)]
#[derive(Debug)]
pub struct Operation {
    ended: AtomicU32,
    status: UnsafeCell<i32>,
    bytes: UnsafeCell<u64>,
    /// The component's own while the operation is under way; zero before.
    pub own: [UnsafeCell<u64>; 6],
}

// SAFETY: the result is written by the one that finishes, before `ended`, and read behind it; `own` is touched by the component alone while it is under way.
unsafe impl Sync for Operation {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Operation {}

impl Operation {
    /// An operation that was not submitted.
    pub fn new() -> Operation {
        Operation {
            ended: AtomicU32::new(0),
            status: UnsafeCell::new(0),
            bytes: UnsafeCell::new(0),
            own: [const { UnsafeCell::new(0) }; 6],
        }
    }

    /// The result, once the operation has ended: status, and bytes that were transferred.
    pub fn result(&self) -> Option<(Status, u64)> {
        // SYNC POINT with `finish`.
        if self.ended.load(Ordering::Acquire) == 0 {
            return None;
        }
        // SAFETY: written before the word, and by nobody afterwards.
        Some(unsafe { (Status(*self.status.get()), *self.bytes.get()) })
    }

    /// Ends the operation, and rings the bell.
    ///
    /// # Safety
    /// The operation was submitted to the caller, who has not ended it yet; from here on it may be gone, and the caller touches it no more. `bell` is
    /// that of the file that the operation is of.
    pub unsafe fn finish(this: *const Operation, status: Status, bytes: u64, bell: &Bell) {
        // SAFETY: alive and the caller's up to the store of the word, which is the last touch.
        unsafe {
            *(*this).status.get() = status.0;
            *(*this).bytes.get() = bytes;
            // SYNC POINT with `result`.
            (*this).ended.store(1, Ordering::Release);
        }
        bell.ring();
    }
}

impl Default for Operation {
    fn default() -> Operation {
        Operation::new()
    }
}

/// The host's bell: a word on which those sleep who wait for operations. Valid until the file that was opened with it is closed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bell {
    /// The word; whoever ends an operation adds 1.
    pub word: *const WakingWord,
    /// Wakes the word's sleepers; any thread, with locks held or not.
    pub wake: extern "C" fn(ctx: *mut c_void, word: *const WakingWord) -> Status,
    /// First argument of `wake`.
    pub ctx: *mut c_void,
}

// SAFETY: the word is of atomics, and `wake` may be called in any thread.
unsafe impl Send for Bell {}
// SAFETY: as above.
unsafe impl Sync for Bell {}

impl Bell {
    /// Tells sleepers that an operation has ended.
    pub fn ring(&self) {
        // SAFETY: valid as long as the module that holds the bell.
        let (_, sleeps) = unsafe { (*self.word).add(1) };
        if sleeps {
            (self.wake)(self.ctx, self.word);
        }
    }
}

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<Operation>() == 64);
    assert!(size_of::<Bell>() == 24);
};
