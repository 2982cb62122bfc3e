//! Operations: a trait for each, the functions that the host calls, and the table of what a component has.

use crate::safe::arguments::{Broadcast, Gathered, Given, Scattered};
use crate::safe::buffers::{Place, Result, Source};
use crate::safe::call::{ByteType, Call, Op};
use crate::table::{CollArgs, CollComm, CollTable, TABLE_VERSION, which};
use core::ffi::c_void;
use core::marker::PhantomData;
use oxmpi_mca::Status;

/// MPI_Barrier (MPI 5.0 §6.3).
pub trait Barrier: Send + Sync + 'static {
    /// Returns when all ranks have called it.
    fn barrier(&self, call: &Call<'_>) -> Result;
}

/// MPI_Bcast (MPI 5.0 §6.4).
pub trait Bcast: Send + Sync + 'static {
    /// Brings the root's data to all ranks: `data` is that to send in the root, and the place for it elsewhere. `root` is below the number of ranks.
    fn bcast(&self, call: &Call<'_>, data: Broadcast<'_>, root: u32) -> Result;
}

/// MPI_Gather (MPI 5.0 §6.5): the result has a block for each rank.
pub trait Gather: Send + Sync + 'static {
    /// Brings the blocks of all ranks to the root, in the order of the ranks. `root` is below the number of ranks.
    fn gather(&self, call: &Call<'_>, data: Gathered<'_>, root: u32) -> Result;
}

/// MPI_Scatter (MPI 5.0 §6.6).
pub trait Scatter: Send + Sync + 'static {
    /// Brings to each rank its block of the root's, which are in the order of the ranks. `root` is below the number of ranks.
    fn scatter(&self, call: &Call<'_>, data: Scattered<'_>, root: u32) -> Result;
}

/// MPI_Allgather (MPI 5.0 §6.7): the result has a block for each rank. `own` is none where it is in place, in this rank's block.
pub trait Allgather: Send + Sync + 'static {
    /// Brings the blocks of all ranks to all, in the order of the ranks.
    fn allgather(&self, call: &Call<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result;
}

/// MPI_Alltoall (MPI 5.0 §6.8): both have a block for each rank. `own` is none where it is in place: each block is to be replaced by the one that
/// comes from its rank.
pub trait Alltoall: Send + Sync + 'static {
    /// Brings block r of each rank's own to rank r, which has the blocks in the order of the ranks they come from.
    fn alltoall(&self, call: &Call<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result;
}

/// MPI_Reduce (MPI 5.0 §6.9.1).
pub trait Reduce: Send + Sync + 'static {
    /// Combines the operands of all ranks, element by element and in the order of the ranks unless `op` commutes; the root has the result. `root` is
    /// below the number of ranks.
    fn reduce(&self, call: &Call<'_>, op: Op<'_>, data: Gathered<'_>, root: u32) -> Result;
}

/// MPI_Allreduce (MPI 5.0 §6.9.6). `own` is none where the operand is in the result's buffer.
pub trait Allreduce: Send + Sync + 'static {
    /// Combines the operands of all ranks as [`Reduce::reduce`] does; all have the result.
    fn allreduce(&self, call: &Call<'_>, op: Op<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result;
}

/// MPI_Reduce_scatter_block (MPI 5.0 §6.10.1): the operand has a block for each rank. `own` is none where it is in the result's buffer,
/// which has as many blocks then; the result is the first of them.
pub trait ReduceScatterBlock: Send + Sync + 'static {
    /// Combines the operands of all ranks as [`Reduce::reduce`] does; rank r has block r of the result.
    fn reduce_scatter_block(
        &self,
        call: &Call<'_>,
        op: Op<'_>,
        own: Option<Source<'_>>,
        result: Place<'_>,
    ) -> Result;
}

/// MPI_Scan (MPI 5.0 §6.11.1). `own` is none where the operand is in the result's buffer.
pub trait Scan: Send + Sync + 'static {
    /// Combines the operands of the ranks up to this one, which has the result.
    fn scan(&self, call: &Call<'_>, op: Op<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result;
}

/// MPI_Exscan (MPI 5.0 §6.11.2): all ranks but rank 0 have a result.
pub trait Exscan: Send + Sync + 'static {
    /// Combines the operands of the ranks before this one, which has the result; rank 0 has none.
    fn exscan(&self, call: &Call<'_>, op: Op<'_>, data: Gathered<'_>) -> Result;
}

/// The operations that a module has: `const TABLE: CollTable = Offer::<Mine>::new().barrier().bcast().table()`, and `PLANS` the same.
pub struct Offer<M> {
    table: CollTable,
    module: PhantomData<fn(M)>,
}

