//! The list of progress functions, and a turn over it.
//!
//! **The list** is copied on write: a turn of progress loads one pointer and walks an immutable
//! list; registering makes a new list and publishes it. Old lists are kept until the instance goes,
//! because another thread may be walking one; registrations are a handful per component. In the
//! usual case there is exactly one function (the PML's) and a turn is one indirect call.
//!
//! **Unregistering** does not wait: a turn that has begun may still call the function after
//! `unregister` returned. The object that its `ctx` points to must therefore live until the component is
//! finalized, when no thread is in the library any more.

use crate::thread::Slot;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_system::locks::Mutex;
use std::ffi::c_void;

/// Low-priority functions run once in so many turns of a thread.
const LOW_EVERY: u32 = 8;

/// A progress function and its argument.
#[derive(Clone, Copy)]
struct Callback {
    f: ProgressFn,
    ctx: *mut c_void,
}

/// An immutable list of progress functions, in the groups in which a turn calls them.
#[derive(Clone)]
struct List {
    /// The only function there is, if there is only one, of high priority: else one that does nothing.
    only: Callback,
    single: bool,
    /// No function but the PML's brings news of its own, so a waiter may sleep on the PML's doorbell.
    doorbell: bool,
    high: Vec<Callback>,
    low: Vec<Callback>,
    /// Run in turns in which those brought nothing. A change in the words that they look at does not wake a waiter that sleeps.
    idle: Vec<Callback>,
    /// Run last in every turn: they look at what the others brought and bring nothing of their own.
    after: Vec<Callback>,
}

/// A progress function that brings nothing.
extern "C" fn nothing(_: *mut c_void, _: *mut ThreadCtx) -> i32 {
    0
}

/// The entry for no function.
const NOTHING: Callback = Callback { f: nothing, ctx: std::ptr::null_mut() };

/// The list of progress functions of an instance.
pub struct Engine {
    current: AtomicPtr<List>,
    /// Every list that was ever current; the last one is.
    lists: Mutex<Vec<*mut List>>,
}

// SAFETY: lists are immutable and live as long as the engine; the functions may be called from any
// thread by contract.
unsafe impl Send for Engine {}
// SAFETY: as above.
unsafe impl Sync for Engine {}

impl Engine {
    /// An engine without progress functions.
    #[expect(clippy::new_without_default, reason = "one is made on purpose, with its waiting part")]
    pub fn new() -> Engine {
        let list = List {
            only: NOTHING,
            single: true,
            doorbell: true,
            high: Vec::new(),
            low: Vec::new(),
            idle: Vec::new(),
            after: Vec::new(),
        };
        let list = Box::into_raw(Box::new(list));
        Engine { current: AtomicPtr::new(list), lists: Mutex::new(vec![list]) }
    }

    /// Makes one turn of progress: calls the registered functions. Returns the number of events. `thread` is the
    /// caller's.
    #[inline(always)]
    pub fn turn(&self, thread: *mut ThreadCtx) -> i32 {
        // SAFETY: lists live as long as the engine. SYNC POINT with `publish`.
        let list = unsafe { &*self.current.load(Ordering::Acquire) };
        if list.single {
            return (list.only.f)(list.only.ctx, thread);
        }
        turn_all(list, thread)
    }

    /// Whether at most one function brings news, the PML's, so that a waiter may sleep on the PML's doorbell.
    pub fn is_single(&self) -> bool {
        // SAFETY: as in `turn`.
        unsafe { &*self.current.load(Ordering::Acquire) }.doorbell
    }

    /// Adds a function that runs last in every turn and only looks at what the others did.
    pub fn register_follower(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.after.push(Callback { f, ctx });
            Status::OK
        });
    }

    /// Adds a function for turns in which all others brought nothing. While waiters sleep nobody calls it.
    pub fn register_idle(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.idle.push(Callback { f, ctx });
            Status::OK
        });
    }

    /// Removes a function that runs last in every turn.
    pub fn unfollow(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.after.retain(|c| !same(c, f, ctx));
            Status::OK
        });
    }

    /// Adds a function for every turn (`high`), or for each eighth turn of a thread. `BAD_PARAM`: it is there already.
    pub fn register(&self, f: ProgressFn, ctx: *mut c_void, high: bool) -> Status {
        self.publish(|list| {
            if list.high.iter().chain(&list.low).any(|c| same(c, f, ctx)) {
                return Status::BAD_PARAM;
            }
            let row = if high { &mut list.high } else { &mut list.low };
            row.push(Callback { f, ctx });
            Status::OK
        })
    }

    /// Removes a function; a turn that has begun may still call it. `NOT_FOUND`: it is not registered.
    pub fn unregister(&self, f: ProgressFn, ctx: *mut c_void) -> Status {
        self.publish(|list| {
            let before = list.high.len() + list.low.len();
            list.high.retain(|c| !same(c, f, ctx));
            list.low.retain(|c| !same(c, f, ctx));
            if list.high.len() + list.low.len() < before { Status::OK } else { Status::NOT_FOUND }
        })
    }

    /// Removes all functions.
    pub fn clear(&self) {
        self.publish(|list| {
            list.high.clear();
            list.low.clear();
            list.idle.clear();
            list.after.clear();
            Status::OK
        });
    }

    /// Changes a copy of the list and makes that the current one, unless `change` fails. Old lists are kept, since
    /// threads may be walking them.
    fn publish(&self, change: impl FnOnce(&mut List) -> Status) -> Status {
        let mut lists = self.lists.lock();
        // SAFETY: as in `turn`.
        let mut list = unsafe { &*self.current.load(Ordering::Relaxed) }.clone();
        let status = change(&mut list);
        if status.is_err() {
            return status;
        }
        list.doorbell = list.low.is_empty() && list.high.len() <= 1;
        list.single = list.doorbell && list.idle.is_empty() && list.after.is_empty();
        list.only = list.high.first().copied().unwrap_or(NOTHING);
        let list = Box::into_raw(Box::new(list));
        lists.push(list);
        // SYNC POINT with `turn`.
        self.current.store(list, Ordering::Release);
        status
    }
}

