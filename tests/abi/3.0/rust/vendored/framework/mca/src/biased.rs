//! Biased lock: the thread that takes it most often enters and leaves by plain stores, without an atomic
//! read-modify-write.
//!
//! **Parts.** A lock consists of a word ([`Lock`]) and a [`Bias`], which names the *owner*: the [`Seat`] of a thread, or
//! null. While there is an owner the word says "locked", so nobody else gets in by the word, and the owner enters and
//! leaves by writing `inside` of its seat, a word that no other thread writes. Without an owner the lock is the word alone.
//!
//! | state | word | owner | inside |
//! |---|---|---|---|
//! | free | 0 | null | nobody |
//! | shared | 1 | null | the thread that set the word |
//! | biased | 1 | a seat | the owner, while `inside` of its seat names this lock |
//!
//! **From shared to biased.** A thread that leaves a shared lock, and was the only one to take it for the last `limit`
//! acquisitions, stores its seat in `owner` instead of clearing the word.
//!
//! **Taking away** ([`Bias::take_away`]). A thread that wants a biased lock removes the owner by compare-and-swap, in
//! which one of several succeeds, runs a barrier on all cores (membarrier), and waits until `inside` of the owner's seat
//! does not name this lock. Then the lock is shared, and this thread holds it. The owner stores `inside` first and then
//! reads `owner` again. With the barrier in between, either the second read finds the owner gone, and the owner takes
//! the lock by the word, or the other thread finds `inside` set. A seat is written by its own thread only, so an owner
//! that comes late and steps back disturbs nobody.
//!
//! **Cost.** Taking away costs some microseconds, a shared acquisition some nanoseconds. Each time a lock is taken away
//! soon after it became biased, it needs twice as many acquisitions by one thread to become biased again, up to
//! [`Bias::MOST`]; if the owner had it for a millisecond or more, as few as at first.
//!
//! **Levels.** A seat has a word for each level (a CRI's lock, a shard's). A thread is inside one lock of a level at a
//! time: a second entry would overwrite `inside`, and its leaving would let another thread into the first. Checked builds
//! (`debug_assertions`) abort then. A thread that needs several locks of a level takes them without its seat
//! ([`Bias::enter_among`]): what it owns it takes from itself, by compare-and-swap, and gives back to itself.
//!
//! **Two sides of a plugin boundary.** Components are compiled apart from the host, so a lock has a layout of `repr(C)` and
//! a protocol with a number, [`LOCK_PROTOCOL`]; a component with another number is refused. The owner's entry and exit and
//! one attempt at the word are compiled into each component. All that makes system calls or waits is called through
//! [`LockServices`], which the host fills in ([`LockServices::of`]), and is therefore the same code for all of them.
//!
//! The models below run this code, with a fence on both sides in place of the barrier.

use crate::lock::Lock;
use crate::sync::{AtomicPtr, AtomicU32, AtomicUsize, Cell, Ordering, compiler_fence, spin_hint, yield_now};
use core::ptr::null_mut;

/// Changes when what the fields of [`Bias`], [`Seat`] and [`Lock`] mean changes, or the order in which they are written.
pub const LOCK_PROTOCOL: u32 = 1;

/// The levels of locks: a thread is inside at most one lock of each.
pub mod level {
    /// The lock of a communication resource instance.
    pub const CRI: usize = 0;
    /// A lock that is taken under one of those, such as that of a matching shard.
    pub const SHARD: usize = 1;
}

/// By level, which lock a thread is inside as its owner. Part of the thread's context; other threads read it while the
/// context's instance lives.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Seat {
    /// Address of the lock's `Bias`, or 0. Written by this thread alone.
    pub inside: [AtomicUsize; 2],
    /// Not 0 while the thread holds a lock of that level, as owner or not. Kept in checked builds only.
    pub entered: [AtomicU32; 2],
}

impl Seat {
    /// A seat that is inside nothing.
    pub fn new() -> Seat {
        Seat::default()
    }

    #[inline(always)]
    fn check_in(&self, level: usize) {
        if cfg!(debug_assertions) && self.entered[level].load(Ordering::Relaxed) != 0 {
            entered_twice(level);
        }
    }
    #[inline(always)]
    fn note_in(&self, level: usize) {
        if cfg!(debug_assertions) {
            self.entered[level].store(1, Ordering::Relaxed);
        }
    }
    #[inline(always)]
    fn note_out(&self, level: usize) {
        if cfg!(debug_assertions) {
            self.entered[level].store(0, Ordering::Relaxed);
        }
    }
}

