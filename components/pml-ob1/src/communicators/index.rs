//! Communicators are found by index or by global id, in a table that is read under any CRI's lock and written under all.

use crate::communicators::comm::Comm;
use crate::matching::Engine;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Lock, Shards};
use crate::receive::spread::{Layout, Spreading};
use crate::state::fifos::Fifos;
use crate::wire::{self};
use core::ptr::null_mut;
use oxmpi_mca::{LockServices, Status};
use oxmpi_pml::CommDesc;
use std::collections::{HashMap, VecDeque};

const SLOT_BITS: u32 = 20;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
/// Slots below belong to fixed indices.
const FIXED_SLOTS: u32 = 16;

/// The result of a search for the communicator that a head addresses.
pub enum Found<'a> {
    Comm(&'a Comm),
    /// A fixed index that we have not been given yet.
    NotYet,
    /// A communicator that is gone.
    Gone,
    /// No process was ever told this index.
    Nonsense,
}

/// A slot of the table: the communicator that has it, or null, and the generation of the next index made from it.
struct CommSlot {
    comm: *mut Comm,
    generation: u32,
}

/// Communicators by index and by global id. Read under any CRI's lock, written under all.
#[repr(C)]
pub struct CommTable {
    slots: Vec<CommSlot>,
    /// Oldest first, so that an index is used again as late as possible.
    free: VecDeque<u32>,
    by_gid: HashMap<([u64; 2], u16), *mut Comm>,
    /// Deleted while released requests used them.
    dying: Vec<*mut Comm>,
    /// How many there were.
    added: u64,
}

impl CommTable {
    /// Makes a table without communicators, with slots for the fixed indices.
    pub fn new() -> CommTable {
        let slots = (0..FIXED_SLOTS).map(|_| CommSlot { comm: null_mut(), generation: 0 }).collect();
        CommTable { slots, free: VecDeque::new(), by_gid: HashMap::new(), dying: Vec::new(), added: 0 }
    }

    /// Finds the communicator that a head addresses; the reference is good while the CRI's lock is held.
    #[inline(always)]
    pub fn find<'a>(&self, head: u64) -> Found<'a> {
        if let Some(slot) = self.slots.get((wire::index_of(head) & SLOT_MASK) as usize)
            // SAFETY: communicators leave the table before they go, under the lock we hold.
            && let Some(comm) = unsafe { slot.comm.as_ref() }
            && comm.address == wire::address_of(head)
        {
            return Found::Comm(comm);
        }
        self.find_slowly(head)
    }

    /// Finds a communicator among the siblings of a slot, or says why the address leads to none.
    #[cold]
    fn find_slowly<'a>(&self, head: u64) -> Found<'a> {
        let slot = wire::index_of(head) & SLOT_MASK;
        let Some(entry) = self.slots.get(slot as usize) else { return Found::Nonsense };
        let mut at = entry.comm;
        // SAFETY: as in `find`; siblings are in the table as well.
        while let Some(comm) = unsafe { at.as_ref() } {
            if comm.address == wire::address_of(head) {
                return Found::Comm(comm);
            }
            at = comm.sibling.get();
        }
        match slot < FIXED_SLOTS {
            true if wire::index_of(head) == slot => Found::NotYet,
            true => Found::Nonsense,
            false => Found::Gone,
        }
    }

    /// Finds a communicator by its global id and the destination endpoint. `None`: the table does not have it.
    pub fn find_gid<'a>(&self, gid: [u64; 2], endpoint: u16) -> Option<&'a Comm> {
        // SAFETY: as in `find`.
        self.by_gid.get(&(gid, endpoint)).map(|&c| unsafe { &*c })
    }

