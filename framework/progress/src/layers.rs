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
use oxmpi_mca::sync::{AtomicPtr, AtomicU32, Ordering, unmodelled};
use oxmpi_mca::{Entry, LayerFunction, Status, WaitSet};
use oxmpi_system::locks::Mutex;

/// Functions that are not called in every turn run once in so many turns of a thread.
const SELDOM: u32 = 8;

/// A layer function as it stands in the list.
#[derive(Clone, Copy)]
struct Function {
    f: ProgressFn,
    ctx: *mut c_void,
    /// Null: there is always work.
    work: *const AtomicU32,
    arm: Option<ArmFn>,
    disarm: Option<DisarmFn>,
}

impl Function {
    /// One of the host's own functions, which nothing wakes a sleeper for.
    fn plain(f: ProgressFn, ctx: *mut c_void) -> Function {
        Function { f, ctx, work: core::ptr::null(), arm: None, disarm: None }
    }

    /// Whether a registered function is `f` with an argument of that address.
    fn is(&self, f: ProgressFn, ctx: usize) -> bool {
        std::ptr::fn_addr_eq(self.f, f) && self.ctx.addr() == ctx
    }

    /// Whether the layer has work.
    #[inline(always)]
    fn is_busy(&self) -> bool {
        // SAFETY: valid until the engine is cleared, as the function's registrant promised.
        unsafe { self.work.as_ref() }.is_none_or(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Calls the function if there is work; it may run the user's code, so the entry is brought up to date behind it. Returns the number of events.
    #[inline(always)]
    fn turn(&self, entry: &mut Entry, several: &unmodelled::AtomicU32) -> i32 {
        if !self.is_busy() {
            return 0;
        }
        let events = (self.f)(self.ctx, entry.thread());
        entry.raise(several.load(Ordering::Relaxed) != 0);
        events
    }
}

/// An immutable list of layer functions, in the groups in which a turn calls them.
#[derive(Clone, Default)]
struct List {
    every: Vec<Function>,
    seldom: Vec<Function>,
    /// Run in turns in which those and the transports brought nothing. A change in the words that they look at does not wake a waiter
    /// that sleeps.
    idle: Vec<Function>,
    /// Run last in every turn: they look at what the others brought and bring nothing of their own.
    after: Vec<Function>,
}

/// The layer functions of an instance.
pub(crate) struct Layers {
    current: AtomicPtr<List>,
    /// 1 once several threads make calls.
    several: unmodelled::AtomicU32,
    /// Every list that was ever current; the last one is.
    lists: Mutex<Vec<*mut List>>,
    /// The list of which functions are armed, or null. One thread at a time arms.
    armed: AtomicPtr<List>,
    /// How many of them, in their order.
    num_armed: AtomicU32,
}

// SAFETY: the lists are owned and go with the layers; what their functions point to is not touched then.
unsafe impl Send for Layers {}
// SAFETY: lists are immutable and live as long as the layers; the functions may be called from any thread, as their registrants promised.
unsafe impl Sync for Layers {}

impl Layers {
    /// No functions.
    pub(crate) fn new() -> Layers {
        let list = Box::into_raw(Box::<List>::default());
        Layers {
            current: AtomicPtr::new(list),
            several: unmodelled::AtomicU32::new(0),
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
    pub(crate) fn turn(&self, entry: &mut Entry, events: i32) -> i32 {
        let list = self.list();
        let mut events = events;
        for function in &list.every {
            events += function.turn(entry, &self.several);
        }
        if list.seldom.is_empty() && list.idle.is_empty() && list.after.is_empty() {
            return events;
        }
        entry.apart(|entry| list.turn_of_others(entry, &self.several, events))
    }

    /// Several threads make calls from now on, so that a turn brings its entry up to date behind each function.
    pub(crate) fn begin_threads(&self) {
        self.several.store(1, Ordering::Relaxed);
    }

    /// Whether a function has work that nothing wakes a sleeper for.
    pub(crate) fn are_busy(&self) -> bool {
        let list = self.list();
        list.every.iter().chain(&list.seldom).any(|function| function.arm.is_none() && function.is_busy())
    }

    /// Arms the functions that have work and can be armed, up to the first that does not answer OK; that answer. [`Layers::disarm`]
    /// follows in any case.
    pub(crate) fn arm(&self, entry: &mut Entry, set: &mut WaitSet) -> Status {
        let list = self.list();
        self.armed.store(core::ptr::from_ref(list).cast_mut(), Ordering::Relaxed);
        self.num_armed.store(0, Ordering::Relaxed);
        for (number, function) in (1..).zip(list.armable()) {
            self.num_armed.store(number, Ordering::Relaxed);
            let answer = match function.arm {
                Some(arm) if function.is_busy() => arm(function.ctx, entry.thread(), set),
                _ => Status::OK,
            };
            if !answer.is_ok() {
                return answer;
            }
        }
        Status::OK
    }

    /// Disarms what [`Layers::arm`] armed.
    pub(crate) fn disarm(&self, entry: &mut Entry) {
        let armed = self.armed.swap(core::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: null, or a list that `arm` has found; lists live as long as the layers.
        let Some(list) = (unsafe { armed.as_ref() }) else { return };
        for function in list.armable().take(self.num_armed.load(Ordering::Relaxed) as usize) {
            if let Some(disarm) = function.disarm {
                disarm(function.ctx, entry.thread());
            }
        }
    }

    /// Adds a layer's function. BAD_PARAM: it is there already.
    ///
    /// # Safety
    /// The functions may be called with their context in any thread, and the word read, until the layers are cleared.
    pub(crate) unsafe fn register(&self, function: &LayerFunction) -> Status {
        let LayerFunction { function: f, context: ctx, work, arm, disarm, every, .. } = *function;
        self.publish(|list| {
            if list.every.iter().chain(&list.seldom).any(|function| function.is(f, ctx.addr())) {
                return Status::BAD_PARAM;
            }
            let row = if every != 0 { &mut list.every } else { &mut list.seldom };
            row.push(Function { f, ctx, work, arm, disarm });
            Status::OK
        })
    }

    /// Removes a function with a context of that address; a turn that has begun may still call it. NOT_FOUND: it is not registered.
    pub(crate) fn unregister(&self, f: ProgressFn, ctx: usize) -> Status {
        self.publish(|list| {
            let before = list.every.len() + list.seldom.len();
            list.every.retain(|function| !function.is(f, ctx));
            list.seldom.retain(|function| !function.is(f, ctx));
            if list.every.len() + list.seldom.len() < before { Status::OK } else { Status::NOT_FOUND }
        })
    }

    /// Adds a function for turns in which all others brought nothing.
    ///
    /// # Safety
    /// As for [`Layers::register`].
    pub(crate) unsafe fn register_idle(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.idle.push(Function::plain(f, ctx));
            Status::OK
        });
    }

    /// Adds a function that runs last in every turn.
    ///
    /// # Safety
    /// As for [`Layers::register`].
    pub(crate) unsafe fn register_follower(&self, f: ProgressFn, ctx: *mut c_void) {
        self.publish(|list| {
            list.after.push(Function::plain(f, ctx));
            Status::OK
        });
    }

    /// Removes a function that runs last in every turn, with a context of that address.
    pub(crate) fn unfollow(&self, f: ProgressFn, ctx: usize) {
        self.publish(|list| {
            list.after.retain(|function| !function.is(f, ctx));
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
    fn armable(&self) -> impl Iterator<Item = &Function> {
        self.every.iter().chain(&self.seldom).filter(|function| function.arm.is_some())
    }

    /// Goes on with a turn behind the functions of every turn. Returns the number of all events.
    #[inline(never)]
    fn turn_of_others(&self, entry: &mut Entry, several: &unmodelled::AtomicU32, events: i32) -> i32 {
        let is_turn_of_seldom = !self.seldom.is_empty() && is_turn_of_seldom(entry);
        let mut all =
            |list: &[Function]| list.iter().map(|function| function.turn(entry, several)).sum::<i32>();
        let mut events = events;
        if is_turn_of_seldom {
            events += all(&self.seldom);
        }
        if events == 0 {
            events += all(&self.idle);
        }
        events + all(&self.after)
    }
}

/// Counts a turn of the entry's thread; whether it is one in which seldom functions run. A call without a thread's context makes none.
fn is_turn_of_seldom(entry: &Entry) -> bool {
    Slot::of(entry).is_some_and(|slot| {
        slot.turns.set(slot.turns.get().wrapping_add(1));
        slot.turns.get().is_multiple_of(SELDOM)
    })
}

impl Drop for Layers {
    fn drop(&mut self) {
        for list in self.lists.get_mut().drain(..) {
            // SAFETY: made by Box::into_raw; no thread is in the instance any more.
            drop(unsafe { Box::from_raw(list) });
        }
    }
}
