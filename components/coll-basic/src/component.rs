//! Opening, and the table of what this component does.

use crate::exchange::Call;
use crate::module::BasicModule;
use crate::params::{Settings, tell};
use crate::{
    allgather, allgatherv, allreduce, alltoall, alltoallv, barrier, bcast, gather, gatherv, inter, neighbor,
    reduce, reduce_scatter, scan, scatter,
};
use core::ffi::c_void;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable};
use oxmpi_coll_support::Failure;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};

pub struct BasicComponent;

impl Component for BasicComponent {
    type Module = CollModule;
    const NAME: &'static str = "basic";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_coll::module(Basic { host, settings })]))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(process, params, answers);
        Ok(())
    }
}

/// A collective as the contract has it, from one as it is written here and, where it is another, from the one for
/// inter-communicators.
macro_rules! entry {
    ($function:path) => {
        entry!($function, $function)
    };
    ($function:path, $inter:path) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            let failure = Failure::none();
            // SAFETY: the host passes the module that `query` made for this communicator, and a communicator and arguments that are valid during the call: those
            // of the collective in whose place of the table this is.
            let call = unsafe { Call::new(module.cast(), comm, args, &failure) };
            failure.outcome(if call.is_inter() { $inter(&call) } else { $function(&call) })
        }
        entry
    }};
}

/// The component of one instance.
pub struct Basic {
    host: Host,
    settings: Settings,
}

impl Coll for Basic {
    type Module = BasicModule;

    fn query(&self, _comm: &CollComm) -> Option<(i32, BasicModule)> {
        Some((self.settings.priority, BasicModule::new(self.host, self.settings)))
    }

    const INTER: bool = true;

    const PLANS: Option<CollTable> = Some(Basic::TABLE);

    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: oxmpi_coll::TABLE_VERSION,
        barrier: Some(entry!(barrier::barrier, inter::barrier)),
        bcast: Some(entry!(bcast::bcast, inter::bcast)),
        reduce: Some(entry!(reduce::reduce, inter::reduce)),
        allreduce: Some(entry!(allreduce::allreduce, inter::allreduce)),
        allgather: Some(entry!(allgather::allgather, inter::allgather)),
        gather: Some(entry!(gather::gather, inter::gather)),
        scatter: Some(entry!(scatter::scatter, inter::scatter)),
        alltoall: Some(entry!(alltoall::alltoall, inter::alltoall)),
        gatherv: Some(entry!(gatherv::gatherv, inter::gatherv)),
        scatterv: Some(entry!(gatherv::scatterv, inter::scatterv)),
        allgatherv: Some(entry!(allgatherv::allgatherv, inter::allgatherv)),
        alltoallv: Some(entry!(alltoallv::alltoallv)),
        alltoallw: Some(entry!(alltoallv::alltoallw)),
        scan: Some(entry!(scan::scan, inter::not_defined)),
        exscan: Some(entry!(scan::exscan, inter::not_defined)),
        reduce_scatter: Some(entry!(reduce_scatter::reduce_scatter, inter::reduce_scatter)),
        reduce_scatter_block: Some(entry!(reduce_scatter::reduce_scatter_block, inter::reduce_scatter_block)),
        neighbor_allgather: Some(entry!(neighbor::neighbor_allgather, inter::not_defined)),
        neighbor_allgatherv: Some(entry!(neighbor::neighbor_allgatherv, inter::not_defined)),
        neighbor_alltoall: Some(entry!(neighbor::neighbor_alltoall, inter::not_defined)),
        neighbor_alltoallv: Some(entry!(neighbor::neighbor_alltoallv, inter::not_defined)),
        neighbor_alltoallw: Some(entry!(neighbor::neighbor_alltoallw, inter::not_defined)),
    };
}
