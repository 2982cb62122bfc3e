//! Private pages become pages of the segment, with the same addresses and contents.
//!
//! They are copied to a block of the segment, which is then mapped over them; nobody may write to them in between. So both is
//! done by a child that has this process's memory and a stack of its own, while the kernel holds this thread (as after vfork) and the child
//! holds all others, by ptrace: the method by which leak checkers look at a process that stands still.

use crate::protocol::sys;
use std::fs::File;
use std::os::fd::AsRawFd;

/// Threads of a process that can be held.
const THREADS: usize = 1024;

/// The work of the child.
struct Work {
    from: *mut u8,
    to: *mut u8,
    bytes: usize,
    fd: i32,
    offset: u64,
    /// The folder of the process's threads, and the one that waits for the child.
    folder: i32,
    me: i32,
    held: [i32; THREADS],
    count: usize,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    Done,
    /// A thread cannot be held.
    Runs,
    /// The system does not map the block.
    Refused,
}

/// Replaces `bytes` at `from` by the pages of `fd` at `offset`, which this process has mapped at `to`.
pub fn replace(from: *mut u8, to: *mut u8, bytes: usize, fd: i32, offset: u64) -> Outcome {
    const STACK: usize = 1 << 16;
    let Ok(folder) = File::open("/proc/self/task") else { return Outcome::Runs };
    let Ok(stack) = sys::reserve(STACK) else { return Outcome::Refused };
    // SAFETY: a number.
    let me = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    let (held, count, outcome) = ([0; THREADS], 0, Outcome::Runs);
    let folder_fd = folder.as_raw_fd();
    let mut work =
        Box::new(Work { from, to, bytes, fd, offset, folder: folder_fd, me, held, count, outcome });
    grow_stack();
    // SAFETY: the child ends before this thread goes on; it runs without signals, on a stack of its own.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK;
        let child = libc::clone(run, stack.add(STACK).cast(), flags, (&raw mut *work).cast());
        if child > 0 {
            libc::waitpid(child, core::ptr::null_mut(), libc::__WCLONE);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut());
    }
    sys::unmap(stack, STACK);
    work.outcome
}

/// Touches memory below, so that the stack has pages of its own there: it grows down from those, and not from replaced ones.
#[inline(never)]
fn grow_stack() {
    let room = [0u8; 1 << 16];
    core::hint::black_box(&room);
}

/// The child: nothing here allocates or takes a lock, since whoever has one may be held.
extern "C" fn run(work: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent made the value, and stands still until this child has ended.
    let work = unsafe { &mut *work.cast::<Work>() };
    if hold_all(work) {
        // SAFETY: both ranges are mapped, and nobody runs that writes to the one.
        unsafe { core::ptr::copy_nonoverlapping(work.from, work.to, work.bytes) };
        let mapped = sys::map_over(work.from, work.bytes, work.fd, work.offset);
        work.outcome = if mapped { Outcome::Done } else { Outcome::Refused };
    }
    for thread in &work.held[..work.count] {
        // SAFETY: a thread that this child holds.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, *thread, 0usize, 0usize) };
    }
    0
}

/// Holds every thread but the one that waits: looks again until there is none that was not held, for a thread may have made others.
fn hold_all(work: &mut Work) -> bool {
    loop {
        let before = work.count;
        if !hold_new(work) {
            return false;
        }
        if work.count == before {
            return true;
        }
    }
}

/// Holds the threads that the folder lists and that are not held yet.
fn hold_new(work: &mut Work) -> bool {
    let mut entries = [0u64; 512];
    // SAFETY: the descriptor is the parent's; the kernel fills the list.
    unsafe { libc::lseek(work.folder, 0, libc::SEEK_SET) };
    loop {
        let room = size_of_val(&entries);
        // SAFETY: as above.
        let bytes = unsafe { libc::syscall(libc::SYS_getdents64, work.folder, entries.as_mut_ptr(), room) };
        if bytes <= 0 {
            return bytes == 0;
        }
        let mut at = 0;
        while at < bytes as usize {
            // SAFETY: the kernel's entry: inode, offset, length of the entry, kind, and a name that ends with a zero.
            let (length, thread) = unsafe {
                let entry = entries.as_ptr().cast::<u8>().add(at);
                (entry.add(16).cast::<u16>().read_unaligned(), number(entry.add(19)))
            };
            at += usize::from(length);
            let known = thread == 0 || thread == work.me || work.held[..work.count].contains(&thread);
            if !known && !hold(work, thread) {
                return false;
            }
        }
    }
}

/// A name of digits; 0 for any other.
///
/// # Safety
/// The name ends with a zero.
unsafe fn number(mut name: *const u8) -> i32 {
    let mut value = 0i32;
    // SAFETY: the caller's promise.
    unsafe {
        while *name != 0 {
            if !(*name).is_ascii_digit() {
                return 0;
            }
            value = value.wrapping_mul(10).wrapping_add(i32::from(*name - b'0'));
            name = name.add(1);
        }
    }
    value
}

/// Holds one thread; true also if it has ended.
fn hold(work: &mut Work, thread: i32) -> bool {
    if work.count == THREADS {
        return false;
    }
    // SAFETY: numbers; a local for the status.
    unsafe {
        if libc::ptrace(libc::PTRACE_SEIZE, thread, 0usize, 0usize) != 0 {
            return *libc::__errno_location() == libc::ESRCH;
        }
        work.held[work.count] = thread;
        work.count += 1;
        let mut status = 0;
        libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0usize, 0usize) == 0
            && libc::waitpid(thread, &raw mut status, libc::__WALL) == thread
            && libc::WIFSTOPPED(status)
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, replace};
    use crate::protocol::sys;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A thread counts on a page while it is replaced: no step of its is lost.
    #[test]
    fn nothing_is_lost_while_threads_run() {
        const BYTES: usize = 1 << 16;
        let fd = sys::memory(c"replaced", BYTES).unwrap();
        let (from, to) = (sys::reserve(BYTES).unwrap(), sys::map(fd, BYTES).unwrap());
        // SAFETY: fresh mappings, which stay to the end of the process.
        let (counter, seen) =
            unsafe { (&*from.add(512).cast::<AtomicU64>(), &*to.add(512).cast::<AtomicU64>()) };
        let stop = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let counts = scope.spawn(|| {
                let mut mine = 0;
                while stop.load(Ordering::Relaxed) == 0 {
                    counter.fetch_add(1, Ordering::Relaxed);
                    mine += 1;
                }
                mine
            });
            while counter.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            let outcome = replace(from, to, BYTES, fd, 0);
            stop.store(1, Ordering::Relaxed);
            let mine = counts.join().unwrap();
            assert_eq!(counter.load(Ordering::Relaxed), mine);
            // Where the system forbids to hold a thread it is said, and nothing has changed.
            match outcome {
                Outcome::Done => assert_eq!(seen.load(Ordering::Relaxed), mine),
                outcome => assert_eq!(outcome, Outcome::Runs),
            }
        });
    }
}
