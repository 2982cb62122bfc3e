//! Biased locks: a lock that one thread takes again and again costs it no atomic read-modify-write.
//!
//! **The word and the owner.** Beside the word of an ordinary lock stands its *owner*: a thread, or nobody. While
//! there is an owner the word says "locked", so that nobody else gets in, and the owner comes and goes by writing
//! `inside` of its own [`Seat`], which is a plain store to a line that nobody else writes. While there is none the
//! lock is what it was.
//!
//! | state | word | owner | who may be inside |
//! |---|---|---|---|
//! | free | 0 | nobody | nobody |
//! | shared | 1 | nobody | who set the word |
//! | biased | 1 | a seat | the owner, while `inside` of its seat is this lock |
//!
//! **Becoming biased.** Who leaves a shared lock and has been the only one to take it for a while writes itself
//! into `owner` instead of freeing the word.
//!
//! **Taking it away** ([`Biased::take_away`]). Another thread that wants in removes the owner by compare-and-swap,
//! which one of several does, runs a barrier on all cores (membarrier), and waits until the owner's seat is not
//! inside this lock. Then the lock is shared, and it is the one inside. The owner writes `inside` first and reads `owner`
//! again: with the barrier between, either its second look finds the owner gone, and it goes the way of all, or
//! the other finds it inside. That is the pair of a compiler fence and a membarrier of the runtime's gate. A seat is written
//! by its own thread only, so a thread that comes late and steps back harms nobody.
//!
//! **How often.** Taking away costs some microseconds, an ordinary acquisition some nanoseconds. So each time
//! a lock is taken away soon it needs twice as many acquisitions by one thread to become biased again, up to
//! [`Biased::MOST`]; where it had its owner for long, as few as in the beginning.
//!
//! **Levels.** A thread is inside one lock of a level at a time: a CRI's, and below it a shard's. Who takes
//! several of a level takes them without its seat: what it owns it takes from itself, by compare-and-swap, and gives back
//! to itself.
//!
//! The models below run this very code, with a fence on both sides for the barrier.

use crate::sys;
use core::cell::Cell;
use core::ptr::null_mut;
use oxmpi_mca::Lock;
use oxmpi_mca::sync::{AtomicPtr, AtomicUsize, Ordering, compiler_fence, spin_hint, yield_now};

/// Where a thread notes what it is inside. Lives as long as the process: others read it whenever they find it.
#[repr(align(128))]
pub struct Seat {
    inside: [AtomicUsize; 2],
}

/// The levels of locks.
pub mod level {
    pub const CRI: usize = 0;
    #[cfg_attr(all(test, loom), allow(dead_code, reason = "the models of shards have a lock of their own"))]
    pub const SHARD: usize = 1;
}

impl Seat {
    pub fn new() -> Seat {
        Seat { inside: [AtomicUsize::new(0), AtomicUsize::new(0)] }
    }
}

/// A thread's seat; `None`: a call without a context, which takes every lock the ordinary way.
pub type Who = Option<&'static Seat>;

fn address(who: Who) -> *mut Seat {
    who.map_or(null_mut(), |seat| core::ptr::from_ref(seat).cast_mut())
}

/// See the module's head. The word is the caller's, who passes the same each time.
pub struct Biased<const LEVEL: usize> {
    owner: AtomicPtr<Seat>,
    // Of who holds the lock while it is shared.
    last: Cell<*mut Seat>,
    run: Cell<u32>,
    limit: Cell<u32>,
    kept: Cell<Kept>,
}

// SAFETY: the cells belong to who holds the lock while it is shared.
unsafe impl<const LEVEL: usize> Sync for Biased<LEVEL> {}
// SAFETY: as above; seats live as long as the process.
unsafe impl<const LEVEL: usize> Send for Biased<LEVEL> {}

impl<const LEVEL: usize> Default for Biased<LEVEL> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const LEVEL: usize> Biased<LEVEL> {
    /// Acquisitions in a row by one thread that make a new lock biased.
    const FIRST: u32 = if cfg!(loom) { 1 } else { 64 };
    /// The most that are ever needed.
    pub const MOST: u32 = if cfg!(loom) { 1 } else { 4096 };

    pub fn new() -> Self {
        Biased {
            owner: AtomicPtr::new(null_mut()),
            last: Cell::new(null_mut()),
            run: Cell::new(0),
            limit: Cell::new(Self::FIRST),
            kept: Cell::new(Kept::default()),
        }
    }

    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Takes the lock. The caller is inside no other of this level with the same seat.
    #[inline(always)]
    pub fn enter(&self, word: &Lock, who: Who) {
        if !who.is_some_and(|seat| self.enter_own(seat)) && !word.try_lock() {
            self.enter_shared(word);
        }
    }

