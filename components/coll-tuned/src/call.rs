//! One call of a collective: its communicator and its arguments, which the host vouches for.

use crate::choice::Choice;
use crate::decision::{Facts, decide};
use crate::module::TunedModule;
use crate::op::Op;
use crate::script::Me;
use oxmpi_coll::{CollArgs, CollComm, CollServices, FIRST_TAG, IN_PLACE};
use oxmpi_coll_support::layout::{Result, bytes, distance};
use oxmpi_coll_support::{Failure, Lease, Local, Place, Source};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{OpDesc, defined, op};
use oxmpi_mca::Status;

/// See the file's head.
pub struct Call<'a> {
    module: &'a TunedModule,
    pub comm: &'a CollComm,
    pub services: &'a CollServices,
    pub args: &'a CollArgs,
    pub failure: &'a Failure,
    pub tag: i32,
    which: Op,
}

impl<'a> Call<'a> {
    /// A call of the host's.
    ///
    /// # Safety
    /// All three pointers are valid for `'a`. The arguments are those of the collective `which` on one group, as the contract has them
    /// ([`CollArgs`]): what it asks for is there, and its buffers are the call's, and the plan's that it makes.
    pub unsafe fn new(
        module: *const TunedModule,
        comm: *const CollComm,
        args: *const CollArgs,
        failure: &'a Failure,
        which: Op,
    ) -> Call<'a> {
        // SAFETY: the caller's promise; the services live as long as the communicator.
        let (module, comm, services, args) = unsafe { (&*module, &*comm, &*(*comm).services, &*args) };
        Call { module, comm, services, args, failure, tag: FIRST_TAG - which as i32, which }
    }

    pub fn me(&self) -> Me {
        Me { rank: self.comm.rank, n: self.comm.num_ranks }
    }

    pub fn root(&self) -> u32 {
        self.args.root as u32
    }

    pub fn is_root(&self) -> bool {
        self.root() == self.comm.rank
    }

    pub fn is_planning(&self) -> bool {
        self.comm.planning != 0
    }

    /// Whether the data lies in the receive buffer; of scatter that in the send buffer.
    pub fn in_place(&self) -> bool {
        self.args.sendbuf == IN_PLACE || self.args.recvbuf.cast_const() == IN_PLACE
    }

    /// Work on data in this process.
    pub fn local(&self) -> Local<'a> {
        Local::new(self.comm, self.services, self.failure)
    }

    /// Temporary memory of a call that is no plan.
    pub fn scratch(&self, len: u64) -> Result<Lease<'a>> {
        let host = &self.module.host;
        let lease = match usize::try_from(len) {
            Ok(len) => self.module.scratch.lease(len, host),
            Err(_) => Err(Status::OUT_OF_MEMORY),
        };
        lease.inspect_err(|_| host.help("no-memory", &[&len.to_string()]))
    }

    /// The algorithm for so many bytes, as [`Facts`] counts them.
    pub fn choose(&self, bytes: u64, commutes: bool) -> Choice {
        let oversubscribed = self.comm.oversubscribed != 0;
        let facts = Facts { n: self.comm.num_ranks, bytes, commutes, oversubscribed };
        let settings = &self.module.settings;
        let choice = decide(self.which, settings.set(self.which), &settings.rules, &facts);
        self.services.tell_algorithm(self.comm, "tuned", self.which.counter(choice.algorithm));
        choice
    }

    /// The type of `recvbuf`.
    pub fn recvtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.recvtype }
    }

    /// The type of `sendbuf`.
    pub fn sendtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.sendtype }
    }

    /// The operation of a reduction.
    pub fn op(&self) -> &'a OpDesc {
        // SAFETY: a reduction's function asks for it, so it is there (`new`).
        unsafe { &*self.args.op }
    }

    /// Refuses an operation that is not defined on the type. Answers the bytes of `count` elements, and whether the operation commutes.
    pub fn reduction(&self, count: u64) -> Result<(u64, bool)> {
        let (op, dtype) = (self.op(), self.recvtype());
        let is_usable = match op.code {
            op::USER => op.user.is_some(),
            // These belong to one-sided communication (MPI 5.0 §12.3.4).
            op::REPLACE | op::NO_OP => false,
            code => defined(code, dtype.base),
        };
        if !is_usable {
            return Err(Status::BAD_PARAM);
        }
        Ok((bytes(dtype, count)?, op.commutative != 0))
    }

    /// `count` elements of the receive buffer.
    pub fn gets(&self, count: u64) -> Place<'a> {
        // SAFETY: the collective's own function asks for as many as there are (`new`).
        unsafe { Place::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// `count` elements of the receive buffer where it has data to be read.
    pub fn has(&self, count: u64) -> Source<'a> {
        // SAFETY: the collective's own function asks for as many as there are (`new`).
        unsafe { Source::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// `count` elements of the send buffer.
    pub fn gives(&self, count: u64) -> Source<'a> {
        // SAFETY: the collective's own function asks for as many as there are (`new`).
        unsafe { Source::new(self.args.sendbuf, count, self.sendtype()) }
    }

    /// This rank's operand of a reduction: `count` elements of the receive buffer's type.
    pub fn operand(&self, count: u64) -> Source<'a> {
        if self.args.sendbuf == IN_PLACE {
            return self.has(count);
        }
        // SAFETY: a reduction's function asks for it (`new`).
        unsafe { Source::new(self.args.sendbuf, count, self.recvtype()) }
    }

    /// How many elements each rank gets.
    pub fn recvcounts(&self) -> &'a [u64] {
        // SAFETY: the collective's function asks for them, so there is one for each rank (`new`).
        unsafe { core::slice::from_raw_parts(self.args.recvcounts, self.comm.num_ranks as usize) }
    }

    /// The block that comes from each rank, where counts and displacements are given for each.
    pub fn in_blocks(&self) -> Vec<Place<'a>> {
        let dtype = self.recvtype();
        // SAFETY: as `recvcounts`.
        let displs = unsafe { core::slice::from_raw_parts(self.args.rdispls, self.comm.num_ranks as usize) };
        let block = |(count, displ): (&u64, &i64)| {
            let at = self.args.recvbuf.wrapping_offset(distance(dtype, *displ));
            // SAFETY: the block of a rank, which the arguments describe (`new`).
            unsafe { Place::new(at, *count, dtype) }
        };
        self.recvcounts().iter().zip(displs).map(block).collect()
    }

    /// The block that goes to each rank, where counts and displacements are given for each.
    pub fn out_blocks(&self) -> Vec<Source<'a>> {
        let (dtype, n) = (self.sendtype(), self.comm.num_ranks as usize);
        // SAFETY: the collective's function asks for them, so there is one for each rank (`new`).
        let (counts, displs) = unsafe {
            (
                core::slice::from_raw_parts(self.args.sendcounts, n),
                core::slice::from_raw_parts(self.args.sdispls, n),
            )
        };
        let block = |(count, displ): (&u64, &i64)| {
            let at = self.args.sendbuf.wrapping_offset(distance(dtype, *displ));
            // SAFETY: the block of a rank, which the arguments describe (`new`).
            unsafe { Source::new(at, *count, dtype) }
        };
        counts.iter().zip(displs).map(block).collect()
    }
}
