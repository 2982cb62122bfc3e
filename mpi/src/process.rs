//! The state of MPI in this process: one [`Process`], reached through one pointer, while anybody uses
//! MPI.
//!
//! **Users.** The world (MPI_Init to MPI_Finalize) and every session are users of one and the same
//! runtime instance. The first user starts it, the last one to leave lets it rest (its transports
//! stay, see `runtime::instance`), the next one wakes it, and the end of the process ends it. The
//! pointer is null while there is no user.
//!
//! **The world's phases.** Before → starting → running → ending (still there, so that attribute
//! callbacks may call MPI) → ended. Nothing goes back, but an end that a callback refused: the standard
//! allows one world per process.
//!
//! **Levels.** Sessions do not know of each other: two of them, or one and the world, may be used by
//! two threads at once though each is below MPI_THREAD_MULTIPLE. So the instance has the highest level
//! asked for, and MULTIPLE as soon as users could meet: unless all are FUNNELED at most and came from
//! the same thread.
//!
//! **Access.** `enter` and `leave` hold the list of users; `current` is for anyone. The
//! `Process` is leaked: a thread that calls MPI while another ends it breaks the standard's rules, but
//! reads memory that is there.
//!
//! **Contexts of threads.** While one thread at a time makes calls (`gate`) every call uses one context,
//! and no thread-local is touched. From the moment there are several each thread finds its own in a
//! thread-local (`context`) and gives it back when it ends; the one that made the calls before keeps that context.

use crate::constants::*;
use crate::context;
use crate::counting;
use crate::error::{Failure, Res};
use crate::gate::{self, GATE};
use crate::watching;
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_runtime::thread::thread_pointer;
use oxmpi_runtime::{Instance, Level};
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
    pub done: crate::own::Pool,
    /// For buffered sends where the communicator has no buffer.
    pub buffer: Arc<crate::buffered::Slot>,
}

// SAFETY: the context pointer is used by one thread at a time before there are several and by none but the
// gate's first thread afterwards; the rest is shareable.
unsafe impl Send for Process {}
// SAFETY: as above.
unsafe impl Sync for Process {}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(null_mut());
/// The same, but null while calls are counted (`counting`) or recorded (`watching`).
static QUICK: AtomicPtr<Process> = AtomicPtr::new(null_mut());
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

/// The running MPI for functions on a message's path: none while there is more to do than what the path does.
#[inline(always)]
pub fn quick() -> Option<&'static Process> {
    // SYNC POINT with `refresh`.
    let process = QUICK.load(Ordering::Acquire);
    // SAFETY: leaked, see the essay.
    unsafe { process.as_ref() }
}

/// To be called when the running MPI has changed, or whether calls are counted.
pub fn refresh() {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock();
    let process = CURRENT.load(Ordering::Acquire);
    // SAFETY: leaked, see the essay.
    let counting = unsafe { process.as_ref() }.is_some_and(|p| p.instance.counting());
    counting::set(counting);
    // SYNC POINT with `quick`.
    let unusual = counting || watching::on();
    QUICK.store(if unusual { null_mut() } else { process }, Ordering::Release);
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

/// The world as a user; sessions have numbers above.
pub const WORLD: u64 = 0;

struct User {
    number: u64,
    thread: ThreadId,
    level: Level,
}

struct Users {
    now: Vec<User>,
    /// Made by the first user, for good.
    process: Option<&'static Process>,
    /// Process of the operating system that made it.
    pid: u32,
    /// The process is ending.
    over: bool,
}

static USERS: Mutex<Users> = Mutex::new(Users { now: Vec::new(), process: None, pid: 0, over: false });
static MAIN_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);

/// The level the instance needs for a further user.
fn level_for(users: &[User], thread: ThreadId, level: Level) -> Level {
    let apart = |u: &User| u.thread == thread && u.level <= Level::Funneled && level <= Level::Funneled;
    match users.iter().all(apart) {
        true => level,
        false => Level::Multiple,
    }
}

/// One more user. `make` starts the instance if nobody has yet.
pub fn enter(number: u64, level: Level, make: impl FnOnce(Level) -> Res<Process>) -> Res<&'static Process> {
    let mut users = USERS.lock();
    if users.over {
        return Failure::err(MPI_ERR_OTHER, "called while the process is ending");
    }
    let thread = std::thread::current().id();
    let process = match users.process {
        None => {
            let made: &'static Process = Box::leak(Box::new(make(level)?));
            users.process = Some(made);
            users.pid = std::process::id();
            // SAFETY: `at_exit` is a function of this library. It is called once, before the library
            // goes; if there is no room for it the instance ends without a word, which is allowed.
            unsafe { libc::atexit(at_exit) };
            made
        }
        Some(_) if users.pid != std::process::id() => {
            return Failure::err(MPI_ERR_OTHER, "called in a child of a process that had started MPI");
        }
        Some(process) => {
            if users.now.is_empty() {
                process.instance.wake()?;
            }
            process.instance.raise_level(level_for(&users.now, thread, level));
            process
        }
    };
    users.now.push(User { number, thread, level });
    // SYNC POINT with `current`.
    CURRENT.store(process as *const Process as *mut Process, Ordering::Release);
    refresh();
    gate::open(process);
    Ok(process)
}

/// Whether nobody else uses MPI.
pub fn alone(number: u64) -> bool {
    // Not inside: whoever holds the list may be raising the level.
    gate::outside(|| USERS.lock()).now.iter().all(|u| u.number == number)
}

/// A user goes. `close` takes down what is this user's, with true if it was the last one; then the
/// instance rests.
pub fn leave(process: &Process, number: u64, close: impl FnOnce(bool)) -> Res {
    // Before the list is held: progress may run functions of the user.
    let sent = process.instance.flush(process.thread());
    // Not inside: whoever holds the list may be raising the level.
    let mut users = gate::outside(|| USERS.lock());
    users.now.retain(|u| u.number != number);
    let last = users.now.is_empty();
    close(last);
    if last {
        process.instance.rest();
        gate::outside(|| GATE.close());
        CURRENT.store(null_mut(), Ordering::Release);
        refresh();
    }
    Ok(sent?)
}

/// The process ends. If MPI is still in use the program has broken the rules, and the launcher is not
/// told otherwise.
extern "C" fn at_exit() {
    // Held: another thread is starting or ending MPI while this one ends the process.
    let Some(mut users) = USERS.try_lock() else { return };
    users.over = true;
    if let Some(process) = users.process
        && users.now.is_empty()
        && users.pid == std::process::id()
    {
        // Nobody is left to be told.
        let _ = process.instance.finalize();
    }
}

/// The running MPI, or why there is none.
pub fn require() -> Res<&'static Process> {
    current().ok_or_else(|| {
        let when = if phase() == ENDED { "after MPI_Finalize" } else { "before MPI_Init" };
        Failure::new(MPI_ERR_OTHER, format!("called {when}, and there is no session"))
    })
}

impl Process {
    pub fn new(instance: Arc<Instance>, check: bool, done: crate::own::Pool) -> Process {
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
