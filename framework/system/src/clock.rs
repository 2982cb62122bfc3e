//! Reads clocks by way of the vDSO, through the C library. rustix looks for the vDSO where the kernel says it is,
//! but valgrind hides its pages from the program that it runs, which then ends at the first look.

use core::time::Duration;

/// Reads the monotonic clock, by which timeouts are measured.
pub fn monotonic_now() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// The number of the clock of the processor time that a process has used; `None`: there is no such process.
pub fn cpu_clock(pid: u32) -> Option<libc::clockid_t> {
    let (pid, mut clock) = (i32::try_from(pid).ok()?, 0);
    // SAFETY: a place for the answer.
    (unsafe { libc::clock_getcpuclockid(pid, &mut clock) } == 0).then_some(clock)
}

/// Reads a clock; `None`: its process has ended.
pub fn read_clock(clock: libc::clockid_t) -> Option<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    (unsafe { libc::clock_gettime(clock, &mut now) } == 0)
        .then(|| Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec.clamp(0, 999_999_999) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_that_of_the_vdso() {
        let other = || {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
        };
        let (before, now, after) = (other(), monotonic_now(), other());
        assert!(before <= now && now <= after, "{before:?}, {now:?}, {after:?}");
        assert_eq!(crate::page_size(), rustix::param::page_size());
    }
}
