//! An operation on the elements of one call.

use crate::exchange::{Call, Result};
use oxmpi_coll::IN_PLACE;
use oxmpi_coll_support::Local;
use oxmpi_coll_support::layout::bytes;
use oxmpi_coll_support::{Place, Source, Span};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{OpDesc, defined, op};
use oxmpi_mca::Status;

#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    op: &'a OpDesc,
    local: Local<'a>,
    dtype: &'a TypeDesc,
    pub count: u64,
    /// This rank's operand; the receive buffer where it is given in place.
    pub input: Source<'a>,
}

impl<'a> Reduction<'a> {
    /// Meaning of the arguments. Refuses what is not defined before anything is sent.
    pub fn of(call: &Call<'a>) -> Result<Reduction<'a>> {
        let (op, dtype, count) = (call.op(), call.recvtype(), call.args.recvcount);
        let usable = match op.code {
            op::USER => op.user.is_some(),
            // These belong to one-sided communication (MPI 5.0 §12.3.4).
            op::REPLACE | op::NO_OP => false,
            code => defined(code, dtype.base),
        };
        if !usable {
            return Err(Status::BAD_PARAM);
        }
        bytes(dtype, count)?;
        let input = match call.args.sendbuf == IN_PLACE {
            true => call.receives(count).source(),
            false => call.operand(),
        };
        Ok(Reduction { op, local: call.local(), dtype, count, input })
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
    pub fn span(&self, count: u64) -> Result<Span<'a>> {
        Span::of(self.dtype, count)
    }

    /// `right[i] = left[i] op right[i]`.
    ///
    /// # Safety
    /// Both hold as many elements, of this operation's type, and do not overlap.
    pub unsafe fn apply(&self, left: Source<'_>, right: Place<'_>) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.local.reduce(self.op, left, right) }
    }

    /// Copies all elements, unless source and target are the same.
    ///
    /// # Safety
    /// Both hold as many elements, of one type, and do not overlap unless they are the same.
    pub unsafe fn copy(&self, from: Source<'_>, to: Place<'_>) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.local.duplicate(from, to) }
    }
}
