//! Sleeping on words. Thin: what a wake-up means is the caller's business, every return from here
//! may be spurious.

use oxmpi_mca::WaitWord;
use oxmpi_mca::sync::AtomicU32;
use rustix::io::Errno;
use rustix::thread::futex;
use std::ffi::c_void;
use std::sync::atomic;
use std::time::Duration;

/// A duration as the kernel takes it.
fn timespec(d: Duration) -> futex::Timespec {
    futex::Timespec { tv_sec: d.as_secs() as _, tv_nsec: d.subsec_nanos() as _ }
}

/// Sleeps while `word` (of this process alone) has the value `expected`; at most for `timeout`, if there is one.
pub fn wait_private(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(timespec);
    // SAFETY: the same word, in the standard library's type.
    let word = unsafe { atomic::AtomicU32::from_ptr(word.as_ptr()) };
    // After any answer (woken, value differs, interrupted, time is up), the caller looks again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, expected, timeout.as_ref());
}

/// Wakes one thread that sleeps on the word at this address, which may be dead by now: the kernel uses it as a name only.
pub fn wake_private(word: usize) {
    // SAFETY: FUTEX_WAKE with the private flag never accesses the memory.
    unsafe {
        libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
    }
}

/// Wakes all who sleep on the word at `addr`, which may be shared with other processes, and may be unmapped.
pub fn wake_shared(addr: usize) {
    // SAFETY: FUTEX_WAKE reads no memory of ours; the kernel says EFAULT of an address that is not mapped.
    unsafe {
        libc::syscall(libc::SYS_futex, addr, libc::FUTEX_WAKE, i32::MAX);
    }
}

/// Sleeps while the word at `addr`, which may be shared with other processes, has the value `expected`; at most for
/// `timeout`.
///
/// # Safety
/// `addr` must stay mapped during the call.
pub unsafe fn wait_shared(addr: *const u32, expected: u32, timeout: Duration) {
    // SAFETY: mapped by the caller's promise, and a futex word is only accessed atomically.
    let word = unsafe { atomic::AtomicU32::from_ptr(addr.cast_mut()) };
    let _ = futex::wait(word, futex::Flags::empty(), expected, Some(&timespec(timeout)));
}

/// Words that one thread can wait for at once.
pub const MOST_WORDS: usize = 128;

/// Sleeps while all words have their values, at most for `timeout`: `shared` ones, which may lie in memory shared with
/// other processes, and one of this process. At most [`MOST_WORDS`] in all. False: this kernel cannot wait for several
/// words.
///
/// # Safety
/// The shared words must stay mapped during the call.
pub unsafe fn wait_many(shared: &[WaitWord], private: Option<(&AtomicU32, u32)>, timeout: Duration) -> bool {
    let mut words = [futex::Wait::new(); MOST_WORDS];
    let mut count = 0;
    let mut add = |addr: *mut c_void, value: u32, flags| {
        words[count].val = value.into();
        words[count].uaddr = futex::WaitPtr::new(addr);
        words[count].flags = flags;
        count += 1;
    };
    for word in shared {
        add(word.addr.cast_mut().cast(), word.expected, futex::WaitFlags::SIZE_U32);
    }
    if let Some((word, value)) = private {
        add(word.as_ptr().cast(), value, futex::WaitFlags::SIZE_U32 | futex::WaitFlags::PRIVATE);
    }
    // The system call takes a point in time.
    let end = oxmpi_system::clock::monotonic_now() + timeout;
    // SAFETY: all words are alive during the call.
    let woken = futex::waitv(
        &words[..count],
        futex::WaitvFlags::empty(),
        Some(&timespec(end)),
        rustix::time::ClockId::Monotonic,
    );
    !matches!(woken, Err(Errno::NOSYS | Errno::INVAL | Errno::PERM))
}

/// Sleeps for the given time; nothing wakes the thread before.
pub fn nap(d: Duration) {
    std::thread::sleep(d);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn either_word_wakes() {
        let (shared, private) = (AtomicU32::new(1), AtomicU32::new(1));
        // SAFETY: the word lives to the end of the test.
        let sleep = |e: u32, timeout| unsafe {
            let word = WaitWord { addr: shared.as_ptr(), expected: e, reserved: 0 };
            wait_many(&[word], Some((&private, 1)), timeout)
        };
        if !sleep(0, LONG) {
            eprintln!("this kernel cannot wait for two words; the blind way is used on it");
            return;
        }
        let before = Instant::now();
        assert!(sleep(1, Duration::from_millis(20)), "time is up");
        assert!(before.elapsed() >= Duration::from_millis(20));
        for word in [&private, &shared] {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while word.load(Ordering::Acquire) == 1 {
                        assert!(sleep(1, LONG));
                    }
                });
                std::thread::sleep(Duration::from_millis(20));
                word.store(2, Ordering::Release);
                if std::ptr::eq(word, &private) {
                    wake_private(word.as_ptr().addr());
                } else {
                    wake_shared(word.as_ptr() as usize);
                }
            });
            word.store(1, Ordering::Release);
        }
        assert!(before.elapsed() < LONG, "nobody slept until the time was up");
    }
}