const NO_OPERATION: CollTable = CollTable {
    size: size_of::<CollTable>() as u32,
    version: TABLE_VERSION,
    barrier: None,
    bcast: None,
    reduce: None,
    allreduce: None,
    allgather: None,
    gather: None,
    scatter: None,
    alltoall: None,
    gatherv: None,
    scatterv: None,
    allgatherv: None,
    alltoallv: None,
    alltoallw: None,
    scan: None,
    exscan: None,
    reduce_scatter: None,
    reduce_scatter_block: None,
    neighbor_allgather: None,
    neighbor_allgatherv: None,
    neighbor_alltoall: None,
    neighbor_alltoallv: None,
    neighbor_alltoallw: None,
};

impl<M> Offer<M> {
    /// Nothing yet. `M` is the type of `Coll::Module`.
    pub const fn new() -> Offer<M> {
        Offer { table: NO_OPERATION, module: PhantomData }
    }

    /// The table of all that was added.
    pub const fn table(self) -> CollTable {
        self.table
    }
}

impl<M> Default for Offer<M> {
    fn default() -> Offer<M> {
        Offer::new()
    }
}

/// Calls an operation of a module with its arguments, and answers as the contract wants it.
///
/// # Safety
/// `module` must be an `M`; communicator and arguments must be those of the collective with the number `which`, valid during the call.
unsafe fn called<M>(
    module: *mut c_void,
    comm: *const CollComm,
    args: *const CollArgs,
    which: u32,
    work: impl FnOnce(&M, &Call<'_>, &Given<'_>) -> Result,
) -> Status {
    // SAFETY: the caller's promise.
    let (module, comm, args) = unsafe { (&*module.cast::<M>(), &*comm, &*args) };
    if comm.num_remote != 0 {
        // Arguments have another meaning between two groups.
        return Status::NOT_SUPPORTED;
    }
    let byte = ByteType::new();
    // SAFETY: the services live as long as the communicator.
    let call = unsafe { Call::new(comm, &byte, crate::table::FIRST_TAG - which as i32) };
    match call {
        Ok(call) => {
            // SAFETY: the caller's promise, and what the contract says of arguments; each operation asks for its own.
            let given = unsafe { Given::new(comm, args) };
            call.outcome(work(module, &call, &given))
        }
        Err(status) => status,
    }
}

/// For each operation the function that the host calls, and the one that adds it to an offer.
macro_rules! operations {
    ($($operation:ident: $of:ident, $which:ident, |$module:ident, $call:ident, $given:ident| $work:expr;)*) => {
        impl<M> Offer<M> {
            $(
                #[doc = concat!("Adds the operation of the trait [`", stringify!($of), "`].")]
                pub const fn $operation(mut self) -> Offer<M>
                where
                    M: $of,
                {
                    extern "C" fn entry<M: $of>(
                        module: *mut c_void,
                        comm: *const CollComm,
                        args: *const CollArgs,
                    ) -> Status {
                        let work = |$module: &M, $call: &Call<'_>, $given: &Given<'_>| $work;
                        // SAFETY: the host calls what it finds in a module's table with that module, which is an `M` by `Coll::Module`, and
                        // with a communicator and arguments of this operation.
                        unsafe { called::<M>(module, comm, args, which::$which, work) }
                    }
                    self.table.$operation = Some(entry::<M>);
                    self
                }
            )*
        }
    };
}

operations! {
    barrier: Barrier, BARRIER, |module, call, _given| module.barrier(call);
    bcast: Bcast, BCAST, |module, call, given| module.bcast(call, given.broadcast()?, given.root()?);
    gather: Gather, GATHER, |module, call, given| module.gather(call, given.gathered()?, given.root()?);
    scatter: Scatter, SCATTER, |module, call, given| module.scatter(call, given.scattered()?, given.root()?);
    allgather: Allgather, ALLGATHER, |module, call, given| {
        module.allgather(call, given.own(1)?, given.recv(given.all())?)
    };
    alltoall: Alltoall, ALLTOALL, |module, call, given| {
        module.alltoall(call, given.own(given.all())?, given.recv(given.all())?)
    };
    reduce: Reduce, REDUCE, |module, call, given| {
        module.reduce(call, given.op()?, given.reduced(given.is_root()?)?, given.root()?)
    };
    allreduce: Allreduce, ALLREDUCE, |module, call, given| {
        module.allreduce(call, given.op()?, given.operand(1)?, given.recv(1)?)
    };
    reduce_scatter_block: ReduceScatterBlock, REDUCE_SCATTER_BLOCK, |module, call, given| {
        let (own, result) = (given.operand(given.all())?, given.scattered_result()?);
        module.reduce_scatter_block(call, given.op()?, own, result)
    };
    scan: Scan, SCAN, |module, call, given| {
        module.scan(call, given.op()?, given.operand(1)?, given.recv(1)?)
    };
    exscan: Exscan, EXSCAN, |module, call, given| {
        module.exscan(call, given.op()?, given.reduced(call.rank() != 0)?)
    };
}
