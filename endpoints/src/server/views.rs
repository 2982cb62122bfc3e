//! Memory of the client that a window exposes, as this process has it.
//!
//! A block of the segment's heap is mapped already. Memory elsewhere of the client has become pages of the segment
//! (`client/expose.rs`), in one or several runs; they are mapped here at the client's addresses, or, where those are taken, one
//! behind the other somewhere else. Memory that ranks share is in the segment of another client of the node.

use crate::abi::*;
use crate::protocol::record::Record;
use crate::protocol::segment::Segment;
use crate::protocol::sys;
use crate::state::Server;
use std::os::fd::AsRawFd;

/// Pages of the segment that the client has at an address.
#[derive(Clone, Copy)]
struct Run {
    at: u64,
    bytes: u64,
    offset: u64,
}

/// Memory here, and a mapping that ends with the window.
pub type Exposed = (*mut u8, Option<(*mut u8, usize)>);

impl Server {
    /// Memory of a command: address `args[0]` and bytes `args[1]` in the client; `args[5]` runs of pages stand in the list; with
    /// `args[6]` it is an offset in the segment of client `args[6] - 1`. `anywhere`: an address of its own will do.
    pub fn exposed(&mut self, record: &Record, anywhere: bool) -> Result<Exposed, c_int> {
        let (at, bytes) = (record.args[0].cast_unsigned(), record.args[1] as usize);
        if record.args[6] > 0 {
            let segment = self.foreign(record.args[6] as usize - 1)?;
            return Ok((segment.base.wrapping_add(at as usize), None));
        }
        if bytes == 0 {
            return Ok((core::ptr::null_mut(), None));
        }
        if record.args[5] == 0 {
            return Ok((self.here(at), None));
        }
        let words = self.list(record);
        let run = |i: usize| {
            // SAFETY: the client wrote three words for each run.
            let word = |j: usize| unsafe { *words.add(3 * i + j) }.cast_unsigned();
            Run { at: word(0), bytes: word(1), offset: word(2) }
        };
        let runs: Vec<Run> = (0..record.args[5] as usize).map(run).collect();
        if runs.iter().all(|run| self.view(run)) {
            return Ok((at as *mut u8, None));
        }
        if !anywhere {
            report!(
                "a proxy: MPI_Win_attach of {bytes} bytes at {at:#x}: the proxy has something else at that address"
            );
            return Err(ERR_RMA_ATTACH);
        }
        let total: u64 = runs.iter().map(|r| r.bytes).sum();
        let base = sys::reserve(total as usize).map_err(|_| ERR_NO_MEM)?;
        let mut to = base;
        for run in &runs {
            if !sys::map_over(to, run.bytes as usize, self.memory.file.as_raw_fd(), run.offset) {
                return Err(ERR_NO_MEM);
            }
            to = to.wrapping_add(run.bytes as usize);
        }
        Ok((base.wrapping_add((at - runs[0].at) as usize), Some((base, total as usize))))
    }

    /// Maps a run at the client's address; false where something else is.
    fn view(&mut self, run: &Run) -> bool {
        if self.memory.base != self.memory.segment.base as u64 {
            return false;
        }
        let end = run.at + run.bytes;
        let within = |(at, bytes, offset): &(u64, u64, u64)| {
            *at <= run.at && end <= at + bytes && run.at - at == run.offset.wrapping_sub(*offset)
        };
        if self.memory.views.iter().any(within) {
            return true;
        }
        // Older runs there are not the client's any more.
        self.memory.views.retain(|(at, bytes, _)| {
            let stale = *at < end && run.at < at + bytes;
            if stale {
                sys::unmap(*at as *mut u8, *bytes as usize);
            }
            !stale
        });
        let fd = self.memory.file.as_raw_fd();
        let mapped = sys::map_at(run.at as *mut u8, run.bytes as usize, fd, run.offset).is_ok();
        if mapped {
            self.memory.views.push((run.at, run.bytes, run.offset));
        }
        mapped
    }

    fn foreign(&mut self, client: usize) -> Result<Segment, c_int> {
        if let Some(segment) = self.memory.foreign.get(&client) {
            return Ok(*segment);
        }
        let hello = self.job.hellos[self.job.clients[client]];
        let (_, segment) = hello.open().map_err(|_| ERR_RMA_SHARED)?;
        self.memory.foreign.insert(client, segment);
        Ok(segment)
    }

    /// Distance from the client's addresses to this process's.
    pub fn distance(&self) -> i64 {
        (self.memory.segment.base as u64).wrapping_sub(self.memory.base).cast_signed()
    }
}
