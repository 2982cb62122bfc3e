//! Asks the system for what all rooms of the host need: [`locks`] of cold paths, [`clock`]s, [`membarrier`], [`userfaultfd`], [`output`] that nobody may read, and the size of a page.
//!
//! It holds no state. Under `--cfg oxmpi_annotated` its locks are ones that valgrind's tools understand.

pub mod clock;
pub mod locks;
pub mod membarrier;
pub mod output;
pub mod userfaultfd;

/// Bytes of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.unsigned_abs() as usize
}

/// Runs `f` with all signals blocked, so that a thread that it starts takes none of the program's.
pub fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets on the stack; the calling thread's mask is put back below.
    unsafe {
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: the mask that the call above gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
