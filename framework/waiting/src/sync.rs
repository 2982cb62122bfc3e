//! The sync object: how a thread waits for requests while another thread makes the progress.
//!
//! Used at level MULTIPLE only; below, a waiter polls the request's completion word itself.
//!
//! **One owner.** Of all waiting threads one, the *owner*, runs progress; the others are *parked*
//! (they spin a little, then sleep on their own word). When the owner's wait ends it hands
//! ownership to the next. A thread whose requests are complete is woken alone, by whoever completed
//! the last of them.
//!
//! **Life.** A [`SyncObject`] lies on its waiter's stack. The waiter attaches it to its requests
//! (compare-and-swap on their completion words), enters the [`Waiters`], and may go when the
//! object's state says DONE. Two parties touch a foreign object:
//!
//! - *completers* (through `update`): subtract from `count`; the one that takes it from above 0 to 0 or
//!   below *crosses*, and swaps `state` to DONE as the very last thing it does with the object. From that
//!   moment the memory may be anything; waking the sleeper uses its address as a name only. A completer
//!   that does not cross is finished with the object when its subtraction is. So a waiter for all its
//!   requests may go when it sees DONE: the crossing subtraction was the last one. A waiter for *any*
//!   takes its object off the other requests first; each it cannot take off owes it a subtraction, and
//!   it waits for those too (`settle`).
//! - *other waiters*, under the list's lock: an object is in the list (or its owner) from `enter` to
//!   `leave`, both under the lock, and alive in between.
//!
//! **States.** RUNNING: awake. PARKED: its thread sleeps on this word, or is about to. NUDGED: awake, and
//! is to look around (a parked one: you are the owner now; the owner: do not sleep yet). DONE: final.
//! ```text
//!   RUNNING ⇄ PARKED      by the waiter itself; PARKED → RUNNING also under the list's lock (`rouse`)
//!   RUNNING → STOPPED     by the waiter, if it is a user-level thread; from there only by others, as from
//!                         PARKED, and each time its thread is resumed once (`hooks`)
//!   RUNNING | PARKED | STOPPED → NUDGED   under the list's lock;   NUDGED → RUNNING by the waiter
//!   any → DONE            by the completer that crosses
//! ```
//!
//! **The lock** of the list is taken when a wait begins and ends, never on a send, a receive or a
//! completion.

use crate::futex::wake_private;
use crate::lock::{Mutex, lock};
use oxmpi_mca::sync::{AtomicU32, AtomicUsize, Cell, Ordering};
use std::ffi::c_void;
use std::ptr::{null, null_mut, with_exposed_provenance};

/// State of an object whose waiter is awake.
const RUNNING: u32 = 0;
/// State of an object whose waiter sleeps on it, or is about to.
const PARKED: u32 = 1;
/// State of an object whose completions have all come; final.
const DONE: u32 = 2;
/// State of an object whose waiter is awake and is to look around.
const NUDGED: u32 = 3;
/// State of an object whose waiter, a user-level thread, is parked by the program's scheduler.
const STOPPED: u32 = 4;

/// A user-level thread, by the name that the program's scheduler has for it.
#[derive(Clone, Copy, Debug)]
pub struct UserThread(pub *mut c_void);

/// The object that requests of one wait attach to; it lies on the waiter's stack.
#[repr(C)]
pub struct SyncObject {
    /// Completions still wanted, as a signed number: completions that nobody waited for take it
    /// below zero.
    count: AtomicU32,
    state: AtomicU32,
    /// Neighbours among the parked; guarded by the list's lock.
    next: Cell<*const SyncObject>,
    prev: Cell<*const SyncObject>,
    /// Where to go when somebody takes it out of STOPPED. Written before it goes there, as the next.
    sleepers: Cell<*const Sleepers>,
    /// The user-level thread, and its neighbour among the sleepers.
    thread: Cell<UserThread>,
    below: Cell<*const SyncObject>,
    /// No request stands for the wait; see [`Waiters::rouse_condition_waiters`].
    is_condition: bool,
}

impl SyncObject {
    /// A sync object that is done when `count` completions have come (at least 1, at most `i32::MAX`).
    pub fn new(count: u32) -> SyncObject {
        SyncObject {
            count: AtomicU32::new(count),
            state: AtomicU32::new(RUNNING),
            next: Cell::new(null()),
            prev: Cell::new(null()),
            sleepers: Cell::new(null()),
            thread: Cell::new(UserThread(null_mut())),
            below: Cell::new(null()),
            is_condition: false,
        }
    }

