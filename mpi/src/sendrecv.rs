//! A send and a receive in one call (MPI 5.0 §3.10), blocking and not.

use crate::call::counting;
use crate::call::entry::Inside;
use crate::call::memory::{Address, Out, write};
use crate::call::operands::{Direction, Operands, check};
use crate::call::process::Process;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call, raise};
use crate::p2p::{Data, bytes_of, incoming, outgoing, place_of};
use crate::request;
use crate::types::{Comm, Count, Datatype, Request, Status};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_pml::mode;
use oxmpi_runtime::Envelope;

/// Data, partner and tag of one of the two messages.
type Part = (Data, c_int, c_int);

/// Both at once: the receive is posted, then the message sent, then the receive waited for. A failure behind the checks was told to the error handler;
/// its code is the result.
fn sendrecv(
    (process, entry): (&Process, &mut Entry),
    name: &'static str,
    outgoing: Part,
    incoming: Part,
    comm: Comm,
    status: Out<Status>,
) -> Res<c_int> {
    // Everything is checked before anything is started.
    let (r, s) = check_both(outgoing, incoming, comm)?;
    let mut receiving = start_receive((process, entry), &r, incoming)?;
    let told = |entry: &mut Entry, result: Res| match result {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise(entry, name, Some(comm), failure),
    };
    let sent = send((process, entry), name, &s, outgoing);
    let mut ended = told(entry, sent);
    let Some(req) = request::find(process, receiving) else { return Ok(ended) };
    if !request::ready(req) {
        if ended == MPI_SUCCESS {
            let (_, source, _) = incoming;
            let possible = r.object.comm.can_come_from(source);
            ended = told(entry, possible.map_err(Failure::from));
        }
        if ended != MPI_SUCCESS {
            // One half was refused: nobody may be left to send, and the buffer is the user's once we return.
            let _ = request::cancel(req, entry);
        }
        process.instance.wait(entry, req);
    }
    let outcome = request::collect(req, Out::from(&mut receiving), status, entry);
    match ended == MPI_SUCCESS && outcome.is_err() {
        true => Err(outcome.failure()),
        false => Ok(ended),
    }
}

fn start_receive(
    (process, entry): (&Process, &mut Entry),
    o: &Operands,
    ((buf, count, _), source, tag): Part,
) -> Res<Request> {
    if source == MPI_PROC_NULL {
        return Ok(request::done(process));
    }
    // SAFETY: the arguments of a C function, which promises them; the request is complete before it returns.
    let place = unsafe { incoming(buf, count, o.desc) };
    let req = o.object.comm.irecv(entry, place, Envelope::new(source, tag))?;
    request::count(req);
    Ok(request::give(o.object, req))
}

fn send(
    (process, entry): (&Process, &mut Entry),
    name: &str,
    o: &Operands,
    ((buf, count, _), dest, tag): Part,
) -> Res {
    counting::sent(process, &o.object.comm, (name, true), mode::STANDARD, bytes_of(count, o.desc));
    if dest == MPI_PROC_NULL {
        return Ok(());
    }
    // SAFETY: the arguments of a C function, or a copy that its caller has.
    let data = unsafe { outgoing(buf, count, o.desc) };
    crate::error::check(o.object.comm.send(entry, data, Envelope::with_mode(dest, tag, mode::STANDARD)))
}

/// Runs the body of a blocking function: what [`sendrecv`] said is its result.
fn call_both(
    here: Inside,
    name: &'static str,
    comm: Comm,
    body: impl FnOnce(&'static Process, &mut Entry) -> Res<c_int>,
) -> c_int {
    let mut told = MPI_SUCCESS;
    let code = call(here, name, Some(comm), |process, entry| {
        told = body(process, entry)?;
        Ok(())
    });
    if code == MPI_SUCCESS { told } else { code }
}

mpi_fn! {
    fn MPI_Sendrecv[c_int], MPI_Sendrecv_c[Count]<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int, recvbuf: Address, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, status: Out<Status>) -> c_int |here| {
        let outgoing = ((sendbuf, sendcount as i64, sendtype), dest, sendtag);
        let incoming = ((recvbuf, recvcount as i64, recvtype), source, recvtag);
        call_both(here, NAME, comm, |process, entry| sendrecv((process, entry), NAME, outgoing, incoming, comm, status))
    }
}
mpi_fn! {
    /// The outgoing data is packed aside, so that the buffer is free for the incoming.
    fn MPI_Sendrecv_replace[c_int], MPI_Sendrecv_replace_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm, status: Out<Status>) -> c_int |here| {
        let data = (buf, count as i64, datatype);
        call_both(here, NAME, comm, |process, entry| {
            check(Direction::Send, data, dest, sendtag, comm)?;
            let packed = pack(buf, count as u64, datatype)?;
            let outgoing = (packed_data(&packed), dest, sendtag);
            sendrecv((process, entry), NAME, outgoing, (data, source, recvtag), comm, status)
        })
    }
}

