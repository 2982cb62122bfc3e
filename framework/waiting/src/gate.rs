//! The gate of an instance: who is inside a call without locks, and how a second thread gets in.
//!
//! **Why.** A process that asked for MPI_THREAD_MULTIPLE often has one thread that calls MPI. While that is
//! so the flag `threaded` stays 0 and nothing on a message's path takes a lock. The first call of a second
//! thread turns the flag, for good. The flag may only turn while nobody is inside a call, since a call
//! looks at it and then goes on without locks; so every call of the C interface leaves a mark here.
//!
//! **States.**
//!
//! * `CLOSED`: nobody uses MPI.
//! * `ALONE` (a level below MULTIPLE) and `SOLO` (MULTIPLE): one thread makes the calls. It is the *owner*,
//!   the first one that came. It compares `owner` with its thread pointer, writes `inside`, and looks at
//!   `owner` again: that is the whole price of a call. In `ALONE` a second thread is one that the program
//!   keeps apart from the first (MPI_THREAD_SERIALIZED): the state becomes `TURNS`. In `SOLO` it may come at
//!   any time: the process goes over to `SHARED`.
//! * `TURNS`: below MULTIPLE, several threads one after another. Nobody owns; each call writes `inside` on
//!   the longer way through [`Gate::ask`].
//! * `SHARED`: `threaded` is 1. No marks, and no way back.
//!
//! The state changes under `rising`, which is a lock and the sign of a change at once.
//!
//! **Getting in** ([`Gate::stop`]). The raiser sets `rising` to 1 and `owner` to 0, runs `membarrier`, and
//! waits until `inside` is 0. Each side writes its word and then reads the other's: store, full barrier,
//! load on both sides, or both may miss the other. The owner's side is on every call, so its barrier is a
//! compiler fence, and the raiser pays for both: `membarrier` runs a full barrier on every core that runs
//! a thread of this process, at some moment between its call and its return (a thread that is not running
//! passed one when it was switched out). If the owner's second look at `owner` comes after that moment it
//! sees 0 and goes back; if it came before, so did the store to `inside`, and the raiser sees it. *In a
//! model this is a full fence on both sides*, and so it is stated to the checker (`gate_tests`).
//!
//! **One way.** The owner may read `owner` before a change, be stopped, and write `inside` long after it.
//! It then finds that it is not the owner and takes the mark back. So nobody else may use `inside` by then:
//! ownership never goes from one thread to another, and what follows `SOLO` has no marks. (From `ALONE` to
//! `TURNS` the program's own synchronisation is between the two threads.) A change that fails gives
//! ownership back to the same thread.
//!
//! **A waiter inside**, in a loop of `progress::wait`, looks at `rising` each time round, takes its mark
//! back, stands still until the change is done, and goes on in the way of several threads. A thread that
//! sleeps there has named the word it sleeps on in `bed`; the raiser wakes it until it is up.
//!
//! **The user's code never runs inside** ([`Gate::run_outside`]): a callback may wait for another thread, which
//! may be the one that wants to get in. Nor does a call stay inside while it waits for a lock that somebody
//! else holds while raising. A callback that never comes back (an exception, a thread that ends) leaves no
//! mark behind.
//!
//! **Outside of the gate** are functions that may be called at any time by any thread and touch neither messages
//! nor what `threaded` guards (MPI_Wtime, MPI_Info_create), and those that change the state (MPI_Init,
//! MPI_Session_init).
//!
//! **The last user's call** ends behind [`Gate::close`], when another thread may have opened the gate again and be
//! inside. So it takes back no mark but its own ([`Gate::leave_own`]).
//!
//! **The owner's end.** A thread pointer is used again when a thread has ended. The new thread finds itself
//! the owner: right, since the old one makes no call any more.

use oxmpi_mca::sync::{AtomicU32, AtomicUsize, Ordering, compiler_fence, yield_now};

