//! Arguments of a call, from [`CollArgs`]: buffers that the host vouches for, and in which ranks they are.

use crate::safe::buffers::{Place, Result, Source};
use crate::safe::call::Op;
use crate::table::{CollArgs, CollComm, IN_PLACE};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{defined, op};
use oxmpi_mca::Status;

/// The buffer of a broadcast.
pub enum Broadcast<'a> {
    /// In the root: the data.
    Root(Source<'a>),
    /// In the other ranks.
    Other(Place<'a>),
}

/// The buffers of a collective whose result not every rank has.
pub enum Gathered<'a> {
    /// In a rank that has the result.
    Here {
        /// This rank's part. None where it is in place: in the result's buffer, in which a gather has it in this rank's block.
        own: Option<Source<'a>>,
        /// The place for the result.
        result: Place<'a>,
    },
    /// In the other ranks.
    Elsewhere {
        /// This rank's part.
        own: Source<'a>,
    },
}

impl Gathered<'_> {
    /// This rank's operand of a reduction, wherever it is.
    pub fn operand(&self) -> Source<'_> {
        match self {
            Gathered::Here { own: Some(own), .. } | Gathered::Elsewhere { own } => *own,
            Gathered::Here { own: None, result } => result.source(),
        }
    }
}

/// The buffers of a scatter.
pub enum Scattered<'a> {
    /// In the root.
    Root {
        /// A block for each rank, in the order of the ranks.
        blocks: Source<'a>,
        /// The place for this rank's block. None where that stays in its place.
        own: Option<Place<'a>>,
    },
    /// In the other ranks.
    Other {
        /// The place for this rank's block.
        own: Place<'a>,
    },
}

/// The arguments of a call.
pub(super) struct Given<'a> {
    comm: &'a CollComm,
    args: &'a CollArgs,
}

/// Methods read those fields that the collective is called with.
impl<'a> Given<'a> {
    /// # Safety
    /// For `'a` the arguments must be those of a collective on one group, as the contract has them: buffers hold what the counts and types
    /// beside them say, for each of the ranks where counts are per rank; those that are received into are the call's alone, and nobody
    /// writes the others. Memory of a program in another language counts as initialised. Methods may only be asked for fields that the
    /// collective looks at in this rank, and once for each buffer.
    pub(super) unsafe fn new(comm: &'a CollComm, args: &'a CollArgs) -> Given<'a> {
        Given { comm, args }
    }

    /// The number of ranks.
    pub(super) fn all(&self) -> u64 {
        self.comm.num_ranks.into()
    }

    fn elements(count: u64, blocks: u64) -> Result<u64> {
        count.checked_mul(blocks).ok_or(Status::BAD_PARAM)
    }

    /// The root. BAD_PARAM: there is no such rank.
    pub(super) fn root(&self) -> Result<u32> {
        let root = u32::try_from(self.args.root).ok();
        root.filter(|root| *root < self.comm.num_ranks).ok_or(Status::BAD_PARAM)
    }

    pub(super) fn is_root(&self) -> Result<bool> {
        Ok(self.root()? == self.comm.rank)
    }

    /// The send buffer.
    pub(super) fn send(&self, blocks: u64) -> Result<Source<'a>> {
        // SAFETY: the promise of `new`.
        unsafe {
            Source::new(self.args.sendbuf, Self::elements(self.args.sendcount, blocks)?, &*self.args.sendtype)
        }
    }

    /// The send buffer, unless the data is in place.
    pub(super) fn own(&self, blocks: u64) -> Result<Option<Source<'a>>> {
        if self.args.sendbuf == IN_PLACE { Ok(None) } else { self.send(blocks).map(Some) }
    }

    /// The receive buffer.
    pub(super) fn recv(&self, blocks: u64) -> Result<Place<'a>> {
        let count = Self::elements(self.args.recvcount, blocks)?;
        // SAFETY: the promise of `new`.
        unsafe { Place::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// The receive buffer, unless the data stays in its place.
    pub(super) fn recv_own(&self, blocks: u64) -> Result<Option<Place<'a>>> {
        if self.args.recvbuf.cast_const() == IN_PLACE { Ok(None) } else { self.recv(blocks).map(Some) }
    }

    /// The receive buffer where it has the data to be sent: in the root of a broadcast, and of a rank whose operand is in place.
    pub(super) fn recv_source(&self, blocks: u64) -> Result<Source<'a>> {
        let count = Self::elements(self.args.recvcount, blocks)?;
        // SAFETY: the promise of `new`.
        unsafe { Source::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// The operand, unless it is in place.
    pub(super) fn operand(&self, blocks: u64) -> Result<Option<Source<'a>>> {
        if self.args.sendbuf == IN_PLACE {
            return Ok(None);
        }
        let count = Self::elements(self.args.recvcount, blocks)?;
        // SAFETY: the promise of `new`.
        unsafe { Source::new(self.args.sendbuf, count, self.recvtype()).map(Some) }
    }

    /// The operation. BAD_PARAM: it is not defined on the type.
    pub(super) fn op(&self) -> Result<Op<'a>> {
        // SAFETY: the promise of `new`.
        let operation = unsafe { &*self.args.op };
        let dtype = self.recvtype();
        let is_usable = match operation.code {
            op::USER => operation.user.is_some(),
            // These belong to one-sided communication (MPI 5.0 §12.3.4).
            op::REPLACE | op::NO_OP => false,
            code => defined(code, dtype.base),
        };
        if is_usable { Ok(Op::new(operation, dtype)) } else { Err(Status::BAD_PARAM) }
    }

    fn recvtype(&self) -> &'a TypeDesc {
        // SAFETY: the promise of `new`.
        unsafe { &*self.args.recvtype }
    }

    /// Of a gather: a block from each rank.
    pub(super) fn gathered(&self) -> Result<Gathered<'a>> {
        if self.is_root()? {
            Ok(Gathered::Here { own: self.own(1)?, result: self.recv(self.all())? })
        } else {
            Ok(Gathered::Elsewhere { own: self.send(1)? })
        }
    }

    pub(super) fn scattered(&self) -> Result<Scattered<'a>> {
        if self.is_root()? {
            Ok(Scattered::Root { blocks: self.send(self.all())?, own: self.recv_own(1)? })
        } else {
            Ok(Scattered::Other { own: self.recv(1)? })
        }
    }

    /// Of a reduction whose result a rank has, or has not.
    pub(super) fn reduced(&self, has_result: bool) -> Result<Gathered<'a>> {
        let own = self.operand(1)?;
        if has_result {
            return Ok(Gathered::Here { own, result: self.recv(1)? });
        }
        Ok(Gathered::Elsewhere { own: own.map_or_else(|| self.recv_source(1), Ok)? })
    }

    pub(super) fn broadcast(&self) -> Result<Broadcast<'a>> {
        if self.is_root()? {
            Ok(Broadcast::Root(self.recv_source(1)?))
        } else {
            Ok(Broadcast::Other(self.recv(1)?))
        }
    }

    /// The result of a reduce_scatter_block, behind which the other blocks are where the operand is in place.
    pub(super) fn scattered_result(&self) -> Result<Place<'a>> {
        self.recv(if self.args.sendbuf == IN_PLACE { self.all() } else { 1 })
    }
}
