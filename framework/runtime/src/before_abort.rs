//! Hooks that run before a process ends the job, by MPI_Abort or by an error that is fatal: it may say
//! where it is (`opal_abort_print_stack`) and wait for a debugger (`opal_abort_delay`). The names and
//! the meanings are Open MPI's.

use crate::objects::{Instance, Tell};
use oxmpi_loading::help;
use oxmpi_mca::sync::unmodelled::Ordering;
use std::time::Duration;

impl Instance {
    /// Stores the hook that prints the calling thread's stack before an abort, where `opal_abort_print_stack` asks for
    /// it. Only the first hook that is given counts.
    pub fn tell_before_abort(&self, tell: Tell) {
        let _ = self.before_abort().tell.set(tell);
    }

    /// Calls the stack hook and waits for a debugger before an abort, as the parameters ask. Once per process: where
    /// several threads abort, or an abort happens inside of this, the later calls return at once.
    pub(crate) fn linger(&self) {
        let before = self.before_abort();
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
