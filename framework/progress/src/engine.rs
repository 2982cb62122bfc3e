//! A turn of progress, what is registered for it, and the announcement of a sleep.
//!
//! A turn polls the transports on the contexts that the policy gives to the calling thread (`contexts`), then calls the layer functions that
//! have work (`layers`). It is made by threads that wait, in calls that look, and by components that ask for one; no lock is held.
//!
//! **Sleep.** A thread that goes to sleep arms the contexts first and then looks at the words of the layers, so a layer that becomes busy before that is seen;
//! one that becomes busy later does so in a call that makes a turn itself. A layer that is idle is not armed and shortens no sleep. One
//! that is busy and cannot be armed has itself looked at after short sleeps ([`Engine::sleeps_are_short`]).

use crate::contexts::{Contexts, Crowding, Hook};
use crate::layers::Layers;
use crate::policy::kind::Rule;
use crate::turns::Turns;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::{BtlHandle, BtlServices};
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};
use oxmpi_mca::{Cri, Entry, LayerFunction, SliceRef, Status, WaitSet};
use oxmpi_pml::{PmlModule, Transports, Words};
use std::sync::OnceLock;

/// The things that an engine serves: an instance's CRIs and transports, which outlive it.
pub struct Served<'a> {
    pub cris: &'a [Cri],
    /// Best first.
    pub btls: &'a [&'a BtlHandle],
    /// Whether the transport of that number is not polled before something activates it.
    pub dormant: &'a dyn Fn(usize) -> bool,
    pub services: *const BtlServices,
    /// How threads make turns among each other. Where the policy does not deal with owners of locks the CRIs have none
    /// ([`Kind::takes_from_owners`](crate::policy::kind::Kind::takes_from_owners)).
    pub rule: Rule,
    pub crowding: Crowding,
}

/// The progress engine of an instance.
pub struct Engine {
    /// The contexts that are polled, or null.
    turns: AtomicPtr<Turns>,
    layers: Layers,
    /// The object that `turns` points to.
    own: OnceLock<Turns>,
}

impl Engine {
    /// An engine that polls nothing and calls nobody.
    #[expect(clippy::new_without_default, reason = "one is made on purpose, with its waiting part")]
    pub fn new() -> Engine {
        Engine { turns: AtomicPtr::new(null_mut()), layers: Layers::new(), own: OnceLock::new() }
    }

    /// Polls transports on the contexts of an instance from now on, and enables a PML with them, whose hook runs behind their turns. Once, before
    /// any other verb of the PML; an error is the PML's answer, or BAD_PARAM where there are contexts
    /// already, or more than 64 transports.
    ///
    /// # Safety
    /// CRIs, transports and services outlive the engine, and the module is an accepted one that nobody has enabled.
    pub unsafe fn serve(&self, served: &Served<'_>, pml: &PmlModule) -> Status {
        // The armed ones are bits of a word.
        if served.btls.len() > u64::BITS as usize {
            return Status::BAD_PARAM;
        }
        // SAFETY: the caller's promise; the contexts go with the engine.
        let contexts = unsafe { Contexts::new(served.cris, served.btls, served.dormant, served.crowding) };
        if self.own.set(Turns::new(contexts, served.rule)).is_err() {
            return Status::BAD_PARAM;
        }
        let Some(own) = self.own.get() else { return Status::INTERNAL };
        let contexts = &own.contexts;
        let btls: Vec<*const BtlHandle> = served.btls.iter().map(|btl| core::ptr::from_ref(*btl)).collect();
        let transports = Transports {
            size: size_of::<Transports>() as u32,
            reserved: 0,
            btls: SliceRef { ptr: btls.as_ptr(), len: btls.len() },
            services: served.services,
            polling: contexts.polling(),
        };
        // SAFETY: an accepted module's table lives as long as the process.
        let table = unsafe { &*pml.table };
        let mut words = Words::NONE;
        let enabled = (table.enable)(pml.state, &transports, &mut words);
        if enabled.is_err() {
            return enabled;
        }
        // SAFETY: enabled above; no turn is made any more when it is finalized.
        unsafe { contexts.set_hook(Hook { state: pml.state, after_turn: table.after_turn, words }) };
        // SYNC POINT with `turns`.
        self.turns.store(core::ptr::from_ref(own).cast_mut(), Ordering::Release);
        Status::OK
    }

