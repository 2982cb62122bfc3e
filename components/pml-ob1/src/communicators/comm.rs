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
//! **Access.** [`CommTable`](crate::communicators::index::CommTable) is read by the holder of any CRI's lock and changed by the holder of all. A [`Comm`] lives as long as
//! somebody has an [`Arc`] of it: the host, from `add_comm` to `del_comm`; the table, and with it whoever found it there, until nothing uses
//! the communicator any more, which may be after `del_comm`; a message that a matched probe took out; the list of those with deferred messages.
//! Requests name it without one: the table has it as long as any is under way. Routes are written once
//! (release store of the peer) and their head again when the answer has come; a sender that read the
//! old head sends one more prefix, which is harmless.

use crate::communicators::inbound::Inbound;
use crate::communicators::members::Members;
use crate::matching::{Key, Pattern};
use crate::order::fork::Users;
use crate::peers::route::Route;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Entered, Owned, Shards};
use crate::requests::request::Request;
use crate::state::fifos::Fifos;
use crate::state::locked::ALWAYS;
use crate::state::note::NO_EPOCH;
use crate::state::paged::Paged;
use crate::wire::{self, Prefix, flag, kind};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Caller, Entry, Seat};
use oxmpi_pml::{Described, assert_flag};
use std::sync::{Arc, Weak};

/// A communicator.
pub struct Comm {
    /// Endpoint and index, as [`wire::address_of`] gives them.
    pub(super) address: u64,
    pub(super) my_rank: i32,
    pub(super) num_peers: u32,
    /// The program's promises ([`oxmpi_pml::assert_flag`]).
    pub(super) assertions: AtomicU32,
    pub(super) shards: Shards<ShardData>,
    pub(super) routes: Paged<Route>,
    /// Messages of each source that wait for an earlier one, where they have numbers.
    pub(super) inbound: Paged<Inbound>,
    /// The process sends by streams, and users' messages may not overtake each other.
    pub(super) by_tag: AtomicBool,
    pub(super) streams: bool,
    /// See [`Comm::epoch`].
    pub(super) epoch: AtomicU64,
    /// See `revoke.rs`.
    pub(super) revoked: AtomicBool,
    /// The threads that send on it.
    pub(super) users: Users,
    /// Some source's messages take the FIFOs of their tags.
    pub(super) forked: AtomicBool,
    pub(super) members: Members,
    pub(super) fixed_index: Option<u32>,
    pub(super) gid: [u64; 2],
    /// This communicator, for those who keep it.
    this: Weak<Comm>,
    /// The FIFOs of messages to this rank and from it.
    pub(super) fifos: Fifos,
}

impl Comm {
    /// Makes a communicator of its description. `index`: its number in this process, and that number again if it is fixed;
    /// `epoch`: one that no other has; `streams`: messages find their FIFOs by communicator and tag.
    pub(super) fn new(
        desc: Described<'_>,
        (index, fixed_index): (u32, Option<u32>),
        shards: Shards<ShardData>,
        epoch: u64,
        streams: bool,
    ) -> Arc<Comm> {
        let comm = Arc::new_cyclic(|this| Comm {
            address: desc.my_endpoint as u64 | (index as u64) << 16,
            my_rank: desc.my_rank,
            num_peers: desc.num_peers,
            assertions: AtomicU32::new(desc.flags),
            shards,
            routes: Paged::new(desc.num_peers as usize),
            inbound: Paged::new(desc.num_peers as usize),
            by_tag: AtomicBool::new(streams && desc.flags & assert_flag::ALLOW_OVERTAKING == 0),
            streams,
            epoch: AtomicU64::new(epoch),
            revoked: AtomicBool::new(false),
            users: Users::default(),
            forked: AtomicBool::new(false),
            // SAFETY: the host's arrays live until `del_comm`; what outlives that keeps a copy.
            members: unsafe { Members::new(desc.num_peers, desc.procs, desc.endpoints) },
            fixed_index,
            gid: desc.gid,
            this: this.clone(),
            fifos: Fifos::of(&desc),
        });
        if desc.flags != 0 {
            comm.promise(&mut comm.shards.home(ALWAYS));
        }
        comm
    }

