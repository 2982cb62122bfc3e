//! Inter-communicators (MPI 5.0 §7.6).

use super::lifetime::adopt;
use super::object::{CommObject, require};
use crate::call::memory::{Out, write, write_made};
use crate::call::operands::{Direction, check_tag};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::group;
use crate::types::{Comm, Group};
use core::ffi::c_int;
use oxmpi_runtime::intercomm::Bridge;

/// The remote group of a communicator that must have one.
fn remote(object: &CommObject) -> Res<&oxmpi_runtime::Group> {
    object.comm.remote_group().ok_or_else(|| {
        Failure::new(MPI_ERR_COMM, format!("comm is {}, no inter-communicator", object.describe()))
    })
}

mpi_fn! {
    fn MPI_Comm_test_inter(comm: Comm, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| write(flag, "flag", require(comm)?.comm.remote_group().is_some() as c_int))
    }
}
mpi_fn! {
    fn MPI_Comm_remote_size(comm: Comm, size: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| write(size, "size", remote(require(comm)?)?.size() as c_int))
    }
}
mpi_fn! {
    fn MPI_Comm_remote_group(comm: Comm, group: Out<Group>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| write_made(group, "group", || group::adopt(remote(require(comm)?)?.clone())))
    }
}
mpi_fn! {
    fn MPI_Intercomm_create(local_comm: Comm, local_leader: c_int, peer_comm: Comm, remote_leader: c_int, tag: c_int, newintercomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(local_comm), |process, entry| {
            let local = require(local_comm)?;
            if local.comm.remote_group().is_some() {
                return Failure::err(MPI_ERR_COMM, "local_comm is an inter-communicator");
            }
            let leader = in_range(local_leader, local.comm.size(), "local_leader")?;
            if newintercomm.is_null() {
                return Failure::err(MPI_ERR_ARG, "newintercomm is a null pointer");
            }
            let bridge = if leader == local.comm.rank() {
                let peer = require(peer_comm)?;
                if tag == MPI_ANY_TAG {
                    return Failure::err(MPI_ERR_TAG, "tag is MPI_ANY_TAG");
                }
                check_tag(Direction::Send, process, tag)?;
                let remote_leader = in_range(remote_leader, peer.peers, "remote_leader")?;
                Some(Bridge { peer: &peer.comm, remote_leader, tag })
            } else {
                None
            };
            let made = local.comm.create_inter_with(entry, leader, bridge)?;
            write(newintercomm, "newintercomm", adopt(entry, local, made)?)
        })
    }
}

fn in_range(rank: c_int, size: u32, what: &str) -> Res<u32> {
    match u32::try_from(rank) {
        Ok(rank) if rank < size => Ok(rank),
        _ => {
            Failure::err(MPI_ERR_RANK, format!("{what} is {rank}, ranks are 0 to {}", size.saturating_sub(1)))
        }
    }
}

mpi_fn! {
    fn MPI_Intercomm_merge(intercomm: Comm, high: c_int, newintracomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(intercomm), |_, entry| {
            let parent = require(intercomm)?;
            remote(parent)?;
            if newintracomm.is_null() {
                return Failure::err(MPI_ERR_ARG, "newintracomm is a null pointer");
            }
            let made = parent.comm.merge(entry, high != 0)?;
            write(newintracomm, "newintracomm", adopt(entry, parent, made)?)
        })
    }
}
