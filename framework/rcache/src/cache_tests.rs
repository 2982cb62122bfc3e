//! The cache over a device in memory, with memory that is trusted or invalidated by hand.

use super::cache::{Cache, Counts, Device, Limits};
use super::watch::Watch;
use oxmpi_btl::{RegHandle, Registration, access};
use oxmpi_mca::Status;
use std::collections::HashMap;
use std::sync::Mutex;

const PAGE: u64 = 4096;

/// The last number, and start and length by number.
type Ranges = (u64, HashMap<u64, (u64, u64)>);

/// Registered ranges by number, and how many bytes there may be.
#[derive(Default)]
pub struct Memory {
    pub ranges: Mutex<Ranges>,
    pub limit: u64,
}

impl Device for Memory {
    unsafe fn register(&self, addr: u64, len: u64, _: u32, handle: *mut RegHandle) -> Status {
        let mut ranges = self.ranges.lock().unwrap();
        let bytes: u64 = ranges.1.values().map(|r| r.1).sum();
        if self.limit != 0 && bytes + len > self.limit {
            return Status::NO_RESOURCE;
        }
        ranges.0 += 1;
        let number = ranges.0;
        ranges.1.insert(number, (addr, len));
        // SAFETY: a place of `handle_size` bytes.
        unsafe { handle.cast::<u64>().write(number) };
        Status::OK
    }
    unsafe fn deregister(&self, handle: *const RegHandle) -> Status {
        // SAFETY: written above.
        let number = unsafe { handle.cast::<u64>().read() };
        if self.ranges.lock().unwrap().1.remove(&number).is_some() { Status::OK } else { Status::NOT_FOUND }
    }
    fn handle_size(&self) -> usize {
        8
    }
}

impl Memory {
    fn many(&self) -> usize {
        self.ranges.lock().unwrap().1.len()
    }
}

fn cache(entries: usize, bytes: u64) -> Cache<Memory> {
    Cache::start(2, Limits { entries, bytes, page: PAGE }, |shared| Ok(Watch::trusting(shared))).unwrap()
}

/// Gives back what the cache has given.
pub fn release<D: Device>(cache: &Cache<D>, registration: *const Registration) -> Status {
    // SAFETY: the tests give back what they have got, once.
    unsafe { cache.release(registration) }
}

fn deregister(cache: &Cache<Memory>, registration: *const Registration) -> Status {
    // SAFETY: the tests give back what they have got, once.
    unsafe { cache.deregister(registration) }
}

fn number(registration: *const Registration) -> u64 {
    // SAFETY: acquired.
    unsafe { (*registration).handle.cast::<u64>().read() }
}

/// Acquires and releases: the number of the registration.
fn use_once(cache: &Cache<Memory>, device: &Memory, addr: u64, len: u64) -> u64 {
    let found = cache.acquire(device, 0, addr, len, access::REMOTE_READ).unwrap();
    let number = number(found);
    assert_eq!(release(cache, found), Status::OK);
    number
}

#[test]
fn what_is_covered_is_found() {
    let (cache, device) = (cache(16, 0), Memory::default());
    let first = use_once(&cache, &device, 10 * PAGE + 100, 3 * PAGE);
    assert_eq!(use_once(&cache, &device, 10 * PAGE + 100, 3 * PAGE), first);
    assert_eq!(use_once(&cache, &device, 12 * PAGE, 10), first, "a part of it");
    assert_ne!(use_once(&cache, &device, 13 * PAGE + 4000, 200), first, "a byte too many");
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.entries), (2, 2, 2));
    assert_eq!(counts.bytes, 6 * PAGE);
    let other = cache.acquire(&device, 1, 10 * PAGE, 1, access::REMOTE_READ).unwrap();
    assert_ne!(number(other), first, "of another device");
    let written = cache.acquire(&device, 0, 10 * PAGE, 1, access::LOCAL_WRITE).unwrap();
    assert_ne!(number(written), first, "another access");
    assert_eq!([other, written].map(|r| release(&cache, r)), [Status::OK; 2]);
    cache.empty(true);
    assert_eq!(device.many(), 0);
    assert_eq!(cache.counts().bytes, 0);
}

#[test]
fn ranges_do_not_contain_each_other() {
    let (cache, device) = (cache(16, 0), Memory::default());
    for (page, pages) in [(2, 1), (4, 1), (3, 4), (9, 2), (8, 2)] {
        use_once(&cache, &device, page * PAGE, pages * PAGE);
    }
    let expected = [(2, 3), (3, 7), (8, 10), (9, 11)].map(|(a, b)| (a * PAGE, b * PAGE));
    assert_eq!(cache.ranges(0, access::REMOTE_READ), expected);
    assert_eq!(device.many(), 4, "what another contains was taken back");
    use_once(&cache, &device, 0, 20 * PAGE);
    assert_eq!(cache.ranges(0, access::REMOTE_READ), [(0, 20 * PAGE)]);
    assert_eq!(device.many(), 1);
}

