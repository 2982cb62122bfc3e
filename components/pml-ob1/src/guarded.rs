//! CRI locks as values, and data that only their holder touches.
//!
//! Everything the transport callbacks touch (queues and credits of peers, the table of request ids,
//! the table of communicators) is guarded by the lock of the CRI the messages flow on; what all CRIs
//! share is read under any of their locks and written under all ([`AllHeld`]). [`Held`] is the proof of
//! holding one: made by taking the lock, or inside a transport's callback, whose caller holds it. Below
//! THREAD_MULTIPLE the one thread that makes calls holds it by being alone.

use crate::biased::{Biased, Seat, Who, level};
use crate::module::{Cri, Ob1};
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;
use oxmpi_mca::Lock;

/// Shards that (communicator, tag) is spread over; the same in all processes of a job (`spread.rs`).
pub const SHARDS: u32 = crate::shards::MOST as u32;

/// The CRI whose FIFO carries a message once there are several. All messages that an exact-tag receive
/// can match must share one, so this is a function of communicator and tag alone; low tag bits count,
/// so that consecutive tags never collide. `width`: how many FIFOs the two processes have.
#[inline(always)]
pub fn fifo_of(salt: u32, tag: i32, width: u32) -> u32 {
    FIFOS.get(width as usize).map_or(FIFO, |fifos| fifos[shard_of(salt, tag)].into())
}

/// The shard of (communicator, tag), below [`SHARDS`].
#[inline(always)]
pub fn shard_of(salt: u32, tag: i32) -> usize {
    salt.wrapping_add(tag as u32) as usize % SHARDS as usize
}

/// By width and shard: dividing takes longer than looking it up.
static FIFOS: [[u8; SHARDS as usize]; 65] = {
    let mut fifos = [[0; SHARDS as usize]; 65];
    let mut width = 1;
    while width < fifos.len() {
        let mut shard = 0;
        while shard < SHARDS as usize {
            fifos[width][shard] = (shard % width) as u8;
            shard += 1;
        }
        width += 1;
    }
    fifos
};

/// The FIFO that everything starts on, and the only one below MULTIPLE.
pub const FIFO: u32 = 0;

/// Proof that a CRI's lock is held, or that no lock is needed.
pub struct Held<'a> {
    lock: Option<Taken<'a>>,
    /// Which CRI.
    pub ctx: u32,
    /// What `Ob1::threaded` said when this call began.
    pub threaded: bool,
    /// The holder, where it is known.
    pub who: Who,
}

/// A CRI's lock, to be given back.
struct Taken<'a> {
    cri: &'a Cri,
    word: &'a Lock,
}

/// What leads into a CRI beside its lock: on lines that are not written while one thread goes in and out.
#[repr(align(128))]
#[derive(Default)]
pub struct Entrance {
    bias: Biased<{ level::CRI }>,
}

impl Entrance {
    /// A thread other than `who` goes in and out by itself.
    #[inline(always)]
    pub fn is_anothers(&self, who: Who) -> bool {
        self.bias.is_anothers(who)
    }
}

impl<'a> Held<'a> {
    /// Inside a callback.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than this lives: the thread `who`, if that is known.
    #[inline(always)]
    pub unsafe fn inherited(ctx: u32, threaded: bool, who: Who) -> Held<'a> {
        Held { lock: None, ctx, threaded, who }
    }
}

impl Held<'_> {
    /// Gives the lock back as if it had not been taken: a look that found nothing makes nobody's run of acquisitions
    /// shorter (`biased.rs`).
    #[inline(always)]
    pub fn leave_no_trace(mut self) {
        if let Some(taken) = self.lock.take() {
            taken.cri.entrance.bias.leave_no_trace(taken.word, self.who);
        }
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(taken) = &self.lock {
            taken.cri.entrance.bias.leave(taken.word, self.who);
        }
    }
}

/// A CRI whose lock the thread that is inside owns (`biased.rs`): it comes and goes without a look at the rest.
pub struct Inside<'a> {
    entrance: &'a Entrance,
    seat: &'static Seat,
}

