//! A collective's work on data in this process: at once or, in a plan, later.

use crate::failure::Failure;
use crate::layout::{Result, bytes};
use core::ptr::null_mut;
use oxmpi_coll::{CollComm, CollServices};
use oxmpi_datatype::TypeDesc;
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
    pub fn new(comm: &'a CollComm, services: &'a CollServices, failure: &'a Failure) -> Local<'a> {
        Local { comm, services, failure }
    }

    #[inline(always)]
    pub fn planning(&self) -> bool {
        self.comm.planning != 0
    }

    /// Memory that lives as long as the plan.
    pub fn memory(&self, len: u64) -> Result<*mut u8> {
        let mut start = null_mut();
        noted((self.services.memory)(self.comm, len, &mut start))?;
        Ok(start)
    }

    /// Packs `len` bytes from byte `from` of the data on.
    ///
    /// # Safety
    /// As [`oxmpi_datatype::pack`], when it is done.
    pub unsafe fn pack(
        &self,
        (base, count, dtype): (*const u8, u64, &TypeDesc),
        from: u64,
        dst: *mut u8,
        len: u64,
    ) -> Result {
        if self.planning() {
            return noted((self.services.pack)(self.comm, dtype, count, base, from, dst, len));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: the caller's promise.
            unsafe { oxmpi_datatype::pack(dtype, count, base, from, dst, len) };
        }
        Ok(())
    }

    /// The reverse.
    ///
    /// # Safety
    /// As [`oxmpi_datatype::unpack`], when it is done.
    pub unsafe fn unpack(
        &self,
        (base, count, dtype): (*mut u8, u64, &TypeDesc),
        from: u64,
        src: *const u8,
        len: u64,
    ) -> Result {
        if self.planning() {
            return noted((self.services.unpack)(self.comm, dtype, count, base, from, src, len));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: the caller's promise.
            unsafe { oxmpi_datatype::unpack(dtype, count, base, from, src, len) };
        }
        Ok(())
    }

    /// Copies elements of one type; nothing if source and target are the same.
    ///
    /// # Safety
    /// Both must hold `count` elements and not overlap unless they are the same.
    pub unsafe fn duplicate(&self, dtype: &TypeDesc, count: u64, src: *const u8, dst: *mut u8) -> Result {
        if src == dst {
            return Ok(());
        }
        if self.planning() {
            return noted((self.services.copy)(self.comm, dtype, count, src, dst));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: the caller's promise.
            unsafe { oxmpi_datatype::copy(dtype, count, src, dst) };
        }
        Ok(())
    }

    /// `right[i] = left[i] op right[i]`; `op` is the call's.
    ///
    /// # Safety
    /// Both must hold `count` elements and not overlap.
    #[inline]
    pub unsafe fn reduce(
        &self,
        op: &OpDesc,
        dtype: &TypeDesc,
        count: u64,
        left: *const u8,
        right: *mut u8,
    ) -> Result {
        if self.planning() {
            return noted((self.services.reduce)(self.comm, dtype, count, left, right));
        }
        if !self.failure.has_spoiled() {
            // SAFETY: the caller's promise.
            let status = unsafe { kernel::reduce(op, left, right, count, dtype) };
            if status.is_err() {
                self.failure.note(status, true);
            }
        }
        Ok(())
    }

    /// A message to oneself: `from` elements of one type into `to` of another with the same signature.
    ///
    /// # Safety
    /// The buffers must hold what their counts and types say and not overlap.
    pub unsafe fn transfer(
        &self,
        (src, from, from_type): (*const u8, u64, &TypeDesc),
        (dst, to, to_type): (*mut u8, u64, &TypeDesc),
    ) -> Result {
        let total = bytes(from_type, from)?;
        if total > bytes(to_type, to)? {
            return Err(Status::TRUNCATED);
        }
        // SAFETY: the caller's promise; contiguous data is packed data.
        unsafe {
            if from_type.is_contiguous() {
                self.unpack((dst, to, to_type), 0, src, total)
            } else if to_type.is_contiguous() {
                self.pack((src, from, from_type), 0, dst, total)
            } else if core::ptr::eq(from_type, to_type) {
                self.duplicate(from_type, from, src, dst)
            } else if self.planning() {
                let between = self.memory(total)?;
                self.pack((src, from, from_type), 0, between, total)?;
                self.unpack((dst, to, to_type), 0, between, total)
            } else if self.failure.has_spoiled() {
                Ok(())
            } else {
                in_pieces(total, (src, from, from_type), (dst, to, to_type));
                Ok(())
            }
        }
    }
}

/// # Safety
/// As [`Local::transfer`].
unsafe fn in_pieces(
    total: u64,
    (src, from, from_type): (*const u8, u64, &TypeDesc),
    (dst, to, to_type): (*mut u8, u64, &TypeDesc),
) {
    let mut piece = [0u8; 8192];
    let mut done = 0;
    while done < total {
        // SAFETY: the caller's promise.
        unsafe {
            let n = oxmpi_datatype::pack(from_type, from, src, done, piece.as_mut_ptr(), piece.len() as u64);
            oxmpi_datatype::unpack(to_type, to, dst, done, piece.as_ptr(), n);
            done += n;
        }
    }
}
