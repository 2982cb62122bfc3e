//! Endpoints, `mpi-ext.h`: several ranks of one process, and what a rank can ask about itself and others.

use crate::comm::{adopt, free, require};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::memory::{slice_mut, write};
use crate::types::{Comm, Info};
use core::ffi::c_int;
use oxmpi_runtime::error::{Error, ErrorKind};
use oxmpi_runtime::group::ProcId;

/// MPIX_COMM_TYPE_PROCESS: ranks that share an address space.
pub const COMM_TYPE_PROCESS: c_int = 16_001;

/// A wrong argument, of which other ranks are told.
pub fn wrong(text: String) -> Error {
    Error::new(ErrorKind::Arg, text)
}

/// How many endpoints a call asks for by an argument of that name: its handles have a place.
pub fn wanted(name: &str, count: c_int, handles: *mut Comm) -> Result<u32, Error> {
    match u32::try_from(count) {
        Ok(1..) if handles.is_null() => Err(wrong("the place for new handles is a null pointer".into())),
        Ok(count) => Ok(count),
        Err(_) => Err(wrong(format!("{name} is {count}"))),
    }
}

mpi_fn! {
    fn MPIX_Comm_create_endpoints(parent_comm: Comm, my_num_ep: c_int, info: Info, out_comm_hdls: *mut Comm) -> c_int {
        call(NAME, Some(parent_comm), |process| {
            let parent = require(parent_comm)?;
            let hints = info::optional(info)?.unwrap_or_default();
            let made = parent.comm.create_endpoints(process.thread(), wanted("my_num_ep", my_num_ep, out_comm_hdls), &hints)?;
            let handles = slice_mut(out_comm_hdls, made.len(), "out_comm_hdls")?;
            for (place, comm) in made.into_iter().enumerate() {
                match adopt(parent, comm) {
                    Ok(handle) => handles[place] = handle,
                    Err(failure) => {
                        for handle in &handles[..place] {
                            free(process, *handle)?;
                        }
                        return Err(failure);
                    }
                }
            }
            Ok(())
        })
    }
}

/// The process and endpoint of a rank that messages may name.
fn identity(comm: Comm, rank: c_int) -> Res<ProcId> {
    let object = require(comm)?;
    let group = object.comm.remote_group().unwrap_or(object.comm.group());
    match usize::try_from(rank).ok().and_then(|rank| group.members().get(rank)) {
        Some(member) => Ok(*member),
        None => Failure::err(MPI_ERR_RANK, format!("rank is {rank}")),
    }
}

mpi_fn! {
    fn MPIX_Comm_get_endpoint(comm: Comm, rank: c_int, process: *mut c_int, endpoint: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let member = identity(comm, rank)?;
            write(process, "process", member.proc as c_int)?;
            write(endpoint, "endpoint", c_int::from(member.endpoint))
        })
    }
}
mpi_fn! {
    fn MPIX_Comm_shares_memory(comm: Comm, rank: c_int, flag: *mut c_int) -> c_int {
        call(NAME, Some(comm), |process| {
            let member = identity(comm, rank)?;
            write(flag, "flag", (member.proc == process.instance.me().proc).into())
        })
    }
}