impl<'a> Inside<'a> {
    /// Inside, if the thread of that seat owns the lock. Then the CRI knows who is inside: the owner was the last to
    /// write that down.
    #[inline(always)]
    pub fn enter(cri: &'a Cri, seat: &'static Seat) -> Option<Inside<'a>> {
        let entrance = &cri.entrance;
        if entrance.bias.enter_own(seat) { Some(Inside { entrance, seat }) } else { None }
    }

    /// The lock as a value, which gives nothing back.
    #[inline(always)]
    pub fn held(&self, ctx: u32) -> ManuallyDrop<Held<'_>> {
        // SAFETY: the lock is held as long as `self` lives.
        ManuallyDrop::new(unsafe { Held::inherited(ctx, true, Some(self.seat)) })
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.entrance.bias.leave_own(self.seat);
    }
}

impl Ob1 {
    /// Takes a CRI's lock. The caller holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub fn hold(&self, ctx: u32, who: Who, threaded: bool) -> Held<'_> {
        let cri = self.cri(ctx);
        let lock = threaded.then(|| {
            let word = &self.host.cri(ctx).lock;
            cri.entrance.bias.enter(word, who);
            cri.holder.set(who);
            Taken { cri, word }
        });
        Held { lock, ctx, threaded, who }
    }

    /// Takes a CRI's lock if it is free.
    #[inline(always)]
    pub fn try_hold(&self, ctx: u32, who: Who, threaded: bool) -> Option<Held<'_>> {
        if !threaded {
            return Some(Held { lock: None, ctx, threaded, who });
        }
        let (cri, word) = (self.cri(ctx), &self.host.cri(ctx).lock);
        if !cri.entrance.bias.try_enter(word, who) {
            return None;
        }
        cri.holder.set(who);
        Some(Held { lock: Some(Taken { cri, word }), ctx, threaded, who })
    }

    /// Inside a transport's callback for `ctx`.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than the result lives.
    #[inline(always)]
    pub unsafe fn inherit(&self, ctx: u32, threaded: bool) -> Held<'_> {
        // Who holds the lock has written itself there; who held it before does not take that back.
        let who = if threaded { self.cri(ctx).holder.get() } else { None };
        // SAFETY: the caller's promise.
        unsafe { Held::inherited(ctx, threaded, who) }
    }

    /// All CRI locks below `width`, taken in rising order: nothing arrives and nothing is sent meanwhile. The caller
    /// holds no CRI lock and no shard lock.
    pub fn hold_all(&self, width: u32, threaded: bool) -> AllHeld<'_> {
        self.hold_set(set_below(width), None, threaded)
    }

    /// The CRI locks of a set, by bits, taken in rising order. What `who` owns of them it owns afterwards, too.
    pub fn hold_set(&self, set: u64, who: Who, threaded: bool) -> AllHeld<'_> {
        let mut all = AllHeld { ob1: self, set, owned: 0, who, threaded };
        for ctx in members(if threaded { set } else { 0 }) {
            let owned = self.cri(ctx).entrance.bias.enter_among(&self.host.cri(ctx).lock, who);
            // No seat is used in here, least of all that of whoever held it before.
            self.cri(ctx).holder.set(None);
            all.owned |= u64::from(owned) << ctx;
        }
        all
    }
}

/// All CRIs below `width`, of which there are at most 64.
pub fn set_below(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

/// The CRIs of a set, rising.
pub fn members(set: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |&ctx| set >> ctx & 1 != 0)
}

/// See [`Ob1::hold_all`] and [`Ob1::hold_set`].
pub struct AllHeld<'a> {
    ob1: &'a Ob1,
    set: u64,
    /// Those that `who` owned.
    owned: u64,
    who: Who,
    threaded: bool,
}

impl AllHeld<'_> {
    /// The lock of one CRI as a value.
    pub fn held(&self, ctx: u32) -> Held<'_> {
        debug_assert!(self.set >> ctx & 1 != 0);
        // SAFETY: we hold it.
        unsafe { Held::inherited(ctx, self.threaded, None) }
    }
    pub fn each(&self) -> impl Iterator<Item = Held<'_>> {
        members(self.set).map(|ctx| self.held(ctx))
    }
}

impl Drop for AllHeld<'_> {
    fn drop(&mut self) {
        for ctx in members(if self.threaded { self.set } else { 0 }) {
            let word = &self.ob1.host.cri(ctx).lock;
            let owned = self.owned >> ctx & 1 != 0;
            if owned {
                // As `Inside` expects it of an owner.
                self.ob1.cri(ctx).holder.set(self.who);
            }
            self.ob1.cri(ctx).entrance.bias.leave_among(word, self.who, owned);
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
