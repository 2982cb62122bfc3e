//! Two descriptors of the kernel that become readable: an eventfd that somebody rings, a timerfd that runs out.

use core::time::Duration;
use rustix::event::{EventfdFlags, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A descriptor that is readable from a ring until it is silenced. Any thread may ring.
pub struct Bell(OwnedFd);

impl Bell {
    /// Makes a silent one. Fails where the process has no descriptor left.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes the descriptor readable.
    pub fn ring(&self) {
        // It fails only where the counter is full, and that is readable.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Takes back all rings so far.
    pub fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }

    /// Returns the descriptor, which is open as long as the bell.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that becomes readable once when a time is over.
pub struct Timer(OwnedFd);

impl Timer {
    /// Makes one that does not run. Fails where the process has no descriptor left.
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Timer(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Starts the timer anew; `None` stops it. Either takes back that it has run out before.
    pub fn set(&self, after: Option<Duration>) {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        // To the kernel a time of zero means never.
        let value = after.map(|after| after.max(Duration::from_nanos(1))).map_or(never, |after| Timespec {
            tv_sec: after.as_secs() as i64,
            tv_nsec: after.subsec_nanos().into(),
        });
        let once = Itimerspec { it_interval: never, it_value: value };
        let _ = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once);
    }

    /// Returns the descriptor, which is open as long as the timer.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// Whether a descriptor is readable, now or within a limit in seconds.
    fn is_readable(fd: impl AsFd, within: i64) -> bool {
        let mut polled = [PollFd::new(&fd, PollFlags::IN)];
        let limit = Timespec { tv_sec: within, tv_nsec: 0 };
        poll(&mut polled, Some(&limit)).expect("poll") == 1
    }

    #[test]
    fn a_bell_is_heard_until_it_is_silenced() {
        let bell = Bell::new().expect("a bell");
        assert!(!is_readable(&bell, 0));
        bell.ring();
        bell.ring();
        assert!(is_readable(&bell, 0) && is_readable(&bell, 0));
        bell.silence();
        assert!(!is_readable(&bell, 0));
        bell.silence();
        assert!(!is_readable(&bell, 0), "silence does not wait");
    }

    #[test]
    fn a_timer_runs_out_once_and_can_be_stopped() {
        let timer = Timer::new().expect("a timer");
        for soon in [Duration::ZERO, Duration::from_millis(1)] {
            timer.set(Some(soon));
            assert!(is_readable(&timer, 60), "{soon:?}");
            timer.set(None);
            assert!(!is_readable(&timer, 0), "{soon:?}");
        }
        timer.set(Some(Duration::from_secs(3600)));
        assert!(!is_readable(&timer, 0));
    }
}
