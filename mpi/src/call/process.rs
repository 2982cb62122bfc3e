//! The state of MPI in this process: one [`Process`], reached through one pointer, while anybody uses
//! MPI.
//!
//! **The world's phases.** Before → starting → running → ending (still there, so that attribute
//! callbacks may call MPI) → ended. Nothing goes back, but an end that a callback refused: the standard
//! allows one world per process.
//!
//! **Access.** `current` is for anyone; `users` says which process it is. The
//! `Process` is leaked: a thread that calls MPI while another ends it breaks the standard's rules, but
//! reads memory that is there.
//!
//! **Contexts of threads.** While one thread at a time makes calls (`gate`) every call uses one context,
//! and no thread-local is touched. From the moment there are several each thread finds its own in a
//! thread-local (`context`) and gives it back when it ends; the one that made the calls before keeps that context.

use crate::buffered::Slot;
use crate::call::context;
use crate::call::gate::GATE;
use crate::call::local_requests::Pool;
use crate::constants::*;
use crate::error::{Failure, Res};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_runtime::{Instance, Level};
use oxmpi_waiting::thread::thread_pointer;
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::ThreadId;

/// State of a running MPI; the fields that a message needs stand in the first words.
#[repr(C, align(64))]
pub struct Process {
    pub instance: Arc<Instance>,
    main: *mut ThreadCtx,
    /// Largest tag.
    pub tag_ub: i32,
    /// `mpi_param_check`: arguments that need no look-up are checked.
    pub check: bool,
    /// Requests of our own.
    pub done: Pool,
    /// For buffered sends where the communicator has no buffer.
    pub buffer: Arc<Slot>,
}

// SAFETY: the context pointer is used by one thread at a time before there are several and by none but the
// gate's first thread afterwards; the rest is shareable.
unsafe impl Send for Process {}
// SAFETY: threads that share it read the context's address, which the gate has just one of them follow; the rest is shareable.
unsafe impl Sync for Process {}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(null_mut());
/// The same, but null while calls are counted (`counting`) or recorded (`watching`).
static QUICK: AtomicPtr<Process> = AtomicPtr::new(null_mut());
static PHASE: AtomicU32 = AtomicU32::new(BEFORE);
static MAIN_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);

pub const BEFORE: u32 = 0;
pub const STARTING: u32 = 1;
pub const RUNNING: u32 = 2;
pub const ENDING: u32 = 3;
pub const ENDED: u32 = 4;

/// The running MPI, if there is one.
#[inline(always)]
pub fn current() -> Option<&'static Process> {
    // SYNC POINT with `publish`.
    let process = CURRENT.load(Ordering::Acquire);
    // SAFETY: leaked, see the essay.
    unsafe { process.as_ref() }
}

/// The running MPI for functions on a message's path: none while there is more to do than what the path does.
#[inline(always)]
pub fn quick() -> Option<&'static Process> {
    // SYNC POINT with `set_quick`.
    let process = QUICK.load(Ordering::Acquire);
    // SAFETY: leaked, see the essay.
    unsafe { process.as_ref() }
}

/// From now on this is the running MPI.
pub fn publish(process: &'static Process) {
    // SYNC POINT with `current`.
    CURRENT.store(process as *const Process as *mut Process, Ordering::Release);
}

/// From now on there is none.
pub fn withdraw() {
    CURRENT.store(null_mut(), Ordering::Release);
}

/// From now on functions on a message's path find this one, or none.
pub fn set_quick(process: Option<&'static Process>) {
    let process = process.map_or(null_mut(), |process| process as *const Process as *mut Process);
    // SYNC POINT with `quick`.
    QUICK.store(process, Ordering::Release);
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

/// The world is there; the calling thread is its main thread.
pub fn running() {
    *MAIN_THREAD.lock() = Some(std::thread::current().id());
    PHASE.store(RUNNING, Ordering::Release);
}

/// Whether the calling thread is the one that called MPI_Init.
pub fn is_main_thread() -> bool {
    *MAIN_THREAD.lock() == Some(std::thread::current().id())
}

/// Takes the right to end: true once.
pub fn ending() -> bool {
    PHASE.compare_exchange(RUNNING, ENDING, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The end was refused: the world goes on.
pub fn not_ending() {
    PHASE.store(RUNNING, Ordering::Release);
}

pub fn ended() {
    PHASE.store(ENDED, Ordering::Release);
}

/// The running MPI, or why there is none.
pub fn require() -> Res<&'static Process> {
    current().ok_or_else(|| {
        let when = if phase() == ENDED { "after MPI_Finalize" } else { "before MPI_Init" };
        Failure::new(MPI_ERR_OTHER, format!("called {when}, and there is no session"))
    })
}

impl Process {
    pub fn new(instance: Arc<Instance>, check: bool, done: Pool) -> Process {
        Process {
            main: instance.main_thread(),
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

    /// The same for the owner of the gate.
    #[inline(always)]
    pub fn of_owner(&self) -> *mut ThreadCtx {
        self.main
    }

    /// The same where there are several.
    #[inline(always)]
    pub fn own_thread(&self) -> *mut ThreadCtx {
        let known = context::get();
        if known.is_null() { self.new_thread() } else { known }
    }

    #[cold]
    #[inline(never)]
    fn new_thread(&self) -> *mut ThreadCtx {
        if thread_pointer() == GATE.first() {
            context::set(self.main);
            return self.main;
        }
        let mine = self.instance.attach_thread();
        context::set(mine);
        // A thread whose locals are being destroyed keeps the context; the instance frees it.
        let _ = GUARD.try_with(|g| g.0.set(Some((self.instance.clone(), mine))));
        mine
    }

    /// Level as MPI numbers it.
    pub fn level(&self) -> i32 {
        number_of(self.instance.level())
    }
}

/// A level as MPI numbers it.
fn number_of(level: Level) -> i32 {
    match level {
        Level::Single => MPI_THREAD_SINGLE,
        Level::Funneled => MPI_THREAD_FUNNELED,
        Level::Serialized => MPI_THREAD_SERIALIZED,
        Level::Multiple => MPI_THREAD_MULTIPLE,
    }
}

thread_local! {
    static GUARD: Guard = const { Guard(Cell::new(None)) };
}

/// Gives a thread's context back when the thread ends.
struct Guard(Cell<Option<(Arc<Instance>, *mut ThreadCtx)>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((instance, context)) = self.0.take() {
            context::set(null_mut());
            instance.detach_thread(context);
        }
    }
}
