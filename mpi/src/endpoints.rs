//! Endpoints, `mpi-ext.h`: several ranks of one process, and what a rank can ask about itself and others.

use crate::call::memory::{slice_mut, write};
use crate::call::process::Process;
use crate::comm::lifetime::{adopt, free};
use crate::comm::{CommObject, require};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::types::{Comm, Info};
use core::ffi::c_int;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::group::ProcId;
use std::sync::Arc;

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

/// Handles for all of these, or for none.
pub fn adopt_all(process: &Process, parent: &CommObject, made: Vec<Arc<Communicator>>) -> Res<Vec<Comm>> {
    all_or_none(made, |comm| adopt(parent, comm), |handle| free(process, handle))
}

/// The results of `make` for each; after a failure those that are there are taken back.
fn all_or_none<T, U>(
    from: Vec<T>,
    mut make: impl FnMut(T) -> Res<U>,
    mut back: impl FnMut(U) -> Res,
) -> Res<Vec<U>> {
    let mut all = Vec::with_capacity(from.len());
    for one in from {
        match make(one) {
            Ok(made) => all.push(made),
            Err(failure) => {
                // The first failure is the one to tell.
                all.into_iter().for_each(|made| _ = back(made));
                return Err(failure);
            }
        }
    }
    Ok(all)
}

mpi_fn! {
    fn MPIX_Comm_create_endpoints(parent_comm: Comm, my_num_ep: c_int, info: Info, out_comm_hdls: *mut Comm) -> c_int {
        call(NAME, Some(parent_comm), |process| {
            let parent = require(parent_comm)?;
            let hints = info::optional(info)?.unwrap_or_default();
            let made = parent.comm.create_endpoints(process.thread(), wanted("my_num_ep", my_num_ep, out_comm_hdls), &hints)?;
            let handles = slice_mut(out_comm_hdls, made.len(), "out_comm_hdls")?;
            handles.copy_from_slice(&adopt_all(process, parent, made)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_where_not_all_get_handles() {
        let mut taken_back = Vec::new();
        let table =
            |room: u32| move |n: u32| if n < room { Ok(n) } else { Failure::err(MPI_ERR_NO_MEM, "full") };
        let made = all_or_none(vec![0, 1, 2, 3], table(2), |n| {
            taken_back.push(n);
            Ok(())
        });
        assert!(made.is_err_and(|failure| failure.code == MPI_ERR_NO_MEM));
        assert_eq!(taken_back, [0, 1]);
        let made = all_or_none(vec![0, 1], table(2), |_| panic!("all have handles"));
        assert!(made.is_ok_and(|made| made == [0, 1]));
    }
}
