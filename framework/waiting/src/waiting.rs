//! The part of an instance that its waiting threads share.

use crate::bell::Bell;
use crate::cooperation::Cooperation;
use crate::futex;
use crate::gate::Gate;
use crate::patience::Patience;
use crate::sync::Waiters;
use crate::tasks::Tasks;
use crate::thread_count::ThreadCount;
use crate::words::{Awaited, Words};
use crate::yield_limit::YieldLimit;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Entry, ThreadCtx};
use oxmpi_progress::Engine;
use oxmpi_progress::thread::Threads;
use oxmpi_system::membarrier::fence_all;
use std::ptr::NonNull;
use std::sync::Arc;

/// The condition under which waiting threads make turns beside the owner of progress, before they are parked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concurrency {
    Never,
    /// While messages come on several CRIs.
    #[default]
    WhereSeveral,
    Always,
}

/// How the threads of an instance wait, and in what numbers.
pub struct Settings {
    /// Several threads make calls from the beginning.
    pub threaded: bool,
    /// Cores that this process has for itself: so many of its threads may spin at once.
    pub room: u32,
    /// Threads that wait among others race for progress.
    pub races: bool,
    pub concurrency: Concurrency,
    pub patience: Patience,
    pub yield_limit: YieldLimit,
}

/// The state that waiting threads share. The fields that a message touches come first.
#[repr(C)]
pub struct Waiting {
    /// 1 once several threads make calls; components read it through the host table.
    threaded: AtomicU32,
    /// How many of its threads may spin at once.
    pub(crate) room: u32,
    main: *mut ThreadCtx,
    pub(crate) engine: Engine,
    /// Given by the host, or `own_gate`.
    gate: NonNull<Gate>,
    pub(crate) patience: Patience,
    pub(crate) yield_limit: YieldLimit,
    pub(crate) races: bool,
    pub(crate) concurrency: Concurrency,
    pub(crate) thread_count: ThreadCount,
    pub(crate) waiters: Waiters,
    pub(crate) tasks: Tasks,
    pub(crate) cooperation: Cooperation,
    /// 1 while this kernel is thought to wait for several words at once.
    pub(crate) several_words: AtomicU32,
    /// Naps of waits among others.
    pub(crate) naps: AtomicU64,
    /// Threads that wait among others for something that no request stands for.
    pub(crate) condition_waiters: AtomicU32,
    /// Words that are slept on beside those of the transports.
    pub(crate) words: Words,
    /// Rung by the thread that watches descriptors.
    pub(crate) bell: Bell,
    threads: Threads,
    own_gate: Option<Arc<Gate>>,
}

// SAFETY: `main` is one of `threads`, which own it; `gate` is a static or `own_gate`, which goes with `self`; all else is Send by itself.
unsafe impl Send for Waiting {}
// SAFETY: `main` is only handed out, and used by the thread it belongs to; `gate` is a static or `own_gate`, both of which are Sync and outlive `self`; all
// else is Sync by itself.
unsafe impl Sync for Waiting {}

impl Waiting {
    /// Makes the part of an instance with a context for the calling thread, the main one. `gate`: where threads that call
    /// are marked; `None`: a gate of its own.
    pub fn new(settings: Settings, threads: Threads, gate: Option<&'static Gate>) -> Waiting {
        let own_gate = gate.is_none().then(Arc::<Gate>::default);
        let gate = own_gate.as_deref().or(gate).map_or(NonNull::dangling(), NonNull::from);
        Waiting {
            threaded: AtomicU32::new(settings.threaded.into()),
            room: settings.room,
            main: threads.attach(),
            engine: Engine::new(),
            gate,
            patience: settings.patience,
            yield_limit: settings.yield_limit,
            races: settings.races,
            concurrency: settings.concurrency,
            thread_count: ThreadCount::new(),
            waiters: Waiters::new(),
            tasks: Tasks::default(),
            cooperation: Cooperation::default(),
            several_words: AtomicU32::new(1),
            naps: AtomicU64::new(0),
            condition_waiters: AtomicU32::new(0),
            words: Words::new(),
            bell: Bell::default(),
            threads,
            own_gate,
        }
    }

    /// The progress engine.
    #[inline(always)]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether several threads may make calls: the question of who waits or changes that. Whether a call takes locks its [`Entry`] says.
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// Brings an entry up to date behind the user's code: it takes locks from now on if several threads may make calls.
    #[inline(always)]
    pub fn renew(&self, entry: &mut Entry) {
        entry.raise(self.threaded());
    }

    /// The address of the flag `threaded`, which components read through the host table.
    pub fn threaded_word(&self) -> *const AtomicU32 {
        &self.threaded
    }

    /// The gate at which threads that make calls are marked.
    #[inline(always)]
    pub fn gate(&self) -> &Gate {
        // SAFETY: a static, or `own_gate`.
        unsafe { self.gate.as_ref() }
    }

