//! Taking the locks of CRIs (`cri.rs` has the locks and the proofs of holding one).

use crate::biased::{Caller, check_in_among, level, note_out_among};
use crate::cri::{Cri, CriGuard, members};
use crate::host::Host;
use crate::sync::Ordering;

/// The CRIs of an instance, by number, with the ways into them.
#[derive(Clone, Copy)]
pub struct Cris<'a>(&'a [Cri]);

/// The locks of several CRIs, taken in rising order.
pub struct CriSetGuard<'a> {
    cris: Cris<'a>,
    set: u64,
    /// Those that `who` owned.
    owned: u64,
    who: Caller,
    threaded: bool,
}

impl CriSetGuard<'_> {
    /// The proof for one CRI of the set.
    pub fn held(&self, ctx: u32) -> CriGuard<'_> {
        debug_assert!(self.set >> ctx & 1 != 0);
        // SAFETY: we hold it. Not with the caller's seat, which is inside none of them.
        unsafe { CriGuard::inherited(ctx, self.threaded, None) }
    }
    /// The proofs for all of them, rising.
    pub fn each(&self) -> impl Iterator<Item = CriGuard<'_>> {
        members(self.set).map(|ctx| self.held(ctx))
    }
}

impl Drop for CriSetGuard<'_> {
    fn drop(&mut self) {
        if !self.threaded {
            return;
        }
        for ctx in members(self.set) {
            let cri = self.cris.at(ctx);
            let owned = self.owned >> ctx & 1 != 0;
            if owned {
                cri.note_holder(self.who);
            }
            cri.bias.leave_among(&cri.lock, self.who, owned);
        }
        note_out_among(self.who, level::CRI);
    }
}

/// Takes the lock of the CRI that `find` gives, if `threaded`.
#[inline(always)]
fn hold<'a>(find: impl FnOnce() -> &'a Cri, ctx: u32, who: Caller, threaded: bool) -> CriGuard<'a> {
    let lock = threaded.then(|| {
        let cri = find();
        cri.enter(who);
        cri
    });
    CriGuard { lock, ctx, threaded, who }
}

/// The same if the lock is free, or owned by the caller.
#[inline(always)]
fn try_hold<'a>(
    find: impl FnOnce() -> &'a Cri,
    ctx: u32,
    who: Caller,
    threaded: bool,
) -> Option<CriGuard<'a>> {
    if !threaded {
        return Some(CriGuard { lock: None, ctx, threaded, who });
    }
    let cri = find();
    if cri.try_enter(who) { Some(CriGuard { lock: Some(cri), ctx, threaded, who }) } else { None }
}

impl<'a> Cris<'a> {
    /// The CRIs of an instance; there is at least one.
    #[inline(always)]
    pub fn new(cris: &'a [Cri]) -> Cris<'a> {
        Cris(cris)
    }

    /// How many there are.
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

    /// Takes a CRI's lock if `threaded`. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn hold(self, ctx: u32, who: Caller, threaded: bool) -> CriGuard<'a> {
        hold(|| self.at(ctx), ctx, who, threaded)
    }

    /// Takes a CRI's lock if it is free, or owned by the caller.
    #[inline(always)]
    pub fn try_hold(self, ctx: u32, who: Caller, threaded: bool) -> Option<CriGuard<'a>> {
        try_hold(|| self.at(ctx), ctx, who, threaded)
    }

    /// The locks of a set of CRIs, by bits, taken in rising order. `who` stays the owner of those that it owns. The
    /// caller holds no CRI lock and no shard lock.
    pub fn hold_set(self, set: u64, who: Caller, threaded: bool) -> CriSetGuard<'a> {
        let mut all = CriSetGuard { cris: self, set, owned: 0, who, threaded };
        if threaded {
            check_in_among(who, level::CRI);
            for ctx in members(set) {
                let cri = self.at(ctx);
                let owned = cri.bias.enter_among::<{ level::CRI }>(&cri.lock, who);
                // No seat is used in here, least of all that of whoever held it before.
                cri.note_holder(None);
                all.owned |= u64::from(owned) << ctx;
            }
        }
        all
    }

    /// Whether any but the first is in use.
    #[inline(always)]
    pub fn several_are_active(self) -> bool {
        self.0.get(1).is_some_and(|cri| cri.active.load(Ordering::Relaxed) != 0)
    }

    /// How many of them progress and arm have to cover: all that are active, from 0, and 0 in any case.
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

    /// Takes a CRI's lock if `threaded`. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn hold(&self, ctx: u32, who: Caller, threaded: bool) -> CriGuard<'_> {
        hold(|| self.cri(ctx), ctx, who, threaded)
    }

    /// Takes a CRI's lock if it is free, or owned by the caller.
    #[inline(always)]
    pub fn try_hold(&self, ctx: u32, who: Caller, threaded: bool) -> Option<CriGuard<'_>> {
        try_hold(|| self.cri(ctx), ctx, who, threaded)
    }

    /// Inside a transport's callback for `ctx`.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than the result lives.
    #[inline(always)]
    pub unsafe fn inherit(&self, ctx: u32, threaded: bool) -> CriGuard<'_> {
        // The holder has written itself there; the one before does not take that back.
        let who = if threaded { self.cri(ctx).holder() } else { None };
        // SAFETY: the caller's promise.
        unsafe { CriGuard::inherited(ctx, threaded, who) }
    }

    /// As [`Cris::hold_set`].
    pub fn hold_set(&self, set: u64, who: Caller, threaded: bool) -> CriSetGuard<'_> {
        self.cris().hold_set(set, who, threaded)
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
