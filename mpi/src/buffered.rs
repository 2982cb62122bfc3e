//! Buffered sends and the buffers they use (MPI 5.0 §3.6).
//!
//! A buffered send packs its message into the attached buffer and sends it from there; the call is over
//! then, and the space is free again when the send is complete. Which buffer: the communicator's, or
//! else that of the session it comes from, or else the process's. With MPI_BUFFER_AUTOMATIC the
//! space comes from the heap.
//!
//! A message takes the bytes it packs to and nothing else: what the library must remember of it stands
//! outside the buffer, so MPI_BSEND_OVERHEAD is room to spare. Space is given in the order the standard
//! describes (`oxmpi_runtime::buffer`).
//!
//! **Access.** Everything in a [`Slot`] belongs to the holder of its lock, taken at MULTIPLE
//! only; it is held for the bookkeeping, not while packing or sending. A message gets its place and
//! its number first, and its request when that exists; until then nobody else touches it. `attached`
//! is looked at without the lock, to choose the slot.

use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::counting;
use crate::datatype;
use crate::error::{Failure, On, Res, call, call_on, of_user};
use crate::memory::write;
use crate::operands::{Way, check};
use crate::p2p::place_of;
use crate::process::{self, Process};
use crate::request;
use crate::session;
use crate::types::{Comm, Count, Datatype, Request, Session};
use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{Lock, MsgStatus, RequestHeader, Status as Code, ThreadCtx};
use oxmpi_pml::mode;
use oxmpi_runtime::Instance;
use oxmpi_runtime::buffer::Space;
use oxmpi_runtime::made::{Begin, Body};
use std::collections::VecDeque;
use std::sync::Arc;

/// A place where a buffer can be attached.
#[derive(Default)]
pub struct Slot {
    attached: AtomicBool,
    lock: Lock,
    inner: UnsafeCell<Inner>,
}

// SAFETY: see the module's head.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

#[derive(Default)]
struct Inner {
    buffer: Option<Buffer>,
    /// Oldest first.
    messages: VecDeque<Message>,
    /// Of the newest message.
    number: u64,
}

enum Buffer {
    Users { base: *mut u8, space: Space },
    Automatic,
}

struct Message {
    number: u64,
    place: Place,
    /// Null until the send has begun.
    req: *mut RequestHeader,
}

enum Place {
    Users(u64),
    /// Kept until the send is over.
    Heap {
        _bytes: Vec<u8>,
    },
}

impl Message {
    fn is_over(&self) -> bool {
        // SAFETY: null, or a live request that we keep.
        unsafe { self.req.as_ref() }.is_some_and(|r| r.completion.is_complete())
    }
}

impl Inner {
    /// Gives the space of messages back that are over: the oldest ones, or with `all` any.
    fn clear_up(&mut self, all: bool) {
        while self.messages.front().is_some_and(Message::is_over) {
            if let Some(message) = self.messages.pop_front() {
                self.free(&message);
            }
        }
        if !all {
            return;
        }
        for i in (0..self.messages.len()).rev() {
            if self.messages[i].is_over()
                && let Some(message) = self.messages.remove(i)
            {
                self.free(&message);
            }
        }
    }

    fn free(&mut self, message: &Message) {
        request::give_back(message.req);
        if let (Some(Buffer::Users { space, .. }), Place::Users(at)) = (&mut self.buffer, &message.place) {
            space.give(*at);
        }
    }

    /// A number and a place for a message, if there is room.
    fn take(&mut self, bytes: u64, all: bool) -> Res<Option<(u64, *mut u8)>> {
        self.clear_up(all);
        let (place, at) = match &mut self.buffer {
            None => return Ok(None),
            Some(Buffer::Users { base, space }) => match space.take(bytes.max(1)) {
                Some(at) => (Place::Users(at), base.wrapping_add(at as usize)),
                None => return Ok(None),
            },
            Some(Buffer::Automatic) => {
                let no_memory = || Failure::new(MPI_ERR_NO_MEM, "there is no memory for a buffered message");
                let size = usize::try_from(bytes).map_err(|_| no_memory())?;
                let mut heap = Vec::new();
                heap.try_reserve_exact(size).map_err(|_| no_memory())?;
                let at = heap.as_mut_ptr();
                (Place::Heap { _bytes: heap }, at)
            }
        };
        self.number += 1;
        self.messages.push_back(Message { number: self.number, place, req: null_mut() });
        Ok(Some((self.number, at)))
    }

    fn find(&mut self, number: u64) -> Option<usize> {
        self.messages.binary_search_by_key(&number, |m| m.number).ok()
    }
}

