//! Sorted list of the ranges that are registered for one module and kind of access: read under an epoch, replaced as a whole.
//!
//! No range contains another (`insert` sees to it), so bases and ends rise together. A registration in a list may have ended; the slot's life
//! tells. Lists that were replaced are freed when no reader can have them any more; that runs in threads of the program, never in the watcher.

use super::slots::{Life, Slot};
use crossbeam_epoch::{self as epoch, Atomic, Owned, Shared};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_system::locks::Mutex;

/// A range, and the life of a slot that it was registered in.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub base: u64,
    pub end: u64,
    pub slot: u32,
    pub life: Life,
}

/// Sorted list of the ranges of one module and kind of access.
#[derive(Default)]
pub struct Index {
    ranges: Atomic<Vec<Range>>,
    writer: Mutex<()>,
}

impl Index {
    /// Finds a live registration that covers the range, adds a user and returns its slot; takes no lock. `alone`: only
    /// one without users.
    pub fn find(&self, slots: &[Slot], base: u64, end: u64, alone: bool) -> Option<u32> {
        let guard = epoch::pin();
        // SAFETY: lists are freed behind the epoch of their readers.
        let ranges = unsafe { self.ranges.load(Ordering::Acquire, &guard).as_ref() }?;
        let from = ranges.partition_point(|r| r.base <= base);
        let covers = ranges[..from].iter().rev().take_while(|r| r.end >= end);
        covers.map(|r| (r.slot, slots[r.slot as usize].acquire(r.life, alone))).find(|r| r.1).map(|r| r.0)
    }

    /// Puts a range in, in place of those that it contains, for each of which `superseded` is called after the lock is
    /// released. False, and nothing is put in: a live range contains it.
    pub fn insert(&self, slots: &[Slot], new: Range, mut superseded: impl FnMut(&Range)) -> bool {
        let writer = self.writer.lock();
        let guard = epoch::pin();
        // SAFETY: as above; writers exclude each other.
        let old = unsafe { self.ranges.load(Ordering::Acquire, &guard).as_ref() }.map_or(&[][..], |v| v);
        let is_live = |r: &&Range| slots[r.slot as usize].is_live(r.life);
        let contained = |r: &&Range| new.base <= r.base && r.end <= new.end;
        let fits = !old.iter().filter(is_live).any(|r| r.base <= new.base && new.end <= r.end);
        let kept = old.iter().filter(is_live).filter(|r| !fits || !contained(r));
        let mut next: Vec<Range> = kept.copied().collect();
        let gone: Vec<Range> =
            if fits { old.iter().filter(is_live).filter(contained).copied().collect() } else { Vec::new() };
        if fits {
            let at = next.partition_point(|r| r.base < new.base);
            next.insert(at, new);
        }
        let replaced = self.ranges.swap(Owned::new(next), Ordering::AcqRel, &guard);
        if !replaced.is_null() {
            // SAFETY: nobody finds it any more.
            unsafe { guard.defer_destroy(replaced) };
        }
        drop(writer);
        gone.iter().for_each(&mut superseded);
        fits
    }

    #[cfg(test)]
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        let guard = epoch::pin();
        // SAFETY: as above.
        let ranges = unsafe { self.ranges.load(Ordering::Acquire, &guard).as_ref() };
        ranges.map_or(Vec::new(), |all| all.iter().map(|r| (r.base, r.end)).collect())
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        // SAFETY: nobody else has it.
        let ranges = self.ranges.swap(Shared::null(), Ordering::Relaxed, unsafe { epoch::unprotected() });
        if !ranges.is_null() {
            // SAFETY: as above.
            drop(unsafe { ranges.into_owned() });
        }
    }
}
