//! The end of the job because something cannot go on: reported to the keeper, then this process ends.

use crate::objects::Instance;

/// Origin of an end that is the library's own.
const FAILURE: &str = "a failure inside the library";

/// Instead of the rank of a peer: it is of another job.
const SOMEBODY_ELSES: u32 = u32::MAX;

impl Instance {
    /// Reports that process `proc` broke the protocol or died: ends the job (`fatal`) or logs an error.
    pub(crate) fn peer_error(&self, framework: &str, name: &str, proc: u32, fatal: bool, message: &str) {
        let message = match self.is_stranger(proc) {
            false => format!("{framework}:{name}: rank {proc}: {message}"),
            // The end of one that is not connected any more concerns nobody here.
            true if self.strangers().name(proc).is_none() => return,
            true => format!("{framework}:{name}: {}: {message}", self.describe_process(proc)),
        };
        if fatal {
            let peer = if self.is_stranger(proc) { SOMEBODY_ELSES } else { proc };
            self.abort_for(1, FAILURE, &message, Some(peer));
        }
        self.logger().error(framework, &message);
    }

    /// Ends the job because something inside the library cannot go on.
    pub fn fail(&self, message: &str) -> ! {
        self.abort(1, FAILURE, message)
    }

    /// Reports an abort to the keeper and ends the process with `code`; the job ends with it. `origin` as in
    /// [`oxmpi_wireup::Client::abort`].
    pub fn abort(&self, code: i32, origin: &str, message: &str) -> ! {
        self.abort_for(code, origin, message, None)
    }

    /// Reports an abort to the keeper and ends the process with `code`; the job ends with it. With a `peer` that died
    /// or broke the protocol, the keeper may report that process's end instead of this message.
    fn abort_for(&self, code: i32, origin: &str, message: &str, peer: Option<u32>) -> ! {
        self.linger();
        if !self.client().abort_for(code, origin, message, peer) {
            self.logger().always(message);
        }
        // No destructors, no atexit handlers: other threads are still running.
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) }
    }

    /// Ends the job because a component panicked in an operation that all ranks do together: ranks that wait for this
    /// one inside of the component cannot be told otherwise.
    pub(crate) fn component_panicked(&self, framework: &str, name: &str, doing: &str) -> ! {
        self.fail(&format!(
            "{framework}:{name}: the component panicked while {doing}, which all ranks do together; this is a bug in it              (--mca {framework} ^{name} leaves it out)"
        ))
    }
}
