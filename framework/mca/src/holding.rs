//! Taking the locks of CRIs (`cri.rs` has the locks and the proofs of holding one).

use crate::biased::{check_in_among, level, note_out_among};
use crate::cri::{Cri, CriGuard, OwnerGuard, is_in, members};
use crate::entry::Entry;
use crate::host::Host;
use crate::sync::Ordering;
use crate::thread::ThreadCtx;
use core::marker::PhantomData;

/// The CRIs of an instance, by number, with the ways into them.
#[derive(Clone, Copy)]
pub struct Cris<'a>(&'a [Cri]);

/// The locks of several CRIs, taken in rising order.
pub struct CriSetGuard<'a> {
    cris: Cris<'a>,
    set: u64,
    /// Those that the caller owned, each with a bit of its own.
    owned: u128,
    entry: Entry,
    lent: PhantomData<&'a mut Entry>,
}

impl CriSetGuard<'_> {
    /// The CRIs that are held, by bits ([`crate::cri::MOST_CRIS`]).
    pub fn set(&self) -> u64 {
        self.set
    }
    /// The way in of the call that holds them, for locks below a CRI's.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
    /// The proof for one CRI of the set. Panics where it is not in the set.
    pub fn held(&mut self, ctx: u32) -> CriGuard<'_> {
        assert!(ctx < self.cris.len() && is_in(self.set, ctx), "CRI {ctx} is not held");
        // SAFETY: we hold it, and are borrowed as long as the proof lives. Not with the caller's seat, which is inside none of them.
        unsafe { CriGuard::inherited(ctx, self.entry.is_among(), None) }
    }
    /// Calls `f` with the proof for each of them, rising.
    pub fn for_each(&mut self, mut f: impl FnMut(&mut CriGuard<'_>)) {
        members(self.set, self.cris.len()).for_each(|ctx| f(&mut self.held(ctx)));
    }
}

impl Drop for CriSetGuard<'_> {
    fn drop(&mut self) {
        if !self.entry.is_among() {
            return;
        }
        for ctx in members(self.set, self.cris.len()) {
            let cri = self.cris.at(ctx);
            let owned = self.owned >> ctx & 1 != 0;
            if owned {
                cri.note_holder(self.entry.who());
            }
            cri.bias.leave_among(&cri.lock, self.entry.who(), owned);
        }
        note_out_among(self.entry.who(), level::CRI);
    }
}

/// A guard with the lock, or without one where the thread is alone.
#[inline(always)]
fn guard<'a>(lock: Option<&'a Cri>, ctx: u32, entry: &'a mut Entry) -> CriGuard<'a> {
    let who = entry.seat();
    // SAFETY: the caller's is borrowed as long as this one lives.
    CriGuard { lock, ctx, entry: unsafe { entry.lent() }, who, lent: PhantomData }
}

/// Takes the lock of the CRI that `find` gives, where there are other threads.
#[inline(always)]
fn hold<'a>(find: impl FnOnce() -> &'a Cri, ctx: u32, entry: &'a mut Entry) -> CriGuard<'a> {
    let lock = entry.is_among().then(|| {
        let cri = find();
        // SAFETY: the entry's own seat. It is borrowed by every guard, so its thread holds no CRI.
        unsafe { cri.enter(entry.who()) };
        cri
    });
    guard(lock, ctx, entry)
}

/// The same if the lock is free, or owned by the caller.
#[inline(always)]
fn try_hold<'a>(find: impl FnOnce() -> &'a Cri, ctx: u32, entry: &'a mut Entry) -> Option<CriGuard<'a>> {
    if !entry.is_among() {
        return Some(guard(None, ctx, entry));
    }
    let cri = find();
    // SAFETY: as in `hold`: the entry's own seat, of a thread that holds no CRI.
    if unsafe { cri.try_enter(entry.who()) } { Some(guard(Some(cri), ctx, entry)) } else { None }
}

impl<'a> Cris<'a> {
    /// The CRIs of an instance; there is at least one.
    #[inline(always)]
    pub fn new(cris: &'a [Cri]) -> Cris<'a> {
        Cris(cris)
    }

    /// Number of CRIs.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.0.len() as u32
    }

