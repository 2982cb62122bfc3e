//! A send and a receive in one call (MPI 5.0 §3.10), blocking and not.

use crate::call::counting;
use crate::call::entry;
use crate::call::memory::write;
use crate::call::operands::{Direction, Operands, check};
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call, raise};
use crate::p2p::{place_of, send};
use crate::request;
use crate::types::{Comm, Count, Datatype, Request, Status};
use core::ffi::c_int;
use oxmpi_pml::mode;
use oxmpi_runtime::host_requests::sendrecv::{Incoming, Outgoing};

type SendPart = ((*const u8, i64, Datatype), c_int, c_int);
type RecvPart = ((*mut u8, i64, Datatype), c_int, c_int);

/// Both at once: the receive is posted, then the message sent, then the receive waited for.
fn sendrecv(
    name: &'static str,
    (outgoing, dest, sendtag): SendPart,
    (incoming, source, recvtag): RecvPart,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    let mut receiving = Request(MPI_REQUEST_NULL);
    let mut object = None;
    let (buf, count, _) = incoming;
    let started = call(name, Some(comm), |process| {
        // Everything is checked before anything is started.
        let (o, _) = check_both((outgoing, dest, sendtag), (incoming, source, recvtag), comm)?;
        object = Some(o.object);
        receiving = if source == MPI_PROC_NULL {
            request::done(process)
        } else {
            let req = o.object.comm.irecv(process.thread(), buf, count as u64, o.desc, source, recvtag)?;
            request::count(req);
            request::give(o.object, req)
        };
        Ok(())
    });
    if started != MPI_SUCCESS {
        return started;
    }
    let sent = send(name, entry::quick_call_context(), outgoing, dest, sendtag, comm, mode::STANDARD);
    let Some(process) = crate::call::process::current() else { return sent };
    let Some(req) = request::find(process, receiving) else { return sent };
    let mut ended = sent;
    if !request::ready(req) {
        if let (MPI_SUCCESS, Some(object)) = (sent, object) {
            ended = call(name, Some(comm), |_| Ok(object.comm.can_come_from(source)?));
        }
        if ended != MPI_SUCCESS {
            // One half was refused: nobody may be left to send, and the buffer is the user's once we return.
            let _ = request::cancel(req);
        }
        process.instance.wait(process.thread(), req.as_ptr());
    }
    // SAFETY: ready; the place is ours, the status the caller's.
    let outcome = unsafe { request::collect(req, &mut receiving, status, process.thread()) };
    if ended != MPI_SUCCESS {
        return ended;
    }
    if outcome.is_err() { raise(name, Some(comm), outcome.failure()) } else { MPI_SUCCESS }
}

mpi_fn! {
    fn MPI_Sendrecv[c_int], MPI_Sendrecv_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, status: *mut Status) -> c_int {
        let outgoing = (sendbuf, sendcount as i64, sendtype);
        let incoming = (recvbuf, recvcount as i64, recvtype);
        sendrecv(NAME, (outgoing, dest, sendtag), (incoming, source, recvtag), comm, status)
    }
}
mpi_fn! {
    /// The outgoing data is packed aside, so that the buffer is free for the incoming.
    fn MPI_Sendrecv_replace[c_int], MPI_Sendrecv_replace_c[Count]<N>(buf: *mut u8, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm, status: *mut Status) -> c_int {
        let data = (buf, count as i64, datatype);
        let mut packed = Vec::new();
        let made = call(NAME, Some(comm), |_| {
            check(Direction::Send, (buf, count as i64, datatype), dest, sendtag, comm)?;
            packed = pack(buf, count as u64, datatype)?;
            Ok(())
        });
        if made != MPI_SUCCESS {
            return made;
        }
        let outgoing = (packed.as_ptr(), packed.len() as i64, Datatype(MPI_PACKED));
        sendrecv(NAME, (outgoing, dest, sendtag), (data, source, recvtag), comm, status)
    }
}

/// A copy of the data as it travels.
fn pack(buf: *const u8, count: u64, datatype: Datatype) -> Res<Vec<u8>> {
    let desc = datatype::require_committed(datatype, "datatype")?;
    let too_much = || Failure::new(MPI_ERR_NO_MEM, "there is no memory for a copy of the message");
    let bytes = desc.packed.checked_mul(count).and_then(|n| usize::try_from(n).ok()).ok_or_else(too_much)?;
    let mut packed = Vec::new();
    packed.try_reserve_exact(bytes).map_err(|_| too_much())?;
    packed.resize(bytes, 0);
    // SAFETY: the user promises the data; `packed` has the bytes it packs to.
    unsafe { oxmpi_datatype::pack(desc, count, buf, 0, packed.as_mut_ptr(), bytes as u64) };
    Ok(packed)
}

/// The operands of the receive, and those of the send.
fn check_both(
    (outgoing, dest, sendtag): SendPart,
    ((buf, count, datatype), source, recvtag): RecvPart,
    comm: Comm,
) -> Res<(Operands, Operands)> {
    let send = check(Direction::Send, outgoing, dest, sendtag, comm)?;
    let recv = check(Direction::Recv, (buf, count, datatype), source, recvtag, comm)?;
    Ok((recv, send))
}

/// One request for both. `kept`: where the outgoing data lies, if not in the user's buffer.
fn isendrecv(send: SendPart, recv: RecvPart, kept: Vec<u8>, comm: Comm, request: *mut Request) -> Res {
    let ((buf, count, _), dest, sendtag) = send;
    let ((into, room, _), source, recvtag) = recv;
    let (r, s) = check_both(send, recv, comm)?;
    place_of(request)?;
    let outgoing = Outgoing { buf, count: count as u64, dtype: s.desc, dst: dest, tag: sendtag };
    let incoming = Incoming { buf: into, count: room as u64, dtype: r.desc, src: source, tag: recvtag };
    let req = r.object.comm.isendrecv(
        r.process.thread(),
        (dest != MPI_PROC_NULL).then_some(outgoing),
        (source != MPI_PROC_NULL).then_some(incoming),
        kept,
    )?;
    if dest != MPI_PROC_NULL {
        counting::sent_bytes(&r.object.comm, (count as u64).saturating_mul(s.desc.packed));
    }
    request::count(req);
    write(request, "request", request::give(r.object, req))
}

mpi_fn! {
    fn MPI_Isendrecv[c_int], MPI_Isendrecv_c[Count]<N>(sendbuf: *const u8, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut u8, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, request: *mut Request) -> c_int {
        let send = ((sendbuf, sendcount as i64, sendtype), dest, sendtag);
        let recv = ((recvbuf, recvcount as i64, recvtype), source, recvtag);
        call(NAME, Some(comm), |_| isendrecv(send, recv, Vec::new(), comm, request))
    }
}
mpi_fn! {
    /// The outgoing data is packed aside and lives with the request.
    fn MPI_Isendrecv_replace[c_int], MPI_Isendrecv_replace_c[Count]<N>(buf: *mut u8, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |_| {
            let data = (buf, count as i64, datatype);
            check_both(((buf, data.1, datatype), dest, sendtag), (data, source, recvtag), comm)?;
            let packed = pack(buf, count as u64, datatype)?;
            let outgoing = (packed.as_ptr(), packed.len() as i64, Datatype(MPI_PACKED));
            isendrecv((outgoing, dest, sendtag), (data, source, recvtag), packed, comm, request)
        })
    }
}
