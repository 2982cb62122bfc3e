//! Opening, and the table of what this component does.

use crate::exchange::Call;
use crate::module::BasicModule;
use crate::params::Settings;
use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, scatter};
use core::ffi::c_void;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct BasicComponent;

impl Component for BasicComponent {
    type Module = CollModule;
    const NAME: &'static str = "basic";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_coll::module(Basic { host, settings })]))
    }
}

/// A collective as the contract has it, from one as it is written here.
macro_rules! entry {
    ($function:path) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            // SAFETY: the host passes the module that `query` made for this communicator, and a
            // communicator and arguments that are valid during the call.
            let call = unsafe { Call::new(module.cast(), comm, args) };
            match $function(&call) {
                Ok(()) => Status::OK,
                Err(status) => status,
            }
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

    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: 1,
        barrier: Some(entry!(barrier::barrier)),
        bcast: Some(entry!(bcast::bcast)),
        reduce: Some(entry!(reduce::reduce)),
        allreduce: Some(entry!(allreduce::allreduce)),
        allgather: Some(entry!(allgather::allgather)),
        gather: Some(entry!(gather::gather)),
        scatter: Some(entry!(scatter::scatter)),
        alltoall: Some(entry!(alltoall::alltoall)),
    };
}
