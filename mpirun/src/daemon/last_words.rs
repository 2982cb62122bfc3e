//! The rest of a line that stands in a rank's C library when the rank is ended by SIGTERM.
//!
//! A process that SIGTERM ends by default loses what its standard output has in its buffer. A handler of the library's in the rank could
//! write that, but then the program would find a handler where it had none. So the daemon does it: it stops the
//! process's threads (`ptrace`), reads the buffer from its memory, writes it to where the process's standard output goes, and sends
//! SIGTERM before it lets go. The signal is the first thing that a thread meets then, so nothing is written twice.
//!
//! **Left alone** are processes that catch, ignore or block SIGTERM (they go on, and write their buffer themselves), those whose buffer is empty
//! (nothing is stopped), and those that the kernel does not let this process look at.
//!
//! **Where the buffer is** the library says on a page of memory, found by its name in the map of the process (`mpi/src/call/stdio.rs`): process and
//! address of the C library's FILE. The layout of that is part of glibc's binary interface (`bits/types/struct_FILE.h`). Nothing read is
//! trusted.

use super::state::Daemon;
use crate::link::Stream;
use crate::stacks::image::Image;
use crate::stacks::ptrace::{self, Ended};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// The page's name, and what it begins with: the process's number, four bytes of nothing, an address.
const NAME: &str = "memfd:oxmpi-stdout";
const PAGE: usize = 16;

/// Places in glibc's FILE: beginnings and ends of what is written and of the buffer, and the descriptor.
const WRITE_BASE: usize = 32;
const WRITE_PTR: usize = 40;
const BUF_BASE: usize = 56;
const BUF_END: usize = 64;
const FILENO: usize = 112;
const FILE_BYTES: usize = 120;

/// A longer rest than this is none.
const LONGEST: u64 = 16 << 20;
/// As often as emptying the largest pipe takes.
const TURNS: usize = 64;

/// The part of a FILE that was not written yet.
#[derive(Debug, PartialEq, Eq)]
struct Rest {
    begin: u64,
    length: usize,
    fileno: i32,
}

impl Daemon {
    /// Writes what the ranks' buffers hold and sends SIGTERM to those whose buffer held something. For the moment at which all are
    /// asked to end.
    pub(super) fn save_last_words(&mut self) {
        let mut ended = Vec::new();
        for local in 0..self.ranks.len() {
            if self.ranks[local].running {
                let pid = self.pid_of(self.launch.local_ranks[local]);
                self.save_words_of(local, pid, &mut ended);
            }
        }
        self.hear_of_ended(ended);
    }

    /// The same for one; nothing where there is nothing to write.
    fn save_words_of(&mut self, local: usize, pid: u32, ended: &mut Vec<Ended>) -> Option<()> {
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let file = address_of(pid, &memory)?;
        rest(&memory, file)?;
        let stopped = ptrace::stop_all(pid, ended);
        if stopped.is_empty() || !dies_of_term(pid) {
            return None;
        }
        // Again, now that nobody writes.
        let rest = rest(&memory, file)?;
        let mut bytes = vec![0; rest.length];
        memory.read_exact_at(&mut bytes, rest.begin).ok()?;
        let output = open(pid, rest.fileno)?;
        let (mut left, mut turns) = (&bytes[..], 0);
        while !left.is_empty() && turns < TURNS {
            match rustix::io::write(&output, left) {
                Ok(n) => left = &left[n..],
                Err(Errno::INTR) => {}
                // The pipe is full, and we are its reader.
                Err(Errno::AGAIN) => {
                    turns += 1;
                    self.forward(local, Stream::Out);
                }
                Err(_) => break,
            }
        }
        // Before `stopped` is dropped.
        let pid = Pid::from_raw(pid.cast_signed())?;
        rustix::process::kill_process(pid, Signal::TERM).ok()
    }
}

/// Where the process's FILE is; none where no such page is, or one that a parent left.
fn address_of(pid: u32, memory: &File) -> Option<u64> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).ok()?;
    let range = Image::parse(&maps).range_of(NAME)?;
    let mut page = [0; PAGE];
    memory.read_exact_at(&mut page, range.start).ok()?;
    let owner = u32::from_ne_bytes(page[..4].try_into().ok()?);
    (owner == pid).then_some(u64::from_ne_bytes(page[8..].try_into().ok()?))
}