    /// The CRI of that number.
    #[inline(always)]
    pub fn at(self, ctx: u32) -> &'a Cri {
        &self.0[ctx as usize]
    }

    /// Takes a CRI's lock, where there are other threads. The caller holds no shard lock.
    #[inline(always)]
    pub fn hold<'g>(self, entry: &'g mut Entry, ctx: u32) -> CriGuard<'g>
    where
        'a: 'g,
    {
        hold(|| self.at(ctx), ctx, entry)
    }

    /// Takes a CRI's lock if it is free, or owned by the caller.
    #[inline(always)]
    pub fn try_hold<'g>(self, entry: &'g mut Entry, ctx: u32) -> Option<CriGuard<'g>>
    where
        'a: 'g,
    {
        try_hold(|| self.at(ctx), ctx, entry)
    }

    /// Enters a CRI as the owner of its lock, where the entry's thread is that.
    #[inline(always)]
    pub fn enter_own<'g>(self, entry: &'g mut Entry, ctx: u32) -> Option<OwnerGuard<'g>>
    where
        'a: 'g,
    {
        OwnerGuard::enter(entry, self.at(ctx), ctx)
    }

    /// The locks of a set of CRIs, by bits ([`crate::cri::MOST_CRIS`]), taken in rising order. The caller stays the owner of those that it owns. The
    /// caller holds no CRI lock and no shard lock.
    pub fn hold_set<'g>(self, entry: &'g mut Entry, set: u64) -> CriSetGuard<'g>
    where
        'a: 'g,
    {
        let who = entry.who();
        // SAFETY: the caller's is borrowed as long as the guard lives.
        let own = unsafe { entry.lent() };
        let mut all = CriSetGuard { cris: self, set, owned: 0, entry: own, lent: PhantomData };
        if entry.is_among() {
            check_in_among(who, level::CRI);
            for ctx in members(set, self.len()) {
                let cri = self.at(ctx);
                let owned = cri.bias.enter_among::<{ level::CRI }>(&cri.lock, who);
                // No seat is used in here, least of all that of whoever held it before.
                cri.note_holder(None);
                all.owned |= u128::from(owned) << ctx;
            }
        }
        all
    }

    /// True where any but the first is in use.
    #[inline(always)]
    pub fn several_are_active(self) -> bool {
        self.0.get(1).is_some_and(|cri| cri.active.load(Ordering::Relaxed) != 0)
    }

    /// Number of CRIs that progress and arm have to cover: all that are active, from 0, and 0 in any case.
    pub fn active(self) -> u32 {
        let active = |cri: &&Cri| cri.active.load(Ordering::Relaxed) != 0;
        1 + self.0[1..].iter().take_while(active).count() as u32
    }
}

impl Host {
    /// The CRIs, by number.
    #[inline(always)]
    pub fn cris(&self) -> Cris<'_> {
        let table = self.table();
        // SAFETY: `num_cris` of them stand there for the life of the table.
        Cris(unsafe { core::slice::from_raw_parts(table.cris, table.num_cris as usize) })
    }

    /// Takes a CRI's lock, where there are other threads. The caller holds no shard lock.
    #[inline(always)]
    pub fn hold<'g>(&'g self, entry: &'g mut Entry, ctx: u32) -> CriGuard<'g> {
        hold(|| self.cri(ctx), ctx, entry)
    }

    /// Takes a CRI's lock if it is free, or owned by the caller.
    #[inline(always)]
    pub fn try_hold<'g>(&'g self, entry: &'g mut Entry, ctx: u32) -> Option<CriGuard<'g>> {
        try_hold(|| self.cri(ctx), ctx, entry)
    }

    /// Takes a CRI's lock, and gives it back with the entry if `right` says no, which is asked under it. The error is that entry.
    #[inline(always)]
    pub fn hold_if<'g>(
        &'g self,
        entry: &'g mut Entry,
        ctx: u32,
        right: impl FnOnce(&mut CriGuard<'g>) -> bool,
    ) -> Result<CriGuard<'g>, &'g mut Entry> {
        // SAFETY: the caller's is not used before the guard with this one is gone, or is borrowed as long as that lives.
        let own = unsafe { entry.lent() };
        let lock = own.is_among().then(|| {
            let cri = self.cri(ctx);
            // SAFETY: the seat of the caller's entry, which is borrowed: its thread holds no CRI.
            unsafe { cri.enter(own.who()) };
            cri
        });
        let mut held = CriGuard { lock, ctx, who: own.seat(), entry: own, lent: PhantomData };
        if right(&mut held) {
            return Ok(held);
        }
        drop(held);
        Err(entry)
    }

    /// As [`Cris::enter_own`].
    #[inline(always)]
    pub fn enter_own<'g>(&'g self, entry: &'g mut Entry, ctx: u32) -> Option<OwnerGuard<'g>> {
        OwnerGuard::enter(entry, self.cri(ctx), ctx)
    }

    /// The way in of a callback, or of a verb that the host calls: once for each.
    ///
    /// # Safety
    /// The calling thread is inside a call that has come in by the gate, and has no other entry that is not lent. `thread` is its context, or null.
    #[inline(always)]
    pub unsafe fn entry(&self, thread: *mut ThreadCtx) -> Entry {
        // SAFETY: the word says whether there may be several, and changes only while nobody is inside but waits and the user's code; the
        // context is the caller's promise.
        unsafe { Entry::of(self.threaded(), thread) }
    }

    /// Inside a transport's callback for `ctx`.
    ///
    /// # Safety
    /// As for [`CriGuard::inherited`].
    #[inline(always)]
    pub unsafe fn inherit(&self, ctx: u32, among: bool) -> CriGuard<'_> {
        // The holder has written itself there; the one before does not take that back.
        let who = if among { self.cri(ctx).holder() } else { None };
        // SAFETY: the caller's promise.
        unsafe { CriGuard::inherited(ctx, among, who) }
    }

    /// As [`Cris::hold_set`].
    pub fn hold_set<'g>(&'g self, entry: &'g mut Entry, set: u64) -> CriSetGuard<'g> {
        self.cris().hold_set(entry, set)
    }

    /// To be called before the first operation on a CRI, by whoever issues it: from then on progress and arm cover it. Those
    /// below it become active, too, so that CRI 1 tells whether any but the first is. May be called while holding the CRI.
    #[inline(always)]
    pub fn activate(&self, ctx: u32) {
        if self.cri(ctx).active.load(Ordering::Relaxed) == 0 {
            (0..=ctx).rev().for_each(|ctx| self.cri(ctx).active.store(1, Ordering::Relaxed));
        }
    }

    /// As [`Cris::active`].
    pub fn active_cris(&self) -> u32 {
        self.cris().active()
    }
}
