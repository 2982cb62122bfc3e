//! Signals of threads, and the process's number.

/// The process's number.
pub fn process() -> u32 {
    std::process::id()
}

/// Runs `f` with all signals blocked, so that a thread that it starts takes none of the program's.
pub fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    let mut before = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets on the stack, of which the first call fills one and the second the other.
    unsafe {
        let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: the mask that the call above gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    result
}