/// Ends the process: the second lock's exit would let another thread into the first.
#[cold]
#[inline(never)]
fn entered_twice(level: usize) -> ! {
    let what = if level == level::CRI { "a CRI" } else { "a shard" };
    eprintln!(
        "oxmpi: a thread enters the lock of {what} while it holds another of that kind. Whoever holds a CRI, or runs in a \
         callback, calls only transport verbs of that context and host functions that are marked for it."
    );
    std::process::abort()
}

/// The seat of the calling thread; `None` in a call without a context, which takes every lock by its word.
pub type Caller = Option<&'static Seat>;

#[inline(always)]
pub(crate) fn address(who: Caller) -> *mut Seat {
    who.map_or(null_mut(), |seat| core::ptr::from_ref(seat).cast_mut())
}

/// Notes that the caller holds several locks of a level, which it took without its seat.
#[inline(always)]
pub(crate) fn check_in_among(who: Caller, level: usize) {
    if let Some(seat) = who {
        seat.check_in(level);
        seat.note_in(level);
    }
}
/// Ends what [`check_in_among`] noted.
#[inline(always)]
pub(crate) fn note_out_among(who: Caller, level: usize) {
    if let Some(seat) = who {
        seat.note_out(level);
    }
}

/// The parts of a biased lock that the host does for all components. May be called from any thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LockServices {
    /// Takes a lock that did not let the caller in at once: waits for its word, or takes it from its owner.
    pub enter: extern "C" fn(bias: *const Bias, word: *const Lock, level: u32),
    /// By the holder of a shared lock: makes the thread of that seat its owner, which leaves the lock by that. 0: this system
    /// could not take the lock away again, and nothing happened.
    pub keep: extern "C" fn(bias: *const Bias, seat: *mut Seat) -> u32,
}

/// Functions of the operating system that biased locks need.
pub trait System {
    /// Asks for a barrier on all cores, and says whether there is one; registers the process for it.
    fn has_barrier() -> bool;
    /// A full barrier on every core that runs a thread of this process, after `has_barrier` answered true.
    fn barrier();
    /// Nanoseconds of a clock that does not go back.
    fn now() -> u64;
}

impl LockServices {
    /// Services of a host on that system.
    pub const fn of<S: System>() -> LockServices {
        LockServices { enter: enter_for::<S>, keep: keep_for::<S> }
    }
    /// Services of a host without the barrier: no lock ever has an owner.
    pub const WITHOUT_OWNERS: &'static LockServices = &LockServices::of::<NoBarrier>();
}

extern "C" fn enter_for<S: System>(bias: *const Bias, word: *const Lock, level: u32) {
    // SAFETY: the caller's lock, which lives for longer than the call.
    let (bias, word) = unsafe { (&*bias, &*word) };
    bias.enter_shared::<S>(word, level as usize);
}

extern "C" fn keep_for<S: System>(bias: *const Bias, seat: *mut Seat) -> u32 {
    // SAFETY: as above.
    unsafe { &*bias }.keep::<S>(seat).into()
}

/// A system without the barrier.
struct NoBarrier;

impl System for NoBarrier {
    fn has_barrier() -> bool {
        false
    }
    fn barrier() {}
    fn now() -> u64 {
        0
    }
}

/// The owner of a lock and how it became that; see the head of the file. The word is the caller's, who passes the same each
/// time.
#[repr(C)]
pub struct Bias {
    /// Seat of the owner, or null.
    pub owner: AtomicPtr<Seat>,
    /// The host's functions for waiting and for a change of the owner; never null, and valid as long as the lock is used.
    pub services: *const LockServices,
    /// Seat of the last holder of the shared lock. This and what follows belongs to who holds the shared lock.
    pub last: Cell<*mut Seat>,
    /// Acquisitions in a row by that one.
    pub run: Cell<u32>,
    /// Acquisitions in a row that make it the owner.
    pub limit: Cell<u32>,
    /// Time at which the lock got its last owner, in nanoseconds of the host's clock.
    pub kept_at: Cell<u64>,
}

