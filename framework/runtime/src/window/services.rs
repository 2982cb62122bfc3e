//! The host's services for one window (`WinServices`): messages and collectives on the window's communicator, places,
//! transports, mapped memory, waiting.
//!
//! The first argument is the address of the window's [`WindowData`], which lives as long as the component's module. The window's
//! communicator is used by nobody else: the component's messages have tags from 0 on, the host's collectives those
//! below 0, so they do not meet.

use crate::message::{Envelope, RecvBuffer, SendBuffer};
use crate::objects::{Communicator, WindowData};
use crate::request::Header;
use oxmpi_btl::Reach;
use oxmpi_coll::CollArgs;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx};
use oxmpi_osc::{Mapped, Outstanding, Place, Predicate, WinServices};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The table of services that a one-sided component gets for a window.
pub(super) fn services() -> *const WinServices {
    const SERVICES: &WinServices = &WinServices {
        size: size_of::<WinServices>() as u32,
        reserved: 0,
        place,
        reach,
        mapped,
        isend,
        irecv,
        wait,
        test,
        cancel,
        wait_until,
        progress,
        barrier,
        allgather,
        alltoall,
        agree,
        byte_type,
        wait_contexts,
    };
    SERVICES
}

/// The window that a component means.
macro_rules! at {
    ($window:expr) => {
        // SAFETY: the component passes `WinComm::comm` of its window, which outlives its module.
        unsafe { &*$window.cast::<WindowData>() }
    };
}
/// The communicator of the window that a component means.
macro_rules! comm {
    ($window:expr) => {
        &at!($window).comm
    };
}
/// The way in of a component's call.
macro_rules! entry {
    ($comm:expr, $thread:expr) => {
        // SAFETY: a call from inside a verb or a turn, thus inside the gate, whose entry is lent for it; made once for each.
        &mut unsafe { $comm.instance().entry($thread) }
    };
}
/// A request that a component got here and did not give back.
macro_rules! request {
    ($req:expr) => {
        // SAFETY: `isend` or `irecv` made it, never null; it lies in a pool of the instance's.
        unsafe { Header::new(NonNull::new_unchecked($req)) }
    };
}

/// Stores a value in the component's out pointer and answers OK, or passes the error on.
macro_rules! hand_out {
    ($value:expr, $out:expr) => {
        match $value {
            Ok(value) => {
                // SAFETY: the component's out pointer.
                unsafe { $out.write(value) };
                Status::OK
            }
            Err(status) => status,
        }
    };
}

/// Component service: stores the place of a rank in `out`.
extern "C" fn place(window: *mut c_void, rank: u32, out: *mut Place) -> Status {
    hand_out!(comm!(window).places().get(rank).copied().ok_or(Status::BAD_PARAM), out)
}

/// Component service: stores in `out` the transports by which one-sided operations reach a rank.
extern "C" fn reach(window: *mut c_void, rank: u32, out: *mut SliceRef<Reach>) -> Status {
    let comm = comm!(window);
    let Some(place) = comm.places().get(rank) else { return Status::BAD_PARAM };
    hand_out!(comm.instance().reach_for_rma(place.proc), out)
}

/// Component service: stores in `out` a rank's memory in this address space; NOT_FOUND: it is not mapped.
extern "C" fn mapped(window: *mut c_void, rank: u32, out: *mut Mapped) -> Status {
    let data: &WindowData = at!(window);
    let found = data.mapped(rank).ok_or(Status::NOT_FOUND);
    hand_out!(found, out)
}

/// Whether a tag is one of the component's, 0 to 32767.
fn tag_is_fine(tag: i32) -> bool {
    (0..=32767).contains(&tag)
}

/// Component service: starts a standard send on the window's communicator and stores its request in `out`.
extern "C" fn isend(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let comm = comm!(window);
    if dst >= comm.size() || !tag_is_fine(tag) {
        return Status::BAD_PARAM;
    }
    // SAFETY: the component passes a type that is valid during the call, and elements that stay until the request is complete.
    let data = unsafe { SendBuffer::new(buf, count, &*dtype) };
    let req = comm.isend(entry!(comm, thread), data, Envelope::new(dst as i32, tag));
    hand_out!(req.map(Header::as_ptr), out)
}

/// Component service: starts a receive on the window's communicator and stores its request in `out`.
extern "C" fn irecv(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: i32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let comm = comm!(window);
    let source = src == oxmpi_pml::ANY_SOURCE || (0..i64::from(comm.size())).contains(&i64::from(src));
    if !source || !(tag == oxmpi_pml::ANY_TAG || tag_is_fine(tag)) {
        return Status::BAD_PARAM;
    }
    // SAFETY: the component passes a type that is valid during the call, and a place that stays its own until the request is complete.
    let place = unsafe { RecvBuffer::new(buf, count, &*dtype) };
    let req = comm.can_come_from(src);
    let req = req.and_then(|()| comm.irecv(entry!(comm, thread), place, Envelope::new(src, tag)));
    hand_out!(req.map(Header::as_ptr), out)
}

