//! Communicators of endpoints: what they are, and those that are derived from them.

use super::comm::{self, EpComm, from_facts};
use super::end::free;
use super::request::{self, FollowUpWork, Kind};
use super::state::Words;
use super::{error, group, lock, message};
use crate::abi::*;
use crate::hints;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use core::ffi::CStr;
use std::sync::atomic::Ordering;

on_endpoints! {
    fn [MPI_Comm_rank] (comm: Comm, rank: *mut c_int) on comm, ep {
        *rank = ep.rank;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_size] (comm: Comm, size: *mut c_int) on comm, ep {
        *size = ep.size;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_remote_size] (comm: Comm, size: *mut c_int) on comm, ep {
        if !ep.is_inter() {
            return Err(ERR_COMM);
        }
        *size = ep.remote_size;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_test_inter] (comm: Comm, flag: *mut c_int) on comm, ep {
        *flag = ep.is_inter().into();
        Ok(())
    }
}

/// A communicator that the proxy makes; `words` go with the command.
pub fn derive(
    ep: &'static EpComm,
    code: u32,
    words: &[i64],
    fill: impl FnOnce(&mut Record),
) -> Result<Comm, c_int> {
    let words = Words::new(words)?;
    let errhandler = ep.errhandler.load(Ordering::Relaxed);
    let fill = |record: &mut Record| {
        record.lists = words.address();
        fill(record);
    };
    ep.command(code, fill, |record| from_facts(ep.client, ep.proxy, record, errhandler))
}

fn duplicate(
    ep: &'static EpComm,
    name: &'static str,
    info: Info,
    newcomm: *mut Comm,
) -> Result<&'static mut request::Slot, c_int> {
    let slot = request::new(ep, name, op::COMM_DUP, Kind::Transfer)?;
    match Words::of_hints(info) {
        Ok(hints) => slot.attach_hints(hints),
        Err(class) => {
            slot.free();
            return Err(class);
        }
    }
    slot.follow_up = FollowUpWork::Comm(newcomm, ep);
    Ok(slot)
}

on_endpoints! {
    fn [MPI_Comm_dup] (comm: Comm, newcomm: *mut Comm) on comm, ep {
        message::complete(duplicate(ep, NAME, INFO_NULL, newcomm)?, core::ptr::null_mut())
    }
}

on_endpoints! {
    fn [MPI_Comm_dup_with_info] (comm: Comm, info: Info, newcomm: *mut Comm) on comm, ep {
        message::complete(duplicate(ep, NAME, info, newcomm)?, core::ptr::null_mut())
    }
}

on_endpoints! {
    fn [MPI_Comm_idup] (comm: Comm, newcomm: *mut Comm, request: *mut Request) on comm, ep {
        message::start(duplicate(ep, NAME, INFO_NULL, newcomm)?, request);
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_idup_with_info] (comm: Comm, info: Info, newcomm: *mut Comm, request: *mut Request) on comm, ep {
        message::start(duplicate(ep, NAME, info, newcomm)?, request);
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_split] (comm: Comm, color: c_int, key: c_int, newcomm: *mut Comm) on comm, ep {
        if color < 0 && color != UNDEFINED {
            return Err(ERR_ARG);
        }
        *newcomm = derive(ep, op::COMM_SPLIT, &[], |r| r.args[..2].copy_from_slice(&[color.into(), key.into()]))?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_split_type] (comm: Comm, split_type: c_int, key: c_int, info: Info, newcomm: *mut Comm) on comm, ep {
        let hints = Words::of_hints(info)?;
        let fill = |r: &mut Record| {
            r.args[..2].copy_from_slice(&[split_type.into(), key.into()]);
            r.hints = hints.as_ref().map_or(0, Words::address);
        };
        *newcomm = derive(ep, op::COMM_SPLIT_TYPE, &[], fill)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_create] (comm: Comm, group: Group, newcomm: *mut Comm) on comm, ep {
        let ranks = group::world_ranks(group)?;
        *newcomm = derive(ep, op::COMM_CREATE, &ranks, |r| r.args[0] = ranks.len() as i64)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_create_group] (comm: Comm, group: Group, tag: c_int, newcomm: *mut Comm) on comm, ep {
        let ranks = group::world_ranks(group)?;
        if !ranks.contains(&(ep.proxy.world_rank as i64)) {
            *newcomm = COMM_NULL;
            return Ok(());
        }
        let fill = |r: &mut Record| {
            r.args[0] = ranks.len() as i64;
            r.tag = tag;
        };
        *newcomm = derive(ep, op::COMM_CREATE_GROUP, &ranks, fill)?;
        Ok(())
    }
}

