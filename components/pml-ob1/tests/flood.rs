//! A million unexpected messages: the payload that waits is bounded by the credit, a waiting message costs at
//! most 128 bytes, and none is lost. A test binary of its own, because it measures the allocator.

mod common;

use common::*;
use oxmpi_pml::mode;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

struct Measuring;

static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise, for memory that `alloc` had of the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static MEASURING: Measuring = Measuring;

const MESSAGES: usize = 1_000_000;
const BYTES: usize = 1024;

#[test]
fn a_million_unexpected_messages() {
    let credit = 4 << 20;
    let w = World::new(Setup { credit, room: 64, ..Setup::default() });
    let c = w.world();
    let mut data = vec![0u8; BYTES];
    let mut sends = Vec::with_capacity(MESSAGES);
    // The data is numbered; a message that waits at its sender would read the buffer later, so what is
    // numbered is the tag, and the buffer stays the same.
    data.fill(0x5C);
    let before = LIVE.load(Ordering::Relaxed);
    for i in 0..MESSAGES {
        match w.send(c[0], &data, 1, i as i32, mode::STANDARD).unwrap() {
            None => {}
            Some(req) => sends.push(req),
        }
        if i % 32 == 31 {
            w.settle();
        }
    }
    w.settle();
    let eager = MESSAGES - sends.len();
    assert!(eager * BYTES <= credit as usize, "{eager} messages went with their data");
    assert!(eager * BYTES > credit as usize / 2);
    // Records here, and one request of 256 bytes and its place in a table for each send that waits there.
    let used = LIVE.load(Ordering::Relaxed) - before;
    let allowed = MESSAGES * (128 + 256 + 48) + credit as usize + (4 << 20);
    assert!(used < allowed as i64, "{used} bytes for a million messages, allowed are {allowed}");
    let mut buf = vec![0u8; BYTES];
    for i in 0..MESSAGES {
        buf.fill(0);
        let r = w.irecv(c[1], &mut buf, 0, i as i32);
        let status = w.wait(r);
        assert_eq!((status.tag, status.bytes), (i as i32, BYTES as u64));
        assert!(buf == data);
    }
    for s in sends {
        w.wait(s);
    }
    w.assert_clean();
}
