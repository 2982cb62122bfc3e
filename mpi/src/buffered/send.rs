//! Buffered sends: a message is packed into a buffer and sent from there.

use super::slot::Slot;
use crate::call::local_requests::{LocalOperation, Persistent};
use crate::call::memory::{Address, Out, write};
use crate::call::operands::{Direction, check};
use crate::call::process::{self, Process};
use crate::call::{counting, entry};
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{Failure, Res, call, of_user};
use crate::p2p::{Data, place_of};
use crate::types::{Comm, Count, Datatype, Request};
use crate::{datatype, request};
use core::ffi::c_int;
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{Entry, Status as Code};
use oxmpi_pml::mode;
use oxmpi_runtime::{Envelope, SendBuffer};

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

/// Most attempts to find room while messages keep arriving. All messages that were under way at the first attempt have been
/// handled after so many, because rings hold less; so a program that ran out of room gets the error even if its other threads
/// receive all the time.
const MOST_LOOKS: u32 = 1 << 16;

/// A place for a message. Progress may make room.
fn room(process: &Process, entry: &mut Entry, slot: &Slot, bytes: u64) -> Res<(u64, *mut u8)> {
    let mut quiet = false;
    for look in 0.. {
        if let Some(place) = slot.with(entry, |inner| inner.take(bytes, look > 0))? {
            return Ok(place);
        }
        if quiet || look == MOST_LOOKS {
            break;
        }
        quiet = process.instance.is_quiescent(entry);
    }
    Failure::err(MPI_ERR_BUFFER, format!("the attached buffer has no room for {bytes} more bytes"))
}

/// A send whose arguments are good: packs and begins it.
fn send_checked(
    (process, entry): (&Process, &mut Entry),
    object: &CommObject,
    (buf, count, desc): (Address, u64, &TypeDesc),
    dest: c_int,
    tag: c_int,
) -> Res {
    let slot = slot_of(process, object)?;
    let too_much = || Failure::new(MPI_ERR_BUFFER, "the message is larger than any buffer");
    let bytes = desc.packed.checked_mul(count).ok_or_else(too_much)?;
    let (number, at) = room(process, entry, slot, bytes)?;
    if bytes > 0 {
        // SAFETY: the user promises the data; the place has the bytes it packs to.
        unsafe { process.instance.pack(desc, count, buf.as_ptr(), at) };
    }
    counting::sent_bytes(&object.comm, bytes);
    let packed = datatype::require_committed(Datatype(MPI_PACKED), "datatype")?;
    // SAFETY: the message's place in the buffer, which is its own until the request is complete.
    let data = unsafe { SendBuffer::new(at, bytes, packed) };
    let sent = object.comm.isend(entry, data, Envelope::with_mode(dest, tag, mode::BUFFERED));
    if let Ok(req) = sent {
        request::hold(object, req);
    }
    slot.with(entry, |inner| {
        let Some(i) = inner.find(number) else { return };
        inner.messages[i].req = sent.ok();
        // Most are over at once; one that failed never was.
        if (sent.is_err() || inner.messages[i].is_over())
            && let Some(message) = inner.messages.remove(i)
        {
            inner.free(&message);
        }
    });
    sent.map(|_| ()).map_err(Failure::from)
}

fn bsend(entry: &mut Entry, data: Data, dest: c_int, tag: c_int, comm: Comm) -> Res {
    let o = check(Direction::Send, data, dest, tag, comm)?;
    if dest == MPI_PROC_NULL {
        return Ok(());
    }
    send_checked((o.process, entry), o.object, (data.0, data.1 as u64, o.desc), dest, tag)
}

mpi_fn! {
    fn MPI_Bsend[c_int], MPI_Bsend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| bsend(entry, (buf, count as i64, datatype), dest, tag, comm))
    }
}
mpi_fn! {
    /// Over when it returns, as MPI_Bsend: the request is complete from the start.
    fn MPI_Ibsend[c_int], MPI_Ibsend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            place_of(request)?;
            bsend(entry, (buf, count as i64, datatype), dest, tag, comm)?;
            write(request, "request", request::done(process))
        })
    }
}

impl Persistent {
    /// Sends once more.
    ///
    /// # Safety
    /// The call that has led here has lent its entry.
    pub unsafe fn start(&self) -> Code {
        let Some(process) = process::current() else { return Code::INTERNAL };
        // SAFETY: the caller's promise.
        let mut entry = unsafe { entry::lent(process) };
        let data = (self.buf, self.count, &*self.dtype);
        match send_checked((process, &mut entry), self.object, data, self.dest, self.tag) {
            Ok(()) => Code::OK,
            Err(failure) => of_user(failure.code),
        }
    }
}

mpi_fn! {
    fn MPI_Bsend_init[c_int], MPI_Bsend_init_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, _| {
            let count = count as i64;
            let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
            place_of(request)?;
            if dest == MPI_PROC_NULL {
                return write(request, "request", request::persistent_done(process, o.object)?);
            }
            // SAFETY: alive, its handle was just looked up.
            let dtype = unsafe { TypeRef::retain(o.desc) };
            let send = Persistent { object: o.object, buf, count: count as u64, dtype, dest, tag };
            let what = LocalOperation::Buffered(send);
            let req = process.done.persistent(&process.instance, o.object, what)?;
            write(request, "request", request::handle_of(req))
        })
    }
}
