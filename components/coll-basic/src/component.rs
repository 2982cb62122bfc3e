//! Opening, and the table of what this component does.

use crate::algorithm::{Algorithm, NAMES};
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
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status, StrRef};

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

/// A collective as the contract has it, from one as it is written here, and from the one for inter-communicators. Where the first one has a single algorithm it stands
/// beside it, otherwise the function tells which it takes; the other one has the one that stands beside it.
macro_rules! entry {
    ($function:path $(, $algorithm:ident)?; $inter:path, $between:ident) => {
        entry!($function $(, $algorithm)?; $inter, |call: &Call<'_>| call.goes_by(Algorithm::$between))
    };
    ($function:path $(, $algorithm:ident)?;) => {
        entry!($function $(, $algorithm)?; inter::not_defined, |_: &Call<'_>| ())
    };
    ($function:path $(, $algorithm:ident)?; $inter:path, $tell:expr) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            let failure = Failure::none();
            // SAFETY: the host passes the module that `query` made for this communicator, and a communicator and arguments that are valid during the call: those
            // of the collective in whose place of the table this is.
            let call = unsafe { Call::new(module.cast(), comm, args, &failure) };
            failure.outcome(if call.is_inter() {
                $tell(&call);
                $inter(&call)
            } else {
                $(call.goes_by(Algorithm::$algorithm);)?
                $function(&call)
            })
        }
        Some(entry)
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
    const ALGORITHMS: &'static [StrRef] = NAMES;

    const PLANS: Option<CollTable> = Some(Basic::TABLE);

    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: oxmpi_coll::TABLE_VERSION,
        barrier: entry!(barrier::barrier; inter::barrier, BarrierBetweenGroups),
        bcast: entry!(bcast::bcast; inter::bcast, BcastBetweenGroups),
        reduce: entry!(reduce::reduce; inter::reduce, ReduceBetweenGroups),
        allreduce: entry!(allreduce::allreduce; inter::allreduce, AllreduceBetweenGroups),
        allgather: entry!(allgather::allgather; inter::allgather, AllgatherBetweenGroups),
        gather: entry!(gather::gather; inter::gather, GatherBetweenGroups),
        scatter: entry!(scatter::scatter; inter::scatter, ScatterBetweenGroups),
        alltoall: entry!(alltoall::alltoall; inter::alltoall, AlltoallBetweenGroups),
        gatherv: entry!(gatherv::gatherv, GathervDirect; inter::gatherv, GathervBetweenGroups),
        scatterv: entry!(gatherv::scatterv, ScattervDirect; inter::scatterv, ScattervBetweenGroups),
        allgatherv: entry!(allgatherv::allgatherv, AllgathervRing; inter::allgatherv, AllgathervBetweenGroups),
        alltoallv: entry!(alltoallv::alltoallv, AlltoallvDirect; alltoallv::alltoallv, AlltoallvBetweenGroups),
        alltoallw: entry!(alltoallv::alltoallw, AlltoallwDirect; alltoallv::alltoallw, AlltoallwBetweenGroups),
        scan: entry!(scan::scan, ScanDoubling;),
        exscan: entry!(scan::exscan, ExscanDoubling;),
        reduce_scatter: entry!(reduce_scatter::reduce_scatter; inter::reduce_scatter, ReduceScatterBetweenGroups),
        reduce_scatter_block: entry!(reduce_scatter::reduce_scatter_block; inter::reduce_scatter_block, ReduceScatterBlockBetweenGroups),
        neighbor_allgather: entry!(neighbor::neighbor_allgather, NeighborAllgatherDirect;),
        neighbor_allgatherv: entry!(neighbor::neighbor_allgatherv, NeighborAllgathervDirect;),
        neighbor_alltoall: entry!(neighbor::neighbor_alltoall, NeighborAlltoallDirect;),
        neighbor_alltoallv: entry!(neighbor::neighbor_alltoallv, NeighborAlltoallvDirect;),
        neighbor_alltoallw: entry!(neighbor::neighbor_alltoallw, NeighborAlltoallwDirect;),
    };
}
