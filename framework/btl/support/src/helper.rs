//! A thread of a driver's own, beside the ranks' threads: it is started when the component opens and joined by `finalize`.

use core::mem::MaybeUninit;
use oxmpi_mca::Host;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// A thread that ends when its driver says so. The driver tells it to (a flag and a ring, say) before [`Helper::join`].
pub struct Helper {
    /// The word for the thread in reports of its failure.
    task: &'static str,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Helper {
    /// Starts a thread named `name` (at most 15 bytes are seen by tools) that runs `run` and takes none of the program's signals. `task` completes "the … thread has
    /// ended by a panic". Fails where the process may have no more threads.
    pub fn start(name: &str, task: &'static str, run: impl FnOnce() + Send + 'static) -> io::Result<Helper> {
        let thread = without_signals(|| std::thread::Builder::new().name(name.to_owned()).spawn(run))?;
        Ok(Helper { task, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for the thread's end, and reports a panic of it to the host. Only the first call does something.
    pub fn join(&self, host: &Host) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            host.error(&format!("the {} thread has ended by a panic", self.task));
        }
    }
}

/// Runs `f` with all signals blocked, which a thread that it starts inherits.
fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    let (mut all, mut before) =
        (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
    // SAFETY: sets of signals on the stack; the second one is filled by the call that gets it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Whether the calling thread has a signal blocked.
    fn is_blocked(signal: i32) -> bool {
        let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: a set on the stack, which the first call fills.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, core::ptr::null(), mask.as_mut_ptr());
            libc::sigismember(mask.as_ptr(), signal) == 1
        }
    }

    #[test]
    fn a_helper_takes_no_signal_and_its_starter_still_does() {
        let (tell, told) = channel();
        let helper = Helper::start("helper", "test's", move || {
            tell.send(is_blocked(libc::SIGALRM)).expect("the test waits")
        });
        assert!(helper.is_ok() && told.recv().expect("the thread answers"));
        assert!(!is_blocked(libc::SIGALRM));
    }
}
