//! Opening, and the table of what this component does.

use crate::call::Call;
use crate::module::HanModule;
use crate::params::{Op, Settings, tell};
use crate::{allgather, barrier, bcast, counted, gather, reduce, scatter};
use core::ffi::c_void;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable, which};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status, StrRef};

pub struct HanComponent;

impl Component for HanComponent {
    type Module = CollModule;
    const NAME: &'static str = "han";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_coll::module(Han { host, settings })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers);
        Ok(())
    }
}

/// The component of one instance.
struct Han {
    host: Host,
    settings: Settings,
}

/// A collective as the contract has it, from one as it is written here.
macro_rules! entry {
    ($op:expr, $which:expr, $function:path) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            // SAFETY: the host passes the module that `query` made for this communicator, and a communicator and arguments that are valid during the
            // call: those of the collective in whose place of the table this is.
            let (module, comm, args) = unsafe { (&*module.cast::<HanModule>(), &*comm, &*args) };
            let Some(ready) = module.ready() else { return Status::INTERNAL };
            // SAFETY: as above.
            let call = unsafe { Call::new(module, ready, comm, args) };
            if module.settings.leaves($op) {
                return call.answer($op, call.below($which).ok().map(drop));
            }
            call.answer($op, $function(&call))
        }
        Some(entry)
    }};
}

impl Coll for Han {
    type Module = HanModule;

    /// By facts that are equal in all ranks: there are several nodes, and one of them has several ranks.
    fn query(&self, comm: &CollComm) -> Option<(i32, HanModule)> {
        let is_ours = comm.num_remote == 0 && comm.num_nodes > 1 && comm.num_ranks > comm.num_nodes;
        is_ours.then(|| (self.settings.priority, HanModule::new(self.host, self.settings)))
    }

    const NESTS: bool = true;
    const PREPARES: bool = true;
    const ALGORITHMS: &'static [StrRef] = counted::NAMES;

    fn prepare(&self, module: &HanModule, comm: &CollComm) -> Result<(), Status> {
        module.prepare(comm)
    }

    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: oxmpi_coll::TABLE_VERSION,
        barrier: entry!(Op::Barrier, which::BARRIER, barrier::barrier),
        bcast: entry!(Op::Bcast, which::BCAST, bcast::bcast),
        reduce: entry!(Op::Reduce, which::REDUCE, reduce::reduce),
        allreduce: entry!(Op::Allreduce, which::ALLREDUCE, reduce::allreduce),
        allgather: entry!(Op::Allgather, which::ALLGATHER, allgather::allgather),
        gather: entry!(Op::Gather, which::GATHER, gather::gather),
        scatter: entry!(Op::Scatter, which::SCATTER, scatter::scatter),
        allgatherv: entry!(Op::Allgatherv, which::ALLGATHERV, allgather::allgatherv),
        alltoall: None,
        gatherv: None,
        scatterv: None,
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
}