/// State of the gate while nobody uses MPI.
const CLOSED: u32 = 0;
/// State below MULTIPLE with one thread that makes the calls.
const ALONE: u32 = 1;
/// State at MULTIPLE with one thread that makes the calls.
const SOLO: u32 = 2;
/// State below MULTIPLE with several threads, one after another.
const TURNS: u32 = 3;
/// State with several threads at once, for good.
const SHARED: u32 = 4;

/// In `owner` and `inside`: no thread, which no thread pointer is.
const NOBODY: usize = 0;

/// The gate of an instance: its state, the owner, and the thread that is inside a call. Threads are named by their
/// thread pointers.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Gate {
    /// The thread that may mark itself by a plain store.
    owner: AtomicUsize,
    /// The thread that is inside.
    inside: AtomicUsize,
    /// A change of state is going on. A lock: 0 to 1 by compare-and-swap.
    rising: AtomicU32,
    state: AtomicU32,
    /// Address of the word on which the thread inside sleeps, or 0.
    bed: AtomicUsize,
    /// The owner when `SHARED` came.
    first: AtomicUsize,
}

/// The next step of a thread that did not get in by [`Gate::enter`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Answer {
    /// It is inside; [`Gate::leave`] follows.
    Inside,
    /// There is nothing to mark.
    Free,
    /// The process must act with several threads first ([`Gate::stop`]); then ask again.
    Raise,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate::new()
    }
}

impl Gate {
    /// A gate in the state `CLOSED`.
    #[cfg(not(loom))]
    pub const fn new() -> Gate {
        Gate {
            owner: AtomicUsize::new(NOBODY),
            inside: AtomicUsize::new(NOBODY),
            rising: AtomicU32::new(0),
            state: AtomicU32::new(CLOSED),
            bed: AtomicUsize::new(0),
            first: AtomicUsize::new(NOBODY),
        }
    }
    /// A gate in the state `CLOSED`, of model atomics.
    #[cfg(loom)]
    pub fn new() -> Gate {
        Gate {
            owner: AtomicUsize::new(NOBODY),
            inside: AtomicUsize::new(NOBODY),
            rising: AtomicU32::new(0),
            state: AtomicU32::new(CLOSED),
            bed: AtomicUsize::new(0),
            first: AtomicUsize::new(NOBODY),
        }
    }

    /// Marks the calling thread `me` as inside if it is the owner. False: it is not, and [`Gate::ask`] follows.
    #[inline(always)]
    pub fn enter(&self, me: usize) -> bool {
        self.is_owner(me) && self.mark_owner(me)
    }

    /// Whether the calling thread `me` is the owner: the first half of [`Gate::enter`].
    #[inline(always)]
    pub fn is_owner(&self, me: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == me
    }

    /// Marks the calling thread `me` as inside by a plain store, then checks that it still is the owner: the second half of
    /// [`Gate::enter`], after [`Gate::is_owner`] was true. False: another thread has taken the ownership away meanwhile; the
    /// mark is gone again, and [`Gate::ask`] follows.
    #[inline(always)]
    pub fn mark_owner(&self, me: usize) -> bool {
        debug_assert_eq!(self.inside.load(Ordering::Relaxed), NOBODY, "user code ran inside a call");
        self.inside.store(me, Ordering::Relaxed);
        // With the raiser's membarrier this is a full fence. SYNC POINT with `stop`.
        compiler_fence(Ordering::SeqCst);
        if self.owner.load(Ordering::Acquire) == me {
            return true;
        }
        self.leave();
        false
    }

    /// Takes back the mark of the thread inside, whose call ends.
    #[inline(always)]
    pub fn leave(&self) {
        // SYNC POINT with `stop`: what this thread did without locks is seen by the raiser.
        self.inside.store(NOBODY, Ordering::Release);
    }

    /// Takes back the mark of thread `me` at the end of a call behind which MPI may be closed. The mark may be that of
    /// another thread by now, which has opened MPI again; then it stays.
    #[inline(always)]
    pub fn leave_own(&self, me: usize) {
        if self.inside.load(Ordering::Relaxed) == me {
            self.leave();
        }
    }

