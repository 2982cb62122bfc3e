//! What the system says by way of the vDSO, asked through the C library. rustix looks for the vDSO where the kernel says it is,
//! but valgrind hides its pages from the program that it runs, which then ends at the first look.

use core::time::Duration;

/// The clock of timeouts that are points in time.
pub fn monotonic_now() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// Bytes of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.unsigned_abs() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_one_of_instants_and_pages_are_powers_of_two() {
        let (from, start) = (monotonic_now(), std::time::Instant::now());
        std::thread::sleep(Duration::from_millis(5));
        let (gone, between) = (start.elapsed(), monotonic_now() - from);
        assert!(between >= gone && gone >= Duration::from_millis(5), "{between:?}, {gone:?}");
        assert!(page_size() >= 4096 && page_size().is_power_of_two());
    }
}
