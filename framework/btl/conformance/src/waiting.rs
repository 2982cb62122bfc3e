//! Sleeping on everything that `arm` names: words by futex, descriptors by poll, and both at once.
//!
//! As in a host, descriptors are watched by a thread of their own where there are words too; it rings a private word.

use crate::rank::Rank;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use oxmpi_btl::{WaitFd, WaitSet, WaitWord};
use oxmpi_mca::Status;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::{AsFd, BorrowedFd};

/// Most words and descriptors of a set.
const ROOM: usize = 32;

/// The answer of an `arm`, with the arrays it filled.
pub struct Waits {
    pub status: Status,
    words: Vec<WaitWord>,
    fds: Vec<WaitFd>,
}

impl Waits {
    /// Arms a context; `disarm` is the caller's.
    pub fn arm(rank: &Rank, ctx: u32) -> Waits {
        Waits::fill(|set| rank.arm(ctx, set))
    }

    /// Arms the service context.
    pub fn arm_service(rank: &Rank) -> Waits {
        Waits::fill(|set| rank.service_arm(set))
    }

    fn fill(arm: impl FnOnce(&mut WaitSet) -> Status) -> Waits {
        let mut words = vec![WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; ROOM];
        let mut fds = vec![WaitFd { fd: -1, events: 0 }; ROOM];
        let mut set = WaitSet::new(&mut words, &mut fds);
        let status = arm(&mut set);
        let (num_words, num_fds) = (set.num_words as usize, set.num_fds as usize);
        assert!(num_words <= ROOM && num_fds <= ROOM, "arm wrote behind the end of the set");
        words.truncate(num_words);
        fds.truncate(num_fds);
        for word in &words {
            assert!(!word.addr.is_null() && word.addr.is_aligned(), "arm gave {word:?}");
        }
        assert!(fds.iter().all(|f| f.fd >= 0 && f.events != 0), "arm gave {fds:?}");
        Waits { status, words, fds }
    }

    /// Nothing can come without a call of this process.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.fds.is_empty()
    }

    /// Whether a sleeper would not sleep, or would be woken by now.
    pub fn is_awake(&self) -> bool {
        self.status == Status::PENDING || self.word_changed() || self.fd_ready(Duration::ZERO)
    }

    fn word_changed(&self) -> bool {
        self.words.iter().any(|w| word_of(w).load(Ordering::SeqCst) != w.expected)
    }

    fn fd_ready(&self, timeout: Duration) -> bool {
        if self.fds.is_empty() {
            return false;
        }
        poll_all(&mut polled(&self.fds), timeout) > 0
    }

    /// Sleeps until something of the set changes. False: nothing did in that time.
    pub fn sleep(&self, timeout: Duration) -> bool {
        match (self.words.is_empty(), self.fds.is_empty()) {
            (_, true) => wait_words(&self.words, timeout),
            (true, false) => self.fd_ready(timeout),
            (false, false) => self.sleep_on_both(timeout),
        }
    }

    fn sleep_on_both(&self, timeout: Duration) -> bool {
        let (bell, end) = (AtomicU32::new(0), eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd"));
        let ready = std::thread::scope(|threads| {
            let (fds, bell, end) = (&self.fds, &bell, &end);
            let watcher = threads.spawn(move || {
                let mut polled = polled(fds);
                polled.push(PollFd::new(end, PollFlags::IN));
                poll_all(&mut polled, timeout);
                let ready = polled[..fds.len()].iter().any(|p| !p.revents().is_empty());
                if ready {
                    bell.store(1, Ordering::SeqCst);
                    let _ = futex::wake(bell, futex::Flags::empty(), 1);
                }
                ready
            });
            let mut words = self.words.clone();
            words.push(WaitWord { addr: bell.as_ptr(), expected: 0, reserved: 0 });
            let woken = wait_words(&words, timeout);
            rustix::io::write(end.as_fd(), &1u64.to_ne_bytes()).expect("an eventfd takes a number");
            watcher.join().expect("polls") || woken
        });
        ready || self.word_changed()
    }
}

fn polled(fds: &[WaitFd]) -> Vec<PollFd<'static>> {
    let of = |f: &WaitFd| {
        // SAFETY: the component keeps it open until `disarm`.
        let fd = unsafe { BorrowedFd::borrow_raw(f.fd) };
        PollFd::from_borrowed_fd(fd, PollFlags::from_bits_retain(f.events as u16))
    };
    fds.iter().map(of).collect()
}

fn word_of(word: &WaitWord) -> &AtomicU32 {
    // SAFETY: a futex word that lives until `disarm`.
    unsafe { AtomicU32::from_ptr(word.addr.cast_mut()) }
}

fn timespec(d: Duration) -> futex::Timespec {
    futex::Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() }
}

fn poll_all(fds: &mut [PollFd<'_>], timeout: Duration) -> usize {
    loop {
        match poll(fds, Some(&timespec(timeout))) {
            Ok(n) => return n,
            Err(Errno::INTR) => {}
            Err(e) => panic!("poll: {e}"),
        }
    }
}

/// False: time is up. A signal counts as a change.
fn wait_words(words: &[WaitWord], timeout: Duration) -> bool {
    if words.is_empty() {
        std::thread::sleep(timeout);
        return false;
    }
    if let [word] = words {
        // The flags are empty: the word may lie in memory shared with other processes.
        let woken =
            futex::wait(word_of(word), futex::Flags::empty(), word.expected, Some(&timespec(timeout)));
        return woken != Err(Errno::TIMEDOUT);
    }
    let of = |w: &WaitWord| {
        let mut wait = futex::Wait::new();
        wait.val = w.expected.into();
        wait.uaddr = futex::WaitPtr::new(w.addr.cast_mut().cast());
        wait.flags = futex::WaitFlags::SIZE_U32;
        wait
    };
    let waits: Vec<_> = words.iter().map(of).collect();
    let now = clock_gettime(ClockId::Monotonic);
    let end = Duration::new(now.tv_sec as u64, now.tv_nsec as u32) + timeout;
    // SAFETY: all words are alive until `disarm`.
    match futex::waitv(&waits, futex::WaitvFlags::empty(), Some(&timespec(end)), ClockId::Monotonic) {
        Err(Errno::TIMEDOUT) => false,
        // This kernel waits on one word only: a short sleep on the first.
        Err(Errno::NOSYS | Errno::PERM) => {
            let short = timeout.min(Duration::from_millis(1));
            wait_words(&words[..1], short)
                || words.iter().any(|w| word_of(w).load(Ordering::SeqCst) != w.expected)
        }
        _ => true,
    }
}
