//! New communicators from old ones.

use crate::comm::{self, CommObject, adopt, require};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::memory::write;
use crate::process::Process;
use crate::request;
use crate::types::{Comm, Group, Info, Request};
use crate::{group, info};
use core::ffi::c_int;
use oxmpi_runtime::Communicator;
use std::sync::Arc;

fn duplicate(process: &'static Process, old: Comm, with: Option<Info>, new: *mut Comm) -> Res {
    let parent = require(old)?;
    if new.is_null() {
        return Failure::err(MPI_ERR_ARG, "newcomm is a null pointer");
    }
    let hints = with.map(info::optional).transpose()?.flatten();
    let made = adopt(parent, parent.comm.dup(process.thread(), hints.as_ref())?)?;
    let child = require(made)?;
    if let Err(failure) = parent.attributes.copy_to(old.0, &child.attributes) {
        comm::free(process, made)?;
        return Err(failure);
    }
    write(new, "newcomm", made)
}

/// Stores the handle of a new communicator, or MPI_COMM_NULL for who is not in it.
fn give(parent: &CommObject, made: Option<Arc<Communicator>>, new: *mut Comm) -> Res {
    let handle = match made {
        Some(made) => adopt(parent, made)?,
        None => Comm(MPI_COMM_NULL),
    };
    write(new, "newcomm", handle)
}

mpi_fn! {
    fn MPI_Comm_dup(comm: Comm, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| duplicate(process, comm, None, newcomm))
    }
}
mpi_fn! {
    fn MPI_Comm_dup_with_info(comm: Comm, info: Info, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| duplicate(process, comm, Some(info), newcomm))
    }
}
mpi_fn! {
    /// The new communicator's id follows from the parent's, so there is nothing to wait for.
    fn MPI_Comm_idup(comm: Comm, newcomm: *mut Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            if request.is_null() {
                return Failure::err(MPI_ERR_ARG, "request is a null pointer");
            }
            duplicate(process, comm, None, newcomm)?;
            write(request, "request", request::done(process))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_idup_with_info(comm: Comm, info: Info, newcomm: *mut Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            if request.is_null() {
                return Failure::err(MPI_ERR_ARG, "request is a null pointer");
            }
            duplicate(process, comm, Some(info), newcomm)?;
            write(request, "request", request::done(process))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_split(comm: Comm, color: c_int, key: c_int, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let parent = require(comm)?;
            let color = match color {
                MPI_UNDEFINED => None,
                color if color >= 0 => Some(color as u32),
                color => return Failure::err(MPI_ERR_ARG, format!("color is {color}")),
            };
            give(parent, parent.comm.split(process.thread(), color, key)?, newcomm)
        })
    }
}
mpi_fn! {
    /// Splits by shared memory, that is by node; finer hardware than a node is not known, so that
    /// such a split gives MPI_COMM_NULL, as the standard has it.
    fn MPI_Comm_split_type(comm: Comm, split_type: c_int, key: c_int, info: Info, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let parent = require(comm)?;
            let hints = info::optional(info)?;
            let wanted = hints.as_ref().and_then(|h| h.get("mpi_hw_resource_type"));
            let color = match split_type {
                MPI_UNDEFINED | MPI_COMM_TYPE_HW_UNGUIDED => None,
                MPI_COMM_TYPE_SHARED => Some(process.instance.job().node),
                // The one resource whose extent is known for sure is the node's memory.
                MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED => (wanted == Some("mpi_shared_memory")).then(|| process.instance.job().node),
                other => return Failure::err(MPI_ERR_ARG, format!("split_type is {other}")),
            };
            give(parent, parent.comm.split(process.thread(), color, key)?, newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_create(comm: Comm, group: Group, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let parent = require(comm)?;
            let group = members_of(parent, group)?;
            give(parent, parent.comm.create(process.thread(), &group)?, newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_create_group(comm: Comm, group: Group, tag: c_int, newcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let parent = require(comm)?;
            let group = members_of(parent, group)?;
            if tag < 0 || tag > process.tag_ub {
                return Failure::err(MPI_ERR_TAG, format!("tag is {tag}"));
            }
            give(parent, parent.comm.create_group(process.thread(), &group, tag)?, newcomm)
        })
    }
}

/// A group all of whose members are in the communicator.
fn members_of(parent: &CommObject, group: Group) -> Res<oxmpi_runtime::Group> {
    let group = group::require(group)?;
    let strangers = group.difference(parent.comm.group());
    match strangers.members().first() {
        None => Ok(group),
        Some(one) => Failure::err(
            MPI_ERR_GROUP,
            format!("group has process {} of the job, {} does not", one.proc, parent.describe()),
        ),
    }
}
