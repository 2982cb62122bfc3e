//! Looking for messages, and receiving the one that was found (MPI 5.0 §3.8).

use crate::call::handle::{Kind, Table};
use crate::call::memory::{Address, Out, read, write};
use crate::call::operands::{Direction, check_buffer, check_rank, check_tag};
use crate::call::process::Process;
use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call};
use crate::p2p::{Data, incoming, place_of};
use crate::request;
use crate::types::{Comm, Count, Datatype, Message, Request, Status};
use core::ffi::c_int;
use oxmpi_mca::{Entry, MsgStatus};
use oxmpi_runtime::{Envelope, Matched};

/// A message that is taken out of matching.
struct MessageObject {
    message: Matched,
    comm: &'static CommObject,
}

static TABLE: Table<MessageObject> = Table::new(Kind::Message);

/// Whether a matched message belongs to the communicator.
pub fn uses(object: &CommObject) -> bool {
    TABLE.handles().iter().any(|h| TABLE.get(*h).is_some_and(|m| core::ptr::eq(m.comm, object)))
}

/// How many matched messages nobody has received.
pub fn held() -> usize {
    TABLE.handles().len()
}

fn arguments(process: &Process, source: c_int, tag: c_int, comm: Comm) -> Res<&'static CommObject> {
    let object = comm::require(comm)?;
    check_rank(Direction::Recv, object, source)?;
    check_tag(Direction::Recv, process, tag)?;
    Ok(object)
}

/// The status of what was found.
fn tell(status: Out<Status>, found: &MsgStatus) {
    Status::store(status, found);
}

fn tell_proc_null(status: Out<Status>) {
    tell(status, &MsgStatus { source: MPI_PROC_NULL, ..MsgStatus::EMPTY });
}

mpi_fn! {
    fn MPI_Iprobe(source: c_int, tag: c_int, comm: Comm, flag: Out<c_int>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = arguments(process, source, tag, comm)?;
            if source == MPI_PROC_NULL {
                tell_proc_null(status);
                return write(flag, "flag", 1);
            }
            let mut found = MsgStatus::EMPTY;
            let there = object.comm.iprobe(entry, Envelope::new(source, tag), &mut found)?;
            if there {
                tell(status, &found);
            }
            write(flag, "flag", there as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Probe(source: c_int, tag: c_int, comm: Comm, status: Out<Status>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = arguments(process, source, tag, comm)?;
            if source == MPI_PROC_NULL {
                tell_proc_null(status);
                return Ok(());
            }
            let mut found = MsgStatus::EMPTY;
            crate::error::check(object.comm.probe(entry, Envelope::new(source, tag), &mut found))?;
            tell(status, &found);
            Ok(())
        })
    }
}

/// A handle for a message that was taken.
fn adopt(message: Matched, comm: &'static CommObject) -> Res<Message> {
    match TABLE.insert(Box::new(MessageObject { message, comm })) {
        Some(handle) => Ok(Message(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many matched messages"),
    }
}

fn place_of_message(message: Out<Message>) -> Res {
    if message.is_null() { Failure::err(MPI_ERR_ARG, "message is a null pointer") } else { Ok(()) }
}

mpi_fn! {
    fn MPI_Improbe(source: c_int, tag: c_int, comm: Comm, flag: Out<c_int>, message: Out<Message>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = arguments(process, source, tag, comm)?;
            place_of_message(message)?;
            write(flag, "flag", 0)?;
            if source == MPI_PROC_NULL {
                tell_proc_null(status);
                write(flag, "flag", 1)?;
                return write(message, "message", Message(MPI_MESSAGE_NO_PROC));
            }
            let mut found = MsgStatus::EMPTY;
            let Some(taken) = object.comm.improbe(entry, Envelope::new(source, tag), &mut found)? else {
                return write(message, "message", Message(MPI_MESSAGE_NULL));
            };
            tell(status, &found);
            write(flag, "flag", 1)?;
            write(message, "message", adopt(taken, object)?)
        })
    }
}
mpi_fn! {
    fn MPI_Mprobe(source: c_int, tag: c_int, comm: Comm, message: Out<Message>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let object = arguments(process, source, tag, comm)?;
            place_of_message(message)?;
            if source == MPI_PROC_NULL {
                tell_proc_null(status);
                return write(message, "message", Message(MPI_MESSAGE_NO_PROC));
            }
            let mut found = MsgStatus::EMPTY;
            let taken = object.comm.mprobe(entry, Envelope::new(source, tag), &mut found)?;
            tell(status, &found);
            write(message, "message", adopt(taken, object)?)
        })
    }
}

/// The communicator of a message's handle, for the error handler.
fn comm_of(message: Out<Message>) -> Option<Comm> {
    let handle = read(message, "message").ok()?;
    TABLE.get(handle.0).map(|m| m.comm.handle())
}

/// Starts the receive of a matched message; the message's handle ends. Message "no proc" gives a
/// complete request.
fn start(
    (process, entry): (&Process, &mut Entry),
    (buf, count, datatype): Data,
    message: Out<Message>,
) -> Res<Request> {
    let handle = read(message, "message")?;
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    let desc = datatype::require_committed(datatype, "datatype")?;
    if handle.0 == MPI_MESSAGE_NO_PROC {
        write(message, "message", Message(MPI_MESSAGE_NULL))?;
        return Ok(request::done(process));
    }
    check_buffer(process, buf, count, desc, "buf")?;
    let Some(taken) = TABLE.remove(handle.0) else {
        let text = match handle.0 {
            MPI_MESSAGE_NULL => "message is MPI_MESSAGE_NULL".to_string(),
            other => format!("message {other:#x} is no message, or was received"),
        };
        // The standard has no class for messages.
        return Failure::err(MPI_ERR_REQUEST, text);
    };
    write(message, "message", Message(MPI_MESSAGE_NULL))?;
    let MessageObject { message: taken, comm } = *taken;
    // SAFETY: the arguments of a C function, which promises them until the request is complete.
    let place = unsafe { incoming(buf, count, desc) };
    let req = comm.comm.imrecv(entry, taken, place)?;
    request::count(req);
    Ok(request::give(comm, req))
}

mpi_fn! {
    fn MPI_Imrecv[c_int], MPI_Imrecv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, message: Out<Message>, request: Out<Request>) -> c_int |here| {
        call(here, NAME, comm_of(message), |process, entry| {
            place_of(request)?;
            write(request, "request", start((process, entry), (buf, count as i64, datatype), message)?)
        })
    }
}
mpi_fn! {
    fn MPI_Mrecv[c_int], MPI_Mrecv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, message: Out<Message>, status: Out<Status>) -> c_int |here| {
        call(here, NAME, comm_of(message), |process, entry| {
            let mut receiving = start((process, entry), (buf, count as i64, datatype), message)?;
            let Some(req) = request::find(process, receiving) else { return Ok(()) };
            if !request::ready(req) {
                process.instance.wait(entry, req);
            }
            let outcome = request::collect(req, Out::from(&mut receiving), status, entry);
            if outcome.is_err() { Err(outcome.failure()) } else { Ok(()) }
        })
    }
}