// SAFETY: the cells belong to the holder of the shared lock; the services are constant.
unsafe impl Sync for Bias {}
// SAFETY: as above; seats live as long as the instance whose locks name them.
unsafe impl Send for Bias {}

impl Bias {
    /// Acquisitions in a row by one thread that make a new lock biased.
    const FIRST: u32 = if cfg!(loom) { 1 } else { 64 };
    /// The most that are ever needed.
    pub const MOST: u32 = if cfg!(loom) { 1 } else { 4096 };
    /// Nanoseconds with one owner that were worth the cost of taking the lock away.
    const LONG: u64 = 1_000_000;

    /// Of a free lock.
    pub fn new(services: &'static LockServices) -> Bias {
        Bias {
            owner: AtomicPtr::new(null_mut()),
            services,
            last: Cell::new(null_mut()),
            run: Cell::new(0),
            limit: Cell::new(Self::FIRST),
            kept_at: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn services(&self) -> &'static LockServices {
        // SAFETY: `new` was given services that stay, and nobody writes another address to the field.
        unsafe { &*self.services }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Takes the lock. The caller holds no other of this level.
    #[inline(always)]
    pub fn enter<const LEVEL: usize>(&self, word: &Lock, who: Caller) {
        if !self.try_enter::<LEVEL>(word, who) {
            (self.services().enter)(self, word, LEVEL as u32);
            if let Some(seat) = who {
                seat.note_in(LEVEL);
            }
        }
    }

    /// Takes the lock if that takes no waiting and no taking away.
    #[inline(always)]
    pub fn try_enter<const LEVEL: usize>(&self, word: &Lock, who: Caller) -> bool {
        if let Some(seat) = who
            && self.enter_own::<LEVEL>(seat)
        {
            return true;
        }
        if !word.try_lock() {
            return false;
        }
        if let Some(seat) = who {
            seat.note_in(LEVEL);
        }
        true
    }

    /// Takes the lock together with others of its level, which uses no seat. True: `who` owned it, and does again after
    /// [`Bias::leave_among`].
    pub fn enter_among<const LEVEL: usize>(&self, word: &Lock, who: Caller) -> bool {
        let me = address(who);
        // The owner is not inside: it is the caller. So there is no barrier, and the word says "locked" already.
        if !me.is_null()
            && self.owner.load(Ordering::Relaxed) == me
            && self.owner.compare_exchange(me, null_mut(), Ordering::SeqCst, Ordering::Relaxed).is_ok()
        {
            return true;
        }
        if !word.try_lock() {
            (self.services().enter)(self, word, LEVEL as u32);
        }
        false
    }

    /// Gives the lock back as if it had not been taken; `owned`: what `enter_among` answered.
    pub fn leave_among(&self, word: &Lock, who: Caller, owned: bool) {
        if owned {
            // SYNC POINT with `take_away`.
            self.owner.store(address(who), Ordering::Release);
        } else {
            // SAFETY: the caller's, by `enter_among`.
            unsafe { word.unlock() };
        }
    }

    /// True where a thread other than `who` owns the lock.
    #[inline(always)]
    pub fn is_anothers(&self, who: Caller) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        !owner.is_null() && owner != address(who)
    }

    /// Takes the lock if the thread of that seat owns it. False: nothing happened.
    #[inline(always)]
    pub fn enter_own<const LEVEL: usize>(&self, seat: &'static Seat) -> bool {
        seat.check_in(LEVEL);
        let me = core::ptr::from_ref(seat).cast_mut();
        if self.owner.load(Ordering::Relaxed) != me {
            return false;
        }
        // Release: a thread that reads this instead of an earlier 0 must see what was done before that, too.
        seat.inside[LEVEL].store(self.address(), Ordering::Release);
        // With the membarrier of a thread that takes the lock away this is a full fence. SYNC POINT with `take_away`.
        compiler_fence(Ordering::SeqCst);
        if weakened(Form::SecondLook) || self.owner.load(Ordering::Acquire) == me {
            seat.note_in(LEVEL);
            return true;
        }
        seat.inside[LEVEL].store(0, Ordering::Release);
        false
    }

    /// Waits for the word, or takes the lock from its owner.
    #[cold]
    fn enter_shared<S: System>(&self, word: &Lock, level: usize) {
        let mut turns = 0;
        while !word.try_lock() && !self.take_away::<S>(level) {
            turns += 1;
            if turns < 200 {
                spin_hint();
            } else {
                turns = 0;
                yield_now();
            }
        }
    }

    /// Takes the lock from its owner. False: there is none.
    #[cold]
    fn take_away<S: System>(&self, level: usize) -> bool {
        // SYNC POINT with `keep`: the owner's seat is seen.
        let owner = self.owner.load(Ordering::Acquire);
        // SAFETY: seats live as long as the instance whose locks name them.
        let Some(seat) = (unsafe { owner.as_ref() }) else { return false };
        // SYNC POINT with `enter_own`.
        if self.owner.compare_exchange(owner, null_mut(), Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return false;
        }
        if !weakened(Form::Barrier) {
            S::barrier();
        }
        // SYNC POINT with `leave_own`: what the owner did inside is seen.
        while !weakened(Form::Wait) && seat.inside[level].load(Ordering::Acquire) == self.address() {
            yield_now();
        }
        let lasted = S::now().saturating_sub(self.kept_at.get()) >= Self::LONG;
        let more = self.limit.get().saturating_mul(2).min(Self::MOST);
        self.limit.set(if lasted { Self::FIRST } else { more });
        self.begin(null_mut());
        true
    }

    /// The holder of the shared lock is another than the last.
    fn begin(&self, me: *mut Seat) {
        self.last.set(me);
        self.run.set(0);
    }

    /// Gives the lock back; `word` and `who` as when it was taken.
    #[inline(always)]
    pub fn leave<const LEVEL: usize>(&self, word: &Lock, who: Caller) {
        match who {
            Some(seat) if seat.inside[LEVEL].load(Ordering::Relaxed) == self.address() => {
                self.leave_own::<LEVEL>(seat)
            }
            _ => {
                note_out_among(who, LEVEL);
                self.leave_shared(word, address(who));
            }
        }
    }

    /// Gives back what [`Bias::enter_own`] took.
    #[inline(always)]
    pub fn leave_own<const LEVEL: usize>(&self, seat: &'static Seat) {
        debug_assert_eq!(seat.inside[LEVEL].load(Ordering::Relaxed), self.address(), "it is inside");
        seat.note_out(LEVEL);
        // SYNC POINT with `take_away`.
        seat.inside[LEVEL].store(0, Ordering::Release);
    }

    /// Gives the lock back as if it had not been taken: the acquisition is not counted.
    #[inline(always)]
    pub fn leave_uncounted<const LEVEL: usize>(&self, word: &Lock, who: Caller) {
        match who {
            Some(seat) if seat.inside[LEVEL].load(Ordering::Relaxed) == self.address() => {
                self.leave_own::<LEVEL>(seat)
            }
            _ => {
                note_out_among(who, LEVEL);
                // SAFETY: the caller's, who entered by the word.
                unsafe { word.unlock() };
            }
        }
    }

    #[inline(always)]
    fn leave_shared(&self, word: &Lock, me: *mut Seat) {
        if self.last.get() != me || me.is_null() {
            self.begin(me);
        } else {
            self.run.set(self.run.get() + 1);
            if self.run.get() >= self.limit.get() && (self.services().keep)(self, me) != 0 {
                return;
            }
        }
        // SAFETY: the caller's, who entered by the word, and it has no owner.
        unsafe { word.unlock() };
    }

    /// Makes the holder of the shared lock its owner, if this system can take the lock away again.
    #[cold]
    fn keep<S: System>(&self, me: *mut Seat) -> bool {
        self.run.set(0);
        if !S::has_barrier() {
            self.limit.set(u32::MAX);
            return false;
        }
        self.kept_at.set(S::now());
        // SYNC POINT with `take_away`.
        self.owner.store(me, Ordering::Release);
        true
    }
}

/// Steps that the models leave out, to see that they miss them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    SecondLook,
    Barrier,
    Wait,
}

#[cfg(not(all(test, loom)))]
#[inline(always)]
const fn weakened(_: Form) -> bool {
    false
}
#[cfg(all(test, loom))]
use model::weakened;

const _: () = {
    assert!(cfg!(loom) || size_of::<Seat>() == 24);
    assert!(cfg!(loom) || size_of::<Bias>() == 40);
};

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;