    /// Lets a thread in that [`Gate::enter`] did not: makes it the owner, marks it, or says that nothing is to be
    /// marked or that the process must act with several threads first.
    #[cold]
    pub fn ask(&self, me: usize) -> Answer {
        loop {
            // SYNC POINT with `stop` and `change`.
            match self.state.load(Ordering::Acquire) {
                TURNS if self.mark(me, TURNS) => return Answer::Inside,
                TURNS => {}
                ALONE | SOLO if self.owner.load(Ordering::Relaxed) == me => {
                    if self.enter(me) {
                        return Answer::Inside;
                    }
                }
                ALONE | SOLO => {
                    if let Some(answer) = self.change(|state| self.claim(me, state)) {
                        return answer;
                    }
                }
                _ => return Answer::Free,
            }
            self.wait_for_raiser();
        }
    }

    /// Makes `me` the owner if there is none, or ends the ownership of another thread below MULTIPLE. `Raise`: another
    /// thread owns at MULTIPLE. The caller holds `rising`.
    fn claim(&self, me: usize, state: u32) -> Option<Answer> {
        match (state, self.owner.load(Ordering::Relaxed)) {
            (ALONE | SOLO, NOBODY) => self.owner.store(me, Ordering::Relaxed),
            (ALONE, other) if other != me => {
                self.owner.store(NOBODY, Ordering::Relaxed);
                self.state.store(TURNS, Ordering::Release);
            }
            (SOLO, other) if other != me => return Some(Answer::Raise),
            _ => {}
        }
        None
    }

    /// Marks the calling thread as inside while the state is `state` and nobody changes it. False: it is not marked.
    fn mark(&self, me: usize, state: u32) -> bool {
        self.inside.store(me, Ordering::Relaxed);
        // SYNC POINT with `stop`, as in `mark_owner`, and the load of `rising` with `change`: whose change is over is seen whole.
        compiler_fence(Ordering::SeqCst);
        if self.rising.load(Ordering::Acquire) == 0 && self.state.load(Ordering::Relaxed) == state {
            return true;
        }
        self.leave();
        false
    }

