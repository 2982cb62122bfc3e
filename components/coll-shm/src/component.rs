//! Opening, and the table of what this component does.

use crate::call::Call;
use crate::module::ShmModule;
use crate::params::{Settings, tell};
use crate::{algorithms, area::Area, gather, one_to_all, ready, reduce, reduce_scatter, scan, table};
use core::ffi::c_void;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable, which};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status, StrRef};

pub struct ShmComponent;

impl Component for ShmComponent {
    type Module = CollModule;
    const NAME: &'static str = "shm";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        let module = match settings.all {
            true => oxmpi_coll::module(Shm::<true> { host, settings }),
            false => oxmpi_coll::module(Shm::<false> { host, settings }),
        };
        Ok((settings.priority, vec![module]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers);
        Ok(())
    }
}

/// A collective as the contract has it, from one as it is written here.
macro_rules! entry {
    ($which:ident, $function:path) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            // SAFETY: the host passes the module that `query` made for this communicator, and a communicator and arguments that are valid during the
            // call: those of the collective in whose place of the table this is.
            let (module, comm, args) = unsafe { (&*module.cast::<ShmModule>(), &*comm, &*args) };
            let ready = match module.ready() {
                Ok(ready) => ready,
                Err(why) => return why,
            };
            // SAFETY: as above.
            let call = unsafe { Call::of(module, ready, comm, args) };
            call.answer(which::$which, $function(&call))
        }
        Some(entry)
    }};
}

/// The component of one instance. `ALL`: it offers all operations there are.
pub struct Shm<const ALL: bool> {
    host: Host,
    settings: Settings,
}

impl<const ALL: bool> Coll for Shm<ALL> {
    type Module = ShmModule;

    /// By facts that are equal in all ranks: there are several, all on one node, and their memory may have the size that it needs.
    fn query(&self, comm: &CollComm) -> Option<(i32, ShmModule)> {
        let is_ours = comm.num_remote == 0
            && comm.num_ranks > 1
            && comm.num_nodes == 1
            && Area::cell_for(comm.num_ranks, self.settings.memory).is_some();
        is_ours.then(|| (self.settings.priority, ShmModule::new(self.host, self.settings)))
    }

    const NESTS: bool = true;
    const PREPARES: bool = true;
    const ALGORITHMS: &'static [StrRef] = algorithms::NAMES;

    fn prepare(&self, module: &ShmModule, comm: &CollComm) -> Result<(), Status> {
        ready::prepare(module, comm)
    }

    const TABLE: CollTable = if ALL { EVERYTHING } else { FASTER };
}

/// Everything there is.
const EVERYTHING: CollTable = CollTable {
    size: size_of::<CollTable>() as u32,
    version: oxmpi_coll::TABLE_VERSION,
    barrier: entry!(BARRIER, one_to_all::barrier),
    bcast: entry!(BCAST, one_to_all::bcast),
    reduce: entry!(REDUCE, reduce::reduce),
    allreduce: entry!(ALLREDUCE, reduce::allreduce),
    allgather: entry!(ALLGATHER, gather::allgather),
    gather: entry!(GATHER, gather::gather),
    scatter: entry!(SCATTER, one_to_all::scatter),
    alltoall: entry!(ALLTOALL, gather::alltoall),
    gatherv: entry!(GATHERV, gather::gatherv),
    scatterv: entry!(SCATTERV, table::scatterv),
    allgatherv: entry!(ALLGATHERV, gather::allgatherv),
    alltoallv: entry!(ALLTOALLV, table::alltoallv),
    alltoallw: entry!(ALLTOALLW, table::alltoallw),
    scan: entry!(SCAN, scan::scan),
    exscan: entry!(EXSCAN, scan::exscan),
    reduce_scatter: entry!(REDUCE_SCATTER, reduce_scatter::reduce_scatter),
    reduce_scatter_block: entry!(REDUCE_SCATTER_BLOCK, reduce_scatter::reduce_scatter_block),
    neighbor_allgather: None,
    neighbor_allgatherv: None,
    neighbor_alltoall: None,
    neighbor_alltoallv: None,
    neighbor_alltoallw: None,
};

/// Operations that are faster than messages, where they are short. Those in which a rank alone gets something from the others are not: the others
/// would wait until the word that they write is theirs, and messages are sent without that.
const FASTER: CollTable = CollTable {
    reduce: None,
    gather: None,
    gatherv: None,
    scatterv: None,
    alltoallv: None,
    alltoallw: None,
    ..EVERYTHING
};
