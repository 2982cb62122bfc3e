//! In steady state a contiguous eager message allocates nothing, on either side, whichever verbs are used;
//! and a long one does not either. A test binary of its own, because it replaces the allocator.

mod common;

use common::*;
use oxmpi_pml::mode;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, for memory that `alloc` had of the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One round of everything with messages of the given length.
fn round(w: &World, c: &[Comm], data: &[u8], buf: &mut [u8]) {
    let small = data.len() < 4000;
    // Posted first, immediate on both sides.
    let r = w.irecv(c[1], buf, 0, 1);
    let s = w.isend(c[0], data, 1, 1, mode::STANDARD);
    w.wait(r);
    w.wait(s);
    // Unexpected, blocking on both sides.
    let s = w.send(c[0], data, 1, 1, mode::STANDARD).unwrap();
    assert_eq!(s.is_none(), small);
    w.settle();
    match w.recv(c[1], buf, 0, 1) {
        Ok(status) => assert_eq!(status.bytes, data.len() as u64),
        Err(r) => drop(w.wait(r)),
    }
    if let Some(s) = s {
        w.wait(s);
    }
    // Synchronous.
    let s = w.isend(c[0], data, 1, 1, mode::SYNCHRONOUS);
    let r = w.irecv(c[1], buf, 0, 1);
    w.wait(s);
    w.wait(r);
}

/// One test, because another one beside it would allocate, too.
#[test]
fn messages_allocate_nothing() {
    contiguous_messages();
    layouts_and_reads();
}

fn contiguous_messages() {
    // Short queues, so that waiting for room is part of it.
    for room in [1 << 20, 1] {
        let w = World::new(Setup { room, credit: 64 << 10, ..Setup::default() });
        let c = w.world();
        w.stock_buffers(256);
        // The first time round everything happens that happens once: queues and pools find their size.
        for steady in [false, true] {
            for len in [0usize, 8, 64, 65, 1000, 3000, 20_000] {
                let data = pattern(len, 1);
                let mut buf = vec![0; len];
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                for _ in 0..1000 {
                    round(&w, &c, &data, &mut buf);
                }
                let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
                assert!(!steady || made == 0, "3000 messages of {len} bytes allocated {made} times");
            }
        }
        w.assert_clean();
    }
}

/// The same for long messages that are read, and for those that are not contiguous: packed and streamed, or
/// read piece by piece.
fn layouts_and_reads() {
    let types = [
        (byte(), 32 << 10),
        (strided(64, 512, 100), 1),
        (strided(4096, 8, 5000), 1),
        (strided(8, 64, 24), 1),
    ];
    for offers_get in [true, false] {
        let w =
            World::new(Setup { min_get: 8192, offers_get, offers_vector: offers_get, ..Setup::default() });
        let c = w.world();
        w.stock_buffers(256);
        for steady in [false, true] {
            for (ty, n) in types {
                let data = pattern(ty.extent as usize * n, 1);
                let mut buf = vec![0; data.len()];
                let (before, reads) = (ALLOCATIONS.load(Ordering::Relaxed), w.gets());
                for _ in 0..200 {
                    let r = w.irecv_typed(c[1], &mut buf, ty, n as u64, 0, 1);
                    let s = w.isend_typed(c[0], Elements(&data, ty, n as u64), 1, 1, mode::STANDARD);
                    w.wait(r);
                    w.wait(s);
                }
                let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
                assert!(!steady || made == 0, "200 messages of {} bytes allocated {made} times", data.len());
                let long = n > 1 || ty.runs()[0].len == 4096;
                assert_eq!(w.gets() - reads, if offers_get && long { 200 } else { 0 });
            }
        }
        w.assert_clean();
    }
}