    /// Takes the lock if that takes no waiting and no taking away.
    #[inline(always)]
    pub fn try_enter(&self, word: &Lock, who: Who) -> bool {
        who.is_some_and(|seat| self.enter_own(seat)) || word.try_lock()
    }

    /// Takes the lock together with others of its level, which takes no seat. True: `who` owned it, and does again after
    /// [`Biased::leave_among`].
    pub fn enter_among(&self, word: &Lock, who: Who) -> bool {
        let me = address(who);
        // The owner is not inside: it is the one that calls. So it needs no barrier, and the word says "locked" already.
        if !me.is_null()
            && self.owner.load(Ordering::Relaxed) == me
            && self.owner.compare_exchange(me, null_mut(), Ordering::SeqCst, Ordering::Relaxed).is_ok()
        {
            return true;
        }
        if !word.try_lock() {
            self.enter_shared(word);
        }
        false
    }

    /// Gives the lock back as if it had not been taken; `owned`: what `enter_among` said.
    pub fn leave_among(&self, word: &Lock, who: Who, owned: bool) {
        if owned {
            // SYNC POINT with `take_away`.
            self.owner.store(address(who), Ordering::Release);
        } else {
            word.unlock();
        }
    }

    /// A thread other than `who` owns it.
    #[inline(always)]
    pub fn is_anothers(&self, who: Who) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        !owner.is_null() && owner != address(who)
    }

    /// Takes the lock if the thread of that seat owns it. False: any other way is open.
    #[inline(always)]
    pub fn enter_own(&self, seat: &'static Seat) -> bool {
        let me = core::ptr::from_ref(seat).cast_mut();
        if self.owner.load(Ordering::Relaxed) != me {
            return false;
        }
        // Release: who reads this instead of an earlier 0 must see what was done before that, too.
        seat.inside[LEVEL].store(self.address(), Ordering::Release);
        // With the membarrier of the one who takes it away this is a full fence. SYNC POINT with `take_away`.
        compiler_fence(Ordering::SeqCst);
        if weakened(Form::SecondLook) || self.owner.load(Ordering::Acquire) == me {
            return true;
        }
        seat.inside[LEVEL].store(0, Ordering::Release);
        false
    }

    #[cold]
    #[inline(never)]
    fn enter_shared(&self, word: &Lock) {
        let mut turns = 0;
        while !word.try_lock() && !self.take_away() {
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
    pub fn take_away(&self) -> bool {
        // SYNC POINT with `leave`: the owner's seat is seen.
        let owner = self.owner.load(Ordering::Acquire);
        // SAFETY: seats live as long as the process.
        let Some(seat) = (unsafe { owner.as_ref() }) else { return false };
        // SYNC POINT with `enter_own`.
        if self.owner.compare_exchange(owner, null_mut(), Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return false;
        }
        if !weakened(Form::Barrier) {
            sys::barrier_on_all_cores();
        }
        // SYNC POINT with `leave`: what the owner did inside is seen.
        while !weakened(Form::Wait) && seat.inside[LEVEL].load(Ordering::Acquire) == self.address() {
            yield_now();
        }
        self.limit.set(if self.kept.get().lasted() {
            Self::FIRST
        } else {
            self.limit.get().saturating_mul(2).min(Self::MOST)
        });
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
    pub fn leave(&self, word: &Lock, who: Who) {
        match who {
            // SYNC POINT with `take_away`.
            Some(seat) if seat.inside[LEVEL].load(Ordering::Relaxed) == self.address() => {
                seat.inside[LEVEL].store(0, Ordering::Release)
            }
            _ => self.leave_shared(word, address(who)),
        }
    }

    /// The same by who knows that it came in by [`Biased::enter_own`].
    #[inline(always)]
    pub fn leave_own(&self, seat: &'static Seat) {
        debug_assert_eq!(seat.inside[LEVEL].load(Ordering::Relaxed), self.address(), "it is inside");
        // SYNC POINT with `take_away`.
        seat.inside[LEVEL].store(0, Ordering::Release);
    }

    /// The same, and the lock forgets that it was taken.
    #[inline(always)]
    pub fn leave_no_trace(&self, word: &Lock, who: Who) {
        match who {
            // SYNC POINT with `take_away`.
            Some(seat) if seat.inside[LEVEL].load(Ordering::Relaxed) == self.address() => {
                seat.inside[LEVEL].store(0, Ordering::Release)
            }
            _ => word.unlock(),
        }
    }

    #[inline(always)]
    fn leave_shared(&self, word: &Lock, me: *mut Seat) {
        if self.last.get() != me || me.is_null() {
            self.begin(me);
        } else {
            self.run.set(self.run.get() + 1);
            if self.run.get() >= self.limit.get() && self.keep(me) {
                return;
            }
        }
        word.unlock();
    }

    /// Makes the holder of the shared lock its owner, if this system can take it away again.
    #[cold]
    fn keep(&self, me: *mut Seat) -> bool {
        self.run.set(0);
        if !sys::barrier_is_there() {
            self.limit.set(u32::MAX);
            return false;
        }
        self.kept.set(Kept::now());
        // SYNC POINT with `take_away`.
        self.owner.store(me, Ordering::Release);
        true
    }
}

/// When a lock got its owner.
#[derive(Clone, Copy, Default)]
struct Kept(#[cfg(not(loom))] Option<std::time::Instant>);

impl Kept {
    /// An owner for so long was worth what it cost to take the lock away.
    #[cfg(not(loom))]
    const LONG: core::time::Duration = core::time::Duration::from_millis(1);

    #[cfg(not(loom))]
    fn now() -> Kept {
        Kept(Some(std::time::Instant::now()))
    }
    #[cfg(not(loom))]
    fn lasted(self) -> bool {
        self.0.is_some_and(|at| at.elapsed() >= Self::LONG)
    }
    #[cfg(loom)]
    fn now() -> Kept {
        Kept()
    }
    #[cfg(loom)]
    fn lasted(self) -> bool {
        false
    }
}

/// What the models leave out, to see that they miss it.
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

/// A lock of its own with its bias.
#[derive(Default)]
pub struct BiasedLock<const LEVEL: usize> {
    bias: Biased<LEVEL>,
    word: Lock,
}

/// What [`BiasedLock::enter`] gave, for [`BiasedLock::leave`]: one word, so that a guard with it fits registers.
#[derive(Clone, Copy)]
pub struct Pass(*const Seat);

impl Pass {
    /// No lock was taken. No seat lies at this address.
    const FREE: Pass = Pass(core::ptr::without_provenance(1));
}

impl Pass {
    /// Of the thread of that seat.
    #[cfg_attr(all(test, loom), allow(dead_code, reason = "the models of shards have a pass of their own"))]
    pub fn of(seat: &'static Seat) -> Pass {
        Pass(seat)
    }
}

impl<const LEVEL: usize> BiasedLock<LEVEL> {
    pub fn new() -> Self {
        Self::default()
    }
    /// Takes the lock if `threaded`.
    #[inline(always)]
    pub fn enter(&self, threaded: bool, who: Who) -> Pass {
        if !threaded {
            return Pass::FREE;
        }
        self.bias.enter(&self.word, who);
        Pass(address(who))
    }
    /// Takes the lock if the thread of that seat owns it. False: nothing happened.
    #[cfg_attr(all(test, loom), allow(dead_code, reason = "the models of shards have a lock of their own"))]
    #[inline(always)]
    pub fn enter_own(&self, seat: &'static Seat) -> bool {
        self.bias.enter_own(seat)
    }
    /// Gives back what `enter_own` took.
    #[cfg_attr(all(test, loom), allow(dead_code, reason = "as above"))]
    #[inline(always)]
    pub fn leave_own(&self, seat: &'static Seat) {
        self.bias.leave_own(seat);
    }
    /// Gives it back.
    #[inline(always)]
    pub fn leave(&self, pass: Pass) {
        if pass.0 != Pass::FREE.0 {
            // SAFETY: the address of a seat, which lives as long as the process, or null.
            self.bias.leave(&self.word, unsafe { pass.0.as_ref() });
        }
    }
}

/// All interleavings of an owner that comes and goes with another thread that takes the lock away, and with an owner to
/// be. What the lock guards is a cell that nobody may touch while another does.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;
    use std::sync::Mutex;

    /// One model at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    static FORM: std::sync::RwLock<Option<Form>> = std::sync::RwLock::new(None);

    pub fn weakened(form: Form) -> bool {
        FORM.read().is_ok_and(|left_out| *left_out == Some(form))
    }

    struct World {
        lock: BiasedLock<{ level::CRI }>,
        inside: UnsafeCell<u32>,
    }
    // SAFETY: the cell is what the model is about.
    unsafe impl Sync for World {}
    // SAFETY: as above.
    unsafe impl Send for World {}

    impl World {
        fn visit(&self, who: Who) {
            // SAFETY: loom stops the model if another thread is in here.
            let touch = || self.inside.with_mut(|n| unsafe { *n += 1 });
            if let Some(seat) = who
                && self.lock.bias.enter_own(seat)
            {
                touch();
                return self.lock.bias.leave_own(seat);
            }
            let pass = self.lock.enter(true, who);
            touch();
            self.lock.leave(pass);
        }

        /// A visit of one that takes several locks.
        fn visit_among(&self, who: Who) {
            let BiasedLock { bias, word } = &self.lock;
            let owned = bias.enter_among(word, who);
            // SAFETY: as above.
            self.inside.with_mut(|n| unsafe { *n += 1 });
            bias.leave_among(word, who, owned);
        }

        /// A look, as that of a thread that polls; whether it got in.
        fn look(&self) -> u32 {
            let BiasedLock { bias, word } = &self.lock;
            if !bias.try_enter(word, None) {
                return 0;
            }
            // SAFETY: as above.
            self.inside.with_mut(|n| unsafe { *n += 1 });
            bias.leave_no_trace(word, None);
            1
        }
    }

    fn seat() -> &'static Seat {
        Box::leak(Box::new(Seat::new()))
    }

    /// `seats`: of the other threads, which visit `times` each; the first owns the lock when they begin and visits it
    /// `own` times more.
    fn run(own: u32, seats: &'static [bool], times: u32) {
        let body = move || {
            let world = Arc::new(World { lock: BiasedLock::new(), inside: UnsafeCell::new(0) });
            let me = Some(seat());
            (0..2).for_each(|_| world.visit(me));
            assert!(!world.lock.bias.owner.load(Ordering::Relaxed).is_null(), "biased after two visits");
            let others: Vec<_> = seats
                .iter()
                .map(|&seated| {
                    let world = world.clone();
                    thread::spawn(move || {
                        let who = seated.then(seat);
                        (0..times).for_each(|_| world.visit(who));
                    })
                })
                .collect();
            (0..own).for_each(|_| world.visit(me));
            others.into_iter().for_each(|thread| thread.join().unwrap());
            // SAFETY: everybody else has ended.
            let visits = world.inside.with(|n| unsafe { *n });
            assert_eq!(visits, 2 + own + times * seats.len() as u32);
        };
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(body);
    }

    #[test]
    fn model_owner_and_one_who_takes_it_away() {
        let _alone = ALONE.lock();
        run(2, &[false], 1);
    }

    #[test]
    fn model_owner_and_the_next_owner() {
        let _alone = ALONE.lock();
        run(1, &[true], 3);
    }

    #[test]
    fn model_owner_that_takes_it_among_others() {
        let _alone = ALONE.lock();
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let world = Arc::new(World { lock: BiasedLock::new(), inside: UnsafeCell::new(0) });
            let me = Some(seat());
            (0..2).for_each(|_| world.visit(me));
            let taker = world.clone();
            let taker = thread::spawn(move || {
                taker.visit(None);
                taker.visit_among(Some(seat()));
            });
            world.visit_among(me);
            world.visit(me);
            world.visit_among(me);
            taker.join().unwrap();
            // SAFETY: everybody else has ended.
            assert_eq!(world.inside.with(|n| unsafe { *n }), 7);
        });
    }

    #[test]
    fn model_owner_one_who_takes_it_away_and_one_who_looks() {
        let _alone = ALONE.lock();
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let world = Arc::new(World { lock: BiasedLock::new(), inside: UnsafeCell::new(0) });
            let me = Some(seat());
            (0..2).for_each(|_| world.visit(me));
            let (taker, looker) = (world.clone(), world.clone());
            let taker = thread::spawn(move || taker.visit(None));
            let looker = thread::spawn(move || looker.look() + looker.look());
            world.visit(me);
            taker.join().unwrap();
            let looks = looker.join().unwrap();
            // SAFETY: everybody else has ended.
            assert_eq!(world.inside.with(|n| unsafe { *n }), 4 + looks);
        });
    }

    /// Without any one of the three steps two threads meet inside, and the model says so.
    #[test]
    fn model_finds_what_is_left_out() {
        let _alone = ALONE.lock();
        for form in [Form::SecondLook, Form::Barrier, Form::Wait] {
            *FORM.write().unwrap() = Some(form);
            let found = std::panic::catch_unwind(|| run(2, &[false], 1)).is_err();
            *FORM.write().unwrap() = None;
            assert!(found, "{form:?} does no harm in the model");
        }
    }
}
