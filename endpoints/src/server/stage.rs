//! Copies of buffers in the client's private memory.

use crate::abi::*;
use crate::protocol::sys::{self, Run};

/// A copy of a buffer in the client's private memory.
pub struct Stage {
    pub data: Vec<u8>,
    pub runs: Vec<Run>,
    pub written: bool,
}

impl Stage {
    pub fn read(&mut self, pid: i32) -> Result<(), c_int> {
        // SAFETY: the buffer is as long as the runs.
        unsafe { sys::copy(pid, self.data.as_mut_ptr(), &self.runs, true) }.map_err(|_| ERR_BUFFER)
    }

    pub fn write(&self, pid: i32, bytes: u64) -> Result<(), c_int> {
        let mut left = bytes;
        let runs = self.runs.iter().map(|run| {
            let take = run.bytes.min(left);
            left -= take;
            Run { addr: run.addr, bytes: take }
        });
        let runs: Vec<Run> = runs.collect();
        // SAFETY: the buffer is read, and the runs are no longer than it.
        unsafe { sys::copy(pid, self.data.as_ptr().cast_mut(), &runs, false) }.map_err(|_| ERR_BUFFER)
    }
}
