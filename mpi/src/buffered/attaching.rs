//! Attaches, flushes and detaches the buffer of a slot.

use super::slot::{Buffer, Inner, Slot};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res};
use core::sync::atomic::Ordering;
use oxmpi_runtime::buffer::Space;

impl Slot {
    /// Runs what needs the bookkeeping, under the lock where there are several threads.
    pub fn with<R>(&self, process: &Process, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.with_lock(process.instance.threaded(), f)
    }

    /// Attaches a buffer of the user's, or the heap.
    pub fn attach(&self, process: &Process, buffer: *mut u8, size: i64) -> Res {
        let automatic = buffer as usize == MPI_BUFFER_AUTOMATIC;
        let Ok(bytes) = u64::try_from(size) else {
            return Failure::err(MPI_ERR_ARG, format!("size is {size}"));
        };
        if buffer.is_null() && bytes > 0 {
            return Failure::err(MPI_ERR_BUFFER, format!("buffer is a null pointer, size is {size}"));
        }
        self.with(process, |inner| {
            if inner.buffer.is_some() {
                return Failure::err(MPI_ERR_BUFFER, "a buffer is attached already");
            }
            inner.buffer = Some(match automatic {
                true => Buffer::Automatic,
                false => Buffer::Users { base: buffer, space: Space::new(bytes) },
            });
            // SYNC POINT with `is_attached`.
            self.attached.store(true, Ordering::Release);
            Ok(())
        })
    }

    /// Blocks until all messages that are in the buffer now are over.
    pub fn flush(&self, process: &Process) {
        let newest = self.with(process, |inner| inner.number);
        let threaded = || process.instance.threaded();
        process.instance.wait_until(process.thread(), || self.is_sent(threaded(), newest));
    }

    /// Takes the buffer away when all its messages are over. `None`: there is none.
    pub fn detach(&self, process: &Process) -> Option<(*mut u8, u64)> {
        if !self.attached.swap(false, Ordering::AcqRel) {
            return None;
        }
        self.flush(process);
        let buffer = self.with(process, |inner| inner.buffer.take());
        buffer.map(|buffer| match buffer {
            Buffer::Users { base, space } => (base, space.size()),
            Buffer::Automatic => (MPI_BUFFER_AUTOMATIC as *mut u8, 0),
        })
    }

    /// The object it belongs to goes: the buffer is detached (MPI 5.0 §3.6).
    pub fn empty(&self, process: &Process) {
        self.detach(process);
    }
}
