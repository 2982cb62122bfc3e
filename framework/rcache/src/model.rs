//! Models under loom of a look-up against a change of mappings, of a publication against an event, and of the end of use.
//!
//! The kernel is a mutex around what the address space and the descriptor are: whether the range is mapped and which pages lie
//! there, the count of changes, and the event that can be read. A registration is for pages; finding one for other pages than those that
//! lie at the address is the failure. The device's registration is in a cell that loom watches, so a registration that ends while it
//! is used, or twice, is found, too.

use super::slots::{Life, Marked, Slot};
use super::turns::Turns;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use oxmpi_mca::sync::{AtomicU64, Ordering, fence};

const RANGE: (u64, u64) = (4096, 8192);

#[derive(Default)]
struct Kernel {
    /// Which pages lie at the range; 0: it is not mapped.
    pages: u64,
    last: u64,
    /// An event that has not been read.
    event: bool,
    read: bool,
}

struct World {
    kernel: Mutex<Kernel>,
    /// `mmap_changing`, which is read without a lock.
    changing: AtomicU64,
    turns: Turns,
    slot: Slot,
    /// The device's registration in the slot; 0: none.
    registered: UnsafeCell<u64>,
}

// SAFETY: the cell is what the model is about.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

/// The step that is left out.
#[derive(Clone, Copy, PartialEq)]
enum CacheVariant {
    Right,
    /// The look-up does not ask the kernel.
    IgnoresUnread,
    /// It does not look whether the watcher is at it.
    IgnoresUnhandled,
    /// It asks in the other order.
    AsksBackwards,
    /// A publisher does not look again.
    TrustsItself,
    /// A reader takes whatever life it finds.
    IgnoresLives,
}

impl World {
    /// The range is mapped, with pages 1 registered and idle if `kept`.
    fn new(kept: bool) -> (Arc<World>, Life) {
        let world = World {
            kernel: Mutex::new(Kernel { pages: 1, last: 1, ..Kernel::default() }),
            changing: AtomicU64::new(0),
            turns: Turns::new(),
            slot: Slot::new(),
            registered: UnsafeCell::new(0),
        };
        let life = if kept { world.fill(1) } else { world.slot.life() };
        if kept {
            assert!(!world.slot.release());
        }
        (Arc::new(world), life)
    }

    fn fill(&self, pages: u64) -> Life {
        // SAFETY: the slot is the caller's.
        self.registered.with_mut(|at| unsafe { *at = pages });
        self.slot.publish(RANGE.0, RANGE.1, 0)
    }

    fn take_back(&self) {
        // SAFETY: the caller has emptied the slot.
        self.registered.with_mut(|at| unsafe {
            assert_ne!(*at, 0, "a registration that ended twice");
            *at = 0;
        });
    }

    /// munmap: returns when its event has been read.
    fn unmap(&self) {
        let mut kernel = self.kernel.lock().unwrap();
        self.changing.fetch_add(1, Ordering::Relaxed);
        kernel.pages = 0;
        drop(kernel);
        self.kernel.lock().unwrap().event = true;
        loop {
            let mut kernel = self.kernel.lock().unwrap();
            if std::mem::take(&mut kernel.read) {
                break;
            }
            drop(kernel);
            thread::yield_now();
        }
        // The kernel's locks order what the watcher did before it read.
        self.changing.fetch_sub(1, Ordering::Release);
    }

    /// mmap, where nothing is: which pages lie there now.
    fn map(&self) -> Option<u64> {
        let mut kernel = self.kernel.lock().unwrap();
        (kernel.pages == 0).then(|| {
            kernel.last += 1;
            kernel.pages = kernel.last;
            kernel.pages
        })
    }

    /// The watcher, until it has handled one event.
    fn watch(&self) {
        while !self.kernel.lock().unwrap().event {
            thread::yield_now();
        }
        self.turns.begin();
        let mut kernel = self.kernel.lock().unwrap();
        (kernel.event, kernel.read) = (false, true);
        drop(kernel);
        if let Some(life) = self.slot.overlaps(RANGE.0, RANGE.1) {
            self.slot.mark(life);
        }
        self.turns.end();
    }

    fn quiet(&self, variant: CacheVariant) -> Option<u64> {
        let unread = || {
            let unread = variant != CacheVariant::IgnoresUnread && self.changing.load(Ordering::Relaxed) != 0;
            fence(Ordering::Acquire);
            unread
        };
        if variant == CacheVariant::AsksBackwards {
            let turn = self.turns.quiet();
            return if unread() { None } else { turn };
        }
        match unread() {
            true => None,
            false if variant == CacheVariant::IgnoresUnhandled => Some(0),
            false => self.turns.quiet(),
        }
    }

