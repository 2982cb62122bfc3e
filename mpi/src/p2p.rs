//! Messages between two ranks (MPI 5.0 §3): blocking, nonblocking, both at once.

use crate::call::counting::{self, Counter};
use crate::call::entry::{Admission, Inside};
use crate::call::memory::{Address, Out, write};
use crate::call::operands::{Direction, Operands, check};
use crate::constants::*;
use crate::error::{Failure, Res, call, raise};
use crate::request::{self, owner::Owner};
use crate::types::{Comm, Count, Datatype, Request, Status};
use core::ffi::c_int;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Entry, MsgStatus, Status as Code};
use oxmpi_pml::mode;
use oxmpi_runtime::{Envelope, RecvBuffer, SendBuffer};

/// Data of a message as the program gives it: where, how many elements, of which type.
pub type Data = (Address, i64, Datatype);

/// Data but for the number of elements: two words, which functions take in registers, while three are laid into memory, also on the way around the call.
type Place = (Address, Datatype);

/// Elements to send, of a type that was looked up.
///
/// # Safety
/// The caller of the C function has promised them, as long as the operation that they are given to takes.
#[inline(always)]
pub unsafe fn outgoing(buf: Address, count: i64, desc: &TypeDesc) -> SendBuffer<'static> {
    // SAFETY: the caller's promise; types stay as long as somebody uses them.
    unsafe { SendBuffer::new(buf.as_ptr(), count as u64, desc) }
}

/// A place to receive into, of a type that was looked up.
///
/// # Safety
/// As for [`outgoing`].
#[inline(always)]
pub unsafe fn incoming(buf: Address, count: i64, desc: &TypeDesc) -> RecvBuffer<'static> {
    // SAFETY: the caller's promise; types stay as long as somebody uses them.
    unsafe { RecvBuffer::new(buf.as_mut_ptr(), count as u64, desc) }
}

/// An error from below, told to the communicator's handler. The call ends with it.
#[cold]
#[inline(never)]
fn failed(mut entry: Entry, name: &'static str, comm: Comm, code: Code) -> c_int {
    raise(&mut entry, name, Some(comm), code.into())
}

#[inline(always)]
pub fn send(
    here: Admission,
    name: &'static str,
    (buf, count, datatype): Data,
    dest: c_int,
    tag: c_int,
    comm: Comm,
    mode: u32,
) -> c_int {
    let inside = match here.quick() {
        Ok(mut here) => {
            if let Some(o) = Operands::find(here.process, comm, datatype)
                && o.plain_send(buf, count, dest, tag)
            {
                // SAFETY: the arguments of a C function, which promises them.
                let data = unsafe { outgoing(buf, count, o.desc) };
                let code = o.object.comm.send(&mut here.entry, data, Envelope::with_mode(dest, tag, mode));
                return if code.is_err() { failed(here.entry, name, comm, code) } else { MPI_SUCCESS };
            }
            here.unusual()
        }
        Err(inside) => inside,
    };
    slow_send(inside, name, (buf, datatype), count, (dest, tag, comm), mode)
}

#[cold]
#[inline(never)]
fn slow_send(
    here: Inside,
    name: &'static str,
    (buf, datatype): Place,
    count: i64,
    (dest, tag, comm): (c_int, c_int, Comm),
    mode: u32,
) -> c_int {
    call(here, name, Some(comm), |process, entry| {
        let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
        counting::sent(process, &o.object.comm, (name, true), mode, bytes_of(count, o.desc));
        if dest == MPI_PROC_NULL {
            return Ok(());
        }
        // SAFETY: the arguments of a C function, which promises them.
        let data = unsafe { outgoing(buf, count, o.desc) };
        crate::error::check(o.object.comm.send(entry, data, Envelope::with_mode(dest, tag, mode)))
    })
}