mpi! {
    fn MPI_Intercomm_create(
        local_comm: Comm, local_leader: c_int, peer_comm: Comm, remote_leader: c_int, tag: c_int, newintercomm: *mut Comm,
    ) {
        let (local, peer) = (comm::find(local_comm), comm::find(peer_comm));
        let Some(ep) = local else {
            if let Some(peer) = peer {
                return error::answer(peer, "MPI_Intercomm_create", Err(ERR_COMM));
            }
            let (local_comm, peer_comm) = (comm::native(local_comm), comm::native(peer_comm));
            return pmpi::MPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
        };
        let leads = ep.rank == local_leader;
        let make = || {
            // Significant at the leader only, whose endpoint must be the same proxy's on both.
            let through = match peer {
                Some(peer) if peer.proxy.number == ep.proxy.number => peer.native,
                _ if leads => return Err(ERR_COMM),
                _ => COMM_NULL as u64,
            };
            let fill = |r: &mut Record| {
                r.root = local_leader;
                r.tag = tag;
                r.args[..2].copy_from_slice(&[through as i64, remote_leader.into()]);
            };
            derive(ep, op::INTERCOMM_CREATE, &[], fill)
        };
        let result = make().map(|handle| *newintercomm = handle);
        error::answer(ep, "MPI_Intercomm_create", result)
    }
}

on_endpoints! {
    fn [MPI_Intercomm_merge] (comm: Comm, high: c_int, newcomm: *mut Comm) on comm, ep {
        *newcomm = derive(ep, op::INTERCOMM_MERGE, &[], |r| r.args[0] = high.into())?;
        Ok(())
    }
}

mpi! {
    fn MPI_Comm_free(comm: *mut Comm) {
        let Some(ep) = comm::find(*comm) else { return pmpi::MPI_Comm_free(comm) };
        let (handler, handle) = (ep.errhandler.load(Ordering::Relaxed), *comm);
        match free(ep) {
            Ok(()) => {
                *comm = COMM_NULL;
                SUCCESS
            }
            Err(class) => error::raise(handler, handle, "MPI_Comm_free", class),
        }
    }
}

mpi! {
    fn MPI_Comm_disconnect(comm: *mut Comm) {
        let Some(ep) = comm::find(*comm) else { return pmpi::MPI_Comm_disconnect(comm) };
        let (handler, handle) = (ep.errhandler.load(Ordering::Relaxed), *comm);
        // Collective, and behind everything: messages that nobody waited for arrive, and then all let go.
        request::bury_sends();
        let plan = super::collective::Plan::new(op::BARRIER, super::collective::NOTHING, super::collective::NOTHING);
        match super::collective::blocking(ep, "MPI_Comm_disconnect", plan).and_then(|()| free(ep)) {
            Ok(()) => {
                *comm = COMM_NULL;
                SUCCESS
            }
            Err(class) => error::raise(handler, handle, "MPI_Comm_disconnect", class),
        }
    }
}

mpi! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: *mut c_int) {
        let compared = match (comm::find(comm1), comm::find(comm2)) {
            (None, None) => return pmpi::MPI_Comm_compare(comm::native(comm1), comm::native(comm2), result),
            (Some(a), Some(b)) => (a, compare(a, b)),
            (Some(a), None) => (a, compare_conventional(a, comm::native(comm2))),
            (None, Some(b)) => (b, compare_conventional(b, comm::native(comm1))),
        };
        error::answer(compared.0, "MPI_Comm_compare", compared.1.map(|r| *result = r))
    }
}

