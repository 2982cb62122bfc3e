//! Opening, and what is offered to a communicator: a table of its own, since operations are offered where something says so.

use crate::call::Call;
use crate::module::TunedModule;
use crate::op::{Op, algorithms};
use crate::operations;
use crate::params::{Settings, tell};
use core::ffi::c_void;
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollModule, CollOffer, CollTable};
use oxmpi_coll_support::Failure;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, SliceRef, Status};
use std::sync::Arc;

pub struct TunedComponent;

impl Component for TunedComponent {
    type Module = CollModule;
    const NAME: &'static str = "tuned";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Arc::new(Settings::of(params)?);
        let priority = settings.priority;
        let state = Box::into_raw(Box::new(Tuned { host, settings })).cast();
        let size = size_of::<CollModule>() as u32;
        let algorithms = SliceRef::new(algorithms::COUNTED);
        let module = CollModule {
            size,
            flags: 0,
            state,
            comm_query,
            comm_free,
            finalize,
            comm_prepare: None,
            algorithms,
        };
        Ok((priority, vec![module]))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(process, params, answers)
    }
}

/// The component of one instance.
struct Tuned {
    host: Host,
    settings: Arc<Settings>,
}

extern "C" fn comm_query(state: *mut c_void, comm: *const CollComm, offer: *mut CollOffer) -> Status {
    // SAFETY: the host passes the state that `open` made, and a communicator that is valid during the call.
    let (tuned, comm) = unsafe { (&*state.cast::<Tuned>(), &*comm) };
    let settings = &tuned.settings;
    let far = comm.num_nodes > 1 && comm.oversubscribed == 0;
    let table = table(|op| settings.offers(op, comm.num_ranks, far));
    if Op::ALL.into_iter().all(|op| slot(&mut table.clone(), op).is_none()) {
        return Status::NOT_AVAILABLE;
    }
    let module = Box::into_raw(Box::new(TunedModule::new(tuned.host, settings.clone(), table)));
    // SAFETY: the host's place for an offer. The table lies in the module, which lives until `comm_free`; it does not move, and nobody writes it.
    unsafe {
        let table = &raw const (*module).table;
        *offer = CollOffer {
            priority: settings.priority,
            reserved: 0,
            module: module.cast(),
            table,
            plans: table,
        };
    }
    Status::OK
}

extern "C" fn comm_free(_state: *mut c_void, module: *mut c_void) {
    // SAFETY: made by `comm_query`, given back once.
    drop(unsafe { Box::from_raw(module.cast::<TunedModule>()) });
}

extern "C" fn finalize(state: *mut c_void) {
    // SAFETY: the last call; `open` made it.
    drop(unsafe { Box::from_raw(state.cast::<Tuned>()) });
}

/// The place of an operation in a table.
fn slot(table: &mut CollTable, op: Op) -> &mut Option<CollFn> {
    match op {
        Op::Allgather => &mut table.allgather,
        Op::Allgatherv => &mut table.allgatherv,
        Op::Allreduce => &mut table.allreduce,
        Op::Alltoall => &mut table.alltoall,
        Op::Alltoallv => &mut table.alltoallv,
        Op::Barrier => &mut table.barrier,
        Op::Bcast => &mut table.bcast,
        Op::Exscan => &mut table.exscan,
        Op::Gather => &mut table.gather,
        Op::Reduce => &mut table.reduce,
        Op::ReduceScatter => &mut table.reduce_scatter,
        Op::ReduceScatterBlock => &mut table.reduce_scatter_block,
        Op::Scan => &mut table.scan,
        Op::Scatter => &mut table.scatter,
    }
}

/// The table of the operations that are offered; of plans it is the same.
fn table(offers: impl Fn(Op) -> bool) -> CollTable {
    let mut table = CollTable {
        size: size_of::<CollTable>() as u32,
        version: oxmpi_coll::TABLE_VERSION,
        ..CollTable::default()
    };
    for op in Op::ALL.into_iter().filter(|op| offers(*op)) {
        *slot(&mut table, op) = Some(function(op));
    }
    table
}

/// A collective as the contract has it, from one as it is written here.
macro_rules! entry {
    ($op:expr, $function:path) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            let failure = Failure::none();
            // SAFETY: the host passes the module that `comm_query` made for this communicator, and a communicator and arguments that are valid during the call:
            // those of the collective in whose place of the table this is, on one group, since the module does not say that it serves two.
            let call = unsafe { Call::new(module.cast(), comm, args, &failure, $op) };
            failure.outcome($function(&call))
        }
        entry
    }};
}

fn function(op: Op) -> CollFn {
    match op {
        Op::Allgather => entry!(Op::Allgather, operations::allgather),
        Op::Allgatherv => entry!(Op::Allgatherv, operations::allgatherv),
        Op::Allreduce => entry!(Op::Allreduce, operations::allreduce),
        Op::Alltoall => entry!(Op::Alltoall, operations::alltoall),
        Op::Alltoallv => entry!(Op::Alltoallv, operations::alltoallv),
        Op::Barrier => entry!(Op::Barrier, operations::barrier),
        Op::Bcast => entry!(Op::Bcast, operations::bcast),
        Op::Exscan => entry!(Op::Exscan, operations::exscan),
        Op::Gather => entry!(Op::Gather, operations::gather),
        Op::Reduce => entry!(Op::Reduce, operations::reduce),
        Op::ReduceScatter => entry!(Op::ReduceScatter, operations::reduce_scatter),
        Op::ReduceScatterBlock => entry!(Op::ReduceScatterBlock, operations::reduce_scatter_block),
        Op::Scan => entry!(Op::Scan, operations::scan),
        Op::Scatter => entry!(Op::Scatter, operations::scatter),
    }
}
