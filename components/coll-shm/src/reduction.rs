//! An operation on operands whose elements lie side by side, so that they are their packed bytes.
//!
//! Elements are combined in the order of the ranks: `right = left op right`, from the last rank to the first. So all ranks that combine the same
//! operands have the same bits.

use crate::call::Call;
use crate::data::{Place, Room, Source};
use crate::protocol::Result;
use oxmpi_coll::IN_PLACE;
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{OpDesc, defined, op, reduce};
use oxmpi_mca::Status;

#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    op: &'a OpDesc,
    dtype: &'a TypeDesc,
}

impl<'a> Reduction<'a> {
    /// The operation and the type of a call. BAD_PARAM: it is not defined.
    ///
    /// # Safety
    /// The call is one of a reduction.
    pub unsafe fn of(call: &Call<'a>) -> Result<Reduction<'a>> {
        // SAFETY: the caller's promise.
        let (op, dtype) = unsafe { (&*call.args.op, &*call.args.recvtype) };
        let is_defined = match op.code {
            op::USER => op.user.is_some(),
            // These belong to one-sided communication (MPI 5.0 §12.3.4).
            op::REPLACE | op::NO_OP => false,
            code => defined(code, dtype.base),
        };
        if is_defined { Ok(Reduction { op, dtype }) } else { Err(Status::BAD_PARAM) }
    }

    /// Whether elements lie side by side.
    pub fn is_contiguous(&self) -> bool {
        self.dtype.is_contiguous()
    }

    /// Bytes of an element.
    pub fn size(&self) -> u64 {
        self.dtype.packed
    }

    /// This rank's operand, of `count` elements.
    ///
    /// # Safety
    /// The call's arguments have one, in the receive buffer where it is in place.
    pub unsafe fn operand(&self, call: &Call<'a>, count: u64) -> Source<'a> {
        let is_in_place = call.args.sendbuf == IN_PLACE;
        let at = if is_in_place { call.args.recvbuf.cast_const() } else { call.args.sendbuf };
        // SAFETY: the caller's promise.
        unsafe { Source::new(at, count, self.dtype) }
    }

    /// The place for `count` elements of the result.
    ///
    /// # Safety
    /// The call's receive buffer has so many.
    pub unsafe fn result(&self, call: &Call<'a>, count: u64) -> Place<'a> {
        // SAFETY: the caller's promise.
        unsafe { Place::new(call.args.recvbuf, count, self.dtype) }
    }

    /// The elements that a room's bytes are.
    pub fn elements<'r>(&self, room: Room<'r>) -> Source<'r>
    where
        'a: 'r,
    {
        // SAFETY: so many elements, side by side, are there as long as the room.
        unsafe { Source::new(room.start(), room.len() / self.size().max(1), self.dtype) }
    }

    /// `right[i] = left[i] op right[i]` for all elements of two rooms of one length.
    pub fn combine(&self, left: Room<'_>, right: Room<'_>) -> Result {
        assert!(left.len() == right.len() && self.is_contiguous(), "operands of one length, side by side");
        if right.len() == 0 {
            return Ok(());
        }
        let count = right.len() / self.size();
        // SAFETY: both hold so many elements, which are their bytes; rooms of different ranks do not overlap.
        match unsafe { reduce(self.op, left.start(), right.start(), count, self.dtype) } {
            Status::OK => Ok(()),
            why => Err(why),
        }
    }
}
