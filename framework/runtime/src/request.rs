//! The table from a request handle's slot to the request.
//!
//! Requests belong to components and live in pools that grow and never shrink while the instance
//! lives. A pool registers each object once, when it makes it ([`Table::insert`]); the slot is
//! stored in the header and never given to another object. So a look-up needs no lock, and a stale
//! handle finds a valid header whose generation tells that the handle is old.
//!
//! The table is a directory of chunks. Chunks are made when needed and never move, so readers see
//! either nothing or the final pointer.

use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_system::locks::Mutex;
use std::ptr::{NonNull, null_mut};

/// Bits of a slot number: what a request handle has room for.
pub const SLOT_BITS: u32 = 22;
const CHUNK_BITS: u32 = 11;
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNKS: usize = 1 << (SLOT_BITS - CHUNK_BITS);

type Chunk = [AtomicPtr<RequestHeader>; CHUNK];

/// Slot → header.
pub struct Table {
    chunks: Box<[AtomicPtr<Chunk>]>,
    /// How many slots are given out; taken when a pool grows, never on a message's path.
    used: Mutex<usize>,
}

impl Table {
    /// Makes a table without chunks.
    pub(crate) fn new() -> Table {
        Table { chunks: (0..CHUNKS).map(|_| AtomicPtr::new(null_mut())).collect(), used: Mutex::new(0) }
    }

    /// The request object of a slot, if that slot was ever given out.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<NonNull<RequestHeader>> {
        let at = slot as usize;
        of_chunk(self.chunk(at >> CHUNK_BITS)?, at)
    }

    /// The chunk in which a slot and its neighbours are looked up; `slot` may be any number. `None`: no slot near it
    /// was ever given out.
    #[inline(always)]
    pub fn chunk_of(&self, slot: usize) -> Option<ChunkRef<'_>> {
        let number = slot >> CHUNK_BITS;
        self.chunk(number).map(|chunk| ChunkRef { number, chunk })
    }

    /// The chunk of a number, if it was made.
    #[inline(always)]
    fn chunk(&self, number: usize) -> Option<&Chunk> {
        // SYNC POINT with `insert`: the chunk's contents are seen with its address.
        let chunk = self.chunks.get(number)?.load(Ordering::Acquire);
        // SAFETY: null, or published: then it stays until the table goes.
        unsafe { chunk.as_ref() }
    }

    /// Gives `req` a slot of its own for good and writes it into the header. Once per object, when
    /// its pool grows, by the pool's owner; `NO_RESOURCE` when all slots are taken.
    ///
    /// `req` must be a header that stays where it is for the life of the instance.
    #[allow(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a pool registers its own objects; its promise is above"
    )]
    pub fn insert(&self, req: *mut RequestHeader) -> Result<u32, Status> {
        if req.is_null() {
            return Err(Status::BAD_PARAM);
        }
        let mut used = self.used.lock();
        let at = *used;
        if at >= CHUNKS * CHUNK {
            return Err(Status::NO_RESOURCE);
        }
        let home = &self.chunks[at >> CHUNK_BITS];
        let mut chunk = home.load(Ordering::Relaxed);
        if chunk.is_null() {
            let fresh: Box<Chunk> = Box::new([const { AtomicPtr::new(null_mut()) }; CHUNK]);
            chunk = Box::into_raw(fresh);
            // SYNC POINT with `get`.
            home.store(chunk, Ordering::Release);
        }
        // SAFETY: the pool's owner made the header and nobody else knows it yet.
        unsafe { (*req).slot = at as u32 };
        // SAFETY: published chunks stay until the table goes.
        let chunk = unsafe { &*chunk };
        // SYNC POINT with `get`.
        chunk[at & (CHUNK - 1)].store(req, Ordering::Release);
        *used = at + 1;
        Ok(at as u32)
    }
}

/// The header of a slot, from the chunk that it lies in; `None`: the slot was not given out.
#[inline(always)]
fn of_chunk(chunk: &Chunk, slot: usize) -> Option<NonNull<RequestHeader>> {
    // SYNC POINT with `insert`: the header is seen as its pool made it.
    NonNull::new(chunk[slot & (CHUNK - 1)].load(Ordering::Acquire))
}

/// A part of the table: the slots of requests that were made one after another mostly lie together, and then looking them
/// up takes no look at the directory.
#[derive(Clone, Copy)]
pub struct ChunkRef<'a> {
    number: usize,
    chunk: &'a Chunk,
}

impl ChunkRef<'_> {
    /// The request object of a slot; `None`: the slot lies in another chunk, or was not given out.
    #[inline(always)]
    pub fn get(self, slot: usize) -> Option<NonNull<RequestHeader>> {
        if slot >> CHUNK_BITS != self.number {
            return None;
        }
        of_chunk(self.chunk, slot)
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for chunk in &mut self.chunks {
            let chunk = *chunk.get_mut();
            if !chunk.is_null() {
                // SAFETY: made by Box::into_raw in `insert`, dropped once.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;

    #[test]
    fn slots_are_found_near_others() {
        let table = Table::new();
        let mut pool: Vec<RequestHeader> =
            (0..2 * CHUNK + 5).map(|_| RequestHeader::new(RequestHeader::SEND, null(), null_mut())).collect();
        let base = pool.as_mut_ptr();
        for i in 0..pool.len() {
            assert!(table.insert(base.wrapping_add(i)).is_ok());
        }
        for at in [0, CHUNK, 2 * CHUNK, pool.len()] {
            let chunk = table.chunk_of(at).expect("slots of this chunk were given out");
            for slot in [0, 1, CHUNK - 1, CHUNK, CHUNK + 7, pool.len() - 1, pool.len(), 3 * CHUNK, usize::MAX]
            {
                let here = slot >> CHUNK_BITS == at >> CHUNK_BITS;
                let due = if here { table.get(slot as u32) } else { None };
                assert_eq!(chunk.get(slot), due, "slot {slot} near {at}");
            }
        }
        for none in [3 * CHUNK, CHUNK * CHUNKS, usize::MAX, usize::MAX >> CHUNK_BITS] {
            assert!(table.chunk_of(none).is_none());
        }
    }

    #[test]
    fn slots_are_dense_and_found_again() {
        let table = Table::new();
        let mut pool: Vec<RequestHeader> =
            (0..CHUNK + 5).map(|_| RequestHeader::new(RequestHeader::SEND, null(), null_mut())).collect();
        let base = pool.as_mut_ptr();
        for i in 0..pool.len() {
            let req = base.wrapping_add(i);
            assert_eq!(table.insert(req), Ok(i as u32));
        }
        for (i, header) in pool.iter().enumerate() {
            assert_eq!(header.slot, i as u32);
            assert_eq!(table.get(i as u32).map(|p| p.as_ptr()), Some(base.wrapping_add(i)));
        }
        assert!(table.get(pool.len() as u32).is_none());
        assert!(table.get(u32::MAX).is_none(), "a number no table has");
        assert_eq!(table.insert(null_mut()), Err(Status::BAD_PARAM));
    }
}
