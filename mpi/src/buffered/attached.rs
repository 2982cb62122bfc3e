//! Buffers are attached, flushed and detached: that of the process, of a communicator, of a session.

use super::slot::Slot;
use crate::call::memory::write;
use crate::call::process::Process;
use crate::call::users;
use crate::comm::lifetime::buffers;
use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::p2p::place_of;
use crate::types::{Comm, Count, Request, Session};
use crate::{request, session};
use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use oxmpi_mca::{MsgStatus, ThreadCtx};
use oxmpi_runtime::Instance;
use oxmpi_runtime::host_requests::{Begin, Body};
use std::sync::Arc;

/// The world or a session ends: the buffers of its communicators are detached, and with the last of
/// them the process's.
pub fn finish(process: &Process, user: u64) {
    let alone = users::alone(user);
    for slot in buffers(|object| alone || object.comm.group().session() == user) {
        slot.empty(process);
    }
    if alone {
        process.buffer.empty(process);
    }
}

fn attach(slot: &Slot, process: &Process, buffer: *mut c_void, size: i64) -> Res {
    slot.attach(process, buffer.cast(), size)
}

/// `addr` points to a pointer, whatever its type says.
fn detach<N: TryFrom<u64> + From<i16>>(
    slot: &Slot,
    process: &Process,
    addr: *mut c_void,
    size: *mut N,
) -> Res {
    if addr.is_null() || size.is_null() {
        return Failure::err(MPI_ERR_ARG, "buffer_addr or size is a null pointer");
    }
    let Some((base, bytes)) = slot.detach(process) else {
        return Failure::err(MPI_ERR_BUFFER, "no buffer is attached");
    };
    const UNDEFINED: i16 = MPI_UNDEFINED as i16;
    // SAFETY: not null; the caller promises a place for a pointer, of any alignment.
    unsafe { addr.cast::<*mut u8>().write_unaligned(base) };
    write(size, "size", N::try_from(bytes).unwrap_or_else(|_| N::from(UNDEFINED)))
}

/// A flush that goes on behind a request.
#[derive(Default)]
struct Flush {
    slot: UnsafeCell<Option<Arc<Slot>>>,
    number: Cell<u64>,
}

// SAFETY: filled before anybody else has it, read under the lane's lock then (`oxmpi_runtime::made`).
unsafe impl Sync for Flush {}
// SAFETY: as above.
unsafe impl Send for Flush {}

impl Body for Flush {
    fn advance(&self, instance: &Instance, _: *mut ThreadCtx) -> Option<MsgStatus> {
        // SAFETY: filled for good.
        let slot = unsafe { &*self.slot.get() }.as_ref();
        let sent = slot.is_none_or(|slot| slot.is_sent(instance.threaded(), self.number.get()));
        sent.then_some(MsgStatus::EMPTY)
    }
    fn reset(&self) {
        // SAFETY: nobody else has it any more.
        unsafe { *self.slot.get() = None };
    }
}

fn iflush(
    slot: &Arc<Slot>,
    process: &Process,
    on: Option<&'static CommObject>,
    request: *mut Request,
) -> Res {
    place_of(request)?;
    let newest = slot.with(process, |inner| inner.number);
    if slot.is_sent(process.instance.threaded(), newest) {
        return write(request, "request", request::done(process));
    }
    let fill = |flush: &Flush| {
        // SAFETY: nobody else has it yet.
        unsafe { *flush.slot.get() = Some(slot.clone()) };
        flush.number.set(newest);
    };
    let made = process.instance.make_request(process.thread(), fill)?;
    process.instance.begin_request(made, Begin::Pending);
    let handle = match on {
        Some(object) => request::give(object, made.handle()),
        None => request::give_alone(made.handle()),
    };
    write(request, "request", handle)
}

mpi_fn! {
    fn MPI_Buffer_attach[c_int], MPI_Buffer_attach_c[Count]<N>(buffer: *mut c_void, size: N) -> c_int {
        call(NAME, None, |process| attach(&process.buffer, process, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Buffer_detach[c_int], MPI_Buffer_detach_c[Count]<N>(buffer_addr: *mut c_void, size: *mut N) -> c_int {
        call(NAME, None, |process| detach(&process.buffer, process, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Buffer_flush() -> c_int {
        call(NAME, None, |process| { process.buffer.flush(process); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Buffer_iflush(request: *mut Request) -> c_int {
        call(NAME, None, |process| iflush(&process.buffer, process, None, request))
    }
}
mpi_fn! {
    fn MPI_Comm_attach_buffer[c_int], MPI_Comm_attach_buffer_c[Count]<N>(comm: Comm, buffer: *mut c_void, size: N) -> c_int {
        call(NAME, Some(comm), |process| attach(&comm::require(comm)?.buffer, process, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Comm_detach_buffer[c_int], MPI_Comm_detach_buffer_c[Count]<N>(comm: Comm, buffer_addr: *mut c_void, size: *mut N) -> c_int {
        call(NAME, Some(comm), |process| detach(&comm::require(comm)?.buffer, process, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Comm_flush_buffer(comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| { comm::require(comm)?.buffer.flush(process); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Comm_iflush_buffer(comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            let object = comm::require(comm)?;
            iflush(&object.buffer, process, Some(object), request)
        })
    }
}

mpi_fn! {
    fn MPI_Session_attach_buffer[c_int], MPI_Session_attach_buffer_c[Count]<N>(session: Session, buffer: *mut c_void, size: N) -> c_int {
        call_on(NAME, ErrorObject::Session(session), |process| attach(&session::require(session)?.buffer, process, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Session_detach_buffer[c_int], MPI_Session_detach_buffer_c[Count]<N>(session: Session, buffer_addr: *mut c_void, size: *mut N) -> c_int {
        call_on(NAME, ErrorObject::Session(session), |process| detach(&session::require(session)?.buffer, process, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Session_flush_buffer(session: Session) -> c_int {
        call_on(NAME, ErrorObject::Session(session), |process| { session::require(session)?.buffer.flush(process); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Session_iflush_buffer(session: Session, request: *mut Request) -> c_int {
        call_on(NAME, ErrorObject::Session(session), |process| iflush(&session::require(session)?.buffer, process, None, request))
    }
}
