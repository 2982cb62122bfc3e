//! Communicators: what a message needs to know about one, and how the two sides agree on its name.
//!
//! Each process numbers its communicators itself. A sender must know the receiver's number (its
//! *index*); world and self have fixed ones. For all others the first messages to a peer carry a
//! prefix with the 128-bit global id; the receiver answers the first prefixed message of a rank with
//! its own index (CID message), and from then on the plain header is enough. A process that does not
//! know the global id yet keeps the messages until `add_comm` (`unknown.rs`).
//!
//! An index is a slot (20 bits) and a generation (12 bits), so that a late message to a communicator
//! that is gone is recognised and dropped. Where a process hosts several ranks of a communicator,
//! each is a [`Comm`] of its own and the destination endpoint tells them apart.
//!
//! **Access.** [`CommTable`] is read by the holder of any CRI's lock and changed by the holder of all. A [`Comm`] lives from
//! `add_comm` to `del_comm`, and beyond while released requests still use it. Routes are written once
//! (release store of the peer) and their head again when the answer has come; a sender that read the
//! old head sends one more prefix, which is harmless.

use crate::matching::{Engine, Key, Pattern};
use crate::order::fork::Users;
use crate::peers::route::Route;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Entered, Lock, Owned, Shards};
use crate::receive::spread::{Layout, Spreading};
use crate::requests::request::Request;
use crate::state::fifos::Fifos;
use crate::state::inbound::Inbound;
use crate::state::members::Members;
use crate::state::note::NO_EPOCH;

use crate::state::paged::Paged;
use crate::wire::{self, Prefix};
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Caller, LockServices, Seat, Status};
use oxmpi_pml::{CommDesc, assert_flag};
use std::collections::{HashMap, VecDeque};

/// A communicator (`comm.rs`).
pub struct Comm {
    /// Endpoint and index, as [`wire::address_of`] gives them.
    pub address: u64,
    pub my_rank: i32,
    pub num_peers: u32,
    /// The program's promises ([`oxmpi_pml::assert_flag`]).
    pub assertions: AtomicU32,
    pub shards: Shards<ShardData>,
    pub routes: Paged<Route>,
    /// Messages of each source that wait for an earlier one, where they have numbers.
    pub inbound: Paged<Inbound>,
    /// The process sends by streams, and users' messages may not overtake each other.
    pub by_tag: AtomicBool,
    pub streams: bool,
    /// See [`Comm::epoch`].
    pub epoch: AtomicU64,
    /// See `revoke.rs`.
    pub revoked: AtomicBool,
    /// The threads that send on it.
    pub users: Users,
    /// Some source's messages take the FIFOs of their tags.
    pub forked: AtomicBool,
    pub members: Members,
    pub fixed_index: Option<u32>,
    pub gid: [u64; 2],
    /// Another rank of the same communicator in this process, under the same fixed index.
    pub sibling: Cell<*mut Comm>,
    /// The FIFOs of messages to this rank and from it.
    pub fifos: Fifos,
}

const SLOT_BITS: u32 = 20;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
/// Slots below belong to fixed indices.
const FIXED_SLOTS: u32 = 16;

impl Comm {
    /// Gives the communicator behind the pointer that the host has.
    ///
    /// # Safety
    /// `comm` is what `add_comm` gave and `del_comm` has not had.
    #[inline(always)]
    pub unsafe fn of<'a>(comm: *mut c_void) -> &'a Comm {
        // SAFETY: the caller's promise.
        unsafe { &*comm.cast::<Comm>() }
    }

    /// Gives the communicator of a request.
    ///
    /// # Safety
    /// The request was described, and its communicator is alive.
    #[inline(always)]
    pub unsafe fn of_request(req: &Request) -> &Comm {
        // SAFETY: descriptions note a communicator by its `handle`; the rest is the caller's promise.
        unsafe { Comm::of(req.comm().cast_mut()) }
    }

    /// Gives the pointer that [`Comm::of`] takes.
    pub fn handle(&self) -> *const c_void {
        core::ptr::from_ref(self).cast()
    }