    /// Whether nobody but this part marks threads at the gate.
    pub fn has_own_gate(&self) -> bool {
        self.own_gate.is_some()
    }

    /// Stops the gate, runs `tell`, and sets the flag `threaded` if that answers true. The caller is not inside the gate,
    /// and no other thread is in here. False: the gate cannot be stopped, or `tell` answered so.
    pub fn begin_threads(&self, tell: impl FnOnce() -> bool) -> bool {
        if self.threaded() {
            return true;
        }
        self.gate().stop(fence_all, futex::wake_shared, || {
            let told = tell();
            if told {
                self.engine.begin_threads();
                self.threaded.store(1, Ordering::SeqCst);
            }
            told
        })
    }

    /// The context used while only one thread makes calls at a time.
    #[inline(always)]
    pub fn main_thread(&self) -> *mut ThreadCtx {
        self.main
    }

    /// Takes a thread context for the calling thread, which gives it back by [`Waiting::detach_thread`].
    pub fn attach_thread(&self) -> *mut ThreadCtx {
        self.thread_count.comes();
        self.threads.attach()
    }

    /// Gives a thread context back, with which the thread makes no call any more. Does nothing with the main thread's.
    pub fn detach_thread(&self, thread: *mut ThreadCtx) {
        if thread != self.main {
            self.thread_count.goes();
            self.threads.detach(thread);
        }
    }

    /// Sums each counter over all threads that ever were.
    pub fn counters(&self) -> Vec<u64> {
        self.threads.counters()
    }

    /// Changes how patiently threads wait; takes effect with the next turn that brings nothing.
    pub fn set_patience(&self, spins: u32, yields: u32, oversubscribed: bool, yield_limit: u32) {
        self.patience.set(spins, yields, oversubscribed);
        self.yield_limit.set(yield_limit);
    }

    /// Whether threads wait that may help with large work, and there are cores for them.
    #[inline]
    pub fn has_helpers(&self) -> bool {
        self.threaded() && !self.waiters.is_idle() && self.room > 1
    }

    /// Does pieces 0 to `pieces` of `work` together with waiting threads, of which no more are woken than there are
    /// spare cores. Returns when all are done. A piece must not panic.
    pub fn share(&self, pieces: u64, work: &(dyn Fn(u64) + Sync)) {
        let spare = self.room.saturating_sub(2).into();
        self.tasks.share(pieces, work, || self.waiters.rouse(pieces.min(spare)));
    }

    /// Has whoever sleeps for the transports sleep on a word, too, until [`Waiting::leave_word`]: a change of it is work for
    /// progress. `owner` names the caller, who has at most one word here. The caller holds no lock.
    pub fn enter_word(&self, owner: usize, awaited: Awaited) {
        self.words.enter(owner, awaited);
        if self.threaded() {
            // The owner of progress may sleep without it.
            self.waiters.rouse(0);
        }
    }

    /// Takes the word of `owner` back; nobody here touches it afterwards.
    pub fn leave_word(&self, owner: usize) {
        self.words.leave(owner);
    }

    /// Wakes the thread of this instance that sleeps for a word, because something has happened that may end any such wait. The caller may hold locks.
    pub fn tell_news(&self) {
        futex::wake_shared(self.words.ring());
        if self.threaded() {
            // One that sleeps for no word may have the progress.
            self.waiters.rouse(0);
        }
    }

    /// Counts of how threads waited while others had the progress.
    pub fn counts(&self) -> WaitCounts {
        let (parked, naps) = (self.waiters.parks(), self.naps.load(Ordering::Relaxed));
        let [spins, looks, yields, sleeps] = self.threads.waits();
        WaitCounts { parked, naps, helped: self.tasks.helped(), spins, looks, yields, sleeps }
    }

    /// Ends the event thread, if there is one. No thread waits any more.
    pub fn end(&self) {
        self.bell.stop();
    }
}

/// Counts of how threads waited. The last four are of all waits and counted when a wait ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// Waits that began among the parked, while another thread owned progress.
    pub parked: u64,
    /// Sleeps by timer of waits that no request stands for.
    pub naps: u64,
    /// Pieces of other threads' work that waiting threads did.
    pub helped: u64,
    /// Turns at full speed of waits that did not end in their first ones.
    pub spins: u64,
    /// Turns between yields, and looks of parked threads.
    pub looks: u64,
    /// Cores given away.
    pub yields: u64,
    /// Sleeps, of whatever length.
    pub sleeps: u64,
}

impl WaitCounts {
    /// The counts with the names that tools see.
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("runtime_waits_parked", self.parked),
            ("runtime_waits_naps", self.naps),
            ("runtime_waits_helped", self.helped),
            ("runtime_waits_spins", self.spins),
            ("runtime_waits_looks", self.looks),
            ("runtime_waits_yields", self.yields),
            ("runtime_waits_sleeps", self.sleeps),
        ]
    }
}
