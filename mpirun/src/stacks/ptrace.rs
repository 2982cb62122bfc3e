//! Looking at a process that does not know it: every thread is stopped for a moment and asked for
//! its registers.
//!
//! The ranks are below the daemon, so the kernel permits it under Yama's usual setting, too. Where
//! it does not (a container without the right, a stricter setting), that is said.

use super::{Frames, Reader};
use oxmpi_wireup::Moment;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Registers and memory that are read of each stack.
const STACK: usize = 256 << 10;
/// A thread that does not stop in this time is in the kernel for longer.
const STOP: Duration = Duration::from_millis(500);
/// Threads that are shown of one process.
const THREADS: usize = 64;

/// Something that a wait for a stop found instead: a child's end, which its owner must hear of.
pub type Ended = (i32, i32);

/// The stacks of all threads of `pid`, for the user to read.
pub fn stacks(reader: &mut Reader, pid: u32, frames: Frames, ended: &mut Vec<Ended>) -> String {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut threads: Vec<i32> = std::fs::read_dir(format!("/proc/{pid}/task"))
        .map(|all| all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
        .unwrap_or_default();
    threads.sort_unstable();
    let mut text = String::new();
    for (number, &thread) in threads.iter().take(THREADS).enumerate() {
        let name = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default();
        text += &format!(" Thread {} ({thread}, {})\n", number + 1, name.trim_end());
        match stop(thread, ended).map(|stopped| stopped.look(pid)) {
            Ok(Ok((moment, stack))) => text += &reader.describe(&moment, &stack, &maps, frames),
            Ok(Err(why)) | Err(why) => text += &format!("  (its stack cannot be read: {why})\n"),
        }
    }
    if threads.len() > THREADS {
        text += &format!(" (and {} threads more)\n", threads.len() - THREADS);
    }
    text
}

/// A thread that stands still; it goes on when this is dropped.
pub struct Stopped(i32);

/// Rounds in which threads that others have just made are looked for.
const ROUNDS: usize = 3;

/// Stops all threads of a process. Those that cannot be stopped are left out.
pub fn stop_all(pid: u32, ended: &mut Vec<Ended>) -> Vec<Stopped> {
    let (mut seen, mut stopped) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { break };
        let before = seen.len();
        for thread in threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            if !seen.contains(&thread) {
                seen.push(thread);
                stopped.extend(stop(thread, ended));
            }
        }
        if seen.len() == before {
            break;
        }
    }
    stopped
}

fn last_error() -> String {
    std::io::Error::last_os_error().to_string()
}

fn stop(thread: i32, ended: &mut Vec<Ended>) -> Result<Stopped, String> {
    // SAFETY: requests without memory arguments.
    unsafe {
        if libc::ptrace(libc::PTRACE_SEIZE, thread, 0, 0) != 0 {
            return Err(last_error());
        }
        if libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0, 0) != 0 {
            return Err(last_error());
        }
    }
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: a place for the status.
        let found = unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::WNOHANG) };
        match found {
            _ if found == thread && libc::WIFSTOPPED(status) => return Ok(Stopped(thread)),
            _ if found == thread => {
                ended.push((thread, status));
                return Err("it has ended".into());
            }
            -1 => return Err(last_error()),
            _ if begin.elapsed() > STOP => {
                // Let go of it, as far as that can be done to one that does not stop.
                drop(Stopped(thread));
                return Err("it does not stop".into());
            }
            _ => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

impl Stopped {
    fn look(&self, pid: u32) -> Result<(Moment, Vec<u8>), String> {
        let moment = self.registers()?;
        let memory = std::fs::File::open(format!("/proc/{pid}/mem")).map_err(|why| why.to_string())?;
        let mut stack = vec![0; STACK];
        let mut length = 0;
        while length < stack.len() {
            match memory.read_at(&mut stack[length..], moment.sp + length as u64) {
                Ok(n) if n > 0 => length += n,
                _ => break,
            }
        }
        stack.truncate(length);
        Ok((moment, stack))
    }

    #[cfg(target_arch = "x86_64")]
    fn registers(&self) -> Result<Moment, String> {
        // SAFETY: all fields are numbers; the request writes no more than them.
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: as above; the thread is stopped and ours.
        if unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, &raw mut all) } != 0 {
            return Err(last_error());
        }
        Ok(Moment { ip: all.rip, sp: all.rsp, fp: all.rbp, ..Moment::default() })
    }

    #[cfg(target_arch = "aarch64")]
    fn registers(&self) -> Result<Moment, String> {
        // SAFETY: all fields are numbers; the request writes no more than `iov_len` bytes.
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let mut place =
            libc::iovec { iov_base: (&raw mut all).cast(), iov_len: size_of::<libc::user_regs_struct>() };
        // SAFETY: as above; the thread is stopped and ours.
        if unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.0, libc::NT_PRSTATUS, &raw mut place) } != 0 {
            return Err(last_error());
        }
        Ok(Moment { ip: all.pc, sp: all.sp, fp: all.regs[29], lr: all.regs[30], ..Moment::default() })
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // SAFETY: a request without memory arguments. A thread that is gone needs none.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.0, 0, 0) };
    }
}
