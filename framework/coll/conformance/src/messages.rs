//! Messages of a call over the net: the services that send, receive and wait.

use crate::net::{Elements, Line};
use crate::view::View;
use core::ptr::without_provenance_mut;
use oxmpi_coll::{CollComm, FIRST_TAG, LAST_TAG};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

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
    let started = match view.lost() {
        Status::OK => view.net.start_send(view.me(), what, line)?,
        error => view.net.start_failure(view.me(), error, line)?,
    };
    Ok((view, started))
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

pub extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    wait(start_send(comm, (buf, count, dtype), to, tag))
}

pub extern "C" fn recv(
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

pub extern "C" fn isend(
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

pub extern "C" fn irecv(
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

pub extern "C" fn send_failure(
    comm: *const CollComm,
    to: u32,
    tag: i32,
    error: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let started = line(comm, to, tag).and_then(|(view, line)| {
        if !error.is_err() {
            view.violation(format!("tells {error}, which is no error"));
        }
        view.net.start_failure(view.me(), error, line)
    });
    hand_out(started, out)
}

pub extern "C" fn wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
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
