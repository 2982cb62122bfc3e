//! Handles: numbers below 2^31 that find an object without a lock and know when it is gone.
//!
//! ```text
//! request         01 ssssssssssssssssssssss gggggggg      22 bits slot, 8 bits generation
//! everything else 00 kkkk ssssssssssssssssss gggggggg     4 bits kind (never 0), 18 bits slot, 8 bits generation
//! predefined      below 0x1000: by the standard's table, no object of ours can have such a number
//! ```
//!
//! Because they fit into 31 bits, MPI_X_toint and MPI_X_fromint are the identity. Requests have the
//! larger share since a program may have millions of them; their slots belong to the runtime
//! (`request::Table`), all others to the [`Table`]s here.
//!
//! **States of a slot.** Free (object null) → used (object set, then the handle given out) → free
//! with the generation raised. A handle carries the generation of its birth, so a stale one is told
//! apart until the slot has been used 256 times; slots are reused in the order they were freed, which
//! puts that off as long as possible.
//!
//! **Access.** `get` reads without a lock. `insert` and `remove` take the table's lock,
//! which guards the list of free slots only. Chunks are made on demand and stay for ever. A reference
//! from `get` is valid until `remove`: MPI forbids a program to free an object while another thread
//! uses it, so no call can hold a reference to what a correct program frees.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use parking_lot::Mutex;
use std::collections::VecDeque;

/// Kind bits of a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Kind {
    Comm = 1,
    Group = 2,
    Datatype = 3,
    Op = 4,
    Message = 5,
    Info = 6,
    Errhandler = 7,
    Session = 8,
    Win = 9,
    Sync = 10,
    Threadcomm = 11,
    Stream = 12,
    File = 13,
}

const GENERATION_BITS: u32 = 8;
const SLOT_BITS: u32 = 18;
const KIND_SHIFT: u32 = GENERATION_BITS + SLOT_BITS;
const SLOTS: usize = 1 << SLOT_BITS;
const REQUEST: usize = 1 << 30;
const REQUEST_SLOT_BITS: u32 = 22;
/// Slots per chunk: 16 KiB of entries.
const CHUNK: usize = 1024;
const CHUNKS: usize = SLOTS / CHUNK;

/// Whether a handle is of a kind, be its object there or not.
pub fn is_of(kind: Kind, handle: usize) -> bool {
    handle >> KIND_SHIFT == kind as usize
}

struct Entry<T> {
    object: AtomicPtr<T>,
    generation: AtomicU32,
}

struct Slots {
    free: VecDeque<u32>,
    used: u32,
}

/// All objects of one kind.
pub struct Table<T> {
    kind: Kind,
    chunks: [AtomicPtr<Entry<T>>; CHUNKS],
    slots: Mutex<Slots>,
}

impl<T: 'static> Table<T> {
    pub const fn new(kind: Kind) -> Table<T> {
        Table {
            kind,
            chunks: [const { AtomicPtr::new(null_mut()) }; CHUNKS],
            slots: Mutex::new(Slots { free: VecDeque::new(), used: 0 }),
        }
    }

    #[inline(always)]
    fn entry(&self, slot: usize) -> Option<&'static Entry<T>> {
        // SYNC POINT with `insert`: the entries are initialised before the chunk is published.
        let chunk = self.chunks[slot / CHUNK].load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: a chunk has CHUNK entries and stays for ever.
        Some(unsafe { &*chunk.add(slot % CHUNK) })
    }

    /// The object of a handle; `None` if it is stale, of another kind, or no handle at all.
    #[inline(always)]
    pub fn get(&'static self, handle: usize) -> Option<&'static T> {
        if handle >> KIND_SHIFT != self.kind as usize {
            return None;
        }
        let entry = self.entry(handle >> GENERATION_BITS & (SLOTS - 1))?;
        if (entry.generation.load(Ordering::Relaxed) ^ handle as u32) & 0xff != 0 {
            return None;
        }
        // SYNC POINT with `insert`: whoever got the handle from there sees the object whole.
        let object = entry.object.load(Ordering::Acquire);
        // SAFETY: valid until removed, see the essay.
        NonNull::new(object).map(|o| unsafe { o.as_ref() })
    }

    /// Gives the object a handle; `None` when all slots are taken.
    pub fn insert(&'static self, object: Box<T>) -> Option<usize> {
        let mut slots = self.slots.lock();
        let slot = match slots.free.pop_front() {
            Some(slot) => slot as usize,
            None if (slots.used as usize) < SLOTS => {
                let slot = slots.used as usize;
                if slot.is_multiple_of(CHUNK) {
                    let chunk: Vec<Entry<T>> = (0..CHUNK)
                        .map(|_| Entry { object: AtomicPtr::new(null_mut()), generation: AtomicU32::new(0) })
                        .collect();
                    // SYNC POINT with `entry`.
                    self.chunks[slot / CHUNK].store(chunk.leak().as_mut_ptr(), Ordering::Release);
                }
                slots.used += 1;
                slot
            }
            None => return None,
        };
        let entry = self.entry(slot)?;
        // SYNC POINT with `get`.
        entry.object.store(Box::into_raw(object), Ordering::Release);
        let generation = entry.generation.load(Ordering::Relaxed) as usize & 0xff;
        Some((self.kind as usize) << KIND_SHIFT | slot << GENERATION_BITS | generation)
    }

    /// Takes the object away; the handle is stale from now on.
    pub fn remove(&'static self, handle: usize) -> Option<Box<T>> {
        let mut slots = self.slots.lock();
        self.get(handle)?;
        let slot = handle >> GENERATION_BITS & (SLOTS - 1);
        let entry = self.entry(slot)?;
        entry.generation.fetch_add(1, Ordering::Relaxed);
        let object = entry.object.swap(null_mut(), Ordering::AcqRel);
        slots.free.push_back(slot as u32);
        // SAFETY: made by `Box::into_raw` in `insert`, taken out once under the lock.
        Some(unsafe { Box::from_raw(object) })
    }

    /// Handles in use, oldest slot first.
    pub fn handles(&'static self) -> Vec<usize> {
        let used = self.slots.lock().used as usize;
        let living = (0..used).filter_map(|slot| {
            let entry = self.entry(slot)?;
            let generation = entry.generation.load(Ordering::Relaxed) as usize & 0xff;
            let there = !entry.object.load(Ordering::Acquire).is_null();
            there.then_some((self.kind as usize) << KIND_SHIFT | slot << GENERATION_BITS | generation)
        });
        living.collect()
    }
}

