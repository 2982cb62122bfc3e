//! CRI locks as values, and data that only their holder touches.
//!
//! Everything the transport callbacks touch (queues and credits of peers, the table of request ids,
//! the table of communicators) is guarded by the lock of the CRI the messages flow on; what all CRIs
//! share is read under any of their locks and written under all ([`AllHeld`]). [`Held`] is the proof of
//! holding one: made by taking the lock, or inside a transport's callback, whose caller holds it. Below
//! THREAD_MULTIPLE the one thread that makes calls holds it by being alone.

use core::cell::UnsafeCell;
use oxmpi_mca::{Guard, Host, Lock};

/// Shards that (communicator, tag) is spread over; the same in all processes of a job (`spread.rs`).
const SHARDS: u32 = crate::shards::MOST as u32;

/// The CRI whose FIFO carries a message once there are several. All messages that an exact-tag receive
/// can match must share one, so this is a function of communicator and tag alone; low tag bits count,
/// so that consecutive tags never collide. `width`: how many FIFOs the two processes have.
#[inline(always)]
pub const fn fifo_of(salt: u32, tag: i32, width: u32) -> u32 {
    (salt.wrapping_add(tag as u32) % SHARDS) % width
}

/// The FIFO that everything starts on, and the only one below MULTIPLE.
pub const FIFO: u32 = 0;

/// Proof that a CRI's lock is held, or that no lock is needed.
pub struct Held<'a> {
    _guard: Guard<'a>,
    /// Which CRI.
    pub ctx: u32,
    /// What `Ob1::threaded` said when this call began.
    pub threaded: bool,
}

impl<'a> Held<'a> {
    /// Takes the lock. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn take(host: &'a Host, ctx: u32, threaded: bool) -> Held<'a> {
        Held { _guard: host.cri(ctx).lock.guard(threaded), ctx, threaded }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub fn try_take(host: &'a Host, ctx: u32, threaded: bool) -> Option<TryHeld<'a>> {
        let lock = &host.cri(ctx).lock;
        if threaded && !lock.try_lock() {
            return None;
        }
        // SAFETY: we hold the lock until `TryHeld` goes.
        Some(TryHeld { held: unsafe { Held::inherited(lock, ctx, threaded) }, lock })
    }

    /// Inside a callback.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than this lives.
    #[inline(always)]
    pub unsafe fn inherited(lock: &'a Lock, ctx: u32, threaded: bool) -> Held<'a> {
        Held { _guard: lock.guard(false), ctx, threaded }
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

/// All CRI locks, taken in rising order: nothing arrives and nothing is sent meanwhile.
pub struct AllHeld<'a> {
    host: &'a Host,
    width: u32,
    threaded: bool,
}

impl<'a> AllHeld<'a> {
    /// The caller holds no CRI lock and no shard lock.
    pub fn take(host: &'a Host, width: u32, threaded: bool) -> AllHeld<'a> {
        if threaded {
            (0..width).for_each(|ctx| host.cri(ctx).lock.lock());
        }
        AllHeld { host, width, threaded }
    }
    /// The lock of one CRI as a value.
    pub fn held(&self, ctx: u32) -> Held<'_> {
        debug_assert!(ctx < self.width);
        // SAFETY: we hold it.
        unsafe { Held::inherited(&self.host.cri(ctx).lock, ctx, self.threaded) }
    }
    pub fn each(&self) -> impl Iterator<Item = Held<'_>> {
        (0..self.width).map(|ctx| self.held(ctx))
    }
}

impl Drop for AllHeld<'_> {
    fn drop(&mut self) {
        if self.threaded {
            (0..self.width).for_each(|ctx| self.host.cri(ctx).lock.unlock());
        }
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
