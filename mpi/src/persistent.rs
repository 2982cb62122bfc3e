//! Persistent sends and receives: made once, started often (MPI 5.0 §3.9).

use crate::call::memory::{Address, Out, write};
use crate::call::operands::{Direction, check};
use crate::constants::*;
use crate::error::{Res, call};
use crate::p2p::{Data, incoming, outgoing, place_of};
use crate::request;
use crate::types::{Comm, Count, Datatype, Request};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_pml::mode;
use oxmpi_runtime::Envelope;

fn send_init(
    entry: &mut Entry,
    (buf, count, datatype): Data,
    dest: c_int,
    tag: c_int,
    comm: Comm,
    mode: u32,
    request: Out<Request>,
) -> Res {
    let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
    place_of(request)?;
    if dest == MPI_PROC_NULL {
        return write(request, "request", request::persistent_done(o.process, o.object)?);
    }
    // SAFETY: the arguments of a C function, which promises them for each time the request is started.
    let data = unsafe { outgoing(buf, count, o.desc) };
    let req = o.object.comm.send_init(entry, data, Envelope::with_mode(dest, tag, mode))?;
    write(request, "request", request::give(o.object, req))
}

mpi_fn! {
    fn MPI_Send_init[c_int], MPI_Send_init_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| send_init(entry, (buf, count as i64, datatype), dest, tag, comm, mode::STANDARD, request))
    }
}
mpi_fn! {
    fn MPI_Ssend_init[c_int], MPI_Ssend_init_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| send_init(entry, (buf, count as i64, datatype), dest, tag, comm, mode::SYNCHRONOUS, request))
    }
}
mpi_fn! {
    fn MPI_Rsend_init[c_int], MPI_Rsend_init_c[Count]<N>(buf: Address, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| send_init(entry, (buf, count as i64, datatype), dest, tag, comm, mode::READY, request))
    }
}
mpi_fn! {
    fn MPI_Recv_init[c_int], MPI_Recv_init_c[Count]<N>(buf: Address, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let count = count as i64;
            let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
            place_of(request)?;
            if source == MPI_PROC_NULL {
                return write(request, "request", request::persistent_done(o.process, o.object)?);
            }
            // SAFETY: the arguments of a C function, which promises them for each time the request is started.
            let place = unsafe { incoming(buf, count, o.desc) };
            let req = o.object.comm.recv_init(entry, place, Envelope::new(source, tag))?;
            write(request, "request", request::give(o.object, req))
        })
    }
}
