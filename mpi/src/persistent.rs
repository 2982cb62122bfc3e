//! Persistent sends and receives: made once, started often (MPI 5.0 §3.9).

use crate::call::memory::write;
use crate::call::operands::{Direction, check};
use crate::constants::*;
use crate::error::{Res, call};
use crate::p2p::place_of;
use crate::request;
use crate::types::{Comm, Count, Datatype, Request};
use core::ffi::c_int;
use oxmpi_pml::mode;

fn send_init(
    (buf, count, datatype): (*const u8, i64, Datatype),
    dest: c_int,
    tag: c_int,
    comm: Comm,
    mode: u32,
    request: *mut Request,
) -> Res {
    let o = check(Direction::Send, (buf, count, datatype), dest, tag, comm)?;
    place_of(request)?;
    if dest == MPI_PROC_NULL {
        return write(request, "request", request::persistent_done(o.process, o.object)?);
    }
    let req = o.object.comm.send_init(o.process.thread(), buf, count as u64, o.desc, dest, tag, mode)?;
    write(request, "request", request::give(o.object, req))
}

mpi_fn! {
    fn MPI_Send_init[c_int], MPI_Send_init_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |_| send_init((buf, count as i64, datatype), dest, tag, comm, mode::STANDARD, request))
    }
}
mpi_fn! {
    fn MPI_Ssend_init[c_int], MPI_Ssend_init_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |_| send_init((buf, count as i64, datatype), dest, tag, comm, mode::SYNCHRONOUS, request))
    }
}
mpi_fn! {
    fn MPI_Rsend_init[c_int], MPI_Rsend_init_c[Count]<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |_| send_init((buf, count as i64, datatype), dest, tag, comm, mode::READY, request))
    }
}
mpi_fn! {
    fn MPI_Recv_init[c_int], MPI_Recv_init_c[Count]<N>(buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int {
        call(NAME, Some(comm), |_| {
            let count = count as i64;
            let o = check(Direction::Recv, (buf, count, datatype), source, tag, comm)?;
            place_of(request)?;
            if source == MPI_PROC_NULL {
                return write(request, "request", request::persistent_done(o.process, o.object)?);
            }
            let req = o.object.comm.recv_init(o.process.thread(), buf, count as u64, o.desc, source, tag)?;
            write(request, "request", request::give(o.object, req))
        })
    }
}
