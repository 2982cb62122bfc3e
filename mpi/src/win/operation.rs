//! Put, get and accumulate of any number of elements, with and without a request (MPI 5.0 §12.3).

use super::argument::{
    Buffer, Elements, Side, arguments, displacement, fits, one_base, served, target, with_data,
};
use super::fast_path::{self, Target};
use super::{WinObject, require};
use crate::call::counting::{self, Counter};
use crate::call::entry::Inside;
use crate::call::memory::{Address, Out, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{ErrorObject, Res, call_on, check};
use crate::op::one_sided;
use crate::p2p::{Data, place_of};
use crate::request::{self, Header};
use crate::types::{Aint, Count, Datatype, Op, Request, Win};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_osc::RmaArgs;
use oxmpi_runtime::window::Operation;

/// Where the request goes; `None`: the call has none.
type Place<'a> = Option<Out<'a, Request>>;

/// Starts an operation whose arguments are right, and gives its request out. `args` `None`: the target is MPI_PROC_NULL.
fn issue(
    process: &Process,
    object: &'static WinObject,
    operation: Operation,
    args: Option<&RmaArgs>,
    place: Place,
) -> Res {
    let verbs = served(object)?;
    if args.is_some() && counting::on() {
        object.window.note(operation.into());
    }
    match (args, place) {
        (None, None) => Ok(()),
        (None, Some(place)) => write(place, "request", request::done(process)),
        // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
        (Some(args), None) => check(unsafe { verbs.start(operation, args) }),
        (Some(args), Some(place)) => {
            // SAFETY: the arguments of a C function, which promises the data until the request is complete; the types are there.
            let req = unsafe { Header::given(verbs.request(operation, args)?) }?;
            write(place, "request", request::give_of_window(object, req))
        }
    }
}

fn transfer(
    (process, entry): (&Process, &mut Entry),
    win: Win,
    operation: Operation,
    origin: Data,
    (rank, disp, count, datatype): Target,
    place: Place,
) -> Res {
    let object = require(win)?;
    let origin = Buffer::new(process, origin, Side::ORIGIN)?;
    let there = Elements::new(count, datatype, Side::TARGET)?;
    let rank = target(object, rank, "target_rank")?;
    place.map_or(Ok(()), place_of)?;
    let Some(rank) = rank else { return issue(process, object, operation, None, place) };
    let disp = displacement(object, disp)?;
    if operation == Operation::Put {
        fits(&origin.of, &there, Side::TARGET)?;
        if counting::on() {
            counting::add_bytes(Counter::BytesPut, origin.of.bytes());
        }
    } else {
        fits(&there, &origin.of, Side::ORIGIN)?;
        if counting::on() {
            counting::add_bytes(Counter::BytesGet, there.bytes());
        }
    }
    let mut args = arguments(entry, rank, disp);
    with_data(&mut args, Some(&origin), &there);
    issue(process, object, operation, Some(&args), place)
}

#[cold]
#[inline(never)]
fn slow_transfer(
    here: Inside,
    name: &'static str,
    win: Win,
    operation: Operation,
    origin: Data,
    there: Target,
) -> c_int {
    call_on(here, name, ErrorObject::Win(win), |process, entry| {
        transfer((process, entry), win, operation, origin, there, None)
    })
}

fn accumulate(
    (process, entry): (&Process, &mut Entry),
    win: Win,
    origin: Data,
    (rank, disp, count, datatype): Target,
    handle: Op,
    place: Place,
) -> Res {
    let object = require(win)?;
    let origin = Buffer::new(process, origin, Side::ORIGIN)?;
    let there = Elements::new(count, datatype, Side::TARGET)?;
    let rank = target(object, rank, "target_rank")?;
    place.map_or(Ok(()), place_of)?;
    let base = one_base(&there, &[(&origin.of, Side::ORIGIN)])?;
    let operation = one_sided(handle, base, false)?;
    let Some(rank) = rank else { return issue(process, object, Operation::Accumulate, None, place) };
    let disp = displacement(object, disp)?;
    fits(&origin.of, &there, Side::TARGET)?;
    let mut args = arguments(entry, rank, disp);
    with_data(&mut args, Some(&origin), &there);
    args.op = &operation;
    issue(process, object, Operation::Accumulate, Some(&args), place)
}

#[cold]
#[inline(never)]
fn slow_accumulate(here: Inside, name: &'static str, win: Win, origin: Data, there: Target, op: Op) -> c_int {
    call_on(here, name, ErrorObject::Win(win), |process, entry| {
        accumulate((process, entry), win, origin, there, op, None)
    })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
fn get_accumulate(
    (process, entry): (&Process, &mut Entry),
    win: Win,
    origin: Data,
    result: Data,
    (rank, disp, count, datatype): Target,
    handle: Op,
    place: Place,
) -> Res {
    let object = require(win)?;
    let there = Elements::new(count, datatype, Side::TARGET)?;
    let into = Buffer::new(process, result, Side::RESULT)?;
    // Nothing is taken from the origin, whatever stands there.
    let origin = match handle.0 {
        MPI_NO_OP => None,
        _ => Some(Buffer::new(process, origin, Side::ORIGIN)?),
    };
    let rank = target(object, rank, "target_rank")?;
    place.map_or(Ok(()), place_of)?;
    let base = match &origin {
        Some(origin) => one_base(&there, &[(&origin.of, Side::ORIGIN), (&into.of, Side::RESULT)])?,
        None => one_base(&there, &[(&into.of, Side::RESULT)])?,
    };
    let operation = one_sided(handle, base, true)?;
    let Some(rank) = rank else { return issue(process, object, Operation::GetAccumulate, None, place) };
    let disp = displacement(object, disp)?;
    if let Some(origin) = &origin {
        fits(&origin.of, &there, Side::TARGET)?;
    }
    fits(&there, &into.of, Side::RESULT)?;
    let mut args = arguments(entry, rank, disp);
    with_data(&mut args, origin.as_ref(), &there);
    (args.result, args.result_count, args.result_type) = (into.at.as_mut_ptr(), into.of.count, into.of.desc);
    args.op = &operation;
    issue(process, object, Operation::GetAccumulate, Some(&args), place)
}

mpi_fn! {
    hot fn MPI_Put[c_int], MPI_Put_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win) -> c_int |here| {
        let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
        match fast_path::transfer(here, NAME, win, Operation::Put, origin, there) {
            Ok(code) => code,
            Err(inside) => slow_transfer(inside, NAME, win, Operation::Put, origin, there),
        }
    }
}
mpi_fn! {
    fn MPI_Rput[c_int], MPI_Rput_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win, request: Out<Request>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            transfer((process, entry), win, Operation::Put, origin, there, Some(request))
        })
    }
}
mpi_fn! {
    hot fn MPI_Get[c_int], MPI_Get_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win) -> c_int |here| {
        let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
        match fast_path::transfer(here, NAME, win, Operation::Get, origin, there) {
            Ok(code) => code,
            Err(inside) => slow_transfer(inside, NAME, win, Operation::Get, origin, there),
        }
    }
}
mpi_fn! {
    fn MPI_Rget[c_int], MPI_Rget_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win, request: Out<Request>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            transfer((process, entry), win, Operation::Get, origin, there, Some(request))
        })
    }
}
mpi_fn! {
    hot fn MPI_Accumulate[c_int], MPI_Accumulate_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win) -> c_int |here| {
        let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
        match fast_path::accumulate(here, NAME, win, origin, there, op) {
            Ok(code) => code,
            Err(inside) => slow_accumulate(inside, NAME, win, origin, there, op),
        }
    }
}
mpi_fn! {
    fn MPI_Raccumulate[c_int], MPI_Raccumulate_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            accumulate((process, entry), win, origin, there, op, Some(request))
        })
    }
}
mpi_fn! {
    fn MPI_Get_accumulate[c_int], MPI_Get_accumulate_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, result_addr: Address, result_count: N, result_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            get_accumulate((process, entry), win, origin, (result_addr, result_count as i64, result_datatype), there, op, None)
        })
    }
}
mpi_fn! {
    fn MPI_Rget_accumulate[c_int], MPI_Rget_accumulate_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, result_addr: Address, result_count: N, result_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            get_accumulate((process, entry), win, origin, (result_addr, result_count as i64, result_datatype), there, op, Some(request))
        })
    }
}
