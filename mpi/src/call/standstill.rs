//! A watch over a program that got an error it rarely expects (no processes could be spawned, a function is not there), and then
//! stands still for ever.
//!
//! **Why.** MPI_ERRORS_RETURN hands the error of MPI_Comm_spawn, say, to a program that may go on in another way. One that does
//! not expect it may end the thread that got it while the others wait for that thread's work: mpi4py.futures starts its workers
//! in a thread of its own, which ends with the exception. Nothing of MPI is wrong then, and nobody ends the job.
//!
//! **How.** From the first such error on a thread looks twice a second. The program stands still when every thread of it waits in
//! a futex of this process without a time limit (or for a thread's end), and none has run between two looks: the kernel counts
//! how often a thread gives up its core. Then nothing in the process can wake any of them, and the job is ended with the
//! function's error. One thread that computes, sleeps, reads or waits in MPI is enough to go on: of the threads that wait there
//! one makes progress, and that one polls, or sleeps by futex_waitv or with a limit. A program that a handler of a signal
//! would wake is taken for one that stands still; those that wait for signals do so in sigwait or pause, which are no futex.
//!
//! **Threads of the library** are left out, by their names. Where the kernel does not show what a thread waits for nothing is
//! decided.

use crate::call::process;
use crate::error::Failure;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// Prefix of the names of the library's threads.
const OURS: &str = "oxmpi-";
const NAME: &str = "oxmpi-still";
/// For the callers of MPI_Comm_spawn that are met most.
const OTHER_WAY: &str = " Workers can be started by mpirun instead; for mpi4py.futures: mpirun -n 5 python3 -m mpi4py.futures PROGRAM \
                         runs PROGRAM on one rank, with four workers.";
const PAUSE: Duration = Duration::from_millis(500);

/// Operations of futexes, and their flags (`linux/futex.h`).
const WAIT: i32 = 0;
const LOCK_PI: i32 = 6;
const WAIT_BITSET: i32 = 9;
const LOCK_PI2: i32 = 13;
const PRIVATE: i32 = 128;
const CLOCK_REALTIME: i32 = 256;

static WATCHED: AtomicBool = AtomicBool::new(false);

/// The function's error is returned to the program; the first one starts the watch.
#[cold]
pub fn watch(name: &'static str, Failure { code, message }: Failure) {
    if process::current().is_none() || WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Without the thread a program that stands still is ended by its time limit.
    let _ = std::thread::Builder::new().name(NAME.to_owned()).spawn(move || {
        // SAFETY: a set on the stack; signals are for the program's own threads.
        unsafe {
            let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), core::ptr::null_mut());
        }
        let mut before = None;
        loop {
            std::thread::sleep(PAUSE);
            // After MPI_Finalize there is no job to end.
            let Some(process) = process::current() else { return };
            let now = look();
            if now.is_some() && now == before {
                crate::call::stdio::flush();
                let text = format!(
                    "{name}: {message}. The error was returned to the program, and since then each of its threads waits for another.{}",
                    if name.starts_with("MPI_Comm_spawn") { OTHER_WAY } else { "" }
                );
                process.instance.abort(code.max(1), &format!("an error in {name}"), &text);
            }
            before = now;
        }
    });
}

/// How often each thread of the program has given up its core, where all of them wait for each other.
fn look() -> Option<BTreeMap<u32, u64>> {
    let threads: Vec<u32> = fs::read_dir("/proc/self/task")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let mut found = BTreeMap::new();
    for &thread in &threads {
        let read = |file: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).ok();
        // One that has ended meanwhile makes this look none.
        if read("comm")?.starts_with(OURS) {
            continue;
        }
        // A thread that waits and has not given up its core around this has waited all the time.
        let before = switches(&read("status")?)?;
        let waits = waits_for_ever(&read("syscall")?, &threads);
        if !waits || switches(&read("status")?)? != before {
            return None;
        }
        found.insert(thread, before);
    }
    Some(found)
}

fn switches(status: &str) -> Option<u64> {
    let counts =
        status.lines().filter_map(|line| line.split_once("_ctxt_switches:")?.1.trim().parse::<u64>().ok());
    counts.reduce(|a, b| a + b)
}

/// Whether a thread's system call, as the kernel shows it (number and arguments), is a wait without a limit for another thread
/// of this process.
fn waits_for_ever(call: &str, threads: &[u32]) -> bool {
    let mut words = call.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let hex = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let arguments: Vec<u64> = words.map_while(hex).collect();
    let (Some(libc::SYS_futex), [_, operation, value, limit, ..]) = (number, &arguments[..]) else {
        return false;
    };
    let operation = *operation as i32;
    let waits = matches!(operation & !(PRIVATE | CLOCK_REALTIME), WAIT | LOCK_PI | WAIT_BITSET | LOCK_PI2);
    // pthread_join waits for the word that has the other's number; other futexes without the flag may be another process's.
    let within = operation & PRIVATE != 0 || threads.iter().any(|t| u64::from(*t) == *value);
    waits && within && *limit == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_without_a_limit_are_told_from_others() {
        let threads = [100, 101];
        let futex = |arguments: &str| format!("{} {arguments} 0xffffffff 0x7ffe 0x7f01", libc::SYS_futex);
        assert!(waits_for_ever(&futex("0x7f00 0x189 0x0 0x0 0x0"), &threads), "private");
        assert!(waits_for_ever(&futex("0x7f00 0x109 0x65 0x0 0x0"), &threads), "joins thread 101");
        for other in [
            "running".to_owned(),
            "-1 0x7ffe 0x7f01".to_owned(),
            futex("0x7f00 0x189 0x0 0x7ffd 0x0"),
            futex("0x7f00 0x109 0x66 0x0 0x0"),
            futex("0x7f00 0x81 0x1 0x0 0x0"),
            format!("{} 0x0 0x7f00 0x400 0x0 0x0 0x0 0x7ffe 0x7f01", libc::SYS_read),
        ] {
            assert!(!waits_for_ever(&other, &threads), "{other}");
        }
        assert_eq!(
            switches("State:\tS\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"),
            Some(7)
        );
    }
}