fn compare(a: &EpComm, b: &EpComm) -> Result<c_int, c_int> {
    if a.handle == b.handle {
        return Ok(IDENT);
    }
    if a.proxy.number == b.proxy.number {
        return a.command(op::COMM_COMPARE, |r| r.args[0] = b.native as i64, |r| Ok(r.out[0] as c_int));
    }
    if a.is_inter() != b.is_inter() {
        return Ok(UNEQUAL);
    }
    let remote = if a.is_inter() { alike(a.members(1)?, b.members(1)?) } else { CONGRUENT };
    Ok(remote.max(alike(a.members(0)?, b.members(0)?)))
}

fn alike(a: &[c_int], b: &[c_int]) -> c_int {
    let sorted = |list: &[c_int]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    if a == b {
        CONGRUENT
    } else if sorted(a) == sorted(b) {
        SIMILAR
    } else {
        UNEQUAL
    }
}

/// One endpoint for each rank of the other communicator is the same set of processes.
fn compare_conventional(ep: &EpComm, other: Comm) -> Result<c_int, c_int> {
    let mut group = GROUP_NULL;
    // SAFETY: a local.
    if unsafe { pmpi::MPI_Comm_group(other, &raw mut group) } != SUCCESS {
        return Err(ERR_COMM);
    }
    let theirs = group::world_ranks(group);
    // SAFETY: made above.
    unsafe { pmpi::MPI_Group_free(&raw mut group) };
    let theirs: Vec<c_int> = theirs?.into_iter().map(|r| r as c_int).collect();
    let job = &ep.client.job;
    let process =
        |proxy: &c_int| job.served(*proxy as usize).map_or(-1, |(client, _)| job.clients[client] as c_int);
    let ours: Vec<c_int> = ep.members(0)?.iter().map(process).collect();
    Ok(if ep.is_inter() { UNEQUAL } else { alike(&ours, &theirs) })
}

on_endpoints! {
    fn [MPI_Comm_set_name] (comm: Comm, comm_name: *const c_char) on comm, ep {
        let name = core::ffi::CStr::from_ptr(comm_name).to_bytes();
        *lock(&ep.name) = name[..name.len().min(MAX_OBJECT_NAME - 1)].to_vec();
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_get_name] (comm: Comm, comm_name: *mut c_char, resultlen: *mut c_int) on comm, ep {
        let name = lock(&ep.name);
        core::ptr::copy_nonoverlapping(name.as_ptr().cast(), comm_name, name.len());
        *comm_name.add(name.len()) = 0;
        *resultlen = name.len() as c_int;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_set_info] (comm: Comm, info: Info) on comm, ep {
        if info == INFO_NULL {
            return Err(ERR_INFO);
        }
        let hints = Words::of_hints(info)?;
        ep.command(op::COMM_SET_INFO, |r| r.hints = hints.as_ref().map_or(0, Words::address), |_| Ok(()))
    }
}

on_endpoints! {
    fn [MPI_Comm_get_info] (comm: Comm, info_used: *mut Info) on comm, ep {
        *info_used = hints_in_use(ep, op::COMM_GET_INFO, |_| (), &[])?;
        Ok(())
    }
}

/// Bytes of hints that a proxy can tell of.
const HINTS: usize = 1 << 16;

