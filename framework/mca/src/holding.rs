//! Taking the locks of CRIs through the host (`cri.rs` has the locks and the proofs of holding one).

use crate::biased::{Caller, check_in_among, level, note_out_among};
use crate::cri::{CriGuard, members};
use crate::host::Host;
use crate::sync::Ordering;

/// The locks of several CRIs, taken in rising order.
pub struct CriSetGuard<'a> {
    host: &'a Host,
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
            let cri = self.host.cri(ctx);
            let owned = self.owned >> ctx & 1 != 0;
            if owned {
                cri.note_holder(self.who);
            }
            cri.bias.leave_among(&cri.lock, self.who, owned);
        }
        note_out_among(self.who, level::CRI);
    }
}

impl Host {
    /// Takes a CRI's lock if `threaded`. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn hold(&self, ctx: u32, who: Caller, threaded: bool) -> CriGuard<'_> {
        let lock = threaded.then(|| {
            let cri = self.cri(ctx);
            cri.enter(who);
            cri
        });
        CriGuard { lock, ctx, threaded, who }
    }

    /// Takes a CRI's lock if it is free, or owned by the caller.
    #[inline(always)]
    pub fn try_hold(&self, ctx: u32, who: Caller, threaded: bool) -> Option<CriGuard<'_>> {
        if !threaded {
            return Some(CriGuard { lock: None, ctx, threaded, who });
        }
        let cri = self.cri(ctx);
        if cri.try_enter(who) { Some(CriGuard { lock: Some(cri), ctx, threaded, who }) } else { None }
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

    /// The locks of a set of CRIs, by bits, taken in rising order. `who` stays the owner of those that it owns. The
    /// caller holds no CRI lock and no shard lock.
    pub fn hold_set(&self, set: u64, who: Caller, threaded: bool) -> CriSetGuard<'_> {
        let mut all = CriSetGuard { host: self, set, owned: 0, who, threaded };
        if threaded {
            check_in_among(who, level::CRI);
            for ctx in members(set) {
                let cri = self.cri(ctx);
                let owned = cri.bias.enter_among::<{ level::CRI }>(&cri.lock, who);
                // No seat is used in here, least of all that of whoever held it before.
                cri.note_holder(None);
                all.owned |= u64::from(owned) << ctx;
            }
        }
        all
    }

    /// To be called before the first operation on a CRI, by whoever issues it: from then on progress and arm cover it. Those
    /// below it become active, too, so that CRI 1 tells whether any but the first is. May be called while holding the CRI.
    #[inline(always)]
    pub fn activate(&self, ctx: u32) {
        if self.cri(ctx).active.load(Ordering::Relaxed) == 0 {
            (0..=ctx).rev().for_each(|ctx| self.cri(ctx).active.store(1, Ordering::Relaxed));
        }
    }

    /// How many CRIs progress and arm have to cover: all that are active, from 0, and 0 in any case.
    pub fn active_cris(&self) -> u32 {
        let active = |&ctx: &u32| self.cri(ctx).active.load(Ordering::Relaxed) != 0;
        1 + (1..self.num_cris()).take_while(active).count() as u32
    }
}