/// Releases a complete request and stores its status, unless `status` is null; answers the message's error.
///
/// # Safety
/// The request is complete, and the component's until it is released; `status` is null or the component's.
unsafe fn take(req: Header, entry: &mut Entry, status: *mut MsgStatus) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        let result = req.status();
        req.release(entry);
        if !status.is_null() {
            status.write(result);
        }
        result.error
    }
}

/// Component service: waits for a request and releases it.
extern "C" fn wait(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    req: *mut RequestHeader,
    status: *mut MsgStatus,
) -> Status {
    let (comm, req) = (comm!(window), request!(req));
    let entry = entry!(comm, thread);
    comm.instance().wait(entry, req);
    // SAFETY: complete; the component passes its request and its place.
    unsafe { take(req, entry, status) }
}

/// Component service: releases a complete request; PENDING: it is not complete. Makes no progress.
extern "C" fn test(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    req: *mut RequestHeader,
    status: *mut MsgStatus,
) -> Status {
    let (comm, req) = (comm!(window), request!(req));
    let entry = entry!(comm, thread);
    match req.is_complete() {
        // SAFETY: complete; the component passes its request and its place.
        true => unsafe { take(req, entry, status) },
        false => Status::PENDING,
    }
}

/// Component service: cancels a request, waits until it is complete, and releases it.
extern "C" fn cancel(window: *mut c_void, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status {
    let (comm, req) = (comm!(window), request!(req));
    let entry = entry!(comm, thread);
    // SAFETY: the component's. One that cannot be cancelled any more completes by itself.
    let _ = unsafe { req.cancel(entry) };
    comm.instance().wait(entry, req);
    // SAFETY: complete; the component passes its request.
    unsafe { take(req, entry, std::ptr::null_mut()) }
}

/// Component service: makes progress until the predicate answers something else than 0.
extern "C" fn wait_until(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    predicate: Predicate,
    ctx: *mut c_void,
) -> Status {
    let comm = comm!(window);
    comm.instance().wait_until(entry!(comm, thread), |_| predicate(ctx) != 0);
    Status::OK
}

/// Component service: makes progress on the contexts that `outstanding` names until it names none.
extern "C" fn wait_contexts(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    outstanding: Outstanding,
    ctx: *mut c_void,
) -> Status {
    let comm = comm!(window);
    comm.instance().wait_contexts(entry!(comm, thread), || outstanding(ctx));
    Status::OK
}

/// Component service: makes one turn of progress and returns the number of events.
extern "C" fn progress(window: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    let comm = comm!(window);
    comm.instance().poll(entry!(comm, thread))
}

/// Component service: barrier of the window's ranks.
extern "C" fn barrier(window: *mut c_void, thread: *mut ThreadCtx) -> Status {
    let comm = comm!(window);
    let entry = entry!(comm, thread);
    // SAFETY: it has no data.
    unsafe { comm.barrier(entry, &CollArgs::NONE) }
}

/// Arguments of a collective that takes `bytes` for each rank and gives as many from each.
fn of_bytes(comm: &Communicator, from: *const u8, bytes: u64, to: *mut u8) -> CollArgs {
    let byte = comm.instance().byte_type();
    CollArgs {
        sendbuf: from,
        sendcount: bytes,
        sendtype: byte,
        recvbuf: to,
        recvcount: bytes,
        recvtype: byte,
        ..CollArgs::NONE
    }
}

/// Component service: gathers `bytes` bytes of each rank at all ranks.
extern "C" fn allgather(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    mine: *const u8,
    bytes: u64,
    all: *mut u8,
) -> Status {
    let comm = comm!(window);
    let entry = entry!(comm, thread);
    // SAFETY: the component's bytes, and room for those of all ranks.
    unsafe { comm.allgather(entry, &of_bytes(comm, mine, bytes, all)) }
}

/// Component service: sends `bytes` bytes to each rank and receives as many from each.
extern "C" fn alltoall(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    to: *const u8,
    bytes: u64,
    from: *mut u8,
) -> Status {
    let comm = comm!(window);
    let entry = entry!(comm, thread);
    // SAFETY: the component's bytes for all ranks, and room for those of all.
    unsafe { comm.alltoall(entry, &of_bytes(comm, to, bytes, from)) }
}

/// Component service: the least of the statuses that all ranks give; PEER_FAILED: the exchange failed.
extern "C" fn agree(window: *mut c_void, thread: *mut ThreadCtx, own: Status) -> Status {
    let comm = comm!(window);
    comm.least(entry!(comm, thread), own).unwrap_or(Status::PEER_FAILED)
}

/// Component service: the datatype of a byte.
extern "C" fn byte_type(window: *mut c_void) -> *const TypeDesc {
    comm!(window).instance().byte_type()
}
