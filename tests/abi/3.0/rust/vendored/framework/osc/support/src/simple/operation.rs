//! Arguments of an operation are values: its kind, the data that it brings, the layout of the data at its target.

use crate::elements::{Destination, Elements, Source};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc::Rma;

/// Kinds of operations (MPI 5.0 §12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// MPI_Put: data replaces the target's.
    Put,
    /// MPI_Get: the target's data is the result.
    Get,
    /// MPI_Accumulate: data is combined with the target's.
    Accumulate,
    /// MPI_Get_accumulate and MPI_Fetch_and_op: the result is the target's data before.
    Fetch,
    /// MPI_Compare_and_swap: one element replaces the target's where that equals another; the result is the target's before.
    Swap,
}

/// An operation that is to be started. Its data can be read during the call.
pub struct Operation<'a> {
    /// It is one of these.
    pub kind: Kind,
    /// The rank whose memory it is about; the window may have no such rank.
    pub target: u32,
    /// Displacement in the target's units; in a dynamic window an address.
    pub disp: i64,
    /// So many elements lie there.
    pub count: u64,
    /// They are of this type.
    pub dtype: &'a TypeDesc,
    /// Number of the predefined operation (`oxmpi_datatype::kernel::op`) that combines data with the target's; REPLACE for kinds without.
    pub code: u32,
    /// The data that it brings; `None` for a get, and for a fetch that changes nothing (MPI_NO_OP).
    pub gives: Option<Source<'a>>,
    /// The element that a swap compares with.
    pub compare: Option<Source<'a>>,
    takes: Option<Elements<'a>>,
}

impl<'a> Operation<'a> {
    /// Reads the arguments of an operation on any number of elements: every kind but a swap.
    pub(super) fn of(kind: Kind, args: Rma<'a>) -> Result<Operation<'a>, Status> {
        let code = code(kind, args)?;
        // SAFETY: it is called with fields that the kind uses; their types are vouched for as long as the arguments are there.
        let part = |at, count, dtype| unsafe { Elements::new(at, count, dtype) }.ok_or(Status::BAD_PARAM);
        let origin = || part(args.origin, args.origin_count, args.origin_type);
        let there = part(core::ptr::null_mut(), args.target_count, args.target_type)?;
        let (gives, takes) = match kind {
            Kind::Get => (None, Some(origin()?)),
            Kind::Put | Kind::Accumulate => (Some(origin()?), None),
            Kind::Fetch | Kind::Swap => {
                let result = part(args.result, args.result_count, args.result_type)?;
                (if code == op::NO_OP { None } else { Some(origin()?) }, Some(result))
            }
        };
        Ok(Operation::new(kind, code, args, there, Parts { gives, compare: None, takes }))
    }

    /// Reads the arguments of an operation on one element, which is of the origin's type everywhere: a fetch or a swap.
    pub(super) fn of_one(kind: Kind, args: Rma<'a>) -> Result<Operation<'a>, Status> {
        let code = code(kind, args)?;
        // SAFETY: operations on one element use the origin's type, which is vouched for as long as the arguments are there.
        let one = |at| unsafe { Elements::new(at, 1, args.origin_type) }.ok_or(Status::BAD_PARAM);
        let compare = if kind == Kind::Swap { Some(one(args.compare.cast_mut())?) } else { None };
        let gives = if code == op::NO_OP { None } else { Some(one(args.origin)?) };
        let parts = Parts { gives, compare, takes: Some(one(args.result)?) };
        Ok(Operation::new(kind, code, args, one(core::ptr::null_mut())?, parts))
    }

    fn new(kind: Kind, code: u32, args: Rma<'a>, there: Elements<'a>, parts: Parts<'a>) -> Operation<'a> {
        // SAFETY: the caller has described what the operation reads, which the arguments vouch for until the operation is complete.
        let source = |part: Elements<'a>| unsafe { part.source() };
        Operation {
            kind,
            target: args.target,
            disp: args.disp,
            count: there.count,
            dtype: there.dtype,
            code,
            gives: parts.gives.map(source),
            compare: parts.compare.map(source),
            takes: parts.takes,
        }
    }

    /// Counts the packed bytes of data at the target that it is about.
    pub fn bytes(&self) -> u64 {
        let there = self.count.saturating_mul(self.dtype.packed);
        self.gives.map_or(there, |gives| gives.bytes().min(there))
    }

    /// Tells whether it has a result, for which its target's data is sent back.
    pub fn has_result(&self) -> bool {
        self.takes.is_some()
    }

    /// Keeps where its result goes.
    pub(super) fn destination(&self) -> Option<Destination> {
        self.takes.as_ref().map(Destination::of)
    }
}

/// Elements in memory of the origin.
struct Parts<'a> {
    gives: Option<Elements<'a>>,
    compare: Option<Elements<'a>>,
    takes: Option<Elements<'a>>,
}

/// The predefined operation of the arguments.
fn code(kind: Kind, args: Rma<'_>) -> Result<u32, Status> {
    match kind {
        // SAFETY: kinds that combine use the operation, which is vouched for.
        Kind::Accumulate | Kind::Fetch => Ok(unsafe { args.op.as_ref() }.ok_or(Status::BAD_PARAM)?.code),
        Kind::Put | Kind::Get | Kind::Swap => Ok(op::REPLACE),
    }
}
