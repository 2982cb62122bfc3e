//! New communicators from old ones.

use super::lifetime::{adopt, free};
use super::object::{CommObject, require};
use crate::call::memory::{Out, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::endpoints::COMM_TYPE_PROCESS;
use crate::error::{Failure, Res, call};
use crate::request;
use crate::types::{Comm, Group, Info, Request};
use crate::{group, info};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_runtime::Communicator;
use oxmpi_wireup::hardware;
use std::sync::Arc;

fn duplicate(
    (process, entry): (&'static Process, &mut Entry),
    old: Comm,
    with: Option<Info>,
    new: Out<Comm>,
) -> Res {
    let parent = require(old)?;
    not_null(new)?;
    let hints = with.map(info::optional).transpose()?.flatten();
    let made = adopt(entry, parent, parent.comm.dup(hints.as_ref())?)?;
    let child = require(made)?;
    if let Some(placed) = parent.topology.get() {
        let _ = child.topology.set(placed.clone());
    }
    if let Some(stream) = parent.stream.get() {
        let _ = child.stream.set(*stream);
    }
    if let Err(failure) = parent.attributes.copy_to(entry, old.0, &child.attributes) {
        free(process, entry, made)?;
        return Err(failure);
    }
    write(new, "newcomm", made)
}

/// Looked at before others are told of the call.
fn not_null(new: Out<Comm>) -> Res {
    if new.is_null() { Failure::err(MPI_ERR_ARG, "newcomm is a null pointer") } else { Ok(()) }
}

/// Stores the handle of a new communicator, or MPI_COMM_NULL for who is not in it.
fn give(entry: &mut Entry, parent: &CommObject, made: Option<Arc<Communicator>>, new: Out<Comm>) -> Res {
    let handle = match made {
        Some(made) => adopt(entry, parent, made)?,
        None => Comm(MPI_COMM_NULL),
    };
    write(new, "newcomm", handle)
}

mpi_fn! {
    fn MPI_Comm_dup(comm: Comm, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| duplicate((process, entry), comm, None, newcomm))
    }
}
mpi_fn! {
    fn MPI_Comm_dup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| duplicate((process, entry), comm, Some(info), newcomm))
    }
}
mpi_fn! {
    /// The new communicator's id follows from the parent's, so nothing is sent and there is nothing to wait for.
    fn MPI_Comm_idup(comm: Comm, newcomm: Out<Comm>, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            if request.is_null() {
                return Failure::err(MPI_ERR_ARG, "request is a null pointer");
            }
            duplicate((process, entry), comm, None, newcomm)?;
            write(request, "request", request::done(process))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_idup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            if request.is_null() {
                return Failure::err(MPI_ERR_ARG, "request is a null pointer");
            }
            duplicate((process, entry), comm, Some(info), newcomm)?;
            write(request, "request", request::done(process))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_split(comm: Comm, color: c_int, key: c_int, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let parent = require(comm)?;
            not_null(newcomm)?;
            let color = match color {
                MPI_UNDEFINED => None,
                color if color >= 0 => Some(color as u32),
                color => return Failure::err(MPI_ERR_ARG, format!("color is {color}")),
            };
            let made = parent.comm.split(entry, color, key)?;
            give(entry, parent, made, newcomm)
        })
    }
}
/// How the processes of a split_type are told apart.
enum SplitBy {
    /// By a colour that each knows of itself; without one it gets MPI_COMM_NULL.
    Color(Option<u32>),
    /// By the coarsest resource that not all share.
    Unguided,
}

/// Meaning of the arguments of MPI_Comm_split_type (MPI 5.0 §7.4.2). A resource or process set that is not known gives
/// MPI_COMM_NULL.
fn split_by(parent: &CommObject, split_type: c_int, hints: Option<&oxmpi_runtime::Info>) -> Res<SplitBy> {
    let node = parent.comm.node_color();
    let resource = || {
        let kind = hints.and_then(|h| h.get("mpi_hw_resource_type")).and_then(hardware::kind);
        kind.and_then(|kind| hardware::bound_to(node)[kind])
    };
    let set = || match hints.and_then(|h| h.get("mpi_pset_name")) {
        Some("mpi://WORLD") => Some(0),
        Some("mpi://SELF") => Some(parent.comm.process_color()),
        _ => None,
    };
    let has = |key| hints.is_some_and(|h| h.get(key).is_some());
    Ok(match split_type {
        MPI_UNDEFINED => SplitBy::Color(None),
        MPI_COMM_TYPE_SHARED => SplitBy::Color(Some(node)),
        COMM_TYPE_PROCESS => SplitBy::Color(Some(parent.comm.process_color())),
        MPI_COMM_TYPE_HW_UNGUIDED => SplitBy::Unguided,
        MPI_COMM_TYPE_HW_GUIDED => SplitBy::Color(resource()),
        MPI_COMM_TYPE_RESOURCE_GUIDED if has("mpi_hw_resource_type") && has("mpi_pset_name") => {
            return Failure::err(
                MPI_ERR_INFO,
                "info has mpi_hw_resource_type and mpi_pset_name; only one of them can guide",
            );
        }
        MPI_COMM_TYPE_RESOURCE_GUIDED => SplitBy::Color(resource().or_else(set)),
        other => return Failure::err(MPI_ERR_ARG, format!("split_type is {other}")),
    })
}

mpi_fn! {
    fn MPI_Comm_split_type(comm: Comm, split_type: c_int, key: c_int, info: Info, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let parent = require(comm)?;
            not_null(newcomm)?;
            let hints = info::optional(info)?;
            let by = match split_by(parent, split_type, hints.as_ref())? {
                SplitBy::Color(color) => {
                    let made = parent.comm.split(entry, color, key)?;
                    return give(entry, parent, made, newcomm);
                },
                SplitBy::Unguided => hardware::bound_to(parent.comm.node_color()),
            };
            let made = parent.comm.split_by_first(entry, &by, key)?;
            // A caller that gave an info object finds in it what the ranks of the new communicator share.
            if let (Some((kind, _)), true) = (&made, hints.is_some() && info.0 != MPI_INFO_ENV) {
                info::tell(info, "mpi_hw_resource_type", &hardware::uri(*kind))?;
            }
            give(entry, parent, made.map(|(_, made)| made), newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_create(comm: Comm, group: Group, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let parent = require(comm)?;
            not_null(newcomm)?;
            let group = members_of(parent, group)?;
            let made = parent.comm.create(entry, &group)?;
            give(entry, parent, made, newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_create_group(comm: Comm, group: Group, tag: c_int, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let parent = require(comm)?;
            not_null(newcomm)?;
            let group = members_of(parent, group)?;
            if tag < 0 || tag > process.tag_ub {
                return Failure::err(MPI_ERR_TAG, format!("tag is {tag}"));
            }
            let made = parent.comm.create_group(entry, &group, tag)?;
            give(entry, parent, made, newcomm)
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
