//! A thread of a driver's own, beside the ranks' threads: it is started when the component opens and joined by `finalize`.

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
    /// Starts a thread named `name` (at most 15 bytes are seen by tools) that runs `run`. `task` completes "the … thread has
    /// ended by a panic". Fails where the process may have no more threads.
    pub fn start(name: &str, task: &'static str, run: impl FnOnce() + Send + 'static) -> io::Result<Helper> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
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