    /// Runs `f` on the state while nobody else changes it: `rising` is held meanwhile.
    fn change<R>(&self, f: impl FnOnce(u32) -> R) -> R {
        // SYNC POINT with the release below and in `stop`.
        while self.rising.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_now();
        }
        let result = f(self.state.load(Ordering::Relaxed));
        self.rising.store(0, Ordering::Release);
        result
    }

    /// Opens the gate, because somebody begins to use MPI. `solo`: at MPI_THREAD_MULTIPLE. Nothing happens where it is
    /// open in a higher state.
    pub fn open(&self, solo: bool) {
        self.change(|state| match state {
            CLOSED | ALONE => self.state.store(if solo { SOLO } else { ALONE }, Ordering::Release),
            _ => {}
        });
    }

    /// Raises the gate to `SOLO` because the level becomes MULTIPLE. False: several threads have taken turns, so
    /// [`Gate::stop`] is needed.
    pub fn guard(&self) -> bool {
        self.change(|state| {
            if state == ALONE {
                self.state.store(SOLO, Ordering::Release);
            }
            state != TURNS
        })
    }

    /// Closes the gate, because nobody uses MPI any more; a gate that is `SHARED` stays so.
    pub fn close(&self) {
        self.change(|state| {
            if state != SHARED {
                self.owner.store(NOBODY, Ordering::Relaxed);
                self.state.store(CLOSED, Ordering::Release);
            }
        });
    }

    /// Closes the gate without any lock, in a child of the process, which has none of its threads.
    pub fn forget(&self) {
        for word in [&self.owner, &self.inside, &self.bed] {
            word.store(0, Ordering::Relaxed);
        }
        self.state.store(CLOSED, Ordering::Relaxed);
        self.rising.store(0, Ordering::Relaxed);
    }

    /// Makes the state `SHARED`, for a process that acts with several threads from the start, and notes `me` as the
    /// first thread. There is one first thread for good: what belongs to it is never given to a second one.
    pub fn share(&self, me: usize) {
        self.change(|state| {
            if state != SHARED {
                self.first.store(me, Ordering::Relaxed);
                self.state.store(SHARED, Ordering::Release);
            }
        });
    }

    /// Whether the state is `SHARED`: several threads, for good, no marks, and `threaded` is 1.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        // SYNC POINT with `stop` and `share`.
        self.state.load(Ordering::Acquire) == SHARED
    }

    /// The thread that made the calls before there were several.
    pub fn first(&self) -> usize {
        self.first.load(Ordering::Relaxed)
    }

    /// Waits until nobody is inside and runs `raise`; if that says yes, the state is `SHARED` from then on, and the
    /// answer true. `fence` is `membarrier`, false where the kernel has none: then nothing was done. `wake` wakes the
    /// thread that sleeps on an address. The caller is not inside.
    pub fn stop(
        &self,
        fence: impl FnOnce() -> bool,
        wake: impl Fn(usize),
        raise: impl FnOnce() -> bool,
    ) -> bool {
        self.change(|state| {
            if state == SHARED {
                return true;
            }
            // From here on nobody gets in: `mark_owner` looks at this word and `mark` at `rising`.
            // The fence orders it before the look at `inside`.
            let owner = self.owner.swap(NOBODY, Ordering::Relaxed);
            let fenced = fence();
            if fenced {
                // SYNC POINT with `leave`.
                while self.inside.load(Ordering::Acquire) != NOBODY {
                    match self.bed.load(Ordering::Relaxed) {
                        0 => {}
                        bed => wake(bed),
                    }
                    yield_now();
                }
            }
            let done = fenced && raise();
            if done {
                self.first.store(owner, Ordering::Relaxed);
                // SYNC POINT with `ask`.
                self.state.store(SHARED, Ordering::Release);
            } else {
                // SYNC POINT with `mark_owner`: what `raise` did before it failed.
                self.owner.store(owner, Ordering::Release);
            }
            done
        })
    }

    /// Whether a change of state is going on. A loop that waits inside asks each time round, and then calls
    /// [`Gate::let_raiser_in`].
    #[inline(always)]
    pub fn wanted(&self) -> bool {
        self.rising.load(Ordering::Relaxed) != 0
    }

    /// Waits until no change of state is going on. Orders nothing: the caller looks at the state again.
    fn wait_for_raiser(&self) {
        while self.rising.load(Ordering::Relaxed) != 0 {
            yield_now();
        }
    }

    /// Leaves the gate between two turns of a loop that waits, until the change of state is done, and comes back in.
    #[cold]
    pub fn let_raiser_in(&self, me: usize) {
        self.run_outside(me, || self.wait_for_raiser());
    }

    /// Runs `f`, which may take any time or call MPI, outside the call that the thread `me` may be in. The call's entry is lent
    /// meanwhile, and brought up to date behind it ([`crate::Waiting::renew`]).
    pub fn run_outside<R>(&self, me: usize, f: impl FnOnce() -> R) -> R {
        let was_inside = self.inside.load(Ordering::Relaxed) == me;
        if was_inside {
            self.leave();
        }
        let result = f();
        if was_inside {
            self.reenter(me);
        }
        result
    }

    /// Marks thread `me` as inside again, for the call that is still on its stack; not where there are no marks any
    /// more.
    fn reenter(&self, me: usize) {
        loop {
            // SYNC POINT with `stop`.
            let state = self.state.load(Ordering::Acquire);
            if matches!(state, SHARED | CLOSED) || self.mark(me, state) {
                return;
            }
            self.wait_for_raiser();
        }
    }

    /// Names the word on which the thread inside is going to sleep, by its address; 0: it is awake.
    #[inline]
    pub fn sleeps_on(&self, bed: usize) {
        self.bed.store(bed, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
