//! Partitioned messages (MPI 5.0 §4.2): the checks; how they work is in `oxmpi_runtime::made`.

use crate::call::local_requests::{self, LocalOperation};
use crate::call::memory::{Address, In, Out, slice, write};
use crate::call::operands::{Direction, check};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::info;
use crate::p2p::place_of;
use crate::request::{self, Header, find_either};
use crate::types::{Comm, Count, Datatype, Info, Request};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_runtime::Envelope;
use oxmpi_runtime::host_requests::{self, partitioned as parts};
use parts::Layout;

/// The arguments of both kinds of init. The standard has no wildcards here.
fn init(
    entry: &mut Entry,
    direction: Direction,
    (buf, partitions, count, datatype): (Address, c_int, i64, Datatype),
    (peer, tag): (c_int, c_int),
    comm: Comm,
    info: Info,
    request: Out<Request>,
) -> Res {
    let number = usize::try_from(partitions);
    let Ok(number) = number else { return Failure::err(MPI_ERR_ARG, format!("partitions is {partitions}")) };
    // As a send: MPI_ANY_SOURCE and MPI_ANY_TAG are refused.
    let o = check(Direction::Send, (buf, count, datatype), peer, tag, comm)?;
    if info.0 != MPI_INFO_NULL {
        info::require(info)?;
    }
    place_of(request)?;
    if peer == MPI_PROC_NULL {
        return write(request, "request", request::persistent_done(o.process, o.object)?);
    }
    // SAFETY: the arguments of a C function, which promises them while the operation is active.
    let layout =
        unsafe { Layout::new(buf.as_mut_ptr(), (number, count as u64), o.desc, Envelope::new(peer, tag)) };
    let req = match direction {
        Direction::Send => o.object.comm.psend_init(entry, &layout)?,
        Direction::Recv => o.object.comm.precv_init(entry, &layout)?,
    };
    write(request, "request", request::give(o.object, req))
}

mpi_fn! {
    fn MPI_Psend_init[Count], MPI_Psend_init_c[Count]<N>(buf: Address, partitions: c_int, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, info: Info, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| init(entry, Direction::Send, (buf, partitions, count, datatype), (dest, tag), comm, info, request))
    }
}
mpi_fn! {
    fn MPI_Precv_init[Count], MPI_Precv_init_c[Count]<N>(buf: Address, partitions: c_int, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, info: Info, request: Out<Request>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| init(entry, Direction::Recv, (buf, partitions, count, datatype), (dest, tag), comm, info, request))
    }
}

/// An operation with MPI_PROC_NULL: every partition is as the user wishes.
fn is_with_nobody(req: Header) -> bool {
    local_requests::of(req).is_some_and(|own| matches!(own.operation(), LocalOperation::Nobody))
}

/// Marks partitions of an active partitioned send.
fn ready(
    process: &Process,
    entry: &mut Entry,
    request: Request,
    partitions: impl Iterator<Item = c_int>,
) -> Res {
    let req = find_either(process, request).ok_or_else(|| request::wrong(request))?;
    let sending = host_requests::of(req).and_then(parts::sending);
    let Some(sending) = sending else {
        if is_with_nobody(req) {
            return Ok(());
        }
        return Failure::err(MPI_ERR_REQUEST, "request is no partitioned send");
    };
    if request::inactive(req) {
        return Failure::err(MPI_ERR_REQUEST, "request was not started");
    }
    for partition in partitions {
        let number = usize::try_from(partition).ok().filter(|n| *n < sending.partitions());
        let Some(number) = number else { return no_such(partition, sending.partitions()) };
        if sending.ready(&process.instance, entry, number).is_err() {
            return Failure::err(MPI_ERR_ARG, format!("partition {partition} was marked ready before"));
        }
    }
    Ok(())
}

#[cold]
fn no_such<T>(partition: c_int, partitions: usize) -> Res<T> {
    Failure::err(MPI_ERR_ARG, format!("partition is {partition}, there are {partitions}"))
}

fn on(request: Request) -> ErrorObject {
    crate::call::process::current().map_or(ErrorObject::Nothing, |process| request::on(process, request))
}

mpi_fn! {
    fn MPI_Pready(partition: c_int, request: Request) -> c_int |here| {
        call_on(here, NAME, on(request), |process, entry| ready(process, entry, request, core::iter::once(partition)))
    }
}
mpi_fn! {
    fn MPI_Pready_range(partition_low: c_int, partition_high: c_int, request: Request) -> c_int |here| {
        call_on(here, NAME, on(request), |process, entry| {
            if partition_low > partition_high {
                return Failure::err(MPI_ERR_ARG, format!("the range is {partition_low} to {partition_high}"));
            }
            ready(process, entry, request, partition_low..=partition_high)
        })
    }
}
mpi_fn! {
    fn MPI_Pready_list(length: c_int, array_of_partitions: In<c_int>, request: Request) -> c_int |here| {
        call_on(here, NAME, on(request), |process, entry| {
            let Ok(length) = usize::try_from(length) else {
                return Failure::err(MPI_ERR_ARG, format!("length is {length}"));
            };
            // SAFETY: the standard has the caller pass `array_of_partitions` with `length` elements.
            ready(process, entry, request, unsafe { slice(array_of_partitions, length, "array_of_partitions") }?.iter().copied())
        })
    }
}
mpi_fn! {
    /// True for a request that is null or inactive, as for one with MPI_PROC_NULL.
    fn MPI_Parrived(request: Request, partition: c_int, flag: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, on(request), |process, entry| {
            if request.0 == MPI_REQUEST_NULL {
                return write(flag, "flag", 1);
            }
            let req = find_either(process, request).ok_or_else(|| request::wrong(request))?;
            let receiving = host_requests::of(req).and_then(parts::receiving);
            let Some(receiving) = receiving else {
                if is_with_nobody(req) {
                    return write(flag, "flag", 1);
                }
                return Failure::err(MPI_ERR_REQUEST, "request is no partitioned receive");
            };
            let number = usize::try_from(partition).ok().filter(|n| *n < receiving.partitions());
            let Some(number) = number else { return no_such(partition, receiving.partitions()) };
            let here = |entry: &Entry| request::ready(req) || receiving.arrived(entry, number);
            if !here(entry) {
                process.instance.poll(entry);
            }
            write(flag, "flag", here(entry) as c_int)
        })
    }
}
