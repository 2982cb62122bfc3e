//! Opening, and the table of what this component does.

use crate::call::Call;
use crate::module::ShmModule;
use crate::params::Settings;
use crate::{area::Area, gather, one_to_all, ready, reduce, reduce_scatter, scan, table};
use core::ffi::c_void;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct ShmComponent;

impl Component for ShmComponent {
    type Module = CollModule;
    const NAME: &'static str = "shm";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_coll::module(Shm { host, settings })]))
    }
}

/// A collective as the contract has it, from one as it is written here.
macro_rules! entry {
    ($function:path) => {{
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
            call.answer($function(&call))
        }
        Some(entry)
    }};
}

/// The component of one instance.
pub struct Shm {
    host: Host,
    settings: Settings,
}

impl Coll for Shm {
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

    fn prepare(&self, module: &ShmModule, comm: &CollComm) -> Result<(), Status> {
        ready::prepare(module, comm)
    }

    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: oxmpi_coll::TABLE_VERSION,
        barrier: entry!(one_to_all::barrier),
        bcast: entry!(one_to_all::bcast),
        reduce: entry!(reduce::reduce),
        allreduce: entry!(reduce::allreduce),
        allgather: entry!(gather::allgather),
        gather: entry!(gather::gather),
        scatter: entry!(one_to_all::scatter),
        alltoall: entry!(gather::alltoall),
        gatherv: entry!(gather::gatherv),
        scatterv: entry!(table::scatterv),
        allgatherv: entry!(gather::allgatherv),
        alltoallv: entry!(table::alltoallv),
        alltoallw: entry!(table::alltoallw),
        scan: entry!(scan::scan),
        exscan: entry!(scan::exscan),
        reduce_scatter: entry!(reduce_scatter::reduce_scatter),
        reduce_scatter_block: entry!(reduce_scatter::reduce_scatter_block),
        neighbor_allgather: None,
        neighbor_allgatherv: None,
        neighbor_alltoall: None,
        neighbor_alltoallv: None,
        neighbor_alltoallw: None,
    };
}
