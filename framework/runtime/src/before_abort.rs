//! Hooks that run before a process ends the job, by MPI_Abort or by an error that is fatal: it may say
//! where it is (`opal_abort_print_stack`) and wait for a debugger (`opal_abort_delay`). The names and
//! the meanings are Open MPI's.

use crate::help;
use crate::objects::{BeforeAbort, Instance, Tell};
use crate::params::HostParams;
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

impl BeforeAbort {
    pub fn new(params: &HostParams) -> BeforeAbort {
        let (stack, delay) = (params.abort_stack, params.abort_delay);
        BeforeAbort { stack, delay, begun: AtomicBool::new(false), tell: OnceLock::new() }
    }
}

impl Instance {
    /// `tell` says where the calling thread is; it is called before an abort when that is asked for.
    /// The first one given counts.
    pub fn tell_before_abort(&self, tell: Tell) {
        let _ = self.before_abort.tell.set(tell);
    }

    /// Once per process: of several threads that abort, the first does it, and the others go on, so
    /// that an abort inside of it ends.
    pub(crate) fn linger(&self) {
        let before = &self.before_abort;
        if !before.stack && before.delay == 0 || before.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(tell) = before.tell.get().filter(|_| before.stack) {
            tell(self);
        }
        if before.delay != 0 {
            let (pid, node) = (std::process::id().to_string(), self.processor_name());
            let long = match u64::try_from(before.delay) {
                Ok(seconds) => format!("{seconds} seconds"),
                Err(_) => "for ever".into(),
            };
            let args = [&*self.job().rank.to_string(), &node, &pid, &long];
            self.show_help("runtime", help::HOST, "abort-delay", &args);
        }
        match u64::try_from(before.delay) {
            Ok(seconds) => std::thread::sleep(Duration::from_secs(seconds)),
            Err(_) => loop {
                std::thread::park();
            },
        }
    }
}