/// Whether a registered function is `f` with argument `ctx`.
fn same(c: &Callback, f: ProgressFn, ctx: *mut c_void) -> bool {
    std::ptr::fn_addr_eq(c.f, f) && c.ctx == ctx
}

/// Makes a turn over all groups of a list: high ones, low ones if it is time for them, idle ones if nothing came,
/// followers. Returns the number of events.
#[inline(never)]
fn turn_all(list: &List, thread: *mut ThreadCtx) -> i32 {
    let mut events = 0;
    for c in &list.high {
        events += (c.f)(c.ctx, thread);
    }
    if !list.low.is_empty() {
        // SAFETY: contexts come from this instance's `Threads` and belong to the calling thread.
        let turns = &unsafe { Slot::of(thread) }.turns;
        turns.set(turns.get().wrapping_add(1));
        if turns.get().is_multiple_of(LOW_EVERY) {
            for c in &list.low {
                events += (c.f)(c.ctx, thread);
            }
        }
    }
    if events == 0 {
        for c in &list.idle {
            events += (c.f)(c.ctx, thread);
        }
    }
    for c in &list.after {
        events += (c.f)(c.ctx, thread);
    }
    events
}

impl Drop for Engine {
    fn drop(&mut self) {
        for list in self.lists.get_mut().drain(..) {
            // SAFETY: made by Box::into_raw; no thread is in the instance any more.
            drop(unsafe { Box::from_raw(list) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::Threads;
    use std::sync::atomic::AtomicI32;

    extern "C" fn count(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
        // SAFETY: the tests pass a counter.
        unsafe { &*(ctx as *const AtomicI32) }.fetch_add(1, Ordering::Relaxed);
        1
    }

    #[test]
    fn high_every_turn_low_every_eighth() {
        let (engine, threads) = (Engine::new(), Threads::new(1, 0));
        let t = threads.attach();
        let (high, low) = (AtomicI32::new(0), AtomicI32::new(0));
        let at = |c: &AtomicI32| c as *const AtomicI32 as *mut c_void;
        assert_eq!(engine.turn(t), 0);
        assert_eq!(engine.register(count, at(&high), true), Status::OK);
        assert_eq!(engine.register(count, at(&high), false), Status::BAD_PARAM);
        assert_eq!(engine.turn(t), 1);
        assert_eq!(engine.register(count, at(&low), false), Status::OK);
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((high.load(Ordering::Relaxed), low.load(Ordering::Relaxed), events), (17, 2, 18));
        assert_eq!(engine.unregister(count, at(&high)), Status::OK);
        assert_eq!(engine.unregister(count, at(&high)), Status::NOT_FOUND);
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((high.load(Ordering::Relaxed), events), (17, 2));
        let idle = AtomicI32::new(0);
        engine.register_idle(count, at(&idle));
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((low.load(Ordering::Relaxed), idle.load(Ordering::Relaxed), events), (6, 14, 16));
        engine.clear();
        engine.register_idle(count, at(&idle));
        assert!(engine.is_single(), "waiters may sleep");
        engine.clear();
        assert_eq!((0..16).map(|_| engine.turn(t)).sum::<i32>(), 0);
    }

    #[test]
    fn turns_while_others_register() {
        let engine = Engine::new();
        let c = AtomicI32::new(0);
        std::thread::scope(|s| {
            let (engine, c) = (&engine, &c);
            s.spawn(move || {
                let at = c as *const AtomicI32 as *mut c_void;
                for _ in 0..500 {
                    assert_eq!(engine.register(count, at, true), Status::OK);
                    assert_eq!(engine.unregister(count, at), Status::OK);
                }
            });
            for _ in 0..20_000 {
                assert!((0..=1).contains(&engine.turn(std::ptr::null_mut())));
            }
        });
    }
}
