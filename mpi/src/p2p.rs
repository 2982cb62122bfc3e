//! Messages between two ranks (MPI 5.0 §3): blocking, nonblocking, both at once.

use crate::call::counting::{self, Counter};
use crate::call::entry::CallContext;
use crate::call::memory::write;
use crate::call::operands::{Direction, Operands, check};
use crate::constants::*;
use crate::error::{Failure, Res, call, raise};
use crate::request;
use crate::types::{Comm, Count, Datatype, Request, Status};
use core::ffi::c_int;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, Status as Code};
use oxmpi_pml::mode;

/// An error from below, told to the communicator's handler.
#[cold]
#[inline(never)]
fn failed(name: &'static str, comm: Comm, code: Code) -> c_int {
    raise(name, Some(comm), code.into())
}

#[inline(always)]
pub fn send(
    name: &'static str,
    here: Option<CallContext>,
    (buf, count, datatype): (*const u8, i64, Datatype),
    dest: c_int,
    tag: c_int,
    comm: Comm,
    mode: u32,
) -> c_int {
    if let Some(here) = here
        && let Some(o) = Operands::find(here.process, comm, datatype)
        && o.plain_send(buf, count, dest, tag)
    {
        let code = o.object.comm.send(here.thread, buf, count as u64, o.desc, dest, tag, mode);
        return if code.is_err() { failed(name, comm, code) } else { MPI_SUCCESS };
    }
    slow_send(name, (buf, count), datatype, (dest, tag), comm, mode)
}

#[cold]
#[inline(never)]
fn slow_send(
    name: &'static str,
    (buf, count): (*const u8, i64),
    datatype: Datatype,
    (dest, tag): (c_int, c_int),
    comm: Comm,
    mode: u32,
) -> c_int {
    call(name, Some(comm), |process| {
        let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
        counting::sent(process, &o.object.comm, (name, true), mode, bytes_of(count, o.desc));
        if dest == MPI_PROC_NULL {
            return Ok(());
        }
        crate::error::check(o.object.comm.send(process.thread(), buf, count as u64, o.desc, dest, tag, mode))
    })
}

#[inline(always)]
pub fn isend(
    name: &'static str,
    here: Option<CallContext>,
    (buf, count, datatype): (*const u8, i64, Datatype),
    (dest, tag, comm): (c_int, c_int, Comm),
    mode: u32,
    request: *mut Request,
) -> c_int {
    if let Some(here) = here
        && let Some(o) = Operands::find(here.process, comm, datatype)
        && o.plain_send(buf, count, dest, tag)
        && !request.is_null()
    {
        return match o.object.comm.start_send(here.thread, buf, count as u64, o.desc, dest, tag, mode) {
            Ok(req) => {
                // SAFETY: not null; the caller promises a place for a handle.
                unsafe { *request = request::give_sent(here.process, o.object, req) };
                MPI_SUCCESS
            }
            Err(code) => failed(name, comm, code),
        };
    }
    slow_isend(name, (buf, count), datatype, (dest, tag), comm, mode, request)
}

#[cold]
#[inline(never)]
fn slow_isend(
    name: &'static str,
    (buf, count): (*const u8, i64),
    datatype: Datatype,
    (dest, tag): (c_int, c_int),
    comm: Comm,
    mode: u32,
    request: *mut Request,
) -> c_int {
    call(name, Some(comm), |process| {
        let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
        place_of(request)?;
        counting::sent(process, &o.object.comm, (name, false), mode, bytes_of(count, o.desc));
        if dest == MPI_PROC_NULL {
            return write(request, "request", request::done(process));
        }
        let req = o.object.comm.start_send(process.thread(), buf, count as u64, o.desc, dest, tag, mode)?;
        write(request, "request", request::give_sent(process, o.object, req))
    })
}

/// The payload of a message of so many elements.
fn bytes_of(count: i64, desc: &TypeDesc) -> u64 {
    (count as u64).saturating_mul(desc.packed)
}

/// The result's place is looked at before anything is started.
pub fn place_of(request: *mut Request) -> Res {
    if request.is_null() { Failure::err(MPI_ERR_ARG, "request is a null pointer") } else { Ok(()) }
}

mpi_fn! {
    hot fn MPI_Send[c_int], MPI_Send_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(NAME, here, (buf, count as i64, datatype), dest, tag, comm, mode::STANDARD)
    }
}
mpi_fn! {
    hot fn MPI_Ssend[c_int], MPI_Ssend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(NAME, here, (buf, count as i64, datatype), dest, tag, comm, mode::SYNCHRONOUS)
    }
}
mpi_fn! {
    /// A standard send: where the receive that the program promises is not posted (an error of the program, MPI 5.0
    /// §3.4), the message waits as any other. So do those of MPI_Irsend and MPI_Rsend_init.
    hot fn MPI_Rsend[c_int], MPI_Rsend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) -> c_int |here| {
        send(NAME, here, (buf, count as i64, datatype), dest, tag, comm, mode::READY)
    }
}
mpi_fn! {
    hot fn MPI_Isend[c_int], MPI_Isend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int |here| {
        isend(NAME, here, (buf, count as i64, datatype), (dest, tag, comm), mode::STANDARD, request)
    }
}
mpi_fn! {
    hot fn MPI_Issend[c_int], MPI_Issend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int |here| {
        isend(NAME, here, (buf, count as i64, datatype), (dest, tag, comm), mode::SYNCHRONOUS, request)
    }
}
mpi_fn! {
    hot fn MPI_Irsend[c_int], MPI_Irsend_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int |here| {
        isend(NAME, here, (buf, count as i64, datatype), (dest, tag, comm), mode::READY, request)
    }
}