fn rest(memory: &File, file: u64) -> Option<Rest> {
    let mut bytes = [0; FILE_BYTES];
    memory.read_exact_at(&mut bytes, file).ok()?;
    rest_in(&bytes)
}

/// Pointers that make no sense are left alone.
fn rest_in(file: &[u8; FILE_BYTES]) -> Option<Rest> {
    let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| file[at + i]));
    let (base, ptr) = (word(WRITE_BASE), word(WRITE_PTR));
    let inside = word(BUF_BASE) <= base && base < ptr && ptr <= word(BUF_END);
    let length = ptr.checked_sub(base).filter(|n| base != 0 && inside && *n <= LONGEST)?;
    let fileno = i32::from_ne_bytes(std::array::from_fn(|i| file[FILENO + i]));
    (fileno >= 0).then_some(Rest { begin: base, length: usize::try_from(length).ok()?, fileno })
}

/// Whether SIGTERM ends the process as soon as it goes on: it is at its default, and a thread takes it.
fn dies_of_term(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let texts = threads.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("status")).ok());
    let states: Vec<String> = texts.collect();
    let has = |text: &str, set: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':'));
        let mask = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
        mask.is_none_or(|mask| mask >> (libc::SIGTERM - 1) & 1 != 0)
    };
    let default = states.iter().all(|text| !has(text, "SigCgt") && !has(text, "SigIgn"));
    default && states.iter().any(|text| !has(text, "SigBlk"))
}

/// Where a descriptor of the process leads, for appending without waiting.
fn open(pid: u32, descriptor: i32) -> Option<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(format!("/proc/{pid}/fd/{descriptor}"), flags, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(words: [u64; 4], fileno: i32) -> [u8; FILE_BYTES] {
        let mut bytes = [0; FILE_BYTES];
        for (at, word) in [BUF_BASE, WRITE_BASE, WRITE_PTR, BUF_END].into_iter().zip(words) {
            bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        }
        bytes[FILENO..FILENO + 4].copy_from_slice(&fileno.to_ne_bytes());
        bytes
    }

    #[test]
    fn only_what_makes_sense_is_a_rest() {
        let good = rest_in(&file([1000, 1000, 1024, 2024], 1));
        assert_eq!(good, Some(Rest { begin: 1000, length: 24, fileno: 1 }));
        let wrong = [
            [1000, 1000, 1000, 2024],
            [0, 0, 24, 2024],
            [1000, 999, 1024, 2024],
            [1000, 1024, 1000, 2024],
            [1000, 1000, 2025, 2024],
            [1000, 1000, u64::MAX, u64::MAX],
        ];
        for words in wrong {
            assert_eq!(rest_in(&file(words, 1)), None, "{words:?}");
        }
        assert_eq!(rest_in(&file([1000, 1000, 1024, 2024], -1)), None);
    }

    /// The layout is the one of the C library that this test runs with.
    #[test]
    #[cfg(target_env = "gnu")]
    fn a_stream_of_the_c_library_is_read() {
        let mut place = [0_u8; 1024];
        // SAFETY: a stream over a descriptor of ours with a buffer that outlives it; closed below.
        unsafe {
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            let stream = libc::fdopen(null, c"w".as_ptr());
            assert!(!stream.is_null());
            libc::setvbuf(stream, place.as_mut_ptr().cast(), libc::_IOFBF, place.len());
            libc::fputs(c"half a line".as_ptr(), stream);
            let memory = File::open("/proc/self/mem").expect("there");
            let rest = rest(&memory, stream as u64).expect("something is in it");
            assert_eq!((rest.begin, rest.length, rest.fileno), (place.as_ptr() as u64, 11, null));
            libc::fclose(stream);
        }
    }

    #[test]
    fn who_dies_of_sigterm() {
        let child = |script: &str| {
            let mut child = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("{script} echo; read x")])
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("a shell");
            // It has come so far when its line is there.
            let out = child.stdout.take().expect("piped");
            std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut String::new())
                .expect("a line");
            let dies = dies_of_term(child.id());
            drop(child.stdin.take());
            child.wait().expect("it has no input any more");
            dies
        };
        assert!(child(""));
        assert!(!child("trap '' TERM;"));
        assert!(!child("trap 'exit 3' TERM;"));
        assert!(!dies_of_term(u32::MAX));
    }
}
