//! A transfer and its operation as an author sees them.
//!
//! A job is a promise of the host's: list, memory and operation stay as they are until the operation ends. It ends once, by the job's own end, which takes the job; so no
//! reference to memory of the caller's, all of which are borrowed from the job, is left then.
//!
//! **The bell is rung behind the end**, when the host may already close the file and free the bell. So jobs of a file are counted, each up to the last touch of its bell, and `close` waits
//! until there is none: no longer than a ring takes, since all operations have ended by then.

use crate::operation::{Bell, Operation};
use crate::table::{Piece, Transfer, transfer};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::sync::Arc;

/// The name of an operation that is under way; another one may have it afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(usize);

impl Key {
    /// Of an operation's address.
    pub(super) const fn of(address: usize) -> Key {
        Key(address)
    }
}

/// The bytes of one piece, by direction.
#[derive(Debug)]
pub enum Data<'a> {
    /// They are to be written by the component: the file is read.
    In(&'a mut [u8]),
    /// They are to go to the file.
    Out(&'a [u8]),
}

/// A transfer under way.
pub struct Job {
    transfer: *const Transfer,
    /// Null when it has ended, or is the host's again.
    operation: *const Operation,
    bell: Bell,
    /// Jobs of the file.
    count: Arc<AtomicU32>,
}

// SAFETY: the host lets any thread end an operation, and gives list and memory to the component for as long.
unsafe impl Send for Job {}
// SAFETY: what a shared job gives is read only, but for addresses, which nobody follows without `unsafe`.
unsafe impl Sync for Job {}

/// A job that was not taken, and the reason.
pub struct Refusal {
    pub(super) job: Job,
    pub(super) status: Status,
}

impl Job {
    /// Takes over a transfer.
    ///
    /// # Safety
    /// The host's promises of `submit`: transfer, pieces and memory stay as they are until the operation has ended, the operation was not submitted to anybody else, and the bell is
    /// that of the file.
    pub(super) unsafe fn new(
        transfer: *const Transfer,
        operation: *const Operation,
        bell: Bell,
        count: &Arc<AtomicU32>,
    ) -> Job {
        count.fetch_add(1, Ordering::Relaxed);
        Job { transfer, operation, bell, count: count.clone() }
    }

    fn transfer(&self) -> &Transfer {
        // SAFETY: it stays until the operation's end, which takes the job.
        unsafe { &*self.transfer }
    }

    /// True where data goes from memory to the file.
    pub fn is_write(&self) -> bool {
        self.transfer().what == transfer::WRITE
    }

    /// True where the caller waits and has nothing else to do.
    pub fn is_now(&self) -> bool {
        self.transfer().flags & transfer::NOW != 0
    }

    /// True for reads whose holes may be read, too.
    pub fn may_sieve(&self) -> bool {
        !self.is_write() && self.transfer().flags & transfer::SIEVE != 0
    }

    /// Bytes that may be used at once for sieving; 0: the component's own measure.
    pub fn sieve_bytes(&self) -> u64 {
        self.transfer().sieve_bytes
    }

    /// The pieces. Their memory is the component's until the end.
    pub fn pieces(&self) -> &[Piece] {
        let transfer = self.transfer();
        if transfer.num_pieces == 0 {
            return &[];
        }
        // SAFETY: the host's list, so long.
        unsafe { core::slice::from_raw_parts(transfer.pieces, transfer.num_pieces) }
    }

    /// The bytes of a piece.
    ///
    /// # Panics
    /// At a number that is not below that of the pieces.
    pub fn data(&mut self, piece: usize) -> Data<'_> {
        let Piece { memory, len, .. } = self.pieces()[piece];
        let (memory, len) =
            if len == 0 { (core::ptr::NonNull::dangling().as_ptr(), 0) } else { (memory, len as usize) };
        // SAFETY: the caller's memory, which nobody else touches before the end; the job is borrowed meanwhile. A piece's memory held some bytes of
        // the program's.
        unsafe {
            if self.is_write() {
                Data::Out(core::slice::from_raw_parts(memory, len))
            } else {
                Data::In(core::slice::from_raw_parts_mut(memory, len))
            }
        }
    }

    /// The operation's name, for [`super::Transfers::cancel`].
    pub fn key(&self) -> Key {
        Key::of(self.operation.addr())
    }

    /// Ends the operation: with OK and the bytes of the pieces before the first that is short and of that one, or a failure and the bytes before it.
    pub fn end(mut self, status: Status, bytes: u64) {
        let operation = core::mem::replace(&mut self.operation, core::ptr::null());
        // SAFETY: the job was the operation's one owner, and has just given it up; the bell stays until the job is dropped, which is below.
        unsafe { Operation::finish(operation, status, bytes, &self.bell) }
    }

    /// Leaves the operation to the host again, who has not seen it end.
    pub(super) fn give_back(mut self) {
        self.operation = core::ptr::null();
    }

    /// Gives the job back untouched: NO_RESOURCE (the host offers it again when an operation has ended) or BAD_PARAM.
    pub fn refuse(self, status: Status) -> Refusal {
        Refusal { job: self, status }
    }
}

impl Drop for Job {
    /// A job that nobody ended was lost by the author, and ends as a failure.
    fn drop(&mut self) {
        if !self.operation.is_null() {
            // SAFETY: as in `end`.
            unsafe { Operation::finish(self.operation, Status::INTERNAL, 0, &self.bell) }
        }
        // SYNC POINT with `close`: behind the last touch of the bell.
        self.count.fetch_sub(1, Ordering::Release);
    }
}

impl core::fmt::Debug for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let what = if self.is_write() { "write" } else { "read" };
        write!(f, "{what} of {} pieces", self.pieces().len())
    }
}

impl core::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}: {}", self.job, self.status)
    }
}
