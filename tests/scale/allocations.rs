//! An allocator that counts what a thread holds: bytes and pieces of what it made and has not given back.
//!
//! Memory that the host of these tests needs for itself does not count ([`apart`]): only a component's memory is looked at.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Memory of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: i64,
    pub pieces: i64,
}

thread_local! {
    static HELD: Cell<Held> = const { Cell::new(Held { bytes: 0, pieces: 0 }) };
    static APART: Cell<u32> = const { Cell::new(0) };
}

pub struct Counting;

fn add(bytes: i64, pieces: i64) {
    if APART.get() == 0 {
        let held = HELD.get();
        HELD.set(Held { bytes: held.bytes + bytes, pieces: held.pieces + pieces });
    }
}

// SAFETY: the system's allocator, and plain numbers of the calling thread, which need no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64, 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64, 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        add(-(layout.size() as i64), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as i64 - layout.size() as i64, 0);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Memory that the calling thread holds after `work` in excess of what it held before.
pub fn held_by<T>(work: impl FnOnce() -> T) -> (T, Held) {
    let before = HELD.get();
    let result = work();
    let now = HELD.get();
    (result, Held { bytes: now.bytes - before.bytes, pieces: now.pieces - before.pieces })
}

/// Nothing that `work` makes or gives back counts.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    APART.set(APART.get() + 1);
    let result = work();
    APART.set(APART.get() - 1);
    result
}