#[inline(always)]
pub fn isend(
    here: Admission,
    name: &'static str,
    (buf, count, datatype): Data,
    (dest, tag, comm): (c_int, c_int, Comm),
    mode: u32,
    request: Out<Request>,
) -> c_int {
    let inside = match here.quick() {
        Ok(mut here) => {
            if let Some(o) = Operands::find(here.process, comm, datatype)
                && o.plain_send(buf, count, dest, tag)
                && !request.is_null()
            {
                // SAFETY: the arguments of a C function, which promises them until the request is complete.
                let data = unsafe { outgoing(buf, count, o.desc) };
                let to = Envelope::with_mode(dest, tag, mode);
                return match o.object.comm.start_send(&mut here.entry, data, to) {
                    Ok(req) => {
                        request.set(request::give_sent(here.process, o.object, req));
                        MPI_SUCCESS
                    }
                    Err(code) => failed(here.entry, name, comm, code),
                };
            }
            here.unusual()
        }
        Err(inside) => inside,
    };
    slow_isend(inside, name, (buf, datatype), count, (dest, tag, comm), mode, request)
}

#[cold]
#[inline(never)]
fn slow_isend(
    here: Inside,
    name: &'static str,
    (buf, datatype): Place,
    count: i64,
    (dest, tag, comm): (c_int, c_int, Comm),
    mode: u32,
    request: Out<Request>,
) -> c_int {
    call(here, name, Some(comm), |process, entry| {
        let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
        place_of(request)?;
        counting::sent(process, &o.object.comm, (name, false), mode, bytes_of(count, o.desc));
        if dest == MPI_PROC_NULL {
            return write(request, "request", request::done(process));
        }
        // SAFETY: the arguments of a C function, which promises them until the request is complete.
        let data = unsafe { outgoing(buf, count, o.desc) };
        let req = o.object.comm.start_send(entry, data, Envelope::with_mode(dest, tag, mode))?;
        write(request, "request", request::give_sent(process, o.object, req))
    })
}

/// The payload of a message of so many elements.
pub fn bytes_of(count: i64, desc: &TypeDesc) -> u64 {
    (count as u64).saturating_mul(desc.packed)
}

/// The result's place is looked at before anything is started.
pub fn place_of(request: Out<Request>) -> Res {
    if request.is_null() { Failure::err(MPI_ERR_ARG, "request is a null pointer") } else { Ok(()) }
}

mpi_fn! {
    hot fn MPI_Send[c_int], MPI_Send_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(here, NAME, (buf, count as i64, datatype), dest, tag, comm, mode::STANDARD)
    }
}
mpi_fn! {
    hot fn MPI_Ssend[c_int], MPI_Ssend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(here, NAME, (buf, count as i64, datatype), dest, tag, comm, mode::SYNCHRONOUS)
    }
}
mpi_fn! {
    /// A standard send: where the receive that the program promises is not posted (an error of the program, MPI 5.0
    /// §3.4), the message waits as any other. So do those of MPI_Irsend and MPI_Rsend_init.
    hot fn MPI_Rsend[c_int], MPI_Rsend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(here, NAME, (buf, count as i64, datatype), dest, tag, comm, mode::READY)
    }
}
mpi_fn! {
    hot fn MPI_Isend[c_int], MPI_Isend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        isend(here, NAME, (buf, count as i64, datatype), (dest, tag, comm), mode::STANDARD, request)
    }
}
mpi_fn! {
    hot fn MPI_Issend[c_int], MPI_Issend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        isend(here, NAME, (buf, count as i64, datatype), (dest, tag, comm), mode::SYNCHRONOUS, request)
    }
}
mpi_fn! {
    hot fn MPI_Irsend[c_int], MPI_Irsend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        isend(here, NAME, (buf, count as i64, datatype), (dest, tag, comm), mode::READY, request)
    }
}

/// Stores the status of a blocking receive and says what the call returns, which ends with it.
#[inline(always)]
fn received(
    entry: Entry,
    name: &'static str,
    comm: Comm,
    code: Code,
    result: &MsgStatus,
    status: Out<Status>,
) -> c_int {
    if code.is_err() {
        return failed(entry, name, comm, code);
    }
    Status::store(status, result);
    if result.error.is_err() { bad_message(entry, name, comm, result) } else { MPI_SUCCESS }
}

#[cold]
#[inline(never)]
fn bad_message(mut entry: Entry, name: &'static str, comm: Comm, result: &MsgStatus) -> c_int {
    raise(&mut entry, name, Some(comm), request::Outcome::of(result, Owner::NOBODY).failure())
}