    /// Gives our rank.
    #[inline(always)]
    pub fn my_rank(&self) -> i32 {
        self.my_rank
    }
    /// Whether a source that a message names is one of the communicator's ranks.
    #[inline(always)]
    pub fn has_source(&self, source: i32) -> bool {
        (source as u32) < self.num_peers
    }
    /// Gives the matching shards.
    #[inline(always)]
    pub fn shards(&self) -> &Shards<ShardData> {
        &self.shards
    }
    /// Gives the threads that send on it.
    #[inline(always)]
    pub fn users(&self) -> &Users {
        &self.users
    }
    /// Gives the FIFOs of messages to this rank and from it.
    #[inline(always)]
    pub fn fifos(&self) -> &Fifos {
        &self.fifos
    }
    /// Whether that is its global id.
    pub fn has_gid(&self, gid: [u64; 2]) -> bool {
        self.gid == gid
    }

    /// Gives the way to a rank. `None`: none was made.
    #[inline(always)]
    pub fn route_made(&self, rank: i32) -> Option<&Route> {
        self.routes.get(rank as u32 as usize)
    }
    /// Gives the way to a rank, made now if there is none, under a lock that keeps others from making it; it is not open yet
    /// then. `None`: no such rank.
    pub fn make_route(&self, rank: i32) -> Option<&Route> {
        self.routes.make(rank as usize)
    }
    /// Gives word 0 of a MATCH header to an endpoint whose process has not told its index.
    pub fn first_head(&self, endpoint: u16) -> u64 {
        match self.fixed_index {
            Some(index) => wire::head(kind::MATCH, 0, endpoint, index),
            None => wire::head(kind::MATCH, flag::CID, endpoint, wire::NO_INDEX),
        }
    }
    /// Gives the record of a source's messages that wait for an earlier one, made now if there is none, under a lock that keeps
    /// others from making it. `None`: no such rank.
    pub fn make_inbound(&self, rank: usize) -> Option<&Inbound> {
        self.inbound.make(rank)
    }
    /// Notes that the messages of a source, one of its ranks, take the FIFOs of their tags from now on, and begins a new epoch, under
    /// a lock that keeps others from making the way to the rank. Everything in front of the source's SWITCH has been handled.
    pub fn fork_from(&self, source: i32) {
        if let Some(route) = self.make_route(source) {
            // SYNC POINT with `is_forked`.
            route.pass_fork();
            self.forked.store(true, Ordering::Relaxed);
            let next = |epoch| (epoch != Self::NO_EPOCH).then(|| epoch + Self::NEXT_EPOCH);
            // SYNC POINT with `epoch`.
            let _ = self.epoch.fetch_update(Ordering::Release, Ordering::Relaxed, next);
        }
    }

    /// Gives the communicator of a request.
    ///
    /// # Safety
    /// The request was described, and its communicator is alive.
    #[inline(always)]
    pub unsafe fn of_request(req: &Request) -> &Comm {
        // SAFETY: what [`Comm::note_in`] wrote, which is the address of a communicator; that it is alive is the caller's promise.
        unsafe { &*req.comm().cast::<Comm>() }
    }

    /// Notes in a request that it is on this communicator.
    #[inline(always)]
    pub fn note_in(&self, req: &Request) {
        // SAFETY: the address of a communicator.
        unsafe { req.set_comm(core::ptr::from_ref(self).cast()) }
    }

    /// Whether a request is on this communicator.
    pub fn is_of(&self, req: &Request) -> bool {
        core::ptr::eq(req.comm().cast(), self)
    }

    /// Gives the communicator to one who keeps it. `None`: it is going.
    pub fn kept(&self) -> Option<Arc<Comm>> {
        self.this.upgrade()
    }

