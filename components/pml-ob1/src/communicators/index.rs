//! Communicators are found by index or by global id, in a table that is read under any CRI's lock and written under all.

use crate::communicators::comm::Comm;
use crate::matching::Engine;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Lock, Shards};
use crate::receive::spread::{Layout, Spreading};
use crate::state::fifos::Fifos;
use crate::state::locked::ALWAYS;
use crate::wire::{self};
use oxmpi_mca::Status;
use oxmpi_pml::Described;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

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

/// A slot of the table: the communicator that has it, and the generation of the next index made from it.
#[derive(Default)]
struct CommSlot {
    comm: Option<Arc<Comm>>,
    generation: u32,
}

/// Communicators by index and by global id. Read under any CRI's lock, written under all.
#[repr(C)]
pub struct CommTable {
    slots: Vec<CommSlot>,
    /// Other ranks of a slot's communicator in this process, under the same fixed index.
    siblings: Vec<Arc<Comm>>,
    /// Oldest first, so that an index is used again as late as possible.
    free: VecDeque<u32>,
    by_gid: HashMap<([u64; 2], u16), Arc<Comm>>,
    /// Deleted while released requests used them.
    dying: Vec<Arc<Comm>>,
    /// How many there were.
    added: u64,
}

impl CommTable {
    /// Makes a table without communicators, with slots for the fixed indices.
    pub fn new() -> CommTable {
        let slots = (0..FIXED_SLOTS).map(|_| CommSlot::default()).collect();
        CommTable {
            slots,
            siblings: Vec::new(),
            free: VecDeque::new(),
            by_gid: HashMap::new(),
            dying: Vec::new(),
            added: 0,
        }
    }

    /// Finds the communicator that a head addresses, or says why there is none.
    #[inline(always)]
    pub fn find(&self, head: u64) -> Found<'_> {
        match self.comm(head) {
            Some(comm) => Found::Comm(comm),
            None => self.why_none(head),
        }
    }

    /// Finds the communicator that a head addresses.
    #[inline(always)]
    pub fn comm(&self, head: u64) -> Option<&Comm> {
        if let Some(slot) = self.slots.get((wire::index_of(head) & SLOT_MASK) as usize)
            && let Some(comm) = &slot.comm
            && comm.address == wire::address_of(head)
        {
            return Some(comm);
        }
        self.sibling(head)
    }

    /// Finds a communicator among the siblings.
    #[cold]
    fn sibling(&self, head: u64) -> Option<&Comm> {
        self.siblings.iter().find(|comm| comm.address == wire::address_of(head)).map(Arc::as_ref)
    }

    /// Says why an address leads to no communicator.
    #[cold]
    fn why_none(&self, head: u64) -> Found<'_> {
        let slot = wire::index_of(head) & SLOT_MASK;
        match slot < FIXED_SLOTS {
            _ if slot as usize >= self.slots.len() => Found::Nonsense,
            true if wire::index_of(head) == slot => Found::NotYet,
            true => Found::Nonsense,
            false => Found::Gone,
        }
    }

    /// Finds a communicator by its global id and the destination endpoint. `None`: the table does not have it.
    pub fn find_gid(&self, gid: [u64; 2], endpoint: u16) -> Option<&Comm> {
        self.by_gid.get(&(gid, endpoint)).map(Arc::as_ref)
    }

    /// Adds a communicator by its description. `most_shards`: shards that its matching may have; `streams`: messages find their FIFOs by
    /// communicator and tag; `lock`: of its home shard. `Err`: a fixed index that is too large, or no slot is left.
    pub fn add(
        &mut self,
        desc: Described<'_>,
        engine: Engine,
        (most_shards, streams): (u32, bool),
        lock: Lock,
    ) -> Result<Arc<Comm>, Status> {
        let fixed = (desc.has_fixed_index != 0).then_some(desc.fixed_index);
        let number = match fixed {
            Some(index) if index < FIXED_SLOTS => index,
            Some(_) => return Err(Status::BAD_PARAM),
            None => self.free_slot()?,
        };
        let slot = &mut self.slots[number as usize];
        let index = number | slot.generation << SLOT_BITS;
        let layout = Layout::new(Fifos::of(&desc).salt(), most_shards, false);
        let shards = Shards::new(ShardData::new(engine, Spreading::new(layout)), lock);
        self.added += 1;
        let comm = Comm::new(desc, (index, fixed), shards, self.added, streams);
        self.siblings.extend(slot.comm.replace(comm.clone()));
        if fixed.is_none() {
            self.by_gid.insert((desc.gid, desc.my_endpoint), comm.clone());
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
        self.slots.push(CommSlot::default());
        Ok(slot)
    }

    /// Takes a communicator out of the table; a slot that is not of a fixed index can be used again.
    fn remove(&mut self, gone: &Arc<Comm>) {
        let number = gone.index() & SLOT_MASK;
        let slot = &mut self.slots[number as usize];
        if slot.comm.as_ref().is_some_and(|comm| Arc::ptr_eq(comm, gone)) {
            let next = self.siblings.iter().position(|comm| comm.index() == gone.index());
            slot.comm = next.map(|at| self.siblings.swap_remove(at));
        } else {
            self.siblings.retain(|comm| !Arc::ptr_eq(comm, gone));
        }
        if gone.fixed_index.is_none() {
            self.by_gid.remove(&(gone.gid, gone.endpoint()));
            slot.generation = (slot.generation + 1) % (1 << (32 - SLOT_BITS));
            self.free.push_back(number);
        }
    }

    /// Notes that a communicator is deleted; it goes when nothing uses it any more ([`CommTable::reap`]).
    pub fn delete(&mut self, comm: Arc<Comm>) {
        self.dying.push(comm);
    }

    /// Takes the deleted communicators that nothing uses any more out of the table. One in which receives are posted stays, and all stay if `busy`.
    pub fn reap(&mut self, busy: bool) -> Vec<Arc<Comm>> {
        let is_used = |comm: &Arc<Comm>| {
            let mut used = busy;
            comm.shards.each(ALWAYS, |shard| used |= shard.has_posted());
            used
        };
        let (used, gone): (Vec<_>, Vec<_>) = core::mem::take(&mut self.dying).into_iter().partition(is_used);
        used.iter().for_each(|comm| comm.members.keep());
        self.dying = used;
        gone.iter().for_each(|comm| self.remove(comm));
        gone
    }

    /// Iterates over all communicators of the table, those that share a slot included.
    pub fn all(&self) -> impl Iterator<Item = &Comm> {
        self.slots.iter().filter_map(|slot| slot.comm.as_deref()).chain(self.siblings.iter().map(Arc::as_ref))
    }

    /// Frees all communicators when the instance ends.
    pub fn clear(&mut self) {
        *self = CommTable::new();
    }
}
