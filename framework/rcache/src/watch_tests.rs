//! The watcher against this kernel: every way in which memory can change under a registration.

use super::cache::{Cache, Limits};
use super::cache_tests::{Memory, release};
use super::watch::Watch;
use oxmpi_btl::{Registration, access};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
const BYTES: usize = 64 * PAGE;

/// Over a kernel that tells of changes; `None` where it does not, which is said.
fn watching() -> Option<Cache<Memory>> {
    let limits = Limits { entries: 64, bytes: 0, page: PAGE as u64 };
    Cache::start(1, limits, Watch::start).inspect_err(|why| eprintln!("left out: {why}")).ok()
}

/// A place of a test's own, where nobody else's memory comes to lie when there is a hole: the kernel prefers higher ones.
fn place(test: usize) -> *mut u8 {
    map(std::ptr::without_provenance_mut((0x1000 + test) << 32), BYTES, libc::MAP_FIXED_NOREPLACE)
}

fn map(at: *mut u8, bytes: usize, more: i32) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more;
    // SAFETY: memory of the test's.
    let at = unsafe { libc::mmap(at.cast(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at.cast()
}

fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: as above.
    assert_eq!(unsafe { libc::munmap(at.cast(), bytes) }, 0);
}

/// Acquires and releases; whether it was found, and the registration's number.
fn look(cache: &Cache<Memory>, device: &Memory, at: *mut u8, bytes: usize) -> (bool, u64) {
    let before = cache.counts().hits;
    let found: *const Registration =
        cache.acquire(device, 0, at as u64, bytes as u64, access::REMOTE_READ).unwrap();
    // SAFETY: acquired.
    let number = unsafe { (*found).handle.cast::<u64>().read() };
    release(cache, found);
    (cache.counts().hits > before, number)
}

/// Looks until it is kept: events of other tests' threads may be under way in this process.
fn keep(cache: &Cache<Memory>, device: &Memory, at: *mut u8, bytes: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    while !look(cache, device, at, bytes).0 {
        assert!(Instant::now() < end, "waited for a registration to be kept: {:?}", cache.counts());
    }
}

fn finish(cache: &Cache<Memory>, device: &Memory) {
    cache.empty(true);
    cache.end();
    assert!(device.ranges.lock().unwrap().1.is_empty());
}

#[test]
fn every_way_to_change_memory_is_noticed() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    let at = place(0);
    // SAFETY: all of it is memory of this test's.
    let ways: [(&str, &dyn Fn()); 6] = unsafe {
        [
            ("munmap", &|| {
                unmap(at, BYTES);
                assert_eq!(map(at, BYTES, libc::MAP_FIXED_NOREPLACE), at);
            }),
            ("mmap over it", &|| assert_eq!(map(at.add(PAGE), PAGE, libc::MAP_FIXED), at.add(PAGE))),
            ("MADV_DONTNEED", &|| {
                assert_eq!(libc::madvise(at.add(2 * PAGE).cast(), PAGE, libc::MADV_DONTNEED), 0);
            }),
            ("MADV_FREE", &|| assert_eq!(libc::madvise(at.cast(), PAGE, libc::MADV_FREE), 0)),
            ("mremap that shrinks", &|| {
                assert_eq!(libc::mremap(at.cast(), BYTES, BYTES / 2, 0), at.cast());
                assert_eq!(map(at.add(BYTES / 2), BYTES / 2, libc::MAP_FIXED_NOREPLACE), at.add(BYTES / 2));
            }),
            ("mremap elsewhere", &|| {
                let to = map(null_mut(), BYTES, 0);
                let half = BYTES / 2;
                let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
                assert_eq!(libc::mremap(at.cast(), half, half, flags, to), to.cast());
                assert_eq!(map(at, half, libc::MAP_FIXED_NOREPLACE), at);
                unmap(to, BYTES);
            }),
        ]
    };
    for (what, change) in ways {
        keep(&cache, &device, at, BYTES);
        let (found, before) = look(&cache, &device, at, BYTES);
        assert!(found, "{what}: nothing has changed");
        change();
        let (found, after) = look(&cache, &device, at, BYTES);
        assert!(!found && after != before, "{what} was not noticed");
    }
    // Memory that moves away is watched where it goes.
    keep(&cache, &device, at, BYTES);
    unmap(at, BYTES);
    finish(&cache, &device);
}

