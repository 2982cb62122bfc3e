//! Buffers are attached, flushed and detached: that of the process, of a communicator, of a session.

use super::slot::Slot;
use crate::call::memory::{Address, Out, write};
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
use core::ffi::c_int;
use oxmpi_mca::{Entry, MsgStatus};
use oxmpi_runtime::Instance;
use oxmpi_runtime::host_requests::{Begin, Body};
use std::sync::Arc;

/// The world or a session ends: the buffers of its communicators are detached, and with the last of
/// them the process's.
pub fn finish(process: &Process, entry: &mut Entry, user: u64) {
    let alone = users::alone(entry, user);
    for slot in buffers(|object| alone || object.comm.group().session() == user) {
        slot.empty(process, entry);
    }
    if alone {
        process.buffer.empty(process, entry);
    }
}

fn attach(slot: &Slot, entry: &Entry, buffer: Address, size: i64) -> Res {
    slot.attach(entry, buffer, size)
}

/// `addr` points to a pointer, whatever its type says.
fn detach<N: TryFrom<u64> + From<i16>>(
    slot: &Slot,
    process: &Process,
    entry: &mut Entry,
    addr: Address,
    size: Out<N>,
) -> Res {
    if addr.is_null() || size.is_null() {
        return Failure::err(MPI_ERR_ARG, "buffer_addr or size is a null pointer");
    }
    let Some((base, bytes)) = slot.detach(process, entry) else {
        return Failure::err(MPI_ERR_BUFFER, "no buffer is attached");
    };
    const UNDEFINED: i16 = MPI_UNDEFINED as i16;
    // SAFETY: not null; the caller of the C function promises a place for a pointer, of any alignment.
    unsafe { addr.as_mut_ptr().cast::<usize>().write_unaligned(base) };
    write(size, "size", N::try_from(bytes).unwrap_or_else(|_| N::from(UNDEFINED)))
}

/// A flush that goes on behind a request.
#[derive(Default)]
struct Flush {
    slot: UnsafeCell<Option<Arc<Slot>>>,
    number: Cell<u64>,
}

// SAFETY: filled before anybody else has it, read under the lock of the request's pool then (`oxmpi_runtime::host_requests`).
unsafe impl Sync for Flush {}
// SAFETY: a slot and a number belong to no thread.
unsafe impl Send for Flush {}

impl Body for Flush {
    fn advance(&self, _: &Instance, entry: &mut Entry) -> Option<MsgStatus> {
        // SAFETY: filled for good.
        let slot = unsafe { &*self.slot.get() }.as_ref();
        let sent = slot.is_none_or(|slot| slot.is_sent(entry, self.number.get()));
        sent.then_some(MsgStatus::EMPTY)
    }
    fn reset(&self, _: &mut Entry) {
        // SAFETY: nobody else has it any more.
        unsafe { *self.slot.get() = None };
    }
}

fn iflush(
    slot: &Arc<Slot>,
    (process, entry): (&Process, &mut Entry),
    on: Option<&'static CommObject>,
    request: Out<Request>,
) -> Res {
    place_of(request)?;
    let newest = slot.with(entry, |inner| inner.number);
    if slot.is_sent(entry, newest) {
        return write(request, "request", request::done(process));
    }
    let fill = |flush: &Flush| {
        // SAFETY: nobody else has it yet.
        unsafe { *flush.slot.get() = Some(slot.clone()) };
        flush.number.set(newest);
    };
    let made = process.instance.make_request(entry, fill)?;
    process.instance.begin_request(entry, made, Begin::Pending);
    let handle = match on {
        Some(object) => request::give(object, made.handle()),
        None => request::give_alone(made.handle()),
    };
    write(request, "request", handle)
}

mpi_fn! {
    fn MPI_Buffer_attach[c_int], MPI_Buffer_attach_c[Count]<N>(buffer: Address, size: N) -> c_int |here| {
        call(here, NAME, None, |process, entry| attach(&process.buffer, entry, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Buffer_detach[c_int], MPI_Buffer_detach_c[Count]<N>(buffer_addr: Address, size: Out<N>) -> c_int |here| {
        call(here, NAME, None, |process, entry| detach(&process.buffer, process, entry, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Buffer_flush() -> c_int |here| {
        call(here, NAME, None, |process, entry| { process.buffer.flush(process, entry); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Buffer_iflush(request: Out<Request>) -> c_int |here| {
        call(here, NAME, None, |process, entry| iflush(&process.buffer, (process, entry), None, request))
    }
}
mpi_fn! {
    fn MPI_Comm_attach_buffer[c_int], MPI_Comm_attach_buffer_c[Count]<N>(comm: Comm, buffer: Address, size: N) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| attach(&comm::require(comm)?.buffer, entry, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Comm_detach_buffer[c_int], MPI_Comm_detach_buffer_c[Count]<N>(comm: Comm, buffer_addr: Address, size: Out<N>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| detach(&comm::require(comm)?.buffer, process, entry, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Comm_flush_buffer(comm: Comm) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| { comm::require(comm)?.buffer.flush(process, entry); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Comm_iflush_buffer(comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = comm::require(comm)?;
            iflush(&object.buffer, (process, entry), Some(object), request)
        })
    }
}

mpi_fn! {
    fn MPI_Session_attach_buffer[c_int], MPI_Session_attach_buffer_c[Count]<N>(session: Session, buffer: Address, size: N) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |_, entry| attach(&session::require(session)?.buffer, entry, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Session_detach_buffer[c_int], MPI_Session_detach_buffer_c[Count]<N>(session: Session, buffer_addr: Address, size: Out<N>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, entry| detach(&session::require(session)?.buffer, process, entry, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Session_flush_buffer(session: Session) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, entry| { session::require(session)?.buffer.flush(process, entry); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Session_iflush_buffer(session: Session, request: Out<Request>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, entry| iflush(&session::require(session)?.buffer, (process, entry), None, request))
    }
}