/// Packed data, as an argument.
fn packed_data(packed: &[u8]) -> Data {
    // SAFETY: readable, which is all that is done with what is sent.
    let at = unsafe { Address::new(packed.as_ptr().cast_mut()) };
    (at, packed.len() as i64, Datatype(MPI_PACKED))
}

/// A copy of the data as it travels.
fn pack(buf: Address, count: u64, datatype: Datatype) -> Res<Vec<u8>> {
    let desc = datatype::require_committed(datatype, "datatype")?;
    let too_much = || Failure::new(MPI_ERR_NO_MEM, "there is no memory for a copy of the message");
    let bytes = desc.packed.checked_mul(count).and_then(|n| usize::try_from(n).ok()).ok_or_else(too_much)?;
    let mut packed = Vec::new();
    packed.try_reserve_exact(bytes).map_err(|_| too_much())?;
    packed.resize(bytes, 0);
    // SAFETY: the user promises the data; `packed` has the bytes it packs to.
    unsafe { oxmpi_datatype::pack(desc, count, buf.as_ptr(), 0, packed.as_mut_ptr(), bytes as u64) };
    Ok(packed)
}

/// The operands of the receive, and those of the send.
fn check_both(
    (outgoing, dest, sendtag): Part,
    (incoming, source, recvtag): Part,
    comm: Comm,
) -> Res<(Operands, Operands)> {
    let send = check(Direction::Send, outgoing, dest, sendtag, comm)?;
    let recv = check(Direction::Recv, incoming, source, recvtag, comm)?;
    Ok((recv, send))
}

/// One request for both. `kept`: where the outgoing data lies, if not in the user's buffer.
fn isendrecv(
    entry: &mut Entry,
    send: Part,
    recv: Part,
    kept: Vec<u8>,
    comm: Comm,
    request: Out<Request>,
) -> Res {
    let ((buf, count, _), dest, sendtag) = send;
    let ((into, room, _), source, recvtag) = recv;
    let (r, s) = check_both(send, recv, comm)?;
    place_of(request)?;
    // SAFETY: the arguments of a C function, which promises them until the request is complete, or data that lives with the request.
    let (data, place) = unsafe { (outgoing(buf, count, s.desc), incoming(into, room, r.desc)) };
    let req = r.object.comm.isendrecv(
        entry,
        (dest != MPI_PROC_NULL).then_some((data, Envelope::new(dest, sendtag))),
        (source != MPI_PROC_NULL).then_some((place, Envelope::new(source, recvtag))),
        kept,
    )?;
    if dest != MPI_PROC_NULL {
        counting::sent_bytes(&r.object.comm, bytes_of(count, s.desc));
    }
    request::count(req);
    write(request, "request", request::give(r.object, req))
}

mpi_fn! {
    fn MPI_Isendrecv[c_int], MPI_Isendrecv_c[Count]<N>(sendbuf: Address, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int, recvbuf: Address, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        let send = ((sendbuf, sendcount as i64, sendtype), dest, sendtag);
        let recv = ((recvbuf, recvcount as i64, recvtype), source, recvtag);
        call(here, NAME, Some(comm), |_, entry| isendrecv(entry, send, recv, Vec::new(), comm, request))
    }
}
mpi_fn! {
    /// The outgoing data is packed aside and lives with the request.
    fn MPI_Isendrecv_replace[c_int], MPI_Isendrecv_replace_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let data = (buf, count as i64, datatype);
            check_both((data, dest, sendtag), (data, source, recvtag), comm)?;
            let packed = pack(buf, count as u64, datatype)?;
            let outgoing = (packed_data(&packed), dest, sendtag);
            isendrecv(entry, outgoing, (data, source, recvtag), packed, comm, request)
        })
    }
}
