//! Data that CRI locks guard, which belongs to their holders.
//!
//! Everything the transport callbacks touch (queues and credits of peers, the table of request ids,
//! the table of communicators) is guarded by the lock of the CRI the messages flow on; what all CRIs
//! share is read under any of their locks and written under all ([`AllHeld`]). [`Held`] is the proof of
//! holding one. Locks and proofs are the contract's (`oxmpi_mca::cri`).

use crate::module::Ob1;
use core::cell::UnsafeCell;
use oxmpi_mca::Caller;
pub use oxmpi_mca::cri::{members, set_below};
pub use oxmpi_mca::{CriGuard as Held, CriSetGuard as AllHeld, OwnerGuard as Inside};

impl Ob1 {
    /// Takes a CRI's lock. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn hold(&self, ctx: u32, who: Caller, threaded: bool) -> Held<'_> {
        self.host.hold(ctx, who, threaded)
    }

    /// Takes a CRI's lock if it is free.
    #[inline(always)]
    pub fn try_hold(&self, ctx: u32, who: Caller, threaded: bool) -> Option<Held<'_>> {
        self.host.try_hold(ctx, who, threaded)
    }

    /// Inside a transport's callback for `ctx`.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than the result lives.
    #[inline(always)]
    pub unsafe fn inherit(&self, ctx: u32, threaded: bool) -> Held<'_> {
        // SAFETY: the caller's promise.
        unsafe { self.host.inherit(ctx, threaded) }
    }

    /// All CRI locks below `width`, taken in rising order: nothing arrives and nothing is sent meanwhile. The caller
    /// holds no CRI lock and no shard lock.
    pub fn hold_all(&self, width: u32, threaded: bool) -> AllHeld<'_> {
        self.hold_set(set_below(width), None, threaded)
    }

    /// The CRI locks of a set, by bits, taken in rising order. What `who` owns of them it owns afterwards, too.
    pub fn hold_set(&self, set: u64, who: Caller, threaded: bool) -> AllHeld<'_> {
        self.host.hold_set(set, who, threaded)
    }
}

/// Data of the holder of the CRI lock.
#[derive(Default)]
pub struct Guarded<T>(UnsafeCell<T>);

impl<T> Guarded<T> {
    pub const fn new(value: T) -> Guarded<T> {
        Guarded(UnsafeCell::new(value))
    }
    /// `f` must not reach this very value again; all uses are short and call nothing of this room
    /// that could.
    #[inline(always)]
    pub fn with<R>(&self, _held: &Held<'_>, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the holder of the lock is alone, and uses do not nest.
        f(unsafe { &mut *self.0.get() })
    }
}
