//! Processes as people call them.

use crate::objects::Instance;

impl Instance {
    /// "process 3 of the job", or of another one.
    pub(crate) fn describe_process(&self, proc: u32) -> String {
        match self.is_stranger(proc) {
            true => self.strangers().describe(proc),
            false => format!("process {proc} of the job"),
        }
    }
}
