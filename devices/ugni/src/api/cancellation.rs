//! Cancellation of threads that wait: it is held back while a wait is inside of this library, and let in between its parts.
//!
//! A program may end a thread that waits in libugni by pthread_cancel, at any instruction where it asks for that; libfabric's provider ends its helpers so. The C library then unwinds the
//! thread's stack, which frames in Rust bear only if they have nothing to drop. So an entry point that waits is `extern "C-unwind"`, owns nothing, and calls what waits with
//! cancellation off; between two parts it is as the thread has set it, and the thread may end there.

use crate::numbers::{Return, rc};
use core::ffi::c_int;

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_testcancel();
}

/// PTHREAD_CANCEL_DISABLE.
const OFF: c_int = 1;
/// Milliseconds of a part.
const PART: u64 = 20;
/// A wait without an end.
const EVER: u64 = u64::MAX;

/// Milliseconds of a wait; all ones, of 32 bits or of 64, are without an end.
pub fn ever(ms: u64) -> u64 {
    if ms == u32::MAX.into() { EVER } else { ms }
}

/// Makes a wait of `ms` milliseconds of parts; `part` waits for as many as it is given and answers TIMEOUT where nothing came.
///
/// The thread may end in here: neither `part` nor the caller has anything to drop.
#[inline(always)]
pub fn in_parts(ms: u64, part: impl Fn(u64) -> Return) -> Return {
    let mut left = ms;
    loop {
        let now = left.min(PART);
        let (mut before, mut off) = (0, 0);
        // SAFETY: two words of this frame. A thread that is cancelled already ends here, in frames that own nothing.
        unsafe { pthread_setcancelstate(OFF, &mut before) };
        let outcome = part(now);
        // SAFETY: as above; this is where a thread ends that was cancelled meanwhile.
        unsafe {
            pthread_setcancelstate(before, &mut off);
            pthread_testcancel();
        }
        if left != EVER {
            left -= now;
        }
        if outcome != rc::TIMEOUT || left == 0 {
            return outcome;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::ffi::c_void;
    use core::ptr::{null, null_mut};
    use std::time::Duration;

    #[test]
    fn parts_are_as_long_as_the_wait_and_the_first_answer_ends_it() {
        let waited = Cell::new((0, 0));
        let wait = |ms: u64, last: u64| {
            waited.set((0, 0));
            let outcome = in_parts(ms, |ms| {
                let (parts, all) = waited.get();
                waited.set((parts + 1, all + ms));
                if parts + 1 == last { rc::SUCCESS } else { rc::TIMEOUT }
            });
            (outcome, waited.get())
        };
        assert_eq!(wait(50, 9), (rc::TIMEOUT, (3, 50)));
        assert_eq!(wait(0, 9), (rc::TIMEOUT, (1, 0)));
        assert_eq!(wait(EVER, 5), (rc::SUCCESS, (5, 5 * PART)));
        assert_eq!((ever(u32::MAX.into()), ever(EVER), ever(7)), (EVER, EVER, 7));
    }

    extern "C-unwind" fn wait_for_ever(_: *mut c_void) -> *mut c_void {
        in_parts(EVER, |ms| {
            std::thread::sleep(Duration::from_millis(ms));
            rc::TIMEOUT
        });
        null_mut()
    }

    #[test]
    fn a_thread_that_is_cancelled_ends() {
        type Start = extern "C" fn(*mut c_void) -> *mut c_void;
        // SAFETY: the C library unwinds through the function, which owns nothing; only its declaration there does not say so.
        let start = unsafe {
            core::mem::transmute::<extern "C-unwind" fn(*mut c_void) -> *mut c_void, Start>(wait_for_ever)
        };
        let (mut thread, mut outcome) = (0, null_mut());
        // SAFETY: a thread without an argument, which is joined.
        unsafe {
            assert_eq!(libc::pthread_create(&mut thread, null(), start, null_mut()), 0);
            assert_eq!(libc::pthread_cancel(thread), 0);
            assert_eq!(libc::pthread_join(thread, &mut outcome), 0);
        }
        // PTHREAD_CANCELED.
        assert_eq!(outcome.addr(), usize::MAX);
    }
}