/// The handle of a request, from the slot and generation in its header.
#[inline(always)]
pub fn of_request(slot: u32, generation: u32) -> usize {
    REQUEST | (slot as usize) << GENERATION_BITS | (generation as usize & 0xff)
}

/// Slot and generation of a request handle.
#[inline(always)]
pub fn request_parts(handle: usize) -> Option<(u32, u32)> {
    if handle >> (REQUEST_SLOT_BITS + GENERATION_BITS) != 1 {
        return None;
    }
    let slot = (handle >> GENERATION_BITS) as u32 & ((1 << REQUEST_SLOT_BITS) - 1);
    Some((slot, handle as u32 & 0xff))
}

/// The same of what is mostly a request handle; of anything else a slot that no request has.
#[inline(always)]
pub fn likely_request_parts(handle: usize) -> (usize, u8) {
    ((handle ^ REQUEST) >> GENERATION_BITS, handle as u8)
}

/// How many requests can have a handle.
pub const MAX_REQUESTS: u32 = 1 << REQUEST_SLOT_BITS;

const _: () = assert!(REQUEST_SLOT_BITS + GENERATION_BITS == 30 && KIND_SHIFT == 26);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_finds_its_object_until_removed() {
        static T: Table<String> = Table::new(Kind::Info);
        let a = T.insert(Box::new("a".into())).unwrap();
        let b = T.insert(Box::new("b".into())).unwrap();
        assert!(a != b && (0x1000..1 << 31).contains(&a));
        assert_eq!(T.get(a).unwrap(), "a");
        assert_eq!(*T.remove(a).unwrap(), "a");
        assert!(T.get(a).is_none(), "stale");
        assert!(T.remove(a).is_none(), "freed twice");
        let c = T.insert(Box::new("c".into())).unwrap();
        assert_eq!(c >> 8, a >> 8, "the slot is used again");
        assert!(T.get(a).is_none() && T.get(c).unwrap() == "c");
        assert_eq!(T.handles(), [c, b]);
    }

    #[test]
    fn foreign_numbers_are_refused() {
        static T: Table<u32> = Table::new(Kind::Group);
        static U: Table<u32> = Table::new(Kind::Op);
        let g = T.insert(Box::new(7)).unwrap();
        assert!(U.get(g).is_none(), "another kind");
        for wild in [0, 1, 0x101, 0xfff, g + 1, g + 256, g | 1 << 40, usize::MAX, 1 << 30, (1 << 26) - 1] {
            assert!(T.get(wild).is_none(), "{wild:#x}");
        }
    }

    #[test]
    fn many_objects_have_many_handles() {
        static T: Table<usize> = Table::new(Kind::Datatype);
        let all: Vec<usize> = (0..5000).map(|i| T.insert(Box::new(i)).unwrap()).collect();
        for (i, h) in all.iter().enumerate() {
            assert_eq!(*T.get(*h).unwrap(), i);
        }
        for h in &all {
            T.remove(*h).unwrap();
        }
        assert!(T.handles().is_empty());
    }

    #[test]
    fn threads_share_a_table() {
        static T: Table<usize> = Table::new(Kind::Comm);
        std::thread::scope(|s| {
            for t in 0..4 {
                s.spawn(move || {
                    for i in 0..2000 {
                        let h = T.insert(Box::new(t * 10000 + i)).unwrap();
                        assert_eq!(*T.get(h).unwrap(), t * 10000 + i);
                        assert_eq!(*T.remove(h).unwrap(), t * 10000 + i);
                    }
                });
            }
        });
        assert!(T.handles().is_empty());
    }

    #[test]
    fn request_handles_go_there_and_back() {
        for (slot, generation) in [(0, 0), (1, 255), (MAX_REQUESTS - 1, 7), (12345, 300)] {
            let h = of_request(slot, generation);
            assert!((0x1000..1 << 31).contains(&h));
            assert_eq!(request_parts(h), Some((slot, generation & 0xff)));
            assert_eq!(likely_request_parts(h), (slot as usize, generation as u8));
        }
        for wild in [0, 0x180, 1 << 26, 1 << 31, usize::MAX] {
            assert_eq!(request_parts(wild), None);
            assert!(likely_request_parts(wild).0 >= MAX_REQUESTS as usize);
        }
    }
}