#[test]
fn what_is_invalidated_is_not_found_and_ends_with_its_last_user() {
    let (cache, device) = (cache(16, 0), Memory::default());
    let used = cache.acquire(&device, 0, 4 * PAGE, 2 * PAGE, access::REMOTE_READ).unwrap();
    let idle = use_once(&cache, &device, 8 * PAGE, PAGE);
    let far = use_once(&cache, &device, 20 * PAGE, PAGE);
    cache.shared().invalidate(5 * PAGE, 9 * PAGE);
    assert_eq!(device.many(), 3, "the watcher calls no device");
    assert_ne!(use_once(&cache, &device, 8 * PAGE, PAGE), idle);
    assert_eq!(device.many(), 3, "taken back by who came next");
    assert_ne!(use_once(&cache, &device, 4 * PAGE, 2 * PAGE), number(used));
    assert_eq!(use_once(&cache, &device, 20 * PAGE, PAGE), far);
    assert_eq!(device.many(), 4);
    assert_eq!(release(&cache, used), Status::OK);
    assert_eq!(device.many(), 3);
    assert_eq!(cache.counts().invalidations, 2);
}

#[test]
fn an_event_between_look_and_publication_is_noticed() {
    struct Meddling<'a>(&'a Memory, Mutex<Option<Box<dyn Fn() + 'a>>>);
    impl Device for Meddling<'_> {
        unsafe fn register(&self, addr: u64, len: u64, access: u32, handle: *mut RegHandle) -> Status {
            if let Some(meddle) = self.1.lock().unwrap().take() {
                meddle();
            }
            // SAFETY: the place is what our caller gave.
            unsafe { self.0.register(addr, len, access, handle) }
        }
        unsafe fn deregister(&self, handle: *const RegHandle) -> Status {
            // SAFETY: a handle of the device around which we are.
            unsafe { self.0.deregister(handle) }
        }
        fn handle_size(&self) -> usize {
            8
        }
    }
    let memory = Memory::default();
    let cache =
        Cache::start(1, Limits { entries: 4, bytes: 0, page: PAGE }, |shared| Ok(Watch::trusting(shared)));
    let cache = cache.unwrap();
    let event = || {
        cache.shared().turns.begin();
        cache.shared().invalidate(0, u64::MAX);
        cache.shared().turns.end();
    };
    let device = Meddling(&memory, Mutex::new(Some(Box::new(event))));
    let acquire = || cache.acquire(&device, 0, PAGE, PAGE, access::REMOTE_READ).unwrap();
    let (early, late) = (acquire(), acquire());
    assert_ne!(number(early), number(late));
    release(&cache, early);
    assert_eq!(memory.many(), 1, "it was not kept");
    release(&cache, late);
    assert_eq!(memory.many(), 1, "this one was");
}

#[test]
fn peers_write_by_one_registration_for_each_user() {
    let (cache, device) = (cache(16, 0), Memory::default());
    let write = |addr| cache.acquire(&device, 0, addr, PAGE, access::REMOTE_WRITE).unwrap();
    let (one, two) = (write(PAGE), write(PAGE));
    assert_ne!(number(one), number(two));
    let first = number(one);
    assert_eq!([one, two].map(|r| release(&cache, r)), [Status::OK; 2]);
    assert_eq!(device.many(), 1, "the second one was not kept");
    let again = write(PAGE);
    assert_eq!(number(again), first);
    assert_eq!(deregister(&cache, again), Status::OK);
    assert_eq!(device.many(), 0, "it is over when this returns");
    assert_ne!(number(write(PAGE)), first);
}

#[test]
fn the_oldest_go_first() {
    let (cache, device) = (cache(4, 0), Memory::default());
    let all: Vec<u64> = (0..4).map(|n| use_once(&cache, &device, n * 10 * PAGE, PAGE)).collect();
    assert_eq!(use_once(&cache, &device, 0, PAGE), all[0]);
    use_once(&cache, &device, 100 * PAGE, PAGE);
    assert_eq!(use_once(&cache, &device, 0, PAGE), all[0], "used later than the second");
    assert_ne!(use_once(&cache, &device, 10 * PAGE, PAGE), all[1]);
    assert_eq!(cache.counts().evictions, 2);
    assert_eq!(device.many(), 4);
}

