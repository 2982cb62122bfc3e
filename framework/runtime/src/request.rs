//! The table from a request handle's slot to the request.
//!
//! Requests belong to components and live in pools that grow and never shrink while the instance
//! lives. A pool registers each object once, when it makes it ([`Table::insert`]); the slot is
//! stored in the header and never given to another object. So a look-up needs no lock, and a stale
//! handle finds a valid header whose generation tells that the handle is old.
//!
//! The table is a directory of chunks. Chunks are made when needed and never move, so readers see
//! either nothing or the final pointer.
//!
//! A [`Header`] is a request as the host has it. It says that the object is there, and no more: which thread may do what with it
//! its owner's rules say (`oxmpi_mca::request`), and functions that rely on them are unsafe.

use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::{Completion, Entry, MsgStatus, RequestHeader, Status};
use oxmpi_system::locks::Mutex;
use oxmpi_waiting::Awaitable;
use std::ptr::{NonNull, null_mut};

/// A request object, by its header. It lies in a pool as long as its instance, and is used again when it has been released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Header(NonNull<RequestHeader>);

impl Header {
    /// The request object that begins with this header.
    ///
    /// # Safety
    /// It is one of a living instance, and the result is used only while that lives.
    #[inline(always)]
    pub const unsafe fn new(header: NonNull<RequestHeader>) -> Header {
        Header(header)
    }

    /// The header that a verb of a component has handed out; INTERNAL for none.
    ///
    /// # Safety
    /// As for [`Header::new`], or null.
    #[inline(always)]
    pub unsafe fn given(header: *mut RequestHeader) -> Result<Header, Status> {
        NonNull::new(header).map(Header).ok_or(Status::INTERNAL)
    }

    /// Its address.
    #[inline(always)]
    pub const fn as_ptr(self) -> *mut RequestHeader {
        self.0.as_ptr()
    }

    /// Whether the operation is complete; what its owner wrote before is visible then.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.completion().is_complete()
    }

    /// The word that counts the uses of its slot.
    #[inline(always)]
    pub fn generation(&self) -> &AtomicU32 {
        // SAFETY: the object is there (`new`); the reference is to an atomic word.
        unsafe { &(*self.as_ptr()).generation }
    }

    /// The slot of its handle.
    #[inline(always)]
    pub fn slot(self) -> u32 {
        // SAFETY: the object is there (`new`); its slot was written before anybody knew it.
        unsafe { (*self.as_ptr()).slot }
    }

    /// Whether it is that of a receive.
    #[inline(always)]
    pub fn is_receive(self) -> bool {
        // SAFETY: the object is there (`new`), and its kind never changes.
        unsafe { (*self.as_ptr()).kind == RequestHeader::RECV }
    }

    /// The result of the operation.
    ///
    /// # Safety
    /// It is complete, or inactive, and neither released nor started meanwhile.
    #[inline(always)]
    pub unsafe fn status(self) -> MsgStatus {
        // SAFETY: the object is there (`new`), and its owner does not write (the caller's promise).
        unsafe { (*self.as_ptr()).status }
    }

    /// Gives the object back to its owner, or the operation up that it stands for. The caller holds nothing but what the owner's rules allow.
    ///
    /// # Safety
    /// The caller has the request, and does not use it any more.
    #[inline(always)]
    pub unsafe fn release(self, entry: &mut Entry) {
        // SAFETY: the object is there (`new`), with the verbs of its owner.
        let release = unsafe { (*(*self.as_ptr()).ops).release };
        release(self.as_ptr(), entry.thread());
    }

    /// Tries to cancel the operation; the call's entry is lent to its owner meanwhile.
    ///
    /// # Safety
    /// The caller has the request, which is started.
    pub unsafe fn cancel(self, _entry: &mut Entry) -> Status {
        // SAFETY: the object is there (`new`), with the verbs of its owner.
        let cancel = unsafe { (*(*self.as_ptr()).ops).cancel };
        cancel(self.as_ptr())
    }

    /// Starts a persistent operation; the call's entry is lent to its owner meanwhile.
    ///
    /// # Safety
    /// The caller has the request, which is persistent and inactive.
    pub unsafe fn start(self, _entry: &mut Entry) -> Status {
        // SAFETY: the object is there (`new`), with the verbs of its owner.
        let start = unsafe { (*(*self.as_ptr()).ops).start };
        start(self.as_ptr())
    }
}

impl Awaitable for Header {
    #[inline(always)]
    fn completion(&self) -> &Completion {
        // SAFETY: the object is there (`new`); the reference is to an atomic word.
        unsafe { &(*self.as_ptr()).completion }
    }
}

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
    pub fn get(&self, slot: u32) -> Option<Header> {
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

    /// Gives a request object a slot of its own for good and writes it into the header. Once per object, when
    /// its pool grows, by the pool's owner; `NO_RESOURCE` when all slots are taken.
    ///
    /// # Safety
    /// The header stays where it is for the life of the instance, and nobody else knows it yet; or it is null.
    pub unsafe fn insert(&self, req: *mut RequestHeader) -> Result<u32, Status> {
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
        // SAFETY: the pool's owner made the header and nobody else knows it yet (the caller's promise).
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
fn of_chunk(chunk: &Chunk, slot: usize) -> Option<Header> {
    // SYNC POINT with `insert`: the header is seen as its pool made it. It stays for the life of the instance, which the table is a part of.
    NonNull::new(chunk[slot & (CHUNK - 1)].load(Ordering::Acquire)).map(Header)
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
    pub fn get(self, slot: usize) -> Option<Header> {
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
    use oxmpi_mca::{Owner, RequestOps, ThreadCtx};

    /// Of requests for whose owner nobody looks.
    static OPS: RequestOps = RequestOps {
        size: size_of::<RequestOps>() as u32,
        reserved: 0,
        release: never,
        cancel: refuse,
        start: refuse,
    };

    extern "C" fn never(_: *mut RequestHeader, _: *mut ThreadCtx) {}

    extern "C" fn refuse(_: *mut RequestHeader) -> Status {
        Status::NOT_SUPPORTED
    }

    fn header() -> RequestHeader {
        RequestHeader::new(RequestHeader::SEND, &OPS, Owner::NOBODY)
    }

    #[test]
    fn slots_are_found_near_others() {
        let table = Table::new();
        let mut pool: Vec<RequestHeader> = (0..2 * CHUNK + 5).map(|_| header()).collect();
        let base = pool.as_mut_ptr();
        for i in 0..pool.len() {
            // SAFETY: the pool outlives the table's use.
            assert!(unsafe { table.insert(base.wrapping_add(i)) }.is_ok());
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
        let mut pool: Vec<RequestHeader> = (0..CHUNK + 5).map(|_| header()).collect();
        let base = pool.as_mut_ptr();
        for i in 0..pool.len() {
            let req = base.wrapping_add(i);
            // SAFETY: the pool outlives the table's use.
            assert_eq!(unsafe { table.insert(req) }, Ok(i as u32));
        }
        for (i, header) in pool.iter().enumerate() {
            assert_eq!(header.slot, i as u32);
            assert_eq!(table.get(i as u32).map(|p| p.as_ptr()), Some(base.wrapping_add(i)));
        }
        assert!(table.get(pool.len() as u32).is_none());
        assert!(table.get(u32::MAX).is_none(), "a number no table has");
        // SAFETY: null is allowed.
        assert_eq!(unsafe { table.insert(null_mut()) }, Err(Status::BAD_PARAM));
    }
}