    /// Adds a communicator by its description, and gives the pointer by which the host names it. The caller holds all
    /// CRI locks. `most_shards`: shards that its matching may have; `streams`: messages find their FIFOs by
    /// communicator and tag. `Err`: a fixed index that is too large, or no slot is left.
    pub fn add(
        &mut self,
        desc: &CommDesc,
        engine: Engine,
        most_shards: u32,
        streams: bool,
        locks: *const LockServices,
    ) -> Result<*mut Comm, Status> {
        let fixed = (desc.has_fixed_index != 0).then_some(desc.fixed_index);
        let slot = match fixed {
            Some(index) if index < FIXED_SLOTS => index,
            Some(_) => return Err(Status::BAD_PARAM),
            None => self.free_slot()?,
        };
        let index = slot | self.slots[slot as usize].generation << SLOT_BITS;
        let layout = Layout::new(Fifos::of(desc).salt(), most_shards, false);
        let shards = Shards::new(ShardData::new(engine, Spreading::new(layout)), Lock::new(locks));
        self.added += 1;
        let comm = Comm::new(desc, (index, fixed), shards, self.added, streams);
        comm.sibling.set(self.slots[slot as usize].comm);
        let comm = Box::into_raw(Box::new(comm));
        self.slots[slot as usize].comm = comm;
        if fixed.is_none() {
            self.by_gid.insert((desc.gid, desc.my_endpoint), comm);
        }
        Ok(comm)
    }

    /// Takes a slot for a communicator without fixed index. `Err`: there are as many as there can be.
    fn free_slot(&mut self) -> Result<u32, Status> {
        if let Some(slot) = self.free.pop_front() {
            return Ok(slot);
        }
        let slot = self.slots.len() as u32;
        if slot >= SLOT_MASK {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.slots.push(CommSlot { comm: null_mut(), generation: 0 });
        Ok(slot)
    }

    /// Takes a communicator out of the table and gives it to the caller; a slot that is not of a fixed index can be
    /// used again.
    ///
    /// # Safety
    /// Nothing uses it any more but what is returned.
    unsafe fn remove(&mut self, comm: *mut Comm) -> Comm {
        // SAFETY: the caller's promise; made by Box::into_raw.
        let gone = *unsafe { Box::from_raw(comm) };
        let number = (gone.index() & SLOT_MASK) as usize;
        let slot = &mut self.slots[number];
        if slot.comm == comm {
            slot.comm = gone.sibling.get();
        } else {
            let mut at = slot.comm;
            // SAFETY: siblings are in the table and alive.
            while let Some(c) = unsafe { at.as_ref() } {
                if c.sibling.get() == comm {
                    c.sibling.set(gone.sibling.get());
                    break;
                }
                at = c.sibling.get();
            }
        }
        if gone.fixed_index.is_none() {
            self.by_gid.remove(&(gone.gid, gone.endpoint()));
            slot.generation = (slot.generation + 1) % (1 << (32 - SLOT_BITS));
            self.free.push_back(number as u32);
        }
        gone
    }

    /// Notes that a communicator is deleted; it goes when nothing uses it any more ([`CommTable::reap`]). The caller holds all
    /// CRI locks.
    pub fn delete(&mut self, comm: *mut Comm) {
        self.dying.push(comm);
    }

    /// Takes the deleted communicators that nothing uses any more out of the table, each with the pointer that the host
    /// had. One in which receives are posted stays, and all stay if `busy`. The caller holds all CRI locks.
    pub fn reap(&mut self, busy: bool) -> Vec<(*const Comm, Comm)> {
        let mut gone = Vec::new();
        let dying = core::mem::take(&mut self.dying);
        for comm in dying {
            let mut used = busy;
            // SAFETY: in the table, so alive.
            unsafe { &*comm }.shards.each(false, |shard| used |= shard.has_posted());
            if used {
                // SAFETY: in the table, so alive.
                unsafe { &*comm }.members.keep();
                self.dying.push(comm);
            } else {
                // SAFETY: deleted by its owner, nothing posted, nothing queued.
                gone.push((comm.cast_const(), unsafe { self.remove(comm) }));
            }
        }
        gone
    }

    /// Lists all communicators of the table, those that share a slot included.
    pub fn all(&self) -> Vec<*const Comm> {
        // SAFETY: as in `find`; siblings are in the table as well.
        let sibling = |comm: &*mut Comm| Some(unsafe { &**comm }.sibling.get()).filter(|c| !c.is_null());
        let first = self.slots.iter().map(|slot| slot.comm).filter(|comm| !comm.is_null());
        first.flat_map(|comm| core::iter::successors(Some(comm), sibling)).map(|c| c.cast_const()).collect()
    }

    /// Frees all communicators when the instance ends.
    pub fn clear(&mut self) {
        for number in 0..self.slots.len() {
            while !self.slots[number].comm.is_null() {
                // SAFETY: the instance ends; nobody calls any more.
                drop(unsafe { self.remove(self.slots[number].comm) });
            }
        }
    }
}
