//! Streams, `mpi-ext.h`: what a program does one after the other, as the number of a communication resource instance that its messages use.
//!
//! The functions have MPICH's names and arguments. A stream is dealt the instance that the fewest streams have. A communicator made with one is a
//! duplicate whose rank prefers that instance ([`oxmpi_runtime::Communicator::dup_on`]), and so do those made of it, for all that is sent on them: the
//! functions named after streams send as the others do and look at two more arguments. Each rank says it for itself; ranks that use streams of the same
//! number have a FIFO to themselves. **It is a hint:** two threads may use one stream at the same time, and then share its lock.

use crate::call::handle::{Kind, Table};
use crate::call::memory::{Address, Out, read, write, write_made};
use crate::comm::lifetime::adopt;
use crate::comm::{CommObject, require};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call, raise_without_call};
use crate::info;
use crate::p2p;
use crate::types::{Comm, Count, Datatype, Info, Request, Status};
use core::ffi::c_int;
use oxmpi_pml::mode;
use parking_lot::Mutex;

/// `MPIX_Stream`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream(pub usize);

const STREAM_NULL: Stream = Stream(0);
/// In a receive: from any stream of the source.
const ANY_STREAM: c_int = -1;

/// The object that a handle leads to.
struct Object {
    cri: u32,
}

static TABLE: Table<Object> = Table::new(Kind::Stream);
/// How many streams there are on each instance.
static DEALT: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The instance for one more stream, of `cris`: one that few have. The first is everybody's before a second thread comes, so it is the last choice.
fn deal(dealt: &mut Vec<u32>, cris: usize) -> u32 {
    dealt.resize(cris.max(1), 0);
    let cris = dealt.len();
    let cri = (1..=cris).map(|nth| nth % cris).min_by_key(|cri| dealt[*cri]).unwrap_or(0);
    dealt[cri] += 1;
    cri as u32
}

fn object(stream: Stream) -> Res<&'static Object> {
    match TABLE.get(stream.0) {
        Some(object) => Ok(object),
        None if stream == STREAM_NULL => Failure::err(MPI_ERR_ARG, "stream is MPIX_STREAM_NULL"),
        None => Failure::err(MPI_ERR_ARG, format!("stream {:#x} is no stream, or was freed", stream.0)),
    }
}

mpi_fn! {
    fn MPIX_Stream_create(info: Info, stream: Out<Stream>) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let hints = info::optional(info)?.unwrap_or_default();
            if let Some(kind) = hints.get("type") {
                let why = format!("streams of type {kind} (of a graphics processor) are not in this version of oxmpi");
                return Failure::err(MPI_ERR_UNSUPPORTED_OPERATION, why);
            }
            write_made(stream, "stream", || {
                let cri = deal(&mut DEALT.lock(), process.instance.contexts());
                match TABLE.insert(Box::new(Object { cri })) {
                    Some(handle) => Ok(Stream(handle)),
                    None => {
                        DEALT.lock()[cri as usize] -= 1;
                        Failure::err(MPI_ERR_NO_MEM, "too many streams")
                    }
                }
            })
        })
    }
}
mpi_fn! {
    /// Communicators made with it go on as they are.
    fn MPIX_Stream_free(stream: Out<Stream>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let handle = read(stream, "stream")?;
            object(handle)?;
            if let Some(object) = TABLE.remove(handle.0) {
                DEALT.lock()[object.cri as usize] -= 1;
            }
            write(stream, "stream", STREAM_NULL)
        })
    }
}
mpi_fn! {
    fn MPIX_Stream_comm_create(comm: Comm, stream: Stream, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let parent = require(comm)?;
            let context = if stream == STREAM_NULL { None } else { Some(object(stream)?.cri) };
            write_made(newcomm, "newcomm", || {
                let made = adopt(entry, parent, parent.comm.dup_on(context)?)?;
                let _ = require(made)?.stream.set(stream.0);
                Ok(made)
            })
        })
    }
}
mpi_fn! {
    fn MPIX_Comm_get_stream(comm: Comm, idx: c_int, stream: Out<Stream>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let handle = of(require(comm)?)?;
            if idx != 0 {
                return Failure::err(MPI_ERR_ARG, format!("idx is {idx}; the communicator has one stream, number 0"));
            }
            write(stream, "stream", handle)
        })
    }
}
mpi_fn! {
    fn MPIX_Stream_progress(stream: Stream) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            // Before a second thread comes everything takes the first instance; and what else waits is looked at where nothing came.
            let events = if stream == STREAM_NULL { 0 } else { process.instance.progress_context(entry, object(stream)?.cri) };
            if events == 0 {
                process.instance.poll(entry);
            }
            Ok(())
        })
    }
}