    /// The sync object of a wait that no request stands for: the waiter itself says when it is done, by [`SyncObject::update`]
    /// of 1.
    pub fn of_condition() -> SyncObject {
        SyncObject { is_condition: true, ..SyncObject::new(1) }
    }

    /// The value of a completion word while this object is attached.
    pub fn address(&self) -> usize {
        self as *const SyncObject as usize
    }

    /// Whether all completions have come; what the completers wrote before is visible then.
    #[inline]
    pub fn is_done(&self) -> bool {
        // SYNC POINT with `update`: what every completer wrote before its subtraction is seen.
        self.state.load(Ordering::Acquire) == DONE
    }

    /// Subtracts `n` attached requests that have completed, and wakes the waiter with the last one it wants. The
    /// object may be gone when this returns.
    ///
    /// # Safety
    /// `this` was found attached to `n` requests by the caller, who completed them.
    pub unsafe fn update(this: *const SyncObject, n: u32) {
        // SAFETY: alive until the last owed subtraction, and ours is one.
        // SYNC POINT: a chain of subtractions; the crossing one has acquired all the others.
        let old = unsafe { &(*this).count }.fetch_sub(n, Ordering::AcqRel).cast_signed();
        if old > 0 && old <= n.cast_signed() {
            // SAFETY: the waiter does not go before it has seen DONE. SYNC POINT with `is_done`.
            let state = unsafe { &raw const (*this).state };
            // SAFETY: the waiter is there until it has seen DONE, which is what this stores; after this line the object may be gone.
            let before = unsafe { &*state }.swap(DONE, Ordering::AcqRel);
            if before == PARKED {
                wake_private(state.addr());
            } else if before == STOPPED {
                // SAFETY: its thread does not run before it was resumed, so the object is alive.
                unsafe { &*this }.is_to_resume();
            }
        }
    }

    /// Subtracts, for the waiter itself, `n` requests that were complete before it could attach. True: nothing is
    /// outstanding, and nobody will touch the object any more.
    pub fn retire(&self, n: u32) -> bool {
        // SYNC POINT with `update`: if ours is the crossing one, all the others are before it.
        n > 0 && self.count.fetch_sub(n, Ordering::AcqRel) == n
    }

    /// Waits, after a wait for any of several requests, for the `owed` completers that have found the object attached
    /// and not subtracted yet. They are on their way, between completing the request and the subtraction.
    /// `started_with`: the count given to [`SyncObject::new`].
    pub fn settle(&self, started_with: u32, owed: u32) {
        let end = started_with.wrapping_sub(owed);
        // SYNC POINT with `update`.
        while self.count.load(Ordering::Acquire) != end || (owed >= started_with && !self.is_done()) {
            oxmpi_mca::sync::yield_now();
        }
    }