impl Slot {
    fn is_attached(&self) -> bool {
        // SYNC POINT with `attach`; the lock orders everything else.
        self.attached.load(Ordering::Acquire)
    }

    fn with<R>(&self, process: &Process, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.with_lock(process.instance.threaded(), f)
    }
    fn with_lock<R>(&self, threaded: bool, f: impl FnOnce(&mut Inner) -> R) -> R {
        let _guard = self.lock.guard(threaded);
        // SAFETY: the lock is held, or there is one thread; uses do not nest.
        f(unsafe { &mut *self.inner.get() })
    }

    fn attach(&self, process: &Process, buffer: *mut u8, size: i64) -> Res {
        let automatic = buffer as usize == MPI_BUFFER_AUTOMATIC;
        let Ok(bytes) = u64::try_from(size) else {
            return Failure::err(MPI_ERR_ARG, format!("size is {size}"));
        };
        if buffer.is_null() && bytes > 0 {
            return Failure::err(MPI_ERR_BUFFER, format!("buffer is a null pointer, size is {size}"));
        }
        self.with(process, |inner| {
            if inner.buffer.is_some() {
                return Failure::err(MPI_ERR_BUFFER, "a buffer is attached already");
            }
            inner.buffer = Some(match automatic {
                true => Buffer::Automatic,
                false => Buffer::Users { base: buffer, space: Space::new(bytes) },
            });
            // SYNC POINT with `is_attached`.
            self.attached.store(true, Ordering::Release);
            Ok(())
        })
    }

    /// Whether all messages up to this number are over.
    fn is_sent(&self, threaded: bool, number: u64) -> bool {
        self.with_lock(threaded, |inner| {
            inner.clear_up(false);
            inner.messages.front().is_none_or(|m| m.number > number)
        })
    }

    /// Blocks until all messages that are in the buffer now are over.
    pub fn flush(&self, process: &Process) {
        let newest = self.with(process, |inner| inner.number);
        let threaded = || process.instance.threaded();
        process.instance.wait_until(process.thread(), || self.is_sent(threaded(), newest));
    }

    /// Takes the buffer away when all its messages are over. `None`: there is none.
    fn detach(&self, process: &Process) -> Option<(*mut u8, u64)> {
        if !self.attached.swap(false, Ordering::AcqRel) {
            return None;
        }
        self.flush(process);
        let buffer = self.with(process, |inner| inner.buffer.take());
        buffer.map(|buffer| match buffer {
            Buffer::Users { base, space } => (base, space.size()),
            Buffer::Automatic => (MPI_BUFFER_AUTOMATIC as *mut u8, 0),
        })
    }

    /// The object it belongs to goes: the buffer is detached (MPI 5.0 §3.6).
    pub fn empty(&self, process: &Process) {
        self.detach(process);
    }
}

/// The world or a session ends: the buffers of its communicators are detached, and with the last of
/// them the process's.
pub fn finish(process: &Process, user: u64) {
    let alone = process::alone(user);
    for slot in comm::buffers(|object| alone || object.comm.group().session() == user) {
        slot.empty(process);
    }
    if alone {
        process.buffer.empty(process);
    }
}

/// The buffer for sends on a communicator.
fn slot_of<'a>(process: &'a Process, object: &'a CommObject) -> Res<&'a Slot> {
    if object.buffer.is_attached() {
        return Ok(&object.buffer);
    }
    if let Some(slot) = object.session_buffer.get().filter(|slot| slot.is_attached()) {
        return Ok(slot);
    }
    if process.buffer.is_attached() {
        return Ok(&process.buffer);
    }
    Failure::err(MPI_ERR_BUFFER, "no buffer is attached")
}

/// Looks for room while something comes. What was under way at the first is seen by then, for rings hold less; so a program
/// that ran out of room is told of it however much its other threads receive.
const MOST_LOOKS: u32 = 1 << 16;

/// A place for a message. Progress may make room.
fn room(process: &Process, slot: &Slot, bytes: u64) -> Res<(u64, *mut u8)> {
    let mut quiet = false;
    for look in 0.. {
        if let Some(place) = slot.with(process, |inner| inner.take(bytes, look > 0))? {
            return Ok(place);
        }
        if quiet || look == MOST_LOOKS {
            break;
        }
        quiet = process.instance.is_quiet(process.thread());
    }
    Failure::err(MPI_ERR_BUFFER, format!("the attached buffer has no room for {bytes} more bytes"))
}

