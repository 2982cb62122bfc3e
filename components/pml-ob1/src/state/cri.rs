//! One CRI's part of the component's state, and what its holder does with it.

use crate::communicators::comm::Comm;
use crate::matching::Key;
use crate::peers::peer::Peer;
use crate::peers::stripes::FragmentsAhead;
use crate::receive::orphan::Orphan;
use crate::receive::shard::ShardData;
use crate::receive::shards::Spot;
use crate::requests::ids::IdTable;
use crate::requests::memory::Retired;
use crate::requests::request::Request;
use crate::requests::work::Work;
use crate::state::guarded::{Guarded, Held};
use core::cell::Cell;
use core::ptr::{NonNull, null, null_mut};
use oxmpi_mca::Host;
use oxmpi_mca::host::receive::STOP;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::collections::BTreeSet;

/// Data of the holder of one CRI's lock.
#[repr(align(128))]
pub struct Cri {
    /// Its number.
    ctx: u32,
    /// The host's part, with the lock.
    base: NonNull<oxmpi_mca::Cri>,
    /// Peers with something waiting for room.
    backlog: Guarded<Vec<*const Peer>>,
    ids: Guarded<IdTable>,
    /// Messages for communicators to come.
    orphans: Guarded<Vec<Orphan>>,
    /// Messages that went with their communicator, by process and the sender's request (`cancel.rs`).
    discarded: Guarded<BTreeSet<(u32, u64)>>,
    /// Messages that came before their sender's SWITCH (`switch.rs`).
    early: Guarded<Vec<Orphan>>,
    /// Ids of requests that ended with their communicator.
    retired: Guarded<Retired>,
    /// Fragments that came ahead of their turn (`stripes.rs`).
    ahead: Guarded<FragmentsAhead>,
    /// How many of the lost peers were closed on this CRI.
    closed: Cell<u32>,
    /// Messages that came and no receive fitted. The holder of the lock writes it, and the host's engine reads it.
    kept: AtomicU32,
    /// The answer of the transport's callback: `receive::STOP` where the receives that come next are to be posted
    /// first.
    stop: Cell<u32>,
    /// The receive that was posted last of those whose messages come here, as far as that is known. A hint: written
    /// without a lock.
    newest: AtomicPtr<Request>,
    /// Work that waits beside messages.
    work: Work,
    /// Messages without stamp that were numbered.
    numbered: Cell<u64>,
    /// Where the last plain message of a process with several threads went (`receive/arrive.rs`).
    last_arrival: ArrivalCache,
    /// Spent on matching what came here; the holder of the lock writes it.
    match_time: AtomicU64,
}

/// A CRI's note of the last plain message: where those with its head and key go. Touched by the holder of its lock.
pub struct ArrivalCache {
    head: Cell<u64>,
    key: Cell<Key>,
    comm: Cell<*const Comm>,
    spot: Cell<Option<Spot<ShardData>>>,
}

impl Cri {
    /// Makes the state of the CRI with this number, with nothing under way.
    pub fn new(host: &Host, ctx: u32) -> Cri {
        Cri {
            ctx,
            base: NonNull::from(host.cri(ctx)),
            backlog: Guarded::default(),
            ids: Guarded::default(),
            orphans: Guarded::default(),
            discarded: Guarded::default(),
            early: Guarded::default(),
            retired: Guarded::default(),
            ahead: Guarded::default(),
            closed: Cell::new(0),
            kept: AtomicU32::new(0),
            stop: Cell::new(0),
            newest: AtomicPtr::new(null_mut()),
            work: Work::default(),
            numbered: Cell::new(0),
            last_arrival: ArrivalCache::default(),
            match_time: AtomicU64::default(),
        }
    }

    /// Gives its number.
    #[inline(always)]
    pub fn ctx(&self) -> u32 {
        self.ctx
    }
    /// Gives the work that waits beside messages.
    #[inline(always)]
    pub fn work(&self) -> &Work {
        &self.work
    }
    /// Gives the table of the ids of requests that peers may quote on this CRI.
    pub fn ids(&self) -> &Guarded<IdTable> {
        &self.ids
    }
    /// Gives the ids of requests that ended with their communicator.
    pub fn retired(&self) -> &Guarded<Retired> {
        &self.retired
    }
    /// Gives the fragments that came ahead of their turn.
    pub fn ahead(&self) -> &Guarded<FragmentsAhead> {
        &self.ahead
    }
    /// Gives the messages for communicators to come.
    pub fn orphans(&self) -> &Guarded<Vec<Orphan>> {
        &self.orphans
    }
    /// Gives the messages that came before their sender's SWITCH.
    pub fn early(&self) -> &Guarded<Vec<Orphan>> {
        &self.early
    }
    /// Gives the messages that went with their communicator, by process and the sender's request.
    pub fn discarded(&self) -> &Guarded<BTreeSet<(u32, u64)>> {
        &self.discarded
    }
    /// Gives the note of the last plain message.
    #[inline(always)]
    pub fn last_arrival(&self) -> &ArrivalCache {
        &self.last_arrival
    }

    /// Puts a peer on the list of those with something that waits for room.
    pub fn add_waiting_peer(&self, held: &Held<'_>, peer: &Peer) {
        self.backlog.with(held, |b| b.push(peer));
        self.work.mark(Work::BACKLOG);
    }
    /// Gives how many peers have something that waits for room.
    pub fn waiting_peers(&self, held: &Held<'_>) -> usize {
        self.backlog.with(held, |b| b.len())
    }
    /// Gives a peer with something that waits for room, by its place in the list.
    pub fn waiting_peer(&self, held: &Held<'_>, at: usize) -> &Peer {
        // SAFETY: peers stay until `finalize`.
        unsafe { &*self.backlog.with(held, |b| b[at]) }
    }
    /// Takes a peer off the list of those with something that waits for room; the last one takes its place.
    pub fn remove_waiting_peer(&self, held: &Held<'_>, at: usize) {
        let left = self.backlog.with(held, |b| {
            b.swap_remove(at);
            b.len()
        });
        if left == 0 {
            self.work.unmark(Work::BACKLOG);
        }
    }