#[test]
fn bytes_are_limited_and_what_is_in_use_stays() {
    let (cache, device) = (cache(64, 8 * PAGE), Memory::default());
    let used = cache.acquire(&device, 0, 0, 4 * PAGE, access::REMOTE_READ).unwrap();
    use_once(&cache, &device, 10 * PAGE, 4 * PAGE);
    assert_eq!(cache.counts().bytes, 8 * PAGE);
    use_once(&cache, &device, 20 * PAGE, 2 * PAGE);
    assert_eq!(cache.counts().bytes, 6 * PAGE);
    use_once(&cache, &device, 30 * PAGE, 5 * PAGE);
    assert_eq!(
        device.many(),
        2 - usize::from(cache.counts().entries == 1),
        "too much for the limit beside what is used"
    );
    use_once(&cache, &device, 40 * PAGE, 9 * PAGE);
    assert!(cache.counts().bytes <= 8 * PAGE);
    assert_eq!(use_once(&cache, &device, 0, PAGE), number(used));
    release(&cache, used);
}

#[test]
fn a_device_without_room_is_given_room() {
    let (cache, device) = (cache(64, 0), Memory { limit: 10 * PAGE, ..Memory::default() });
    for n in 0..10 {
        use_once(&cache, &device, n * 2 * PAGE, PAGE);
    }
    assert_eq!(device.many(), 10);
    use_once(&cache, &device, 100 * PAGE, PAGE);
    assert!(device.many() > 5, "not all were given up");
    let large = cache.acquire(&device, 0, 200 * PAGE, 10 * PAGE, access::REMOTE_READ).unwrap();
    assert_eq!(device.many(), 1);
    let refused = cache.acquire(&device, 0, 300 * PAGE, PAGE, access::REMOTE_READ);
    assert_eq!(refused.err(), Some(Status::NO_RESOURCE));
    // A registration of its own makes room as well.
    release(&cache, large);
    let own = cache.register(&device, 400 * PAGE, 10 * PAGE, access::REMOTE_ATOMIC).unwrap();
    assert_eq!(deregister(&cache, own), Status::OK);
    assert_eq!(device.many(), 0);
}

#[test]
fn a_closed_cache_keeps_nothing() {
    let (cache, device) = (cache(8, 0), Memory::default());
    let used = cache.acquire(&device, 0, 0, PAGE, access::REMOTE_READ).unwrap();
    use_once(&cache, &device, 10 * PAGE, PAGE);
    cache.empty(true);
    assert_eq!(device.many(), 1);
    use_once(&cache, &device, 10 * PAGE, PAGE);
    assert_eq!(device.many(), 1);
    release(&cache, used);
    assert_eq!(device.many(), 0);
    assert_eq!(Counts { hits: 0, misses: 2, ..Counts::default() }, Counts { bytes: 0, ..cache.counts() });
}

#[test]
fn threads_share_it() {
    let (cache, device) = (cache(32, 0), Memory::default());
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4u64)
            .map(|thread| {
                let (cache, device) = (&cache, &device);
                scope.spawn(move || {
                    let mut dice = thread + 1;
                    for _ in 0..20_000 {
                        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        let (page, pages) = (dice >> 33 & 63, 1 + (dice >> 50 & 3));
                        let kind = if dice >> 60 == 0 { access::REMOTE_WRITE } else { access::REMOTE_READ };
                        let found = cache.acquire(device, 0, page * PAGE, pages * PAGE, kind).unwrap();
                        // SAFETY: acquired.
                        let (base, len) = unsafe { ((*found).base as u64, (*found).len) };
                        assert!(base <= page * PAGE && base + len >= (page + pages) * PAGE);
                        let known = device.ranges.lock().unwrap().1.get(&number(found)).copied();
                        assert_eq!(known, Some((base, len)), "registered as long as it is in use");
                        assert_eq!(release(cache, found), Status::OK);
                    }
                })
            })
            .collect();
        let watcher = scope.spawn(|| {
            let mut page = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                cache.shared().turns.begin();
                cache.shared().invalidate(page * PAGE, (page + 2) * PAGE);
                cache.shared().turns.end();
                page = (page + 7) % 64;
                std::thread::yield_now();
            }
        });
        let ended: Vec<_> = workers.into_iter().map(|w| w.join()).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        watcher.join().unwrap();
        assert!(ended.iter().all(Result::is_ok));
    });
    let counts = cache.counts();
    assert!(counts.hits > 0 && counts.invalidations > 0 && counts.evictions > 0, "{counts:?}");
    assert_eq!(device.many() as u64, counts.entries);
    cache.empty(true);
    assert_eq!(device.many(), 0);
    assert_eq!(cache.counts().bytes, 0);
}
