//! The table from a request handle's slot to the request.
//!
//! Requests belong to components and live in pools that grow and never shrink while the instance
//! lives. A pool registers each object once, when it makes it ([`Table::insert`]); the slot is
//! stored in the header and never given to another object. So a look-up needs no lock, and a stale
//! handle finds a valid header whose generation tells that the handle is old.
//!
//! The table is a directory of chunks. Chunks are made when needed and never move, so readers see
//! either nothing or the final pointer.

use crate::locks::Mutex;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};
use oxmpi_mca::{RequestHeader, Status};
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
    pub(crate) fn new() -> Table {
        Table { chunks: (0..CHUNKS).map(|_| AtomicPtr::new(null_mut())).collect(), used: Mutex::new(0) }
    }

    /// The request object of a slot, if that slot was ever given out.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<NonNull<RequestHeader>> {
        let at = slot as usize;
        // SYNC POINT with `insert`: the chunk's contents are seen with its address.
        let chunk = self.chunks.get(at >> CHUNK_BITS)?.load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: a chunk that was published stays until the table goes.
        let chunk = unsafe { &*chunk };
        // SYNC POINT with `insert`: the header is seen as its pool made it.
        NonNull::new(chunk[at & (CHUNK - 1)].load(Ordering::Acquire))
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
