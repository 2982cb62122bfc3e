//! One CRI's part of the component's state, and what its holder does with it.

use crate::matching::Key;
use crate::receive::shard::ShardData;
use crate::receive::shards::Spot;
use crate::state::attention::SharedFlag;
use crate::state::guarded::{Guarded, Held};
use crate::state::objects::{ArrivalCache, Comm, Cri, Request};
use core::cell::Cell;
use core::ptr::{NonNull, null, null_mut};
use oxmpi_mca::Host;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

impl Cri {
    /// A bit of `waiting`: peers in `backlog` have something that waits for room.
    pub const BACKLOG: u32 = 1;
    /// A bit of `waiting`: pieces of the requests in `landed` have landed.
    pub const LANDED: u32 = 2;
    /// A bit of `waiting` that stays once it is set: receives may have to be swept out (`revoke.rs`).
    pub const SWEEP: u32 = 4;

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
            turns: Cell::new(0),
            kept: Cell::new(0),
            stop: Cell::new(0),
            newest: AtomicPtr::new(null_mut()),
            waiting: AtomicU32::new(0),
            landed: Cell::new(core::ptr::null()),
            flying: Cell::new(0),
            shared: SharedFlag::default(),
            numbered: Cell::new(0),
            last_arrival: ArrivalCache::default(),
            match_time: AtomicU64::default(),
        }
    }

    /// Whether something on the CRI waits for room, or for its request to go on. Any thread may ask where a hint is
    /// enough.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) & !Cri::SWEEP != 0
    }
    /// Sets a bit of `waiting`. By the holder of the lock.
    pub fn mark(&self, bit: u32) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
    }
    /// Clears a bit of `waiting`. By the holder of the lock.
    pub fn unmark(&self, bit: u32) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed) & !bit, Ordering::Relaxed);
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
        self.kept.set(self.kept.get().wrapping_add(1));
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
