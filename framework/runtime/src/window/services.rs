//! The host's services for one window (`WinServices`): messages and collectives on the window's communicator, places,
//! transports, mapped memory, waiting.
//!
//! The first argument is the address of the window's [`WindowData`], which lives as long as the component's module. The window's
//! communicator is used by nobody else: the component's messages have tags from 0 on, the host's collectives those
//! below 0, so they do not meet.

use crate::coll::slot::Slot;
use crate::objects::{Communicator, WindowData};
use oxmpi_btl::Reach;
use oxmpi_coll::CollArgs;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx};
use oxmpi_osc::{Mapped, Outstanding, Place, Predicate, WinServices};
use oxmpi_pml::mode;
use std::ffi::c_void;

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

/// The window a component means.
fn at<'a>(window: *mut c_void) -> &'a WindowData {
    // SAFETY: the component passes `WinComm::comm` of its window, which outlives its module.
    unsafe { &*window.cast::<WindowData>() }
}

/// Stores a value in the component's out pointer and answers OK, or passes the error on.
fn hand_out<T>(value: Result<T, Status>, out: *mut T) -> Status {
    match value {
        Ok(value) => {
            // SAFETY: the component's out pointer.
            unsafe { out.write(value) };
            Status::OK
        }
        Err(status) => status,
    }
}

/// Component service: stores the place of a rank in `out`.
extern "C" fn place(window: *mut c_void, rank: u32, out: *mut Place) -> Status {
    hand_out(at(window).comm.places().get(rank).copied().ok_or(Status::BAD_PARAM), out)
}

/// Component service: stores in `out` the transports by which one-sided operations reach a rank.
extern "C" fn reach(window: *mut c_void, rank: u32, out: *mut SliceRef<Reach>) -> Status {
    let window = at(window);
    let Some(place) = window.comm.places().get(rank) else { return Status::BAD_PARAM };
    hand_out(window.comm.instance().reach_for_rma(place.proc), out)
}

/// Component service: stores in `out` a rank's memory in this address space; NOT_FOUND: it is not mapped.
extern "C" fn mapped(window: *mut c_void, rank: u32, out: *mut Mapped) -> Status {
    hand_out(at(window).mapped(rank).ok_or(Status::NOT_FOUND), out)
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
    let comm = &at(window).comm;
    if dst >= comm.size() || !tag_is_fine(tag) {
        return Status::BAD_PARAM;
    }
    // SAFETY: the component passes a type that is valid during the call.
    let dtype = unsafe { &*dtype };
    hand_out(comm.isend(thread, buf, count, dtype, dst as i32, tag, mode::STANDARD), out)
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
    let comm = &at(window).comm;
    let source = src == oxmpi_pml::ANY_SOURCE || (0..i64::from(comm.size())).contains(&i64::from(src));
    if !source || !(tag == oxmpi_pml::ANY_TAG || tag_is_fine(tag)) {
        return Status::BAD_PARAM;
    }
    // SAFETY: as above.
    let dtype = unsafe { &*dtype };
    let req = comm.can_come_from(src).and_then(|()| comm.irecv(thread, buf, count, dtype, src, tag));
    hand_out(req, out)
}

/// Releases a complete request and stores its status, unless `status` is null; answers the message's error.
fn take(req: *mut RequestHeader, thread: *mut ThreadCtx, status: *mut MsgStatus) -> Status {
    // SAFETY: complete, and the component's until it is released; `status` is null or the component's.
    unsafe {
        let result = (*req).status;
        ((*(*req).ops).release)(req, thread);
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
    at(window).comm.instance().wait(thread, req);
    take(req, thread, status)
}

/// Component service: releases a complete request; PENDING: it is not complete. Makes no progress.
extern "C" fn test(
    _: *mut c_void,
    thread: *mut ThreadCtx,
    req: *mut RequestHeader,
    status: *mut MsgStatus,
) -> Status {
    // SAFETY: a request that `isend` or `irecv` made and that was not released.
    match unsafe { &*req }.completion.is_complete() {
        true => take(req, thread, status),
        false => Status::PENDING,
    }
}

/// Component service: cancels a request, waits until it is complete, and releases it.
extern "C" fn cancel(window: *mut c_void, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status {
    // SAFETY: as above. A request that cannot be cancelled any more completes by itself.
    unsafe { ((*(*req).ops).cancel)(req) };
    wait(window, thread, req, std::ptr::null_mut())
}

/// Component service: makes progress until the predicate answers something else than 0.
extern "C" fn wait_until(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    predicate: Predicate,
    ctx: *mut c_void,
) -> Status {
    at(window).comm.instance().wait_until(thread, || predicate(ctx) != 0);
    Status::OK
}

/// Component service: makes progress on the contexts that `outstanding` names until it names none.
extern "C" fn wait_contexts(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    outstanding: Outstanding,
    ctx: *mut c_void,
) -> Status {
    at(window).comm.instance().wait_contexts(thread, || outstanding(ctx));
    Status::OK
}

/// Component service: makes one turn of progress and returns the number of events.
extern "C" fn progress(window: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    at(window).comm.instance().poll(thread)
}

/// Runs a collective on the window's communicator.
fn run(comm: &Communicator, slot: Slot, thread: *mut ThreadCtx, args: &CollArgs) -> Status {
    comm.coll.run(slot, comm, thread, args)
}

/// Component service: barrier of the window's ranks.
extern "C" fn barrier(window: *mut c_void, thread: *mut ThreadCtx) -> Status {
    run(&at(window).comm, Slot::Barrier, thread, &CollArgs::NONE)
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
    let comm = &at(window).comm;
    run(comm, Slot::Allgather, thread, &of_bytes(comm, mine, bytes, all))
}

/// Component service: sends `bytes` bytes to each rank and receives as many from each.
extern "C" fn alltoall(
    window: *mut c_void,
    thread: *mut ThreadCtx,
    to: *const u8,
    bytes: u64,
    from: *mut u8,
) -> Status {
    let comm = &at(window).comm;
    run(comm, Slot::Alltoall, thread, &of_bytes(comm, to, bytes, from))
}

/// Component service: the least of the statuses that all ranks give; PEER_FAILED: the exchange failed.
extern "C" fn agree(window: *mut c_void, thread: *mut ThreadCtx, own: Status) -> Status {
    at(window).comm.least(thread, own).unwrap_or(Status::PEER_FAILED)
}

/// Component service: the datatype of a byte.
extern "C" fn byte_type(window: *mut c_void) -> *const TypeDesc {
    at(window).comm.instance().byte_type()
}