#[inline(always)]
pub fn recv(
    here: Admission,
    name: &'static str,
    (buf, count, datatype): Data,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: Out<Status>,
) -> c_int {
    let inside = match here.quick() {
        Ok(mut here) => {
            if let Some(o) = Operands::find(here.process, comm, datatype)
                && o.plain_recv(buf, count, source, tag)
            {
                let mut result = MsgStatus::EMPTY;
                // SAFETY: the arguments of a C function, which promises them.
                let place = unsafe { incoming(buf, count, o.desc) };
                let from = Envelope::new(source, tag);
                let code = o.object.comm.recv(&mut here.entry, place, from, &mut result);
                return received(here.entry, name, comm, code, &result, status);
            }
            here.unusual()
        }
        Err(inside) => inside,
    };
    slow_recv(inside, name, (buf, datatype), count, (source, tag, comm), status)
}

#[cold]
#[inline(never)]
fn slow_recv(
    here: Inside,
    name: &'static str,
    (buf, datatype): Place,
    count: i64,
    (source, tag, comm): (c_int, c_int, Comm),
    status: Out<Status>,
) -> c_int {
    call(here, name, Some(comm), |process, entry| {
        let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
        counting::call(Counter::Recv);
        let mut result = MsgStatus::EMPTY;
        if source == MPI_PROC_NULL {
            result.source = MPI_PROC_NULL;
        } else {
            // SAFETY: the arguments of a C function, which promises them.
            let place = unsafe { incoming(buf, count, o.desc) };
            let code = o.object.comm.recv(entry, place, Envelope::new(source, tag), &mut result);
            if counting::on() {
                counting::received(process, Some(&o.object.comm), result.bytes);
            }
            crate::error::check(code)?;
        }
        Status::store(status, &result);
        match result.error.is_err() {
            true => Err(request::Outcome::of(&result, Owner::NOBODY).failure()),
            false => Ok(()),
        }
    })
}

mpi_fn! {
    hot fn MPI_Recv[c_int], MPI_Recv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: Out<Status>) -> c_int |here| {
        recv(here, NAME, (buf, count as i64, datatype), source, tag, comm, status)
    }
}
mpi_fn! {
    hot fn MPI_Irecv[c_int], MPI_Irecv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        irecv(here, NAME, (buf, count as i64, datatype), (source, tag, comm), request)
    }
}

#[inline(always)]
pub fn irecv(
    here: Admission,
    name: &'static str,
    (buf, count, datatype): Data,
    (source, tag, comm): (c_int, c_int, Comm),
    request: Out<Request>,
) -> c_int {
    let inside = match here.quick() {
        Ok(mut here) => {
            if let Some(o) = Operands::find(here.process, comm, datatype)
                && o.plain_recv(buf, count, source, tag)
                && !request.is_null()
            {
                // SAFETY: the arguments of a C function, which promises them until the request is complete.
                let place = unsafe { incoming(buf, count, o.desc) };
                return match o.object.comm.irecv(&mut here.entry, place, Envelope::new(source, tag)) {
                    Ok(req) => {
                        request.set(request::give(o.object, req));
                        MPI_SUCCESS
                    }
                    Err(code) => failed(here.entry, name, comm, code),
                };
            }
            here.unusual()
        }
        Err(inside) => inside,
    };
    slow_irecv(inside, name, (buf, datatype), count, (source, tag, comm), request)
}

#[cold]
#[inline(never)]
fn slow_irecv(
    here: Inside,
    name: &'static str,
    (buf, datatype): Place,
    count: i64,
    (source, tag, comm): (c_int, c_int, Comm),
    request: Out<Request>,
) -> c_int {
    call(here, name, Some(comm), |process, entry| {
        let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
        place_of(request)?;
        counting::call(Counter::Irecv);
        if source == MPI_PROC_NULL {
            return write(request, "request", request::done(process));
        }
        // SAFETY: the arguments of a C function, which promises them until the request is complete.
        let place = unsafe { incoming(buf, count, o.desc) };
        let req = o.object.comm.irecv(entry, place, Envelope::new(source, tag))?;
        request::count(req);
        write(request, "request", request::give(o.object, req))
    })
}
