//! The CRI lock as a value, and data that only its holder touches.
//!
//! Everything the transport callbacks touch (queues and credits of peers, the table of request ids,
//! the table of communicators) is guarded by the lock of the CRI the messages flow on. [`Held`] is the
//! proof of holding it: made by taking the lock, or inside a transport's callback, whose caller holds
//! it. Below THREAD_MULTIPLE the one thread that makes calls holds it by being alone.

use core::cell::UnsafeCell;
use oxmpi_mca::{Guard, Host, Lock};

/// The CRI whose FIFO carries a message of this communicator and tag. All messages that an
/// exact-tag receive can match must share one, so this is a function of nothing else. One FIFO now.
#[inline(always)]
pub const fn fifo_of(_comm: u32, _tag: i32) -> u32 {
    0
}

/// The only FIFO there is, for what belongs to no message.
pub const FIFO: u32 = fifo_of(0, 0);

/// Proof that the CRI's lock is held, or that no lock is needed.
pub struct Held<'a> {
    _guard: Guard<'a>,
    /// What `Host::threaded` said when this call began.
    pub threaded: bool,
}

impl<'a> Held<'a> {
    /// Takes the lock. The caller holds no shard lock.
    #[inline(always)]
    pub fn take(host: &'a Host, ctx: u32, threaded: bool) -> Held<'a> {
        Held { _guard: host.cri(ctx).lock.guard(threaded), threaded }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub fn try_take(host: &'a Host, ctx: u32, threaded: bool) -> Option<TryHeld<'a>> {
        let lock = &host.cri(ctx).lock;
        if threaded && !lock.try_lock() {
            return None;
        }
        // SAFETY: we hold the lock until `TryHeld` goes.
        Some(TryHeld { held: unsafe { Held::inherited(lock, threaded) }, lock })
    }

    /// Inside a callback.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock for longer than this lives.
    #[inline(always)]
    pub unsafe fn inherited(lock: &'a Lock, threaded: bool) -> Held<'a> {
        Held { _guard: lock.guard(false), threaded }
    }
}

/// A lock taken by [`Held::try_take`].
pub struct TryHeld<'a> {
    pub held: Held<'a>,
    lock: &'a Lock,
}

impl Drop for TryHeld<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.held.threaded {
            self.lock.unlock();
        }
    }
}

/// Data of the holder of the CRI lock.
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
