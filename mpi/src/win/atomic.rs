//! Operations on one element: fetch and op, compare and swap (MPI 5.0 §12.3.4).

use super::argument::{Buffer, Side, arguments, can_be_compared, displacement, served, target};
use super::fast_path::{self, Element};
use super::require;
use crate::call::counting;
use crate::call::entry::Inside;
use crate::call::memory::Address;
use crate::call::process::Process;
use crate::constants::*;
use crate::datatype::is_predefined;
use crate::error::{ErrorObject, Failure, Res, call_on, check};
use crate::op::one_sided;
use crate::types::{Aint, Datatype, Op, Win};
use core::ffi::c_int;
use oxmpi_runtime::window::{CallKind, Operation};

/// One element of a predefined type.
fn one(process: &Process, at: Address, datatype: Datatype, side: &Side) -> Res<Buffer> {
    let buffer = Buffer::new(process, (at, 1, datatype), side)?;
    if !is_predefined(datatype) {
        return Failure::err(MPI_ERR_TYPE, "datatype is a derived datatype");
    }
    Ok(buffer)
}

#[cold]
#[inline(never)]
fn slow_fetch(
    here: Inside,
    name: &'static str,
    win: Win,
    (origin, result, datatype): Element,
    (rank, disp): (c_int, Aint),
    op: Op,
) -> c_int {
    call_on(here, name, ErrorObject::Win(win), |process, entry| {
        let object = require(win)?;
        let result = one(process, result, datatype, Side::RESULT)?;
        let origin = match op.0 {
            // Nothing is taken from there.
            MPI_NO_OP => result,
            _ => one(process, origin, datatype, Side::ORIGIN)?,
        };
        let operation = one_sided(op, Some(result.of.desc.base), true)?;
        let rank = target(object, rank, "target_rank")?;
        let verbs = served(object)?;
        let Some(rank) = rank else { return Ok(()) };
        let mut args = arguments(entry, rank, displacement(object, disp)?);
        (args.origin, args.origin_count, args.origin_type) = (origin.at.as_mut_ptr(), 1, origin.of.desc);
        (args.result, args.result_count, args.result_type) = (result.at.as_mut_ptr(), 1, result.of.desc);
        (args.target_count, args.target_type, args.op) = (1, result.of.desc, &operation);
        if counting::on() {
            object.window.note(CallKind::FetchAndOp);
        }
        // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
        check(unsafe { verbs.start(Operation::FetchAndOp, &args) })
    })
}

#[cold]
#[inline(never)]
fn slow_compare(
    here: Inside,
    name: &'static str,
    win: Win,
    (origin, result, datatype): Element,
    compare: Address,
    (rank, disp): (c_int, Aint),
) -> c_int {
    call_on(here, name, ErrorObject::Win(win), |process, entry| {
        let object = require(win)?;
        let origin = one(process, origin, datatype, Side::ORIGIN)?;
        let compare = one(process, compare, datatype, Side::COMPARE)?;
        let result = one(process, result, datatype, Side::RESULT)?;
        if !can_be_compared(origin.of.desc.base) {
            let name = crate::predefined::name(datatype.0).unwrap_or("this datatype");
            return Failure::err(MPI_ERR_TYPE, format!("values of {name} are not compared and swapped"));
        }
        let rank = target(object, rank, "target_rank")?;
        let verbs = served(object)?;
        let Some(rank) = rank else { return Ok(()) };
        let mut args = arguments(entry, rank, displacement(object, disp)?);
        (args.origin, args.origin_count, args.origin_type) = (origin.at.as_mut_ptr(), 1, origin.of.desc);
        (args.result, args.result_count, args.result_type) = (result.at.as_mut_ptr(), 1, result.of.desc);
        (args.compare, args.target_count, args.target_type) = (compare.at.as_ptr(), 1, origin.of.desc);
        if counting::on() {
            object.window.note(CallKind::CompareAndSwap);
        }
        // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
        check(unsafe { verbs.start(Operation::CompareAndSwap, &args) })
    })
}

mpi_fn! {
    hot fn MPI_Fetch_and_op(origin_addr: Address, result_addr: Address, datatype: Datatype, target_rank: c_int, target_disp: Aint, op: Op, win: Win) -> c_int |here| {
        let (element, there) = ((origin_addr, result_addr, datatype), (target_rank, target_disp));
        match fast_path::fetch_and_op(here, NAME, win, element, there, op) {
            Ok(code) => code,
            Err(inside) => slow_fetch(inside, NAME, win, element, there, op),
        }
    }
}
mpi_fn! {
    hot fn MPI_Compare_and_swap(origin_addr: Address, compare_addr: Address, result_addr: Address, datatype: Datatype, target_rank: c_int, target_disp: Aint, win: Win) -> c_int |here| {
        let (element, there) = ((origin_addr, result_addr, datatype), (target_rank, target_disp));
        match fast_path::compare_and_swap(here, NAME, win, element, compare_addr, there) {
            Ok(code) => code,
            Err(inside) => slow_compare(inside, NAME, win, element, compare_addr, there),
        }
    }
}
