//! Endpoints, `mpi-ext.h`: several ranks of one process, and what a rank can ask about itself and others.

use crate::call::memory::{Out, slice_mut, write};
use crate::call::process::Process;
use crate::comm::lifetime::{adopt, free};
use crate::comm::{CommObject, require};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::types::{Comm, Info};
use core::ffi::c_int;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
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
pub fn wanted(name: &str, count: c_int, handles: Out<Comm>) -> Result<u32, Error> {
    match u32::try_from(count) {
        Ok(1..) if handles.is_null() => Err(wrong("the place for new handles is a null pointer".into())),
        Ok(count) => Ok(count),
        Err(_) => Err(wrong(format!("{name} is {count}"))),
    }
}

/// Handles for all of these, or for none.
pub fn adopt_all(
    process: &Process,
    entry: &mut Entry,
    parent: &CommObject,
    made: Vec<Arc<Communicator>>,
) -> Res<Vec<Comm>> {
    all_or_none(
        (made, entry),
        |entry, comm| adopt(entry, parent, comm),
        |entry, handle| free(process, entry, handle),
    )
}

/// The results of `make` for each; after a failure those that are there are taken back. Both get what is lent to all of them.
fn all_or_none<L: ?Sized, T, U>(
    (from, lent): (Vec<T>, &mut L),
    mut make: impl FnMut(&mut L, T) -> Res<U>,
    mut back: impl FnMut(&mut L, U) -> Res,
) -> Res<Vec<U>> {
    let mut all = Vec::with_capacity(from.len());
    for one in from {
        match make(lent, one) {
            Ok(made) => all.push(made),
            Err(failure) => {
                // The first failure is the one to tell.
                all.into_iter().for_each(|made| _ = back(lent, made));
                return Err(failure);
            }
        }
    }
    Ok(all)
}

mpi_fn! {
    fn MPIX_Comm_create_endpoints(parent_comm: Comm, my_num_ep: c_int, info: Info, out_comm_hdls: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(parent_comm), |process, entry| {
            let parent = require(parent_comm)?;
            let hints = info::optional(info)?.unwrap_or_default();
            let made = parent.comm.create_endpoints(entry, wanted("my_num_ep", my_num_ep, out_comm_hdls), &hints)?;
            // SAFETY: the standard has the caller pass `out_comm_hdls` with `made.len()` elements.
            let handles = unsafe { slice_mut(out_comm_hdls, made.len(), "out_comm_hdls") }?;
            handles.copy_from_slice(&adopt_all(process, entry, parent, made)?);
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
    fn MPIX_Comm_get_endpoint(comm: Comm, rank: c_int, process: Out<c_int>, endpoint: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let member = identity(comm, rank)?;
            write(process, "process", member.proc as c_int)?;
            write(endpoint, "endpoint", c_int::from(member.endpoint))
        })
    }
}
mpi_fn! {
    fn MPIX_Comm_shares_memory(comm: Comm, rank: c_int, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, _| {
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
        let table = |room: u32| {
            move |_: &mut Vec<u32>, n: u32| {
                if n < room { Ok(n) } else { Failure::err(MPI_ERR_NO_MEM, "full") }
            }
        };
        let mut taken_back = Vec::new();
        let made = all_or_none((vec![0, 1, 2, 3], &mut taken_back), table(2), |taken_back, n| {
            taken_back.push(n);
            Ok(())
        });
        assert!(made.is_err_and(|failure| failure.code == MPI_ERR_NO_MEM));
        assert_eq!(taken_back, [0, 1]);
        let made = all_or_none((vec![0, 1], &mut taken_back), table(2), |_, _| panic!("all have handles"));
        assert!(made.is_ok_and(|made| made == [0, 1]));
    }
}