    /// Announces that the waiter sleeps on its state word. False: it must look around first.
    pub fn park(&self) -> bool {
        self.state.compare_exchange(RUNNING, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Announces that the waiter, the user-level thread `thread`, stops. False: it must not. True: its name will be
    /// put among the `sleepers` once, and it does not go on before.
    pub fn stop(&self, sleepers: &Sleepers, thread: UserThread) -> bool {
        self.thread.set(thread);
        self.sleepers.set(sleepers);
        self.state.compare_exchange(RUNNING, STOPPED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Announces that the waiter is awake again after [`SyncObject::park`].
    pub fn unpark(&self) {
        let _ = self.state.compare_exchange(PARKED, RUNNING, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether somebody has nudged the waiter since the last call; true once for every nudge.
    pub fn take_nudge(&self) -> bool {
        self.state.compare_exchange(NUDGED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The word that a parked waiter sleeps on, and the value at which it sleeps.
    pub fn state_word(&self) -> (&AtomicU32, u32) {
        (&self.state, PARKED)
    }

    /// Wakes the waiter if it sleeps, with nothing said about ownership. The caller holds the list's lock.
    fn rouse(&self) {
        if self.state.compare_exchange(PARKED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            wake_private((&raw const self.state).addr());
        } else if self.state.compare_exchange(STOPPED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.is_to_resume();
        }
    }

    /// Puts the object among the sleepers, whose threads are unparked later. By the thread that took it out of
    /// STOPPED.
    fn is_to_resume(&self) {
        // SAFETY: the sleepers live as long as the instance.
        unsafe { &*self.sleepers.get() }.push(self);
    }

    /// Tells the waiter to look around, and wakes it if it sleeps. False: its wait is done. The caller holds the
    /// list's lock.
    fn nudge(&self) -> bool {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            match state {
                DONE => return false,
                NUDGED => return true,
                _ => {}
            }
            match self.state.compare_exchange(state, NUDGED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(before) => {
                    match before {
                        PARKED => wake_private((&raw const self.state).addr()),
                        STOPPED => self.is_to_resume(),
                        _ => {}
                    }
                    return true;
                }
                Err(now) => state = now,
            }
        }
    }
}

/// User-level threads that somebody took out of STOPPED and nobody has resumed: a stack, since completers must
/// not wait. A thread that takes the stack takes it whole.
#[derive(Default)]
pub struct Sleepers(AtomicUsize);

impl Sleepers {
    /// Pushes an object that was taken out of STOPPED. Its thread does not run before it is resumed, so the object is
    /// alive.
    fn push(&self, sync: *const SyncObject) {
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: alive, and ours since we took it out of STOPPED.
            unsafe { (*sync).below.set(with_exposed_provenance(head)) };
            // SYNC POINT with `take`.
            match self.0.compare_exchange(head, sync.expose_provenance(), Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes all user-level threads out, each of which is to be resumed once.
    pub fn take(&self) -> impl Iterator<Item = UserThread> {
        let mut at: *const SyncObject = null();
        if self.0.load(Ordering::Relaxed) != 0 {
            // SYNC POINT with `push`.
            at = with_exposed_provenance(self.0.swap(0, Ordering::AcqRel));
        }
        std::iter::from_fn(move || {
            // SAFETY: not resumed yet; both are read before the caller can do that.
            let (thread, below) = unsafe { at.as_ref() }.map(|s| (s.thread.get(), s.below.get()))?;
            at = below;
            Some(thread)
        })
    }
}

/// The threads that wait, and which of them runs progress. On cache lines of its own: its neighbours in
/// the instance are read on every message.
#[repr(align(128))]
pub struct Waiters {
    list: Mutex<List>,
    /// 1 while somebody waits: a hint that costs no lock.
    busy: AtomicU32,
    /// How many waited at once lately: a hint, too.
    crowd: AtomicU32,
}

/// Waits of one thread alone, in a row, after which there is no crowd any more.
const CALM: u32 = 64;

/// The owner of progress and the parked waiters, under one lock.
struct List {
    owner: *const SyncObject,
    /// The parked, in order of arrival.
    head: *const SyncObject,
    tail: *const SyncObject,
    /// How many are parked.
    parked: u32,
    /// Waits since anybody was.
    calm: u32,
    /// Waits that began among the parked, ever.
    parks: u64,
}

// SAFETY: the objects are alive while they are in the list (essay above).
unsafe impl Send for List {}

impl Default for Waiters {
    fn default() -> Waiters {
        Waiters::new()
    }
}

impl Waiters {
    /// A list of waiters without any.
    pub fn new() -> Waiters {
        let list = List { owner: null(), head: null(), tail: null(), parked: 0, calm: 0, parks: 0 };
        Waiters { list: Mutex::new(list), busy: AtomicU32::new(0), crowd: AtomicU32::new(0) }
    }

    /// How many threads waited at once lately. Where that is more than there are cores for them, one that spins takes
    /// the core from one that has something to do.
    #[inline]
    pub fn crowd(&self) -> u32 {
        self.crowd.load(Ordering::Relaxed)
    }

    /// Number of waits, ever, that began with another thread as the owner of progress.
    pub fn parks(&self) -> u64 {
        lock(&self.list).parks
    }

    /// Whether no thread seems to wait: a hint, read without the lock.
    pub fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }

    /// Waits until `sync` is done. As the owner of progress the thread calls `own`, one step of progress (which may
    /// sleep); else `park`, which waits a while for the object's state to change. Both get what the thread waits with.
    pub fn run<W>(
        &self,
        sync: &SyncObject,
        waiter: &mut W,
        mut own: impl FnMut(&mut W, &SyncObject),
        mut park: impl FnMut(&mut W, &SyncObject),
    ) {
        let mut owner = self.enter(sync);
        while !sync.is_done() {
            if owner {
                own(waiter, sync);
            } else {
                park(waiter, sync);
                owner = sync.take_nudge();
            }
        }
        self.leave(sync);
    }

    /// Wakes waiters because there is work for them: the owner does not go to sleep, and up to `most` sleepers wake.
    pub fn rouse(&self, most: u64) {
        let list = lock(&self.list);
        // SAFETY: the owner and all in the list are alive until they leave, which needs the lock.
        if let Some(owner) = unsafe { list.owner.as_ref() } {
            owner.nudge();
        }
        let (mut at, mut n) = (list.head, 0);
        // SAFETY: it is in the list, which it leaves under the lock that is held.
        while let Some(sync) = unsafe { at.as_ref() }
            && n < most
        {
            sync.rouse();
            at = sync.next.get();
            n += 1;
        }
    }

    /// Wakes the waiters that no request stands for, because something has come that may be what they wait for.
    pub fn rouse_condition_waiters(&self) {
        let list = lock(&self.list);
        // SAFETY: the owner and all in the list are alive until they leave, which needs the lock.
        if let Some(owner) = unsafe { list.owner.as_ref() }
            && owner.is_condition
        {
            owner.nudge();
        }
        let mut at = list.head;
        // SAFETY: it is in the list, which it leaves under the lock that is held.
        while let Some(sync) = unsafe { at.as_ref() } {
            if sync.is_condition {
                sync.rouse();
            }
            at = sync.next.get();
        }
    }

    /// Puts a waiter in the list. True: it is the owner of progress; false: another thread is.
    fn enter(&self, sync: &SyncObject) -> bool {
        let mut list = lock(&self.list);
        if list.owner.is_null() {
            list.owner = sync;
            self.busy.store(1, Ordering::Relaxed);
            list.calm += 1;
            if list.calm == CALM {
                self.crowd.store(1, Ordering::Relaxed);
            }
            return true;
        }
        list.push(sync);
        list.calm = 0;
        if list.parked >= self.crowd.load(Ordering::Relaxed) {
            self.crowd.store(list.parked + 1, Ordering::Relaxed);
        }
        // Work that the newcomer has queued may need progress that the sleeping owner does not know of.
        // SAFETY: the owner is alive until it leaves, which needs the lock.
        unsafe { &*list.owner }.nudge();
        false
    }

    /// Takes a waiter out of the list when its wait is done. The owner hands ownership to the first of the others that
    /// is not done.
    fn leave(&self, sync: &SyncObject) {
        let mut list = lock(&self.list);
        if !std::ptr::eq(list.owner, sync) {
            list.unlink(sync);
            return;
        }
        list.owner = null();
        let mut next = list.head;
        while !next.is_null() {
            // SAFETY: what is in the list is alive until it leaves, which needs the lock.
            let candidate = unsafe { &*next };
            if candidate.nudge() {
                list.unlink(candidate);
                list.owner = candidate;
                return;
            }
            // Done already; it is on its way to `leave`.
            next = candidate.next.get();
        }
        self.busy.store(0, Ordering::Relaxed);
    }
}

impl List {
    /// Adds a parked waiter behind the others.
    fn push(&mut self, sync: &SyncObject) {
        sync.prev.set(self.tail);
        sync.next.set(null());
        if self.tail.is_null() {
            self.head = sync;
        } else {
            // SAFETY: alive while in the list.
            unsafe { &*self.tail }.next.set(sync);
        }
        self.tail = sync;
        self.parked += 1;
        self.parks += 1;
    }

    /// Removes a parked waiter.
    fn unlink(&mut self, sync: &SyncObject) {
        self.parked -= 1;
        let (prev, next) = (sync.prev.get(), sync.next.get());
        if prev.is_null() {
            self.head = next;
        } else {
            // SAFETY: neighbours are in the list, thus alive.
            unsafe { &*prev }.next.set(next);
        }
        if next.is_null() {
            self.tail = prev;
        } else {
            // SAFETY: the one behind is in the list, too, thus alive.
            unsafe { &*next }.prev.set(prev);
        }
    }
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod tests;
