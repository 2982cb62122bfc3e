//! Memory that this rank has attached to a dynamic window: the list of regions as their owner changes it (`regions.rs` has the rules).

use crate::peer::held;
use crate::served::Served;
use crate::shelf::Shelf;
use crate::wire::{Head, Region, word};
use oxmpi_btl::access;
use oxmpi_mca::Status;
use oxmpi_mca::sync::{Ordering, fence};
use oxmpi_osc::Memory;
use oxmpi_osc_support::{Registered, Registrar};
use std::sync::Mutex;

/// Memory that this rank has attached, in the order of the list that peers read.
#[derive(Default)]
pub struct Attached(Mutex<Vec<(Region, Vec<Registered>)>>);

impl Attached {
    /// # Safety
    /// The memory is there until it is detached, or this goes.
    pub unsafe fn attach(
        &self,
        registrar: &Registrar,
        shelf: &Shelf,
        served: &Served,
        memory: Memory,
    ) -> Status {
        let Memory { base, bytes } = memory;
        let at = base as u64;
        let Some(end) = at.checked_add(bytes) else { return Status::RMA_ATTACH };
        let mut all = held(&self.0);
        let overlaps = |r: &Region| at < r.base + r.bytes && r.base < end || at == r.base;
        if all.iter().any(|(region, _)| overlaps(region)) || all.len() as u64 == shelf.layout.max_regions {
            return Status::RMA_ATTACH;
        }
        const REACHED: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        let begin = core::ptr::with_exposed_provenance_mut(base);
        // SAFETY: the caller's promise; the registrations are kept beside the region, and go when that is detached.
        let Ok((registrations, registered)) = (unsafe { registrar.register(begin, bytes, REACHED) }) else {
            return Status::RMA_ATTACH;
        };
        let region = Region { base: at, bytes, registrations };
        // SAFETY: the caller's promise; `detach` takes it back.
        unsafe { served.add(at, bytes) };
        append(&OwnList(shelf), region);
        all.push((region, registered));
        Status::OK
    }

    pub fn detach(&self, shelf: &Shelf, served: &Served, base: usize) -> Status {
        let mut all = held(&self.0);
        let Some(i) = all.iter().position(|(region, _)| region.base == base as u64) else {
            return Status::RMA_ATTACH;
        };
        take_out(&OwnList(shelf), i as u64);
        served.take_back(base as u64);
        // Nobody finds it any more; now nobody reaches it any more: this takes the service lock where anybody has asked under that.
        drop(all.swap_remove(i));
        Status::OK
    }
}

/// A list that its owner changes while others read it.
pub trait List {
    type Item: Copy;
    fn head(&self) -> Head;
    fn set_head(&self, head: Head);
    fn item(&self, at: u64) -> Self::Item;
    fn set_item(&self, at: u64, item: Self::Item);
}

/// One more at the end.
pub fn append<L: List>(list: &L, item: L::Item) {
    let head = list.head();
    list.set_item(head.count(), item);
    fence(Ordering::SeqCst);
    list.set_head(Head(head.0 + 1));
}

/// One less; the last takes its place.
pub fn take_out<L: List>(list: &L, at: u64) {
    let head = list.head();
    list.set_head(Head(head.0 + Head::STEP));
    fence(Ordering::SeqCst);
    let last = head.count() - 1;
    if at != last {
        list.set_item(at, list.item(last));
    }
    fence(Ordering::SeqCst);
    list.set_head(Head(head.0 + 2 * Head::STEP - 1));
}

/// The list of this rank.
struct OwnList<'a>(&'a Shelf);

impl OwnList<'_> {
    fn item_at(&self, at: u64) -> *mut Region {
        let words = self.0.words(self.0.member);
        words.get().cast::<u8>().wrapping_add(self.0.layout.region(at) as usize).cast()
    }

    fn head_word(&self) -> &oxmpi_mca::sync::unmodelled::AtomicU64 {
        // SAFETY: this rank's state words, which stay as long as the shelf.
        unsafe { &*self.0.words(self.0.member).get().add(word::REGIONS as usize) }
    }
}

impl List for OwnList<'_> {
    type Item = Region;
    fn head(&self) -> Head {
        Head(self.head_word().load(Ordering::Relaxed))
    }
    fn set_head(&self, head: Head) {
        // SYNC POINT with `Source::head`.
        self.head_word().store(head.0, Ordering::SeqCst);
    }
    fn item(&self, at: u64) -> Region {
        // SAFETY: `attach` keeps the number within the layout; this rank alone writes.
        unsafe { self.item_at(at).read() }
    }
    fn set_item(&self, at: u64, item: Region) {
        // SAFETY: `attach` keeps the number within the layout; this rank alone writes. Those who read it meanwhile find another version behind.
        unsafe { self.item_at(at).write_volatile(item) };
    }
}