    /// Whether the program made a promise ([`oxmpi_pml::assert_flag`]) for this communicator. Each speaks of the
    /// process that makes it.
    #[inline(always)]
    pub fn asserts(&self, flag: u32) -> bool {
        self.assertions.load(Ordering::Relaxed) & flag != 0
    }
    /// Replaces the program's promises ([`oxmpi_pml::assert_flag`]), and with them how messages find their FIFOs and
    /// shards. Gathers the communicator.
    pub fn set_assertions(&self, entry: &Entry, flags: u32) {
        self.assertions.store(flags, Ordering::Relaxed);
        let overtaking = flags & assert_flag::ALLOW_OVERTAKING != 0;
        self.by_tag.store(self.streams && !overtaking, Ordering::Relaxed);
        if overtaking {
            self.epoch.store(Self::NO_EPOCH, Ordering::Relaxed);
        }
        self.promise(&mut self.shards.enter_in_mode_one(entry));
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
    const NEXT_EPOCH: u64 = 1 << 40;

    /// Passes the program's promises about wildcards to home's record of spreading. `home`: the content of the home
    /// shard, whose lock is held.
    fn promise(&self, home: &mut ShardData) {
        let (no_any_tag, no_any_source) = (assert_flag::NO_ANY_TAG, assert_flag::NO_ANY_SOURCE);
        home.spreading().promise(self.asserts(no_any_tag), self.asserts(no_any_source));
    }

    /// Enters the shard that a message belongs to: its lock is held until the result is dropped.
    #[inline(always)]
    pub fn shard_of<'a>(&'a self, key: Key, entry: &'a Entry, who: Caller) -> Entered<'a, ShardData> {
        self.shards.enter(entry, who, |layout| layout.of(key))
    }

    /// Enters the shard that a message belongs to, if the thread of that seat owns its lock, which the entry's is. `None`: it does not, or
    /// the shard is not open; [`Comm::shard_of`] enters in any case.
    #[inline(always)]
    pub fn own_shard<'a>(
        &'a self,
        key: Key,
        entry: &'a Entry,
        seat: &'static Seat,
    ) -> Option<Owned<'a, ShardData>> {
        self.shards.enter_own(entry, seat, |layout| layout.of(key))
    }

    /// Enters the shard that a receive is posted in and whose messages it finds: its lock is held until the result is
    /// dropped. Where a receive fits into none alone, the communicator is gathered first.
    #[inline(always)]
    pub fn shard_for<'a>(
        &'a self,
        pattern: Pattern,
        entry: &'a Entry,
        who: Caller,
    ) -> Entered<'a, ShardData> {
        self.shards.enter(entry, who, |layout| layout.of_receive(pattern))
    }

    /// Enters the shard that a receive of the thread with this number is posted in, and spreads the communicator first
    /// if different threads have received in turns often enough. The lock is held until the result is dropped.
    #[inline(always)]
    pub fn enter_to_receive<'a>(
        &'a self,
        pattern: Pattern,
        entry: &'a Entry,
        (thread, who): (u32, Caller),
    ) -> Entered<'a, ShardData> {
        let mut shard = self.shard_for(pattern, entry, who);
        if !entry.is_among() {
            return shard;
        }
        if !pattern.has_tag() {
            shard.spreading().cool();
            return shard;
        }
        let user = thread.saturating_add(1);
        if !shard.spreading().changes_hands(user) {
            return shard;
        }
        self.change_hands(shard, user, pattern)
    }

    /// Notes that another thread, `user` (its number plus 1), among several, receives in the shard, and spreads the communicator if
    /// that is due. Gives the shard of the receive, entered.
    #[inline(never)]
    fn change_hands<'a>(
        &'a self,
        mut shard: Entered<'a, ShardData>,
        user: u32,
        pattern: Pattern,
    ) -> Entered<'a, ShardData> {
        if !shard.spreading().warm(user) {
            return shard;
        }
        self.shards.spread(shard);
        self.shard_for(pattern, ALWAYS, None)
    }

    /// Gives the communicator's index: its number in this process, by which senders name it.
    pub fn index(&self) -> u32 {
        (self.address >> 16) as u32
    }
    /// Gives the endpoint of this communicator's own rank in this process.
    pub(super) fn endpoint(&self) -> u16 {
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
            route.close();
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
            && (source < 0 || self.routes.get(source as usize).is_some_and(Route::is_forked))
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