    /// The contexts that are polled; `None` before [`Engine::serve`].
    #[inline(always)]
    pub fn contexts(&self) -> Option<&Contexts> {
        self.turns().map(|turns| &*turns.contexts)
    }

    /// The contexts that are polled, and how.
    #[inline(always)]
    fn turns(&self) -> Option<&Turns> {
        // SAFETY: null, or `own`, which stays. SYNC POINT with `serve`.
        unsafe { self.turns.load(Ordering::Acquire).as_ref() }
    }

    /// Makes one turn of progress. Returns the number of events. Behind it the entry takes locks if that has to be from now on.
    #[inline(always)]
    pub fn turn(&self, entry: &mut Entry) -> i32 {
        let events = match self.turns() {
            Some(turns) => turns.turn(entry),
            None => 0,
        };
        self.layers.turn(entry, events)
    }

    /// Makes one turn of one context, and takes its lock from the owner for that; then of the layers. Returns the number of events. The
    /// caller holds no lock.
    pub fn turn_of_context(&self, entry: &mut Entry, ctx: u32) -> i32 {
        let events = self.turns().map_or(0, |turns| turns.turn_of_one(entry, ctx));
        self.layers.turn(entry, events)
    }

    /// Takes locks in every turn from now on, since several threads make calls.
    pub fn begin_threads(&self) {
        self.layers.begin_threads();
        if let Some(contexts) = self.contexts() {
            contexts.polling().take_care();
        }
    }

    /// Announces a sleep to transports and layers, and puts into `set` what will change when something comes. `None`: there are no
    /// transports yet. OK: the caller may sleep on the set; PENDING: something is there, or waits for room; NO_RESOURCE: there is more than the
    /// set holds; any other status: a sleeper cannot be woken. [`Engine::disarm`] follows the first three.
    pub fn arm(&self, entry: &mut Entry, set: &mut WaitSet) -> Option<Status> {
        let armed = self.turns()?.arm(entry, set);
        if !armed.is_ok() {
            return Some(armed);
        }
        let answer = self.layers.arm(entry, set);
        if ![Status::OK, Status::PENDING, Status::NO_RESOURCE].contains(&answer) {
            self.disarm(entry);
        }
        Some(answer)
    }

    /// Tells transports and layers that the thread is awake.
    pub fn disarm(&self, entry: &mut Entry) {
        self.layers.disarm(entry);
        if let Some(contexts) = self.contexts() {
            contexts.disarm(entry);
        }
    }

    /// Whether a layer has work that nothing wakes a sleeper for, so that sleeps have to be short. Asked behind [`Engine::arm`].
    pub fn sleeps_are_short(&self) -> bool {
        self.layers.are_busy()
    }

    /// Adds a layer's function. BAD_PARAM: it is there already.
    ///
    /// # Safety
    /// The functions may be called with their context in any thread that makes turns, and the word read, until [`Engine::clear`], also if the function is
    /// removed before.
    pub unsafe fn register(&self, function: &LayerFunction) -> Status {
        // SAFETY: the caller's promise.
        unsafe { self.layers.register(function) }
    }

    /// Removes a layer's function with a context of that address; a turn that has begun may still call it. NOT_FOUND: it is not registered.
    pub fn unregister(&self, f: ProgressFn, ctx: usize) -> Status {
        self.layers.unregister(f, ctx)
    }

    /// Adds a function that runs last in every turn and only looks at what the others did.
    ///
    /// # Safety
    /// As for [`Engine::register`].
    pub unsafe fn register_follower(&self, f: ProgressFn, ctx: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { self.layers.register_follower(f, ctx) };
    }

    /// Removes a function that runs last in every turn, with a context of that address.
    pub fn unfollow(&self, f: ProgressFn, ctx: usize) {
        self.layers.unfollow(f, ctx);
    }

    /// Adds a function for turns in which all others brought nothing. While waiters sleep nobody calls it.
    ///
    /// # Safety
    /// As for [`Engine::register`].
    pub unsafe fn register_idle(&self, f: ProgressFn, ctx: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { self.layers.register_idle(f, ctx) };
    }

