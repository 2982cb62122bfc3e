//! Attaches, flushes and detaches the buffer of a slot.

use super::slot::{Buffer, Slot};
use crate::call::memory::Address;
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res};
use core::sync::atomic::Ordering;
use oxmpi_mca::Entry;
use oxmpi_runtime::buffer::Space;

impl Slot {
    /// Attaches a buffer of the user's, or the heap.
    pub fn attach(&self, entry: &Entry, buffer: Address, size: i64) -> Res {
        let automatic = buffer.addr() == MPI_BUFFER_AUTOMATIC;
        let Ok(bytes) = u64::try_from(size) else {
            return Failure::err(MPI_ERR_ARG, format!("size is {size}"));
        };
        if buffer.is_null() && bytes > 0 {
            return Failure::err(MPI_ERR_BUFFER, format!("buffer is a null pointer, size is {size}"));
        }
        self.with(entry, |inner| {
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
    pub fn flush(&self, process: &Process, entry: &mut Entry) {
        let newest = self.with(entry, |inner| inner.number);
        process.instance.wait_until(entry, |entry| self.is_sent(entry, newest));
    }

    /// Takes the buffer away when all its messages are over. `None`: there is none.
    pub fn detach(&self, process: &Process, entry: &mut Entry) -> Option<(usize, u64)> {
        if !self.attached.swap(false, Ordering::AcqRel) {
            return None;
        }
        self.flush(process, entry);
        let buffer = self.with(entry, |inner| inner.buffer.take());
        buffer.map(|buffer| match buffer {
            Buffer::Users { base, space } => (base.addr(), space.size()),
            Buffer::Automatic => (MPI_BUFFER_AUTOMATIC, 0),
        })
    }

    /// The object it belongs to goes: the buffer is detached (MPI 5.0 §3.6).
    pub fn empty(&self, process: &Process, entry: &mut Entry) {
        self.detach(process, entry);
    }
}
