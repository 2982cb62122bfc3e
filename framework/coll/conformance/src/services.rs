//! The services that a component's communicator has: messages over the net. Those for plans answer NOT_SUPPORTED here, as the
//! contract says.

use crate::net::{Elements, Line};
use crate::nodes::{self, View};
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use oxmpi_coll::{CollComm, CollServices, FIRST_TAG, LAST_TAG, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

pub const SERVICES: CollServices = CollServices {
    size: size_of::<CollServices>() as u32,
    reserved: 0,
    send,
    recv,
    isend,
    irecv,
    wait_all,
    memory: in_plans::memory,
    pack: in_plans::pack,
    unpack: in_plans::unpack,
    copy: in_plans::copy,
    reduce: in_plans::reduce,
    step: in_plans::step,
    place: nodes::place,
    node_memory: nodes::node_memory,
    peer_read: nodes::peer_read,
    peer_write: nodes::peer_write,
    peer_pointer: nodes::peer_pointer,
    wait_word: nodes::wait_word,
    sub_comm: nodes::sub_comm,
    sub_view: nodes::sub_view,
    call: nodes::call,
};

mod in_plans {
    use super::*;

    macro_rules! in_plans {
        ($($name:ident($($t:ty),*);)*) => {
            $(pub extern "C" fn $name(_: *const CollComm $(, _: $t)*) -> Status {
                Status::NOT_SUPPORTED
            })*
        };
    }
    in_plans! {
        memory(u64, *mut *mut u8);
        pack(*const TypeDesc, u64, *const u8, u64, *mut u8, u64);
        unpack(*const TypeDesc, u64, *mut u8, u64, *const u8, u64);
        copy(*const TypeDesc, u64, *const u8, *mut u8);
        reduce(*const TypeDesc, u64, *const u8, *mut u8);
        step(StepFn, *mut c_void);
    }
}

/// A message of a call: the rank's view and what it names. Peer and tag are checked.
pub fn line(comm: *const CollComm, peer: u32, tag: i32) -> Result<(&'static View, Line), Status> {
    let view = View::of(comm);
    view.is_not_asked("messages");
    let Some(&peer) = view.peers.get(peer as usize) else {
        view.violation(format!("a message with rank {peer} of {}", view.peers.len()));
        return Err(Status::BAD_PARAM);
    };
    if !(LAST_TAG..=FIRST_TAG).contains(&tag) {
        view.violation(format!("tag {tag} is not of collectives"));
        return Err(Status::BAD_PARAM);
    }
    Ok((view, Line { peer, context: view.context, tag }))
}

/// Requests travel as numbers, from 1 on; nobody but us looks behind the pointer.
fn hand_out(request: Result<usize, Status>, out: *mut *mut RequestHeader) -> Status {
    match request {
        Ok(id) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = without_provenance_mut(8 * (id + 1)) };
            Status::OK
        }
        Err(status) => status,
    }
}

fn start_send(
    comm: *const CollComm,
    what: Elements,
    to: u32,
    tag: i32,
) -> Result<(&'static View, usize), Status> {
    let (view, line) = line(comm, to, tag)?;
    Ok((view, view.net.start_send(view.me(), what, line)?))
}

fn start_recv(
    comm: *const CollComm,
    what: Elements,
    from: u32,
    tag: i32,
) -> Result<(&'static View, usize), Status> {
    let (view, line) = line(comm, from, tag)?;
    Ok((view, view.net.start_recv(view.me(), what, line)?))
}

fn wait(started: Result<(&'static View, usize), Status>) -> Status {
    started.map_or_else(|status| status, |(view, id)| view.net.wait(view.me(), id))
}

extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    wait(start_send(comm, (buf, count, dtype), to, tag))
}

extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    let done = wait(start_recv(comm, (buf, count, dtype), from, tag));
    if !status.is_null() {
        // SAFETY: the component's out pointer and type.
        unsafe {
            let bytes = (*dtype).packed * count;
            *status = MsgStatus { source: from as i32, tag, error: done, bytes, ..MsgStatus::EMPTY };
        }
    }
    done
}

extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(start_send(comm, (buf, count, dtype), to, tag).map(|(_, id)| id), out)
}

extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(start_recv(comm, (buf, count, dtype), from, tag).map(|(_, id)| id), out)
}

extern "C" fn wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
    let view = View::of(comm);
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component's array.
    let requests = unsafe { core::slice::from_raw_parts(requests, n) };
    let all = requests.iter().map(|request| match (request.addr() / 8).checked_sub(1) {
        Some(id) => view.net.wait(view.me(), id),
        None => {
            view.violation("waited for a request that is null".into());
            Status::BAD_PARAM
        }
    });
    all.fold(Status::OK, |first, next| if first.is_err() { first } else { next })
}
