//! An operation on the elements of one call.

use crate::exchange::{Call, Result};
use crate::layout::{Span, bytes, element, element_mut};
use crate::local::Local;
use oxmpi_coll::IN_PLACE;
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{OpDesc, defined, op};
use oxmpi_mca::Status;

#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    op: &'a OpDesc,
    local: Local<'a>,
    pub dtype: &'a TypeDesc,
    pub count: u64,
    /// This rank's operand; the receive buffer where it is given in place.
    pub input: *const u8,
}

impl<'a> Reduction<'a> {
    /// Meaning of the arguments. Refuses what is not defined before anything is sent.
    pub fn of(call: &Call<'a>) -> Result<Reduction<'a>> {
        // SAFETY: valid during the call.
        let op = unsafe { &*call.args.op };
        let dtype = call.recvtype();
        let usable = match op.code {
            op::USER => op.user.is_some(),
            // These belong to one-sided communication (MPI 5.0 §12.3.4).
            op::REPLACE | op::NO_OP => false,
            code => defined(code, dtype.base),
        };
        if !usable {
            return Err(Status::BAD_PARAM);
        }
        let input = if call.args.sendbuf == IN_PLACE { call.args.recvbuf } else { call.args.sendbuf };
        bytes(dtype, call.args.recvcount)?;
        Ok(Reduction { op, local: call.local(), dtype, count: call.args.recvcount, input })
    }

    /// Nothing to combine and nothing to send.
    pub fn is_empty(&self) -> bool {
        self.count == 0 || self.dtype.packed == 0
    }

    pub fn commutes(&self) -> bool {
        self.op.commutative != 0
    }

    /// Bytes of one operand.
    pub fn bytes(&self) -> u64 {
        self.dtype.packed * self.count
    }

    /// Memory of `count` elements.
    pub fn span(&self, count: u64) -> Result<Span> {
        Span::of(self.dtype, count)
    }

    pub fn at(&self, buf: *const u8, index: u64) -> *const u8 {
        element(buf, self.dtype, index)
    }

    pub fn at_mut(&self, buf: *mut u8, index: u64) -> *mut u8 {
        element_mut(buf, self.dtype, index)
    }

    /// `right[i] = left[i] op right[i]`.
    ///
    /// # Safety
    /// Both must hold `count` elements and not overlap.
    pub unsafe fn apply(&self, left: *const u8, right: *mut u8, count: u64) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.local.reduce(self.op, self.dtype, count, left, right) }
    }

    /// Copies all elements, unless source and target are the same.
    ///
    /// # Safety
    /// Both must hold `count` elements and not overlap unless they are the same.
    pub unsafe fn duplicate(&self, src: *const u8, dst: *mut u8) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.copy(self.count, src, dst) }
    }

    /// Copies `count` elements, unless source and target are the same.
    ///
    /// # Safety
    /// As for [`Reduction::duplicate`], of `count` elements.
    pub unsafe fn copy(&self, count: u64, src: *const u8, dst: *mut u8) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.local.duplicate(self.dtype, count, src, dst) }
    }
}