#[test]
fn the_end_of_the_heap_is_watched() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    // In a process of its own, since another thread's malloc might move the end as well. No part of the harness runs in it.
    // SAFETY: the child calls what is here and ends; its only thread is this one.
    match unsafe { libc::fork() } {
        0 => {}
        child => {
            let mut status = 0;
            // SAFETY: our child.
            unsafe { libc::waitpid(child, &mut status, 0) };
            assert_eq!(status, 0, "the child's exit status");
            return finish(&cache, &device);
        }
    }
    cache.forget();
    let Some(own) = watching() else { std::process::exit(1) };
    // SAFETY: the child's only thread moves the end of its heap, and back.
    let grow = |by: isize| unsafe { libc::sbrk(by) };
    let start = grow(BYTES as isize) as u64;
    let at = start.next_multiple_of(PAGE as u64) as *mut u8;
    let bytes = BYTES - 2 * PAGE;
    // SAFETY: memory behind the old end.
    unsafe { at.write_bytes(1, bytes) };
    let kept = (0..1000).any(|_| look(&own, &device, at, bytes).0);
    grow(-(BYTES as isize));
    grow(BYTES as isize);
    let gone = !look(&own, &device, at, bytes).0;
    // SAFETY: ends the child without the harness' handlers.
    unsafe { libc::_exit(i32::from(!kept) * 2 + i32::from(!gone) * 4) };
}

#[test]
fn memory_that_cannot_be_watched_is_not_kept() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: memory of the test's.
    let shared = unsafe { libc::mmap(null_mut(), BYTES, access, flags, -1, 0) }.cast::<u8>();
    for _ in 0..3 {
        assert!(!look(&cache, &device, shared, BYTES).0);
    }
    assert!(cache.counts().unwatched >= 1, "{:?}", cache.counts());
    assert_eq!(cache.counts().entries, 0);
    unmap(shared, BYTES);
    finish(&cache, &device);
}

#[test]
fn areas_stay_whole() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    let at = place(1);
    // SAFETY: inside of it.
    keep(&cache, &device, unsafe { at.add(8 * PAGE) }, PAGE);
    // SAFETY: memory of the test's. mremap refuses a range of several areas.
    let to = unsafe { libc::mremap(at.cast(), BYTES, 2 * BYTES, libc::MREMAP_MAYMOVE) };
    assert_ne!(to, libc::MAP_FAILED);
    unmap(to.cast(), 2 * BYTES);
    finish(&cache, &device);
}

#[test]
fn a_change_whose_event_is_unread_keeps_look_ups_out() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    let at = place(2) as usize;
    keep(&cache, &device, at as *mut u8, BYTES);
    let stop = std::sync::atomic::AtomicBool::new(false);
    // One maps and unmaps at the same place, the other takes whatever it finds mapped there for its own: a registration that it
    // finds was made behind the last change.
    let generation = std::sync::Mutex::new(0u64);
    let seen = std::sync::Mutex::new(std::collections::HashMap::new());
    std::thread::scope(|scope| {
        let changer = scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                // Mapped again while the event of the first half's end may still be unread by the second thread's look-up.
                unmap(at as *mut u8, BYTES);
                let mut now = generation.lock().unwrap();
                map(at as *mut u8, BYTES, libc::MAP_FIXED_NOREPLACE);
                *now += 1;
            }
        });
        for _ in 0..3000 {
            let now = generation.lock().unwrap();
            // The changer is between two changes or waits for its event to be read; the mapping is there or is not.
            if oxmpi_system::userfaultfd::Areas::open().unwrap().of(at as u64, (at + BYTES) as u64).is_none()
            {
                continue;
            }
            let (_, number) = look(&cache, &device, at as *mut u8, BYTES);
            let known = *seen.lock().unwrap().entry(number).or_insert(*now);
            if known != *now {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            assert_eq!(known, *now, "a registration of an earlier mapping");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        changer.join().unwrap();
    });
    unmap(at as *mut u8, BYTES);
    finish(&cache, &device);
}

#[test]
fn a_forked_child_is_left_alone() {
    let Some(cache) = watching() else { return };
    let device = Memory::default();
    let at = place(3);
    keep(&cache, &device, at, BYTES);
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        cache.forget();
        // Nobody would read its events.
        // SAFETY: as above.
        unsafe { libc::_exit(libc::munmap(at.cast(), BYTES)) };
    }
    let mut status = 0;
    // SAFETY: our child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(look(&cache, &device, at, BYTES).0, "ours is as it was");
    unmap(at, BYTES);
    finish(&cache, &device);
    // Nothing is watched any more, so nobody waits for a reader.
    let after = map(null_mut(), BYTES, 0);
    unmap(after, BYTES);
}
