//! One CRI's part of the component's state: what others may read ([`Cri`]), and what belongs to its holder ([`CriData`]).

use crate::matching::Key;
use crate::peers::stripes::FragmentsAhead;
use crate::receive::orphan::Orphan;
use crate::receive::shard::ShardData;
use crate::receive::shards::Spot;
use crate::requests::claim::Claim;
use crate::requests::ids::IdTable;
use crate::requests::memory::Retired;
use crate::requests::request::Request;
use crate::requests::work::Work;
use core::ptr::{NonNull, null_mut};
use oxmpi_mca::CriGuard;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_pml::Next;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Words of one CRI. Its holder writes them, where nothing else is said; others may read them.
#[repr(align(128))]
pub struct Cri {
    ctx: u32,
    /// Work that waits beside messages. Peers have it, too: a transport that ends an operation finds it by the peer.
    work: Arc<Work>,
    /// Messages that came and no receive fitted, for the host's engine.
    kept: AtomicU32,
    /// The receives that come next are to be posted before the transport brings more messages.
    stop: AtomicBool,
    /// The receive that was posted last of those whose messages come here, as far as that is known. A hint: any thread writes it.
    newest: AtomicPtr<Request>,
    /// Messages without stamp that were numbered.
    numbered: AtomicU64,
    /// Spent on matching what came here.
    match_time: AtomicU64,
}

/// Data of the holder of one CRI.
#[repr(C, align(128))]
#[derive(Default)]
pub struct CriData {
    /// Where the last plain message of a process with several threads went (`receive/arrive.rs`).
    last_arrival: ArrivalCache,
    /// How many of the lost peers were closed on this CRI.
    closed: u32,
    /// Processes to which something waits for room.
    backlog: Vec<u32>,
    /// Requests of gathered messages, complete behind the next turn (`send/eager.rs`).
    gathered: Vec<&'static Request>,
    ids: IdTable,
    /// Messages for communicators to come.
    orphans: Vec<Orphan>,
    /// Messages that went with their communicator, by process and the sender's request (`cancel.rs`).
    discarded: BTreeSet<(u32, u64)>,
    /// Messages that came before their sender's SWITCH (`switch.rs`).
    early: Vec<Orphan>,
    /// Ids of requests that ended with their communicator.
    retired: Retired,
    /// Fragments that came ahead of their turn (`stripes.rs`).
    ahead: FragmentsAhead,
    /// Messages that the transport reads to their place (`long/claims.rs`).
    claims: Vec<Claim>,
}

/// A CRI that a thread's receives were led to, for the next ones: its words are found without a look at its number.
#[derive(Clone, Copy)]
pub struct CriSpot(NonNull<Cri>);

// SAFETY: it only names the words of a CRI, which any thread may read.
unsafe impl Send for CriSpot {}

impl CriSpot {
    /// The words themselves.
    ///
    /// # Safety
    /// The instance that they are of stays where it is for as long as what is returned lives.
    #[inline(always)]
    pub unsafe fn get<'a>(self) -> &'a Cri {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }
    }
}

impl From<&Cri> for CriSpot {
    fn from(cri: &Cri) -> CriSpot {
        CriSpot(cri.into())
    }
}

/// A CRI's note of the last plain message: where those with its head and key go.
#[derive(Default)]
pub struct ArrivalCache {
    head: u64,
    key: Key,
    spot: Option<Spot<ShardData>>,
}

impl Cri {
    /// Makes the words of the CRI with this number, with nothing under way.
    pub fn new(ctx: u32) -> Cri {
        Cri {
            ctx,
            work: Arc::new(Work::new(ctx)),
            kept: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            newest: AtomicPtr::new(null_mut()),
            numbered: AtomicU64::new(0),
            match_time: AtomicU64::default(),
        }
    }

    /// Which CRI.
    #[inline(always)]
    pub fn ctx(&self) -> u32 {
        self.ctx
    }

    /// Gives the work that waits beside messages.
    #[inline(always)]
    pub fn work(&self) -> &Arc<Work> {
        &self.work
    }

    /// Has the transport stop behind the message that is being handled, since the receives that come next are to be posted
    /// first.
    pub fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
    /// Gives the answer to the transport that has brought a message.
    #[inline(always)]
    pub fn take_stop(&self) -> Next {
        let stop = self.stop.load(Ordering::Relaxed);
        self.stop.store(false, Ordering::Relaxed);
        if stop { Next::Stop } else { Next::Any }
    }
    /// Gives the word that counts the messages that came and no receive fitted, for the host's engine.
    pub fn kept_word(&self) -> *const AtomicU32 {
        &raw const self.kept
    }
    /// Adds nanoseconds to the time of matching. By the holder of the CRI.
    pub fn add_match_time(&self, _held: &CriGuard<'_>, ns: u64) {
        self.match_time.store(self.match_time() + ns, Ordering::Relaxed);
    }
    /// Gives the measured time of matching, in nanoseconds.
    pub fn match_time(&self) -> u64 {
        self.match_time.load(Ordering::Relaxed)
    }

