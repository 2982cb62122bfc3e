//! The list of layer functions, and a turn over it.
//!
//! **The list** is copied on write: a turn loads one pointer and walks an immutable list; registering makes a new list and publishes it. Old
//! lists are kept until the instance goes, because another thread may be walking one; registrations are a handful for each component, made when
//! it begins to use progress. After that the layer's word comes and goes: a function is called only while that is not 0.
//!
//! **Unregistering** does not wait: a turn that has begun may still call the function after `unregister` returned; one that begins afterwards
//! does not. The object that its context points to must therefore live until the component is finalized, when no thread is in the
//! library any more.

use crate::thread::Slot;
use core::ffi::c_void;
use oxmpi_mca::host::{ArmFn, DisarmFn, ProgressFn};
use oxmpi_mca::sync::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::{LayerFunction, Status, ThreadCtx, WaitSet};
use oxmpi_system::locks::Mutex;

/// Functions that are not called in every turn run once in so many turns of a thread.
const SELDOM: u32 = 8;

/// A layer function as it stands in the list.
#[derive(Clone, Copy)]
struct Entry {
    f: ProgressFn,
    ctx: *mut c_void,
    /// Null: there is always work.
    work: *const AtomicU32,
    arm: Option<ArmFn>,
    disarm: Option<DisarmFn>,
}

impl Entry {
    /// An entry for one of the host's own functions, which nothing wakes a sleeper for.
    fn plain(f: ProgressFn, ctx: *mut c_void) -> Entry {
        Entry { f, ctx, work: core::ptr::null(), arm: None, disarm: None }
    }

    /// Whether a registered function is `f` with argument `ctx`.
    fn is(&self, f: ProgressFn, ctx: *mut c_void) -> bool {
        std::ptr::fn_addr_eq(self.f, f) && self.ctx == ctx
    }