    /// Has the transport stop behind the message that is being handled, since the receives that come next are to be posted
    /// first.
    pub fn ask_to_stop(&self) {
        self.stop.set(STOP);
    }
    /// Gives the answer of the transport's callback to the message that was handled.
    #[inline(always)]
    pub fn take_stop(&self) -> u32 {
        self.stop.take()
    }
    /// Gives how many of the lost peers were closed on this CRI.
    #[inline(always)]
    pub fn closed(&self) -> u32 {
        self.closed.get()
    }
    /// Notes how many of the lost peers are closed on this CRI.
    pub fn note_closed(&self, closed: u32) {
        self.closed.set(closed);
    }
    /// Gives the word that counts the messages that came and no receive fitted, for the host's engine.
    pub fn kept_word(&self) -> *const AtomicU32 {
        &raw const self.kept
    }
    /// Adds nanoseconds to the time of matching. By the holder of the lock.
    pub fn add_match_time(&self, ns: u64) {
        self.match_time.store(self.match_time() + ns, Ordering::Relaxed);
    }
    /// Gives the measured time of matching, in nanoseconds.
    pub fn match_time(&self) -> u64 {
        self.match_time.load(Ordering::Relaxed)
    }

    /// Gives what a FIFO needs of its CRI: the host's part, with the lock, and the work that waits.
    pub fn parts(&self) -> (&oxmpi_mca::Cri, &Work) {
        (self.base(), &self.work)
    }
    /// Gives the host's part of the CRI, with the lock.
    #[inline(always)]
    pub fn base(&self) -> &oxmpi_mca::Cri {
        // SAFETY: the host's table outlives the module.
        unsafe { self.base.as_ref() }
    }
    /// Gives the next arrival number of this CRI, for a message without stamp: above the order keys that messages get
    /// otherwise and below any stamp (`spread.rs`).
    pub fn number(&self, _held: &Held<'_>) -> u64 {
        self.numbered.set(self.numbered.get() + 1);
        1 << 32 | self.numbered.get()
    }
    /// Counts a message that no receive fits. `true`: no receive will fit one that follows it either, since those that
    /// were posted here have their messages; better let their thread go on.
    pub fn count_kept(&self, _held: &Held<'_>) -> bool {
        self.kept.store(self.kept.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        // SAFETY: null, or a request, which is never freed while messages come.
        unsafe { self.newest.load(Ordering::Relaxed).as_ref() }.is_some_and(Request::is_complete)
    }
    /// Notes a receive as the one posted last of those whose messages come on this CRI.
    #[inline(always)]
    pub fn posted(&self, req: &'static Request) {
        self.newest.store(core::ptr::from_ref(req).cast_mut(), Ordering::Relaxed);
    }
}

impl Default for ArrivalCache {
    fn default() -> ArrivalCache {
        ArrivalCache { head: Cell::new(0), key: Cell::new(0), comm: Cell::new(null()), spot: Cell::new(None) }
    }
}

impl ArrivalCache {
    /// Notes the communicator and the shard to which plain messages with this head and key go.
    #[inline(always)]
    pub fn take(&self, head: u64, key: Key, comm: *const Comm, spot: Spot<ShardData>) {
        self.head.set(head);
        self.key.set(key);
        self.comm.set(comm);
        self.spot.set(Some(spot));
    }

    /// Drops the note, because its shard is not open any more.
    pub fn drop_spot(&self) {
        self.spot.set(None);
    }

    /// Gives the communicator of the note.
    pub fn comm(&self) -> *const Comm {
        self.comm.get()
    }

    /// Drops the note, because its communicator goes.
    pub fn forget(&self, _held: &Held<'_>) {
        self.spot.set(None);
    }

    /// Gives the shard of plain messages with this head and key. `None`: the note is about others.
    #[inline(always)]
    pub fn look(&self, head: u64, key: Key) -> Option<Spot<ShardData>> {
        if self.head.get() == head && self.key.get() == key { self.spot.get() } else { None }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::matching::{Choice, Engine, Setting, Simd, Windows};
    use crate::receive::incoming::STAMPED;
    use crate::receive::shards::{Lock, Shards};
    use crate::receive::spread::{Layout, Spreading};
    use oxmpi_mca::LockServices;

    #[test]
    fn a_way_is_good_for_one_head_and_key_until_it_is_forgotten() {
        let setting =
            Setting { choice: Choice::List, simd: Simd::best(), walk: 1, windows: Windows::default() };
        let spreading = Spreading::new(Layout::new(0, 1, false));
        let shards = Shards::new(
            ShardData::new(Engine::new(setting), spreading),
            Lock::new(LockServices::WITHOUT_OWNERS),
        );
        let spot = shards.spot(|layout| layout.of(3)).unwrap();
        let (cache, head) = (ArrivalCache::default(), u64::from(STAMPED));
        assert!(cache.look(0, 0).is_none(), "nothing is noted yet");
        cache.take(head, 3, null(), spot);
        assert!(cache.look(head, 3).is_some());
        assert!(cache.look(head, 4).is_none() && cache.look(head | 1 << 40, 3).is_none());
        // SAFETY: nobody else is here.
        cache.forget(&unsafe { Held::inherited(0, true, None) });
        assert!(cache.look(head, 3).is_none());
    }
}
