//! Groups of endpoints.
//!
//! A group of a communicator of endpoints is a group of the library's in this process: the proxies are ranks of the job's world,
//! which this process is in, too. So all functions on groups are the library's. Only MPI_Group_rank asks for the caller, which is
//! an endpoint's proxy: it is remembered with the group's handle, and passed on to groups made from it.

use super::comm::{self, EpComm};
use super::{error, lock};
use crate::abi::*;
use crate::pmpi;
use std::collections::HashMap;
use std::sync::Mutex;

/// World rank of the proxy that a group of endpoints is seen from.
static FROM: Mutex<Option<HashMap<Group, c_int>>> = Mutex::new(None);

fn from(group: Group) -> Option<c_int> {
    lock(&FROM).as_ref().and_then(|f| f.get(&group).copied())
}

fn remember(group: Group, proxy: c_int) {
    lock(&FROM).get_or_insert_default().insert(group, proxy);
}

/// The library's group of these ranks of the job's world.
fn of_world(ranks: &[c_int]) -> Result<Group, c_int> {
    let (mut world, mut group) = (GROUP_NULL, GROUP_NULL);
    // SAFETY: locals, and a list of that length.
    let error = unsafe {
        pmpi::MPI_Comm_group(COMM_WORLD, &raw mut world);
        let error = pmpi::MPI_Group_incl(world, ranks.len() as c_int, ranks.as_ptr(), &raw mut group);
        pmpi::MPI_Group_free(&raw mut world);
        error
    };
    if error == SUCCESS { Ok(group) } else { Err(ERR_GROUP) }
}

/// Ranks of a group's members in the job's world.
pub fn world_ranks(group: Group) -> Result<Vec<i64>, c_int> {
    let (mut world, mut size) = (GROUP_NULL, 0);
    // SAFETY: locals, and lists of that length.
    unsafe {
        if group == GROUP_NULL || pmpi::MPI_Group_size(group, &raw mut size) != SUCCESS {
            return Err(ERR_GROUP);
        }
        pmpi::MPI_Comm_group(COMM_WORLD, &raw mut world);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut there = ranks.clone();
        let error = pmpi::MPI_Group_translate_ranks(group, size, ranks.as_ptr(), world, there.as_mut_ptr());
        pmpi::MPI_Group_free(&raw mut world);
        if error != SUCCESS {
            return Err(ERR_GROUP);
        }
        Ok(there.into_iter().map(i64::from).collect())
    }
}

/// The group of a communicator of endpoints, the remote one with `which` 1.
pub fn group_of(ep: &EpComm, which: usize) -> Result<Group, c_int> {
    let group = of_world(ep.members(which)?)?;
    remember(group, ep.proxy.world_rank as c_int);
    Ok(group)
}

on_endpoints! {
    fn [MPI_Comm_group] (comm: Comm, group: *mut Group) on comm, ep {
        *group = group_of(ep, 0)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_remote_group] (comm: Comm, group: *mut Group) on comm, ep {
        if !ep.is_inter() {
            return Err(ERR_COMM);
        }
        *group = group_of(ep, 1)?;
        Ok(())
    }
}

mpi! {
    fn MPI_Group_rank(group: Group, rank: *mut c_int) {
        let Some(proxy) = from(group) else { return pmpi::MPI_Group_rank(group, rank) };
        match world_ranks(group) {
            Ok(ranks) => {
                let at = ranks.iter().position(|r| *r == i64::from(proxy));
                *rank = at.map_or(UNDEFINED, |at| at as c_int);
                SUCCESS
            }
            Err(class) => class,
        }
    }
}

mpi! {
    fn MPI_Group_free(group: *mut Group) {
        if let Some(from) = lock(&FROM).as_mut() {
            from.remove(&*group);
        }
        pmpi::MPI_Group_free(group)
    }
}

macro_rules! derived {
    ($(fn $name:ident($first:ident: Group $(, $a:ident: $t:ty)*);)+) => {$(
        mpi! {
            fn $name($first: Group, $($a: $t,)* newgroup: *mut Group) {
                let proxy = from($first);
                let error = pmpi::$name($first, $($a,)* newgroup);
                if error == SUCCESS && let Some(proxy) = proxy {
                    remember(*newgroup, proxy);
                }
                error
            }
        }
    )+};
}

derived! {
    fn MPI_Group_difference(group1: Group, group2: Group);
    fn MPI_Group_excl(group: Group, n: c_int, ranks: *const c_int);
    fn MPI_Group_incl(group: Group, n: c_int, ranks: *const c_int);
    fn MPI_Group_intersection(group1: Group, group2: Group);
    fn MPI_Group_range_excl(group: Group, n: c_int, ranges: *mut c_int);
    fn MPI_Group_range_incl(group: Group, n: c_int, ranges: *mut c_int);
    fn MPI_Group_union(group1: Group, group2: Group);
}

mpi! {
    fn MPI_Comm_create_from_group(group: Group, stringtag: *const c_char, info: Info, errhandler: Errhandler, newcomm: *mut Comm) {
        if from(group).is_some() {
            report!("MPI_Comm_create_from_group is not built for groups of endpoints");
            return ERR_UNSUPPORTED_OPERATION;
        }
        pmpi::MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm)
    }
}
