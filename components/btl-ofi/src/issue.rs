//! Operations under way: the work of each, and the fate of one that the provider does not take.

use crate::abi::err;
use crate::buffers::Buffers;
use core::ptr::with_exposed_provenance_mut;
use oxmpi_mca::Status;

/// The work of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Issue {
    /// It may be tried once more.
    Transfer(Transfer),
    /// It may not: whether it was carried out is not known when it fails.
    Atomic(Place),
}

/// A put or get as it is issued.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub is_put: bool,
    /// Address in this process, and by what the library knows that memory.
    pub local: u64,
    pub desc: u64,
    pub len: usize,
    /// Number of the target in the address vector, address there, key of the memory.
    pub target: u64,
    pub remote: u64,
    pub key: u64,
}

/// Where the old value of an atomic lands, and where it goes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number of the send buffer.
    pub buffer: u32,
    /// Address that the old value goes to; 0: nobody wants it.
    pub result: u64,
    pub len: usize,
}

/// Bytes from the beginning of the buffer to the old value.
pub const OLD: usize = 16;

impl Place {
    /// Copies the old value to its place, and gives the buffer back.
    ///
    /// # Safety
    /// The operation is over, and the place of its result is the host's memory for it.
    pub unsafe fn finish(self, buffers: &mut Buffers, status: Status) {
        let (base, _) = buffers.send(self.buffer);
        if self.result != 0 && status.is_ok() {
            let to = with_exposed_provenance_mut::<u8>(self.result as usize);
            // SAFETY: the buffer is longer; the other place by the caller's promise.
            unsafe { core::ptr::copy_nonoverlapping(base.wrapping_add(OLD), to, self.len) };
        }
        buffers.give(self.buffer);
    }
}

/// The fate of an operation that the provider has not taken.
pub fn refused(code: i32) -> Status {
    match code {
        err::AGAIN | err::NOMEM => Status::NO_RESOURCE,
        err::ACCES | err::NOKEY => Status::NO_PERMISSION,
        err::NOSYS | err::OPNOTSUPP => Status::NOT_SUPPORTED,
        _ => Status::INTERNAL,
    }
}