/// A send whose arguments are good: packs and begins it.
fn send_checked(
    process: &Process,
    object: &CommObject,
    (buf, count, desc): (*const u8, u64, &TypeDesc),
    dest: c_int,
    tag: c_int,
) -> Res {
    let slot = slot_of(process, object)?;
    let too_much = || Failure::new(MPI_ERR_BUFFER, "the message is larger than any buffer");
    let bytes = desc.packed.checked_mul(count).ok_or_else(too_much)?;
    let (number, at) = room(process, slot, bytes)?;
    if bytes > 0 {
        // SAFETY: the user promises the data; the place has the bytes it packs to.
        unsafe { process.instance.pack(desc, count, buf, at) };
    }
    counting::sent_bytes(&object.comm, bytes);
    let packed = datatype::require_committed(Datatype(MPI_PACKED), "datatype")?;
    let sent = object.comm.isend(process.thread(), at, bytes, packed, dest, tag, mode::BUFFERED);
    let req = *sent.as_ref().unwrap_or(&null_mut());
    request::hold(object, req);
    slot.with(process, |inner| {
        let Some(i) = inner.find(number) else { return };
        inner.messages[i].req = req;
        // Most are over at once; one that failed never was.
        if (sent.is_err() || inner.messages[i].is_over())
            && let Some(message) = inner.messages.remove(i)
        {
            inner.free(&message);
        }
    });
    sent.map(|_| ()).map_err(Failure::from)
}

fn bsend(data: (*const u8, i64, Datatype), dest: c_int, tag: c_int, comm: Comm) -> Res {
    let o = check(Way::Send, data, dest, tag, comm)?;
    if dest == MPI_PROC_NULL {
        return Ok(());
    }
    send_checked(o.process, o.object, (data.0, data.1 as u64, o.desc), dest, tag)
}

mpi_fn! {
    fn MPI_Bsend[c_int], MPI_Bsend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int {
        call(NAME, Some(comm), |_| bsend((buf, count as i64, datatype), dest, tag, comm))
    }
}
mpi_fn! {
    /// Over when it returns, as MPI_Bsend: the request is complete from the start.
    fn MPI_Ibsend[c_int], MPI_Ibsend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            place_of(request)?;
            bsend((buf, count as i64, datatype), dest, tag, comm)?;
            write(request, "request", request::done(process))
        })
    }
}

/// A persistent buffered send.
pub struct Persistent {
    object: &'static CommObject,
    buf: *const u8,
    count: u64,
    dtype: TypeRef,
    dest: c_int,
    tag: c_int,
}

impl Persistent {
    /// Sends once more.
    pub fn start(&self) -> Code {
        let Some(process) = process::current() else { return Code::INTERNAL };
        let data = (self.buf, self.count, &*self.dtype);
        match send_checked(process, self.object, data, self.dest, self.tag) {
            Ok(()) => Code::OK,
            Err(failure) => of_user(failure.code),
        }
    }
}

mpi_fn! {
    fn MPI_Bsend_init[c_int], MPI_Bsend_init_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |process| {
            let count = count as i64;
            let o = check(Way::Send, (buf, count, datatype), dest, tag, comm)?;
            place_of(request)?;
            if dest == MPI_PROC_NULL {
                return write(request, "request", request::persistent_done(process, o.object)?);
            }
            // SAFETY: alive, its handle was just looked up.
            let dtype = unsafe { TypeRef::retain(o.desc) };
            let send = Persistent { object: o.object, buf, count: count as u64, dtype, dest, tag };
            let what = crate::own::What::Buffered(send);
            let req = process.done.persistent(&process.instance, o.object, what)?;
            write(request, "request", request::handle_of(req))
        })
    }
}

// ---- attach, detach, flush ----

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
        call_on(NAME, On::Session(session), |process| attach(&session::require(session)?.buffer, process, buffer, size as i64))
    }
}
mpi_fn! {
    fn MPI_Session_detach_buffer[c_int], MPI_Session_detach_buffer_c[Count]<N>(session: Session, buffer_addr: *mut c_void, size: *mut N) -> c_int {
        call_on(NAME, On::Session(session), |process| detach(&session::require(session)?.buffer, process, buffer_addr, size))
    }
}
mpi_fn! {
    fn MPI_Session_flush_buffer(session: Session) -> c_int {
        call_on(NAME, On::Session(session), |process| { session::require(session)?.buffer.flush(process); Ok(()) })
    }
}
mpi_fn! {
    fn MPI_Session_iflush_buffer(session: Session, request: *mut Request) -> c_int {
        call_on(NAME, On::Session(session), |process| iflush(&session::require(session)?.buffer, process, None, request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::class_of;

    /// Errors of MPI survive the way through a request's start.
    #[test]
    fn classes_go_there_and_back() {
        for code in [MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_LASTCODE, 1 << 29] {
            assert_eq!(class_of(of_user(code)), code);
        }
    }
}
