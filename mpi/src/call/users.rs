//! The users of MPI in this process, and the running instance that they share.
//!
//! **Users.** The world (MPI_Init to MPI_Finalize) and every session are users of one and the same
//! runtime instance. The first user starts it, the last one to leave lets it rest (its transports
//! stay, see `runtime::instance`), the next one wakes it, and the end of the process ends it.
//! [`process::current`] is none while there is no user.
//!
//! **Levels.** Sessions do not know of each other: two of them, or one and the world, may be used by
//! two threads at once though each is below MPI_THREAD_MULTIPLE. So the instance has the highest level
//! asked for, and MULTIPLE as soon as users could meet: unless all are FUNNELED at most and came from
//! the same thread.
//!
//! **Access.** `enter` and `leave` hold the list of users.

use crate::call::gate::{self, GATE};
use crate::call::process::{self, Process};
use crate::call::{counting, entry, watching};
use crate::constants::*;
use crate::error::{Failure, Res};
use oxmpi_mca::Entry;
use oxmpi_runtime::Level;
use parking_lot::Mutex;
use std::thread::ThreadId;

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

/// The level the instance needs for a further user.
fn level_for(users: &[User], thread: ThreadId, level: Level) -> Level {
    let apart = |u: &User| u.thread == thread && u.level <= Level::Funneled && level <= Level::Funneled;
    match users.iter().all(apart) {
        true => level,
        false => Level::Multiple,
    }
}

/// To be called when the running MPI has changed, or whether calls are counted.
pub fn refresh() {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock();
    let process = process::current();
    let counting = process.is_some_and(|p| p.instance.counting());
    counting::set(counting);
    let unusual = counting || watching::on();
    process::set_quick(process.filter(|_| !unusual));
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
    process::publish(process);
    refresh();
    entry::open(process);
    Ok(process)
}

/// Whether nobody else uses MPI.
pub fn alone(entry: &mut Entry, number: u64) -> bool {
    // Not inside: whoever holds the list may be raising the level.
    gate::run_outside(entry, || USERS.lock()).now.iter().all(|u| u.number == number)
}

/// A user goes. `close` takes down what is this user's, with true if it was the last one; then the
/// instance rests.
pub fn leave(process: &Process, entry: &mut Entry, number: u64, close: impl FnOnce(bool)) -> Res {
    // Before the list is held: progress may run functions of the user.
    let sent = process.instance.flush(entry);
    take_out(process, number, close);
    entry.raise(gate::is_open_to_all());
    Ok(sent?)
}

/// A user goes that has done nothing yet.
pub fn leave_at_once(process: &Process, number: u64) {
    take_out(process, number, |_| ());
}

fn take_out(process: &Process, number: u64, close: impl FnOnce(bool)) {
    // Not inside: whoever holds the list may be raising the level.
    let mut users = gate::run_outside_without_entry(|| USERS.lock());
    users.now.retain(|u| u.number != number);
    let last = users.now.is_empty();
    close(last);
    if last {
        process.instance.rest();
        gate::run_outside_without_entry(|| GATE.close());
        process::withdraw();
        refresh();
    }
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
