//! The state of MPI in this process: from MPI_Init to MPI_Finalize one [`Process`], reached through
//! one pointer.
//!
//! **States.** Before (pointer null, phase 0) → starting (phase 1) → running (pointer set, phase 2) →
//! ending (phase 3, pointer still set, so that attribute callbacks may call MPI) → ended (pointer
//! null, phase 4). Nothing goes back: the standard allows one world per process.
//!
//! **Who may touch what.** `start` and `end` are called by one thread each; `current` by anyone. The
//! `Process` is leaked: a thread that calls MPI while another ends it breaks the standard's rules, but
//! reads memory that is there.
//!
//! **Contexts of threads.** Below MPI_THREAD_MULTIPLE every call uses the context of the main thread,
//! and no thread-local is touched. From the moment the level rises each thread finds its own in a
//! thread-local and gives it back when it ends.

use crate::constants::*;
use crate::error::{Failure, Res};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_runtime::{Instance, Level};
use std::sync::Arc;
use std::thread::ThreadId;

/// What a running MPI knows; what a message needs stands in the first words.
#[repr(C, align(64))]
pub struct Process {
    pub instance: Arc<Instance>,
    main: *mut ThreadCtx,
    /// Largest tag.
    pub tag_ub: i32,
    pub main_thread: ThreadId,
    /// `mpi_param_check`: arguments that need no look-up are checked.
    pub check: bool,
    /// Requests of our own.
    pub done: crate::own::Pool,
    /// For buffered sends where the communicator has no buffer.
    pub buffer: Arc<crate::buffered::Slot>,
}

// SAFETY: the context pointer is used by one thread at a time below MULTIPLE and by none but the main
// thread afterwards; the rest is shareable.
unsafe impl Send for Process {}
// SAFETY: as above.
unsafe impl Sync for Process {}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(null_mut());
static PHASE: AtomicU32 = AtomicU32::new(BEFORE);

pub const BEFORE: u32 = 0;
pub const STARTING: u32 = 1;
pub const RUNNING: u32 = 2;
pub const ENDING: u32 = 3;
pub const ENDED: u32 = 4;

/// The running MPI, if there is one.
#[inline(always)]
pub fn current() -> Option<&'static Process> {
    // SYNC POINT with `start`.
    let process = CURRENT.load(Ordering::Acquire);
    // SAFETY: leaked, see the essay.
    unsafe { process.as_ref() }
}

pub fn phase() -> u32 {
    PHASE.load(Ordering::Acquire)
}

/// Takes the right to start: true once.
pub fn begin() -> bool {
    PHASE.compare_exchange(BEFORE, STARTING, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// After a start that failed, so that the error can be reported as one before MPI_Init.
pub fn give_up() {
    PHASE.store(BEFORE, Ordering::Release);
}

/// Makes the process current.
pub fn start(process: Process) -> &'static Process {
    let process = Box::leak(Box::new(process));
    // SYNC POINT with `current`.
    CURRENT.store(process, Ordering::Release);
    process
}

pub fn running() {
    PHASE.store(RUNNING, Ordering::Release);
}

/// Takes the right to end: true once.
pub fn ending() -> bool {
    PHASE.compare_exchange(RUNNING, ENDING, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

pub fn ended() {
    CURRENT.store(null_mut(), Ordering::Release);
    PHASE.store(ENDED, Ordering::Release);
}

/// The running MPI, or why there is none.
pub fn require() -> Res<&'static Process> {
    current().ok_or_else(|| {
        let when = if phase() == ENDED { "after MPI_Finalize" } else { "before MPI_Init" };
        Failure::new(MPI_ERR_OTHER, format!("called {when}"))
    })
}

impl Process {
    pub fn new(instance: Arc<Instance>, check: bool, done: crate::own::Pool) -> Process {
        Process {
            main: instance.main_thread(),
            main_thread: std::thread::current().id(),
            tag_ub: instance.max_tag(),
            check,
            done,
            buffer: Arc::default(),
            instance,
        }
    }

    /// The context of the calling thread: one look per MPI call, passed down from there.
    #[inline(always)]
    pub fn thread(&self) -> *mut ThreadCtx {
        if self.instance.threaded() { self.own_thread() } else { self.main }
    }

    #[inline(never)]
    fn own_thread(&self) -> *mut ThreadCtx {
        let known = CONTEXT.get();
        if !known.is_null() {
            return known;
        }
        if std::thread::current().id() == self.main_thread {
            CONTEXT.set(self.main);
            return self.main;
        }
        let context = self.instance.attach_thread();
        CONTEXT.set(context);
        // A thread whose locals are being destroyed keeps the context; the instance frees it.
        let _ = GUARD.try_with(|g| g.0.set(Some((self.instance.clone(), context))));
        context
    }

    /// Level as MPI numbers it.
    pub fn level(&self) -> i32 {
        match self.instance.level() {
            Level::Single => MPI_THREAD_SINGLE,
            Level::Funneled => MPI_THREAD_FUNNELED,
            Level::Serialized => MPI_THREAD_SERIALIZED,
            Level::Multiple => MPI_THREAD_MULTIPLE,
        }
    }
}

thread_local! {
    static CONTEXT: Cell<*mut ThreadCtx> = const { Cell::new(null_mut()) };
    static GUARD: Guard = const { Guard(Cell::new(None)) };
}

/// Gives a thread's context back when the thread ends.
struct Guard(Cell<Option<(Arc<Instance>, *mut ThreadCtx)>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((instance, context)) = self.0.take() {
            CONTEXT.set(null_mut());
            instance.detach_thread(context);
        }
    }
}