    /// Whether the layer has work.
    #[inline(always)]
    fn is_busy(&self) -> bool {
        // SAFETY: the layer's word is valid until its component is finalized.
        unsafe { self.work.as_ref() }.is_none_or(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Calls the function if there is work. Returns the number of events.
    #[inline(always)]
    fn turn(&self, thread: *mut ThreadCtx) -> i32 {
        if self.is_busy() { (self.f)(self.ctx, thread) } else { 0 }
    }
}

/// An immutable list of layer functions, in the groups in which a turn calls them.
#[derive(Clone, Default)]
struct List {
    every: Vec<Entry>,
    seldom: Vec<Entry>,
    /// Run in turns in which those and the transports brought nothing. A change in the words that they look at does not wake a waiter
    /// that sleeps.
    idle: Vec<Entry>,
    /// Run last in every turn: they look at what the others brought and bring nothing of their own.
    after: Vec<Entry>,
}

/// The layer functions of an instance.
pub(crate) struct Layers {
    current: AtomicPtr<List>,
    /// Every list that was ever current; the last one is.
    lists: Mutex<Vec<*mut List>>,
    /// The list of which functions are armed, or null. One thread at a time arms.
    armed: AtomicPtr<List>,
    /// How many of them, in their order.
    num_armed: AtomicU32,
}

// SAFETY: lists are immutable and live as long as the layers; the functions may be called from any
// thread by contract.
unsafe impl Send for Layers {}
// SAFETY: as above.
unsafe impl Sync for Layers {}

impl Layers {
    /// No functions.
    pub(crate) fn new() -> Layers {
        let list = Box::into_raw(Box::<List>::default());
        Layers {
            current: AtomicPtr::new(list),
            lists: Mutex::new(vec![list]),
            armed: AtomicPtr::new(core::ptr::null_mut()),
            num_armed: AtomicU32::new(0),
        }
    }

    /// The list that a turn walks which begins now.
    #[inline(always)]
    fn list(&self) -> &List {
        // SAFETY: lists live as long as the layers. SYNC POINT with `publish`.
        unsafe { &*self.current.load(Ordering::Acquire) }
    }

    /// Makes a turn over all groups: functions of every turn that have work, seldom ones if it is time for them, idle ones if nothing
    /// came, followers. `events`: what the transports brought. Returns the number of all events.
    #[inline(always)]
    pub(crate) fn turn(&self, thread: *mut ThreadCtx, events: i32) -> i32 {
        let list = self.list();
        let mut events = events;
        for entry in &list.every {
            events += entry.turn(thread);
        }
        if list.seldom.is_empty() && list.idle.is_empty() && list.after.is_empty() {
            return events;
        }
        list.turn_of_others(thread, events)
    }

    /// Whether a function has work that nothing wakes a sleeper for.
    pub(crate) fn are_busy(&self) -> bool {
        let list = self.list();
        list.every.iter().chain(&list.seldom).any(|entry| entry.arm.is_none() && entry.is_busy())
    }

    /// Arms the functions that have work and can be armed, up to the first that does not answer OK; that answer. [`Layers::disarm`]
    /// follows in any case.
    pub(crate) fn arm(&self, thread: *mut ThreadCtx, set: &mut WaitSet) -> Status {
        let list = self.list();
        self.armed.store(core::ptr::from_ref(list).cast_mut(), Ordering::Relaxed);
        self.num_armed.store(0, Ordering::Relaxed);
        for (number, entry) in (1..).zip(list.armable()) {
            self.num_armed.store(number, Ordering::Relaxed);
            let answer = match entry.arm {
                Some(arm) if entry.is_busy() => arm(entry.ctx, thread, set),
                _ => Status::OK,
            };
            if !answer.is_ok() {
                return answer;
            }
        }
        Status::OK
    }

    /// Disarms what [`Layers::arm`] armed.
    pub(crate) fn disarm(&self, thread: *mut ThreadCtx) {
        let armed = self.armed.swap(core::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as in `list`.
        let Some(list) = (unsafe { armed.as_ref() }) else { return };
        for entry in list.armable().take(self.num_armed.load(Ordering::Relaxed) as usize) {
            if let Some(disarm) = entry.disarm {
                disarm(entry.ctx, thread);
            }
        }
    }

    /// Adds a layer's function. BAD_PARAM: it is there already.
    pub(crate) fn register(&self, function: &LayerFunction) -> Status {
        let LayerFunction { function: f, context: ctx, work, arm, disarm, every, .. } = *function;
        self.publish(|list| {
            if list.every.iter().chain(&list.seldom).any(|entry| entry.is(f, ctx)) {
                return Status::BAD_PARAM;
            }
            let row = if every != 0 { &mut list.every } else { &mut list.seldom };
            row.push(Entry { f, ctx, work, arm, disarm });
            Status::OK
        })
    }

    /// Removes a function; a turn that has begun may still call it. NOT_FOUND: it is not registered.
    pub(crate) fn unregister(&self, f: ProgressFn, ctx: *mut c_void) -> Status {
        self.publish(|list| {
            let before = list.every.len() + list.seldom.len();
            list.every.retain(|entry| !entry.is(f, ctx));
            list.seldom.retain(|entry| !entry.is(f, ctx));
            if list.every.len() + list.seldom.len() < before { Status::OK } else { Status::NOT_FOUND }
        })
    }

    /// Adds a function for turns in which all others brought nothing.
    pub(crate) fn register_idle(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.idle.push(Entry::plain(f, ctx));
            Status::OK
        });
    }

    /// Adds a function that runs last in every turn.
    pub(crate) fn register_follower(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.after.push(Entry::plain(f, ctx));
            Status::OK
        });
    }

    /// Removes a function that runs last in every turn.
    pub(crate) fn unfollow(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.after.retain(|entry| !entry.is(f, ctx));
            Status::OK
        });
    }

    /// Removes all functions.
    pub(crate) fn clear(&self) {
        self.publish(|list| {
            *list = List::default();
            Status::OK
        });
    }

    /// Changes a copy of the list and makes that the current one, unless `change` fails. Old lists are kept, since
    /// threads may be walking them.
    fn publish(&self, change: impl FnOnce(&mut List) -> Status) -> Status {
        let mut lists = self.lists.lock();
        let mut list = self.list().clone();
        let status = change(&mut list);
        if status.is_err() {
            return status;
        }
        let list = Box::into_raw(Box::new(list));
        lists.push(list);
        // SYNC POINT with `list`.
        self.current.store(list, Ordering::Release);
        status
    }
}

impl List {
    /// The functions that can be armed, in their order.
    fn armable(&self) -> impl Iterator<Item = &Entry> {
        self.every.iter().chain(&self.seldom).filter(|entry| entry.arm.is_some())
    }

    /// Goes on with a turn behind the functions of every turn. Returns the number of all events.
    #[inline(never)]
    fn turn_of_others(&self, thread: *mut ThreadCtx, events: i32) -> i32 {
        let mut events = events;
        if !self.seldom.is_empty() {
            // SAFETY: contexts come from this instance's `Threads` and belong to the calling thread.
            let turns = &unsafe { Slot::of(thread) }.turns;
            turns.set(turns.get().wrapping_add(1));
            if turns.get().is_multiple_of(SELDOM) {
                events += self.seldom.iter().map(|entry| entry.turn(thread)).sum::<i32>();
            }
        }
        if events == 0 {
            events += self.idle.iter().map(|entry| entry.turn(thread)).sum::<i32>();
        }
        events + self.after.iter().map(|entry| entry.turn(thread)).sum::<i32>()
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        for list in self.lists.get_mut().drain(..) {
            // SAFETY: made by Box::into_raw; no thread is in the instance any more.
            drop(unsafe { Box::from_raw(list) });
        }
    }
}