    /// Uses a registration for the pages that the caller has mapped.
    fn look_up(&self, life: Life, pages: u64, variant: CacheVariant) {
        if self.quiet(variant).is_none() {
            return;
        }
        let life = if variant == CacheVariant::IgnoresLives { self.slot.life() } else { life };
        if self.slot.acquire(life, false) {
            // SAFETY: it is registered as long as it is in use.
            let registered = self.registered.with(|at| unsafe { *at });
            assert_eq!(registered, pages, "a registration of other pages");
            if self.slot.release() {
                self.take_back();
            }
        }
    }
}

/// One thread unmaps; another, which has the address mapped anew as soon as it is free, looks up what was registered before.
fn mapped_anew(variant: CacheVariant) {
    loom::model(move || {
        let (world, life) = World::new(true);
        let (a, b) = (world.clone(), world.clone());
        let unmaps = thread::spawn(move || a.unmap());
        let maps = thread::spawn(move || {
            if let Some(pages) = b.map() {
                b.look_up(life, pages, variant);
            }
        });
        world.watch();
        unmaps.join().unwrap();
        maps.join().unwrap();
        if world.slot.claim() {
            world.take_back();
        }
    });
}

/// A registration is made of what was looked at before an event, and found behind it.
fn published_late(variant: CacheVariant) {
    loom::model(move || {
        let (world, _) = World::new(false);
        let a = world.clone();
        let unmaps = thread::spawn(move || {
            a.unmap();
            a.map().unwrap()
        });
        let b = world.clone();
        let publishes = thread::spawn(move || {
            let seen = b.quiet(CacheVariant::Right)?;
            let pages = b.kernel.lock().unwrap().pages;
            if pages != 1 {
                return None;
            }
            let life = b.fill(pages);
            if variant != CacheVariant::TrustsItself && !b.turns.is_still(seen) {
                b.slot.mark(life);
            }
            if b.slot.release() {
                b.take_back();
            }
            Some(life)
        });
        world.watch();
        let pages = unmaps.join().unwrap();
        if let Some(life) = publishes.join().unwrap() {
            world.look_up(life, pages, variant);
        }
    });
}

/// A reader with an old list finds a slot that is given to another range meanwhile, and that an event ends.
fn reused(variant: CacheVariant) {
    loom::model(move || {
        let (world, life) = World::new(true);
        let (a, b) = (world.clone(), world.clone());
        let reads = thread::spawn(move || a.look_up(life, 1, variant));
        let reuses = thread::spawn(move || {
            if b.slot.evict() {
                b.take_back();
                b.fill(7);
                if b.slot.release() {
                    b.take_back();
                }
            }
        });
        if let Some(life) = world.slot.overlaps(RANGE.0, RANGE.1)
            && world.slot.mark(life) == Marked::Idle
            && world.slot.claim()
        {
            world.take_back();
        }
        reads.join().unwrap();
        reuses.join().unwrap();
    });
}

/// Two users of one registration leave while it is marked: whoever is last ends it, behind what the other did.
fn left_by_two() {
    loom::model(|| {
        let (world, life) = World::new(true);
        assert!(world.slot.acquire(life, false) && world.slot.acquire(life, false));
        let leave = |world: Arc<World>| {
            move || {
                // SAFETY: it is registered as long as it is in use.
                assert_eq!(world.registered.with(|at| unsafe { *at }), 1);
                if world.slot.release() {
                    world.take_back();
                }
            }
        };
        let one = thread::spawn(leave(world.clone()));
        let two = thread::spawn(leave(world.clone()));
        if world.slot.mark(life) == Marked::Idle && world.slot.claim() {
            world.take_back();
        }
        one.join().unwrap();
        two.join().unwrap();
        // SAFETY: the others have ended.
        assert_eq!(world.registered.with(|at| unsafe { *at }), 0, "it ended");
    });
}

#[test]
fn model_ends_a_registration_behind_all_its_users() {
    left_by_two();
}

#[test]
fn model_finds_nothing_of_an_earlier_mapping() {
    mapped_anew(CacheVariant::Right);
}

#[test]
#[should_panic(expected = "a registration of other pages")]
fn model_finds_a_look_up_that_ignores_unread_events() {
    mapped_anew(CacheVariant::IgnoresUnread);
}

#[test]
#[should_panic(expected = "a registration of other pages")]
fn model_finds_a_look_up_that_ignores_the_watcher() {
    mapped_anew(CacheVariant::IgnoresUnhandled);
}

#[test]
#[should_panic(expected = "a registration of other pages")]
fn model_finds_a_look_up_that_asks_backwards() {
    mapped_anew(CacheVariant::AsksBackwards);
}

#[test]
fn model_publishes_nothing_that_an_event_missed() {
    published_late(CacheVariant::Right);
}

#[test]
#[should_panic(expected = "a registration of other pages")]
fn model_finds_a_publisher_that_does_not_look_again() {
    published_late(CacheVariant::TrustsItself);
}

#[test]
fn model_ends_each_registration_once_and_unused() {
    reused(CacheVariant::Right);
}

#[test]
#[should_panic(expected = "a registration of other pages")]
fn model_finds_a_reader_that_ignores_lives() {
    reused(CacheVariant::IgnoresLives);
}