    /// Gives the next arrival number of this CRI, for a message without stamp: above the order keys that messages get
    /// otherwise and below any stamp (`spread.rs`).
    pub fn number(&self, _held: &CriGuard<'_>) -> u64 {
        let number = self.numbered.load(Ordering::Relaxed) + 1;
        self.numbered.store(number, Ordering::Relaxed);
        1 << 32 | number
    }
    /// Counts a message that no receive fits. `true`: no receive will fit one that follows it either, since those that
    /// were posted here have their messages; better let their thread go on.
    pub fn count_kept(&self, _held: &CriGuard<'_>) -> bool {
        self.kept.store(self.kept.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        // SAFETY: null, or a request that `posted` was called with, and requests are never freed.
        unsafe { self.newest.load(Ordering::Relaxed).as_ref() }.is_some_and(Request::is_complete)
    }
    /// Notes a receive as the one posted last of those whose messages come on this CRI.
    #[inline(always)]
    pub fn posted(&self, req: &'static Request) {
        self.newest.store(core::ptr::from_ref(req).cast_mut(), Ordering::Relaxed);
    }
}

impl CriData {
    /// Gives the table of the ids of requests that peers may quote on this CRI.
    pub fn ids(&mut self) -> &mut IdTable {
        &mut self.ids
    }
    /// Gives the ids of requests that ended with their communicator.
    pub fn retired(&mut self) -> &mut Retired {
        &mut self.retired
    }
    /// Gives the claimed messages that have not come whole.
    pub fn claims(&mut self) -> &mut [Claim] {
        &mut self.claims
    }
    /// Adds a claimed message; those go whose receive is over, and which never come whole perhaps.
    pub fn add_claim(&mut self, claim: Claim) {
        let ids = &self.ids;
        self.claims.retain(|claim| ids.get(claim.id()).is_some());
        self.claims.push(claim);
    }
    /// Takes the claimed message out whose receive has that id. `None`: there is none.
    pub fn take_claim(&mut self, id: u64) -> Option<Claim> {
        let at = self.claims.iter().position(|claim| claim.id() == id)?;
        Some(self.claims.swap_remove(at))
    }
    /// Gives the fragments that came ahead of their turn.
    pub fn ahead(&mut self) -> &mut FragmentsAhead {
        &mut self.ahead
    }
    /// Gives the messages for communicators to come.
    pub fn orphans(&mut self) -> &mut Vec<Orphan> {
        &mut self.orphans
    }
    /// Gives the messages that came before their sender's SWITCH.
    pub fn early(&mut self) -> &mut Vec<Orphan> {
        &mut self.early
    }
    /// Gives the messages that went with their communicator, by process and the sender's request.
    pub fn discarded(&mut self) -> &mut BTreeSet<(u32, u64)> {
        &mut self.discarded
    }
    /// Gives the processes to which something waits for room.
    pub fn backlog(&mut self) -> &mut Vec<u32> {
        &mut self.backlog
    }
    /// Gives the requests of gathered messages.
    pub fn gathered(&mut self) -> &mut Vec<&'static Request> {
        &mut self.gathered
    }
    /// Gives the note of the last plain message.
    #[inline(always)]
    pub fn last_arrival(&mut self) -> &mut ArrivalCache {
        &mut self.last_arrival
    }
    /// Gives how many of the lost peers were closed on this CRI.
    pub fn closed(&mut self) -> &mut u32 {
        &mut self.closed
    }
}

impl ArrivalCache {
    /// Notes the shard to which plain messages with this head and key go.
    #[inline(always)]
    pub fn take(&mut self, head: u64, key: Key, spot: Spot<ShardData>) {
        *self = ArrivalCache { head, key, spot: Some(spot) };
    }

    /// Drops the note, because its shard is not open any more, or its communicator goes.
    pub fn forget(&mut self) {
        self.spot = None;
    }

    /// Gives the shard of plain messages with this head and key. `None`: the note is about others.
    #[inline(always)]
    pub fn look(&self, head: u64, key: Key) -> Option<Spot<ShardData>> {
        if self.head != head {
            return None;
        }
        if self.key == key { self.spot } else { None }
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
        let (mut cache, head) = (ArrivalCache::default(), u64::from(STAMPED));
        assert!(cache.look(0, 0).is_none(), "nothing is noted yet");
        cache.take(head, 3, spot);
        assert!(cache.look(head, 3).is_some());
        assert!(cache.look(head, 4).is_none() && cache.look(head | 1 << 40, 3).is_none());
        cache.forget();
        assert!(cache.look(head, 3).is_none());
    }
}
