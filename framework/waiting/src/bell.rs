//! The event thread: watches descriptors for a thread that sleeps, and rings a word when one is ready.
//!
//! It exists from the first sleep on a descriptor on, so not in a job that uses shared memory alone; it ends with
//! the instance. It adds 1 to the word and wakes, and does nothing else: it calls no transport and takes no lock of the library's.
//! Descriptors are watched once (`EPOLLONESHOT`, level-triggered): whoever goes to sleep asks for each anew, and what is ready by
//! then rings at once. A descriptor that a transport has closed falls out of the kernel's list by itself.
//!
//! A forked child has the memory and not the thread. It never sleeps on descriptors here, since it makes no MPI calls.

use crate::futex;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{WaitFd, WaitWord};
use oxmpi_system::locks::Mutex;
use oxmpi_system::without_signals;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The word that is rung, and the thread that rings it once there is one.
#[derive(Default)]
pub struct Bell {
    word: Arc<AtomicU32>,
    watcher: Mutex<Option<Watcher>>,
}

/// The event thread, with the kernel's list of descriptors that it watches.
struct Watcher {
    poll: Arc<OwnedFd>,
    /// Ready once the thread is to end.
    stop: OwnedFd,
    thread: JoinHandle<()>,
}

/// The kernel's answer for the stop descriptor; no transport's descriptor has this number.
const STOP: u64 = u64::MAX;

impl Bell {
    /// The value of the word, which grows each time the bell rings. To be read before transports are armed.
    pub fn value(&self) -> u32 {
        // SYNC POINT with `Watcher::run`: what a descriptor tells of was done before it was ready.
        self.word.load(Ordering::Acquire)
    }

    /// The word of the bell for a sleep: the sleeper is woken once it is no longer `value`.
    pub fn word(&self, value: u32) -> WaitWord {
        WaitWord { addr: self.word.as_ptr(), expected: value, reserved: 0 }
    }

    /// Has the event thread ring the bell once one of the descriptors is ready; starts the thread if there is none.
    /// False: descriptors cannot be watched here, and the caller naps.
    pub fn watch(&self, fds: &[WaitFd]) -> bool {
        let mut watcher = self.watcher.lock();
        if watcher.is_none() {
            match Watcher::start(self.word.clone()) {
                Ok(started) => *watcher = Some(started),
                Err(_) => return false,
            }
        }
        let Some(watcher) = &*watcher else { return false };
        fds.iter().all(|fd| watcher.add(fd).is_ok())
    }

    /// Ends the event thread, if there is one, and waits for its end.
    pub fn stop(&self) {
        if let Some(watcher) = self.watcher.lock().take() {
            let _ = rustix::io::write(&watcher.stop, &1u64.to_ne_bytes());
            // It runs no code that could panic.
            let _ = watcher.thread.join();
        }
    }
}

impl Watcher {
    /// Starts the event thread, which rings `word`.
    fn start(word: Arc<AtomicU32>) -> Result<Watcher, Errno> {
        let poll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        epoll::add(&*poll, &stop, epoll::EventData::new_u64(STOP), epoll::EventFlags::IN)?;
        let ours = poll.clone();
        let run = move || Watcher::run(&ours, &word);
        let thread = without_signals(|| std::thread::Builder::new().name("oxmpi-events".into()).spawn(run));
        Ok(Watcher { poll, stop, thread: thread.map_err(|_| Errno::AGAIN)? })
    }

    /// Asks the kernel to report once when a descriptor is ready.
    fn add(&self, fd: &WaitFd) -> Result<(), Errno> {
        // SAFETY: the transport keeps its descriptor open until `disarm`.
        let at = unsafe { BorrowedFd::borrow_raw(fd.fd) };
        let events = epoll::EventFlags::from_bits_retain(fd.events) | epoll::EventFlags::ONESHOT;
        let data = epoll::EventData::new_u64(u64::from(fd.fd.cast_unsigned()));
        match epoll::modify(self.poll.as_fd(), at, data, events) {
            Err(Errno::NOENT) => epoll::add(self.poll.as_fd(), at, data, events),
            other => other,
        }
    }

    /// The loop of the event thread: adds 1 to `word` and wakes its sleepers when descriptors are ready, until the
    /// stop descriptor is.
    fn run(poll: &OwnedFd, word: &AtomicU32) {
        let mut ready = Vec::with_capacity(16);
        loop {
            ready.clear();
            match epoll::wait(poll, rustix::buffer::spare_capacity(&mut ready), None) {
                Ok(_) | Err(Errno::INTR) => {}
                // Not without a fault in here; sleeps are bounded in any case.
                Err(_) => return,
            }
            if ready.iter().any(|event| event.data.u64() == STOP) {
                return;
            }
            if !ready.is_empty() {
                // SYNC POINT with `Bell::value`.
                word.fetch_add(1, Ordering::Release);
                futex::wake_shared(word.as_ptr() as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(60);

    fn readable(fd: &OwnedFd) -> WaitFd {
        use std::os::fd::AsRawFd;
        WaitFd { fd: fd.as_raw_fd(), events: libc::POLLIN as u32 }
    }

    /// Sleeps until the value is another; how long that took.
    fn sleep(bell: &Bell, rung: u32) -> Duration {
        let before = Instant::now();
        while bell.value() == rung && before.elapsed() < LONG {
            // SAFETY: the word lives as long as the bell.
            unsafe { futex::wait_shared(bell.word.as_ptr(), rung, LONG) };
        }
        before.elapsed()
    }

    #[test]
    fn a_descriptor_rings_each_time_it_is_watched() {
        let bell = Bell::default();
        let fd = eventfd(0, EventfdFlags::NONBLOCK).expect("an eventfd");
        for _ in 0..20 {
            let rung = bell.value();
            assert!(bell.watch(&[readable(&fd)]));
            std::thread::scope(|scope| {
                scope.spawn(|| rustix::io::write(&fd, &1u64.to_ne_bytes()).expect("room"));
                assert!(sleep(&bell, rung) < LONG);
            });
            // Still ready: it rings at once when it is watched anew, and not without that.
            let rung = bell.value();
            assert!(bell.watch(&[readable(&fd)]));
            assert!(sleep(&bell, rung) < LONG);
            rustix::io::read(&fd, &mut [0; 8]).expect("it was written");
        }
        bell.stop();
    }

    #[test]
    fn what_was_ready_before_the_sleep_is_not_missed() {
        let bell = Bell::default();
        let fd = eventfd(1, EventfdFlags::NONBLOCK).expect("an eventfd");
        let rung = bell.value();
        assert!(bell.watch(&[readable(&fd)]));
        assert!(sleep(&bell, rung) < LONG);
        bell.stop();
    }

    #[test]
    fn a_closed_descriptor_is_no_harm() {
        let bell = Bell::default();
        for _ in 0..3 {
            let fd = eventfd(0, EventfdFlags::NONBLOCK).expect("an eventfd");
            assert!(bell.watch(&[readable(&fd)]));
            drop(fd);
        }
        bell.stop();
        bell.stop();
    }
}