/// The stream that a communicator was made with.
fn of(object: &CommObject) -> Res<Stream> {
    match object.stream.get() {
        Some(stream) => Ok(Stream(*stream)),
        None => Failure::err(MPI_ERR_COMM, "comm was not made by MPIX_Stream_comm_create"),
    }
}

/// Whether both arguments name the one stream that a rank of such a communicator has.
fn check(comm: Comm, source: c_int, dest: c_int, receives: bool) -> Res {
    of(require(comm)?)?;
    let wrong = |name: &str, index: c_int| {
        Failure::err(
            MPI_ERR_ARG,
            format!("{name} is {index}; each rank of the communicator has one stream, number 0"),
        )
    };
    match (source, dest) {
        (ANY_STREAM, 0) if receives => Ok(()),
        (0, 0) => Ok(()),
        (0, dest) => wrong("dest_stream_index", dest),
        (source, _) => wrong("source_stream_index", source),
    }
}

mpi_fn! {
    fn MPIX_Stream_send[c_int], MPIX_Stream_send_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, source_stream_index: c_int, dest_stream_index: c_int) -> c_int |here| {
        match check(comm, source_stream_index, dest_stream_index, false) {
            Ok(()) => p2p::send(here.hot(), NAME, (buf, count as i64, datatype), dest, tag, comm, mode::STANDARD),
            Err(failure) => raise_without_call(NAME, ErrorObject::Comm(comm), failure),
        }
    }
}
mpi_fn! {
    fn MPIX_Stream_isend[c_int], MPIX_Stream_isend_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, source_stream_index: c_int, dest_stream_index: c_int, request: Out<Request>) -> c_int |here| {
        match check(comm, source_stream_index, dest_stream_index, false) {
            Ok(()) => p2p::isend(here.hot(), NAME, (buf, count as i64, datatype), (dest, tag, comm), mode::STANDARD, request),
            Err(failure) => raise_without_call(NAME, ErrorObject::Comm(comm), failure),
        }
    }
}
mpi_fn! {
    fn MPIX_Stream_recv[c_int], MPIX_Stream_recv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, source_stream_index: c_int, dest_stream_index: c_int, status: Out<Status>) -> c_int |here| {
        match check(comm, source_stream_index, dest_stream_index, true) {
            Ok(()) => p2p::recv(here.hot(), NAME, (buf, count as i64, datatype), source, tag, comm, status),
            Err(failure) => raise_without_call(NAME, ErrorObject::Comm(comm), failure),
        }
    }
}
mpi_fn! {
    fn MPIX_Stream_irecv[c_int], MPIX_Stream_irecv_c[Count]<N>(buf: Address, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, source_stream_index: c_int, dest_stream_index: c_int, request: Out<Request>) -> c_int |here| {
        match check(comm, source_stream_index, dest_stream_index, true) {
            Ok(()) => p2p::irecv(here.hot(), NAME, (buf, count as i64, datatype), (source, tag, comm), request),
            Err(failure) => raise_without_call(NAME, ErrorObject::Comm(comm), failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_instances_of_their_own_as_long_as_there_are_some() {
        let mut dealt = Vec::new();
        let mut all: Vec<u32> = (0..4).map(|_| deal(&mut dealt, 4)).collect();
        assert_eq!(all, [1, 2, 3, 0]);
        dealt[2] -= 1;
        assert_eq!(deal(&mut dealt, 4), 2, "one that was given back");
        all = (0..4).map(|_| deal(&mut dealt, 4)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(deal(&mut Vec::new(), 1), 0);
    }
}