    /// Whether the program made a promise ([`oxmpi_pml::assert_flag`]) for this communicator. Each speaks of the
    /// process that makes it.
    #[inline(always)]
    pub fn asserts(&self, flag: u32) -> bool {
        self.assertions.load(Ordering::Relaxed) & flag != 0
    }
    /// Replaces the program's promises ([`oxmpi_pml::assert_flag`]), and with them how messages find their FIFOs and
    /// shards. Gathers the communicator.
    pub fn set_assertions(&self, flags: u32, threaded: bool) {
        self.assertions.store(flags, Ordering::Relaxed);
        let overtaking = flags & assert_flag::ALLOW_OVERTAKING != 0;
        self.by_tag.store(self.streams && !overtaking, Ordering::Relaxed);
        if overtaking {
            self.epoch.store(Self::NO_EPOCH, Ordering::Relaxed);
        }
        self.promise(&mut self.shards.enter_in_mode_one(threaded));
    }
    /// Whether a message's FIFO follows from communicator and tag alone: all messages that an exact-tag receive can
    /// match take the same, or one after the other (`fork.rs`).
    #[inline(always)]
    pub fn by_tag(&self) -> bool {
        self.by_tag.load(Ordering::Relaxed)
    }
    /// Gives the communicator's epoch: while it stays, so do the FIFOs of the messages of each source and tag. No other
    /// communicator has the same; with [`Comm::NO_EPOCH`] nothing is said.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        // SYNC POINT with `fork_from`: who sees an epoch sees where messages come in it.
        self.epoch.load(Ordering::Acquire)
    }
    /// The epoch of a communicator whose messages' FIFOs do not follow from their tags, or did not once, or which was
    /// revoked.
    pub const NO_EPOCH: u64 = NO_EPOCH;
    /// The distance from one epoch of a communicator to its next.
    pub const NEXT_EPOCH: u64 = 1 << 40;

    /// Passes the program's promises about wildcards to home's record of spreading. `home`: the content of the home
    /// shard, whose lock is held.
    fn promise(&self, home: &mut ShardData) {
        let (no_any_tag, no_any_source) = (assert_flag::NO_ANY_TAG, assert_flag::NO_ANY_SOURCE);
        home.spreading.promise(self.asserts(no_any_tag), self.asserts(no_any_source));
    }

    /// Enters the shard that a message belongs to: its lock is held until the result is dropped.
    #[inline(always)]
    pub fn shard_of(&self, key: Key, threaded: bool, who: Caller) -> Entered<'_, ShardData> {
        self.shards.enter(threaded, who, |layout| layout.of(key))
    }

    /// Enters the shard that a message belongs to, if the thread of that seat owns its lock. `None`: it does not, or
    /// the shard is not open; [`Comm::shard_of`] enters in any case.
    #[inline(always)]
    pub fn own_shard(&self, key: Key, seat: &'static Seat) -> Option<Owned<'_, ShardData>> {
        self.shards.enter_own(seat, |layout| layout.of(key))
    }

    /// Enters the shard that a receive is posted in and whose messages it finds: its lock is held until the result is
    /// dropped. Where a receive fits into none alone, the communicator is gathered first.
    #[inline(always)]
    pub fn shard_for(&self, pattern: Pattern, threaded: bool, who: Caller) -> Entered<'_, ShardData> {
        self.shards.enter(threaded, who, |layout| layout.of_receive(pattern))
    }

    /// Enters the shard that a receive of the thread with this number is posted in, and spreads the communicator first
    /// if different threads have received in turns often enough. The lock is held until the result is dropped.
    #[inline(always)]
    pub fn enter_to_receive(
        &self,
        pattern: Pattern,
        (thread, who): (u32, Caller),
        threaded: bool,
    ) -> Entered<'_, ShardData> {
        let mut shard = self.shard_for(pattern, threaded, who);
        if !threaded {
            return shard;
        }
        if !pattern.has_tag() {
            shard.spreading.cool();
            return shard;
        }
        let user = thread.saturating_add(1);
        if shard.spreading.changes_hands(user) { self.change_hands(shard, user, pattern) } else { shard }
    }

    /// Notes that another thread, `user` (its number plus 1), receives in the shard, and spreads the communicator if
    /// that is due. Gives the shard of the receive, entered.
    #[inline(never)]
    fn change_hands<'a>(
        &'a self,
        mut shard: Entered<'a, ShardData>,
        user: u32,
        pattern: Pattern,
    ) -> Entered<'a, ShardData> {
        if !shard.spreading.warm(user) {
            return shard;
        }
        self.shards.spread(shard);
        self.shard_for(pattern, true, None)
    }

    /// Gives the communicator's index: its number in this process, by which senders name it.
    pub fn index(&self) -> u32 {
        (self.address >> 16) as u32
    }
    /// Gives the endpoint of this communicator's own rank in this process.
    fn endpoint(&self) -> u16 {
        self.address as u16
    }

    /// Gives process (its rank in the job) and endpoint of a rank of the communicator. `None`: no such rank.
    pub fn place(&self, rank: i32) -> Option<(u32, u16)> {
        self.members.place(rank)
    }

    /// Marks the communicator as revoked and takes the peers out of its routes, so that nothing is sent on it any more.
    /// The caller holds all CRI locks. `true`: it was revoked before.
    pub fn revoke(&self) -> bool {
        self.epoch.store(Self::NO_EPOCH, Ordering::Relaxed);
        let before = self.revoked.swap(true, Ordering::Relaxed);
        for route in self.routes.iter() {
            route.peer.store(null_mut(), Ordering::Release);
        }
        before
    }
    /// Whether the communicator was revoked.
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }
    /// Gives the process of a rank, as its rank in the job. `None`: no such rank.
    pub fn process_of(&self, rank: i32) -> Option<u32> {
        self.place(rank).map(|(proc, _)| proc)
    }

    /// Whether a rank of the communicator is one of the process `proc`.
    pub fn is_from(&self, rank: i32, proc: u32) -> bool {
        self.place(rank).is_some_and(|(p, _)| p == proc)
    }

    /// Gives the record of a source's messages that wait for an earlier one. `None`: none was made.
    pub fn inbound_made(&self, rank: usize) -> Option<&Inbound> {
        self.inbound.get(rank)
    }
    /// Iterates over the records of messages that wait for an earlier one, of all sources that may have any.
    pub fn all_inbound(&self) -> impl Iterator<Item = &Inbound> {
        self.inbound.iter()
    }

    /// Whether the messages of a source (negative: of any source) take the FIFOs of their tags.
    #[inline(always)]
    pub fn is_forked(&self, source: i32) -> bool {
        self.forked.load(Ordering::Relaxed)
            && (source < 0 || self.routes.get(source as usize).is_some_and(|route| route.forked.is_passed()))
    }

    /// Makes the prefix that names this communicator to a process that does not know its index here.
    pub fn prefix(&self) -> Prefix {
        Prefix { gid: self.gid, index: self.index(), endpoint: self.endpoint(), version: wire::VERSION }
    }

    /// Whether a message that was kept because the table did not have its communicator is for this one. `prefix`: the
    /// message's, if it has one.
    pub fn claims(&self, head: u64, prefix: Option<&Prefix>) -> bool {
        match prefix {
            Some(p) => {
                self.fixed_index.is_none() && p.gid == self.gid && wire::endpoint_of(head) == self.endpoint()
            }
            None => self.fixed_index.is_some() && wire::address_of(head) == self.address,
        }
    }
}

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
    pub dying: Vec<*mut Comm>,
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
        let fifos = Fifos::of(desc);
        let layout = Layout::new(fifos.salt(), most_shards, false);
        self.added += 1;
        let comm = Box::new(Comm {
            address: desc.my_endpoint as u64 | (index as u64) << 16,
            my_rank: desc.my_rank,
            num_peers: desc.num_peers,
            assertions: AtomicU32::new(desc.flags),
            shards: Shards::new(ShardData::new(engine, Spreading::new(layout)), Lock::new(locks)),
            routes: Paged::new(desc.num_peers as usize),
            inbound: Paged::new(desc.num_peers as usize),
            by_tag: AtomicBool::new(streams && desc.flags & assert_flag::ALLOW_OVERTAKING == 0),
            streams,
            epoch: AtomicU64::new(self.added),
            revoked: AtomicBool::new(false),
            users: Users::default(),
            forked: AtomicBool::new(false),
            // SAFETY: the host's promise; what outlives `del_comm` keeps a copy.
            members: unsafe { Members::new(desc.num_peers, desc.procs, desc.endpoints) },
            fixed_index: fixed,
            gid: desc.gid,
            sibling: Cell::new(self.slots[slot as usize].comm),
            fifos,
        });
        if desc.flags != 0 {
            comm.promise(&mut comm.shards.home(false));
        }
        let comm = Box::into_raw(comm);
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

    /// Takes the deleted communicators that nothing uses any more out of the table, each with the pointer that the host
    /// had. One in which receives are posted stays, and all stay if `busy`. The caller holds all CRI locks.
    pub fn reap(&mut self, busy: bool) -> Vec<(*const Comm, Comm)> {
        let mut gone = Vec::new();
        let dying = core::mem::take(&mut self.dying);
        for comm in dying {
            let mut used = busy;
            // SAFETY: in the table, so alive.
            unsafe { &*comm }.shards.each(false, |shard| used |= shard.engine.has_posted());
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
