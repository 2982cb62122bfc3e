//! A collective's work on data in this process: at once or, in a plan, later.

use crate::data::{Place, Room, Source};
use crate::failure::Failure;
use crate::layout::Result;
use core::ptr::null_mut;
use oxmpi_coll::{CollComm, CollServices};
use oxmpi_datatype::kernel::{self, OpDesc};
use oxmpi_mca::Status;

/// The data of this process in one call. Where data is missing ([`Failure`]) nothing is done with it.
#[derive(Clone, Copy)]
pub struct Local<'a> {
    comm: &'a CollComm,
    services: &'a CollServices,
    failure: &'a Failure,
}

/// A step that was written down, or not.
fn noted(status: Status) -> Result {
    status.ok().map(drop)
}

impl<'a> Local<'a> {
    /// The work of one call, whose failures are noted in `failure`.
    pub fn new(comm: &'a CollComm, services: &'a CollServices, failure: &'a Failure) -> Local<'a> {
        Local { comm, services, failure }
    }

    /// Whether work is written down instead of done.
    #[inline(always)]
    pub fn planning(&self) -> bool {
        self.comm.planning != 0
    }

    /// Memory that lives as long as the plan.
    pub fn memory(&self, len: u64) -> Result<Room<'a>> {
        let mut start = null_mut();
        noted((self.services.memory)(self.comm, len, &mut start))?;
        // SAFETY: the host's, as long as the plan, and nobody else's.
        Ok(unsafe { Room::new(start, len) })
    }

    /// Packs as many bytes as `into` has, from byte `first` of the data on.
    ///
    /// # Safety
    /// `into` is bytes. The two do not overlap, and there is so much data.
    pub unsafe fn pack(&self, from: Source<'_>, first: u64, into: Place<'_>) -> Result {
        let ((base, count, dtype), (dst, len, _)) = (from.raw(), into.raw());
        if self.planning() {
            return noted((self.services.pack)(self.comm, dtype, count, base, first, dst, len));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: both are vouched for; the rest is the caller's promise.
            unsafe { oxmpi_datatype::pack(dtype, count, base, first, dst, len) };
        }
        Ok(())
    }

    /// The reverse: puts the bytes of `from` where those from byte `first` of the data on lie.
    ///
    /// # Safety
    /// `from` is bytes. The two do not overlap, and there is so much data.
    pub unsafe fn unpack(&self, into: Place<'_>, first: u64, from: Source<'_>) -> Result {
        let ((base, count, dtype), (src, len, _)) = (into.raw(), from.raw());
        if self.planning() {
            return noted((self.services.unpack)(self.comm, dtype, count, base, first, src, len));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: both are vouched for; the rest is the caller's promise.
            unsafe { oxmpi_datatype::unpack(dtype, count, base, first, src, len) };
        }
        Ok(())
    }

    /// Copies elements of one type; nothing if source and target are the same.
    ///
    /// # Safety
    /// Both hold as many elements, of the same type, and do not overlap unless they are the same.
    pub unsafe fn duplicate(&self, from: Source<'_>, into: Place<'_>) -> Result {
        if from.is(into) {
            return Ok(());
        }
        let ((src, count, dtype), (dst, ..)) = (from.raw(), into.raw());
        if self.planning() {
            return noted((self.services.copy)(self.comm, dtype, count, src, dst));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: both are vouched for; the rest is the caller's promise.
            unsafe { oxmpi_datatype::copy(dtype, count, src, dst) };
        }
        Ok(())
    }

    /// `right[i] = left[i] op right[i]`; `op` is the call's.
    ///
    /// # Safety
    /// Both hold as many elements, of the same type, and do not overlap.
    #[inline]
    pub unsafe fn reduce(&self, op: &OpDesc, left: Source<'_>, right: Place<'_>) -> Result {
        let ((left, ..), (right, count, dtype)) = (left.raw(), right.raw());
        if self.planning() {
            return noted((self.services.reduce)(self.comm, dtype, count, left, right));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: both are vouched for; the rest is the caller's promise.
            let status = unsafe { kernel::reduce(op, left, right, count, dtype) };
            if status.is_err() {
                self.failure.note(status, true);
            }
        }
        Ok(())
    }

    /// A message to oneself: elements of one type into those of another with the same signature.
    ///
    /// # Safety
    /// The two do not overlap.
    pub unsafe fn transfer(&self, from: Source<'_>, into: Place<'_>) -> Result {
        let total = from.bytes()?;
        if total > into.bytes()? {
            return Err(Status::TRUNCATED);
        }
        // SAFETY: the caller's promise, and both have `total` bytes of data; contiguous data is packed data.
        unsafe {
            if from.is_contiguous() {
                self.unpack(into, 0, from.contiguous()?)
            } else if into.is_contiguous() {
                self.pack(from, 0, into.contiguous()?.part(0, total))
            } else if from.is_like(into) {
                self.duplicate(from, into.part(0, from.count()))
            } else if self.planning() {
                let between = self.memory(total)?.bytes(0, total);
                self.pack(from, 0, between)?;
                self.unpack(into, 0, between.source())
            } else if self.failure.has_spoiled() {
                Ok(())
            } else {
                in_pieces(total, from, into);
                Ok(())
            }
        }
    }
}

/// Moves `total` bytes of data by way of a buffer.
///
/// # Safety
/// Both have so many, and do not overlap.
unsafe fn in_pieces(total: u64, from: Source<'_>, into: Place<'_>) {
    let ((src, from, from_type), (dst, to, to_type)) = (from.raw(), into.raw());
    let mut piece = [0u8; 8192];
    let mut done = 0;
    while done < total {
        // SAFETY: both are vouched for; the piece holds what is packed into it.
        unsafe {
            let n = oxmpi_datatype::pack(from_type, from, src, done, piece.as_mut_ptr(), piece.len() as u64);
            oxmpi_datatype::unpack(to_type, to, dst, done, piece.as_ptr(), n);
            done += n;
        }
    }
}