/// Stores the status of a blocking receive and says what the call returns.
#[inline(always)]
fn received(name: &'static str, comm: Comm, code: Code, result: &MsgStatus, status: *mut Status) -> c_int {
    if code.is_err() {
        return failed(name, comm, code);
    }
    // SAFETY: MPI_STATUS_IGNORE or the caller's status.
    unsafe { Status::store(status, result) };
    if result.error.is_err() { bad_message(name, comm, result) } else { MPI_SUCCESS }
}

#[cold]
#[inline(never)]
fn bad_message(name: &'static str, comm: Comm, result: &MsgStatus) -> c_int {
    raise(name, Some(comm), request::Outcome::of(result, core::ptr::null()).failure())
}

#[inline(always)]
pub fn recv(
    name: &'static str,
    here: Option<CallContext>,
    (buf, count, datatype): (*mut u8, i64, Datatype),
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    if let Some(here) = here
        && let Some(o) = Operands::find(here.process, comm, datatype)
        && o.plain_recv(buf, count, source, tag)
    {
        let mut result = MsgStatus::EMPTY;
        let code = o.object.comm.recv(here.thread, buf, count as u64, o.desc, source, tag, &mut result);
        return received(name, comm, code, &result, status);
    }
    slow_recv(name, (buf, count), datatype, (source, tag), comm, status)
}

#[cold]
#[inline(never)]
fn slow_recv(
    name: &'static str,
    (buf, count): (*mut u8, i64),
    datatype: Datatype,
    (source, tag): (c_int, c_int),
    comm: Comm,
    status: *mut Status,
) -> c_int {
    let mut result = MsgStatus::EMPTY;
    let mut code = Code::OK;
    let checked = call(name, Some(comm), |process| {
        let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
        counting::call(Counter::Recv);
        if source == MPI_PROC_NULL {
            result.source = MPI_PROC_NULL;
        } else {
            let thread = process.thread();
            code = o.object.comm.recv(thread, buf, count as u64, o.desc, source, tag, &mut result);
            if counting::on() {
                counting::received(process, Some(&o.object.comm), result.bytes);
            }
        }
        Ok(())
    });
    if checked == MPI_SUCCESS { received(name, comm, code, &result, status) } else { checked }
}

mpi_fn! {
    hot fn MPI_Recv[c_int], MPI_Recv_c[Count]<N>(buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: *mut Status) -> c_int |here| {
        recv(NAME, here, (buf, count as i64, datatype), source, tag, comm, status)
    }
}
mpi_fn! {
    hot fn MPI_Irecv[c_int], MPI_Irecv_c[Count]<N>(buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int |here| {
        irecv(NAME, here, (buf, count as i64, datatype), (source, tag, comm), request)
    }
}

#[inline(always)]
pub fn irecv(
    name: &'static str,
    here: Option<CallContext>,
    (buf, count, datatype): (*mut u8, i64, Datatype),
    (source, tag, comm): (c_int, c_int, Comm),
    request: *mut Request,
) -> c_int {
    if let Some(here) = here
        && let Some(o) = Operands::find(here.process, comm, datatype)
        && o.plain_recv(buf, count, source, tag)
        && !request.is_null()
    {
        return match o.object.comm.irecv(here.thread, buf, count as u64, o.desc, source, tag) {
            Ok(req) => {
                // SAFETY: not null; the caller promises a place for a handle.
                unsafe { *request = request::give(o.object, req) };
                MPI_SUCCESS
            }
            Err(code) => failed(name, comm, code),
        };
    }
    slow_irecv(name, (buf, count), datatype, (source, tag), comm, request)
}

#[cold]
#[inline(never)]
fn slow_irecv(
    name: &'static str,
    (buf, count): (*mut u8, i64),
    datatype: Datatype,
    (source, tag): (c_int, c_int),
    comm: Comm,
    request: *mut Request,
) -> c_int {
    call(name, Some(comm), |process| {
        let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
        place_of(request)?;
        counting::call(Counter::Irecv);
        if source == MPI_PROC_NULL {
            return write(request, "request", request::done(process));
        }
        let req = o.object.comm.irecv(process.thread(), buf, count as u64, o.desc, source, tag)?;
        request::count(req);
        write(request, "request", request::give(o.object, req))
    })
}