    /// Polls nothing and calls nobody any more. No thread is in a turn.
    pub fn clear(&self) {
        self.turns.store(null_mut(), Ordering::Relaxed);
        self.layers.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::thread::Threads;
    use core::sync::atomic::{AtomicI32, AtomicU32};
    use oxmpi_mca::ThreadCtx;

    /// The entry of a test's thread, alone with its engine.
    fn entry(threads: &Threads) -> Entry {
        // SAFETY: a context of its own, and nobody else uses the engine.
        unsafe { Entry::of(false, threads.attach()) }
    }

    fn register(engine: &Engine, function: &LayerFunction) -> Status {
        // SAFETY: the counters and words live as long as the test.
        unsafe { engine.register(function) }
    }

    fn register_idle(engine: &Engine, counter: &AtomicI32) {
        // SAFETY: the counter lives as long as the test.
        unsafe { engine.register_idle(count, at(counter)) }
    }

    extern "C" fn count(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
        // SAFETY: the tests pass a counter.
        unsafe { &*(ctx as *const AtomicI32) }.fetch_add(1, Ordering::Relaxed);
        1
    }

    fn at(c: &AtomicI32) -> *mut c_void {
        std::ptr::from_ref(c).cast_mut().cast()
    }

    fn every(c: &AtomicI32) -> LayerFunction {
        LayerFunction::new(count, c, None)
    }

    #[test]
    fn some_every_turn_others_every_eighth() {
        let (engine, threads) = (Engine::new(), Threads::new(1, 0));
        let t = &mut entry(&threads);
        let (high, low) = (AtomicI32::new(0), AtomicI32::new(0));
        assert_eq!(engine.turn(t), 0);
        assert_eq!(register(&engine, &every(&high)), Status::OK);
        assert_eq!(register(&engine, &LayerFunction { every: 0, ..every(&high) }), Status::BAD_PARAM);
        assert_eq!(engine.turn(t), 1);
        assert_eq!(register(&engine, &LayerFunction { every: 0, ..every(&low) }), Status::OK);
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((high.load(Ordering::Relaxed), low.load(Ordering::Relaxed), events), (17, 2, 18));
        assert_eq!(engine.unregister(count, at(&high).addr()), Status::OK);
        assert_eq!(engine.unregister(count, at(&high).addr()), Status::NOT_FOUND);
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((high.load(Ordering::Relaxed), events), (17, 2));
        let idle = AtomicI32::new(0);
        register_idle(&engine, &idle);
        let events: i32 = (0..16).map(|_| engine.turn(t)).sum();
        assert_eq!((low.load(Ordering::Relaxed), idle.load(Ordering::Relaxed), events), (6, 14, 16));
        engine.clear();
        register_idle(&engine, &idle);
        assert!(!engine.sleeps_are_short(), "waiters may sleep");
        engine.clear();
        assert_eq!((0..16).map(|_| engine.turn(t)).sum::<i32>(), 0);
    }

    #[test]
    fn an_idle_layer_is_not_called_and_shortens_no_sleep() {
        let (engine, threads) = (Engine::new(), Threads::new(1, 0));
        let t = &mut entry(&threads);
        let (calls, work) = (AtomicI32::new(0), AtomicU32::new(0));
        let layer = LayerFunction::new(count, &calls, Some(&work));
        assert_eq!(register(&engine, &layer), Status::OK);
        assert_eq!((engine.turn(t), engine.sleeps_are_short()), (0, false));
        work.store(1, Ordering::Relaxed);
        assert_eq!((engine.turn(t), engine.sleeps_are_short()), (1, true));
        work.store(0, Ordering::Relaxed);
        assert_eq!((engine.turn(t), engine.sleeps_are_short()), (0, false));
    }

    #[test]
    fn turns_while_others_register() {
        let engine = Engine::new();
        let c = AtomicI32::new(0);
        std::thread::scope(|s| {
            let (engine, c) = (&engine, &c);
            s.spawn(move || {
                for _ in 0..500 {
                    assert_eq!(register(engine, &every(c)), Status::OK);
                    assert_eq!(engine.unregister(count, at(c).addr()), Status::OK);
                }
            });
            for _ in 0..20_000 {
                assert!((0..=1).contains(&engine.turn(&mut Entry::among())));
            }
        });
    }
}