/// A new info object with the hints that a proxy answers, and `more` in place of its own.
pub fn hints_in_use(
    ep: &EpComm,
    code: u32,
    fill: impl FnOnce(&mut Record),
    more: &[(&CStr, &CStr)],
) -> Result<Info, c_int> {
    let room = Words::new(&[0; HINTS / 8])?;
    let fill = |r: &mut Record| {
        r.lists = room.address();
        r.args[0] = HINTS as i64;
        fill(r);
    };
    let bytes = ep.command(code, fill, |r| Ok(r.out[0] as usize))?;
    let bytes = room.bytes(bytes.min(HINTS));
    let mut pairs = hints::pairs(&bytes);
    pairs.retain(|(key, _)| more.iter().all(|(k, _)| k != key));
    pairs.extend(more);
    match hints::info_of(&pairs) {
        INFO_NULL => Err(ERR_OTHER),
        info => Ok(info),
    }
}

on_endpoints! {
    fn [MPI_Comm_set_errhandler] (comm: Comm, errhandler: Errhandler) on comm, ep {
        ep.errhandler.store(errhandler, Ordering::Relaxed);
        // Errors of calls without a communicator (MPI 5.0 §9.3) are raised where the library looks for the world's handler.
        if ep.handle == comm::native(COMM_WORLD) && pmpi::MPI_Comm_set_errhandler(COMM_WORLD, errhandler) != SUCCESS {
            return Err(ERR_ARG);
        }
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Comm_get_errhandler] (comm: Comm, errhandler: *mut Errhandler) on comm, ep {
        *errhandler = ep.errhandler.load(Ordering::Relaxed);
        Ok(())
    }
}

// The program may let go of a handler that a communicator of endpoints still uses: its function is kept, and the handle, which
// might be given out again otherwise.
mpi! {
    fn MPI_Errhandler_free(errhandler: *mut Errhandler) {
        if error::is_known(*errhandler) {
            *errhandler = 0x140;
            return SUCCESS;
        }
        pmpi::MPI_Errhandler_free(errhandler)
    }
}

on_endpoints! {
    fn [MPI_Comm_call_errhandler] (comm: Comm, errorcode: c_int) on comm, ep {
        let mut class = errorcode;
        pmpi::MPI_Error_class(errorcode, &raw mut class);
        error::raise(ep.errhandler.load(Ordering::Relaxed), ep.handle, NAME, class);
        Ok(())
    }
}

mpi! {
    fn MPI_Abort(comm: Comm, errorcode: c_int) {
        // The proxies are no part of the communicator, and end with the application.
        let _ = comm;
        pmpi::MPI_Abort(COMM_WORLD, errorcode)
    }
}

// Packed data is the same for every communicator.
fn packing(comm: Comm) -> Comm {
    if comm::find(comm).is_some() { COMM_SELF } else { comm::native(comm) }
}

mpi! {
    fn MPI_Pack(inbuf: *const c_void, incount: c_int, datatype: Datatype, outbuf: *mut c_void, outsize: c_int, position: *mut c_int, comm: Comm) {
        pmpi::MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, packing(comm))
    }
}

mpi! {
    fn MPI_Pack_c(inbuf: *const c_void, incount: i64, datatype: Datatype, outbuf: *mut c_void, outsize: i64, position: *mut i64, comm: Comm) {
        pmpi::MPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position, packing(comm))
    }
}

mpi! {
    fn MPI_Unpack(inbuf: *const c_void, insize: c_int, position: *mut c_int, outbuf: *mut c_void, outcount: c_int, datatype: Datatype, comm: Comm) {
        pmpi::MPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, packing(comm))
    }
}

mpi! {
    fn MPI_Unpack_c(inbuf: *const c_void, insize: i64, position: *mut i64, outbuf: *mut c_void, outcount: i64, datatype: Datatype, comm: Comm) {
        pmpi::MPI_Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, packing(comm))
    }
}

mpi! {
    fn MPI_Pack_size(incount: c_int, datatype: Datatype, comm: Comm, size: *mut c_int) {
        pmpi::MPI_Pack_size(incount, datatype, packing(comm), size)
    }
}

mpi! {
    fn MPI_Pack_size_c(incount: i64, datatype: Datatype, comm: Comm, size: *mut i64) {
        pmpi::MPI_Pack_size_c(incount, datatype, packing(comm), size)
    }
}
