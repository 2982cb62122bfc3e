//! One-sided calls as nearly all of them are: every handle is found, every argument right, no request wanted. They are looked at without
//! a word for a mistake, and go to the component at once. `None` says that a call is not of that kind: `operation`, `atomic` and `lock`
//! find out what it is, or what is wrong with it.

use super::argument::can_be_compared;
use super::{WinObject, get};
use crate::call::entry::{Admission, CallContext, Inside};
use crate::call::memory::Address;
use crate::constants::*;
use crate::datatype::{self, usable};
use crate::error::{ErrorObject, raise_on};
use crate::op::one_sided;
use crate::p2p::Data;
use crate::types::{Aint, Datatype, Op, Win};
use core::ffi::c_int;
use core::ptr::null;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::RmaArgs;
use oxmpi_runtime::window::{Operation, Verbs};

/// Rank, displacement, count, type.
pub type Target = (c_int, Aint, i64, Datatype);

/// Origin, result, type of one element.
pub type Element = (Address, Address, Datatype);

/// Return value of the function, which ends with it, where the operation was started; else the proof for the way of unusual calls.
#[inline(always)]
fn ended(here: CallContext, name: &'static str, win: Win, status: Option<Status>) -> Result<c_int, Inside> {
    match status {
        Some(status) if status.is_err() => Ok(failed(here.entry, name, win, status)),
        Some(_) => Ok(MPI_SUCCESS),
        None => Err(here.unusual()),
    }
}

#[cold]
#[inline(never)]
fn failed(mut entry: Entry, name: &'static str, win: Win, status: Status) -> c_int {
    raise_on(&mut entry, name, ErrorObject::Win(win), status.into())
}

/// The verbs of a window with such a rank.
#[inline(always)]
fn verbs(object: &'static WinObject, rank: c_int) -> Option<&'static Verbs> {
    let verbs = object.window.verbs()?;
    ((rank as u32) < object.comm().size()).then_some(verbs)
}

/// A buffer that any type may have.
#[inline(always)]
fn is_buffer(at: Address) -> bool {
    !at.is_null() && at.addr() != MPI_IN_PLACE
}

/// Arguments of an operation between elements, which `origin` and `target` have as many bytes for.
#[inline(always)]
fn arguments(entry: &Entry, (rank, disp): (c_int, Aint), of: &'static TypeDesc, count: i64) -> RmaArgs {
    RmaArgs {
        thread: entry.thread(),
        origin: core::ptr::null_mut(),
        origin_count: 0,
        origin_type: null(),
        result: core::ptr::null_mut(),
        result_count: 0,
        result_type: null(),
        compare: null(),
        target: rank as u32,
        reserved: 0,
        disp,
        target_count: count as u64,
        target_type: of,
        op: null(),
    }
}

/// MPI_Put and MPI_Get.
#[inline(always)]
pub fn transfer(
    here: Admission,
    name: &'static str,
    win: Win,
    operation: Operation,
    origin: Data,
    there: Target,
) -> Result<c_int, Inside> {
    let mut here = here.quick()?;
    let status = start_transfer(&mut here.entry, win, operation, origin, there);
    ended(here, name, win, status)
}

#[inline(always)]
fn start_transfer(
    entry: &mut Entry,
    win: Win,
    operation: Operation,
    (at, count, origin): Data,
    (rank, disp, target_count, target): Target,
) -> Option<Status> {
    let verbs = verbs(get(win)?, rank)?;
    let (origin, target) = (usable(origin)?, usable(target)?);
    let bytes = |count: i64, desc: &TypeDesc| (count as u64).checked_mul(desc.packed);
    let (here_bytes, there_bytes) = (bytes(count, origin)?, bytes(target_count, target)?);
    let fits =
        if operation == Operation::Put { here_bytes <= there_bytes } else { there_bytes <= here_bytes };
    if count < 0 || target_count < 0 || disp < 0 || !fits || !is_buffer(at) {
        return None;
    }
    let mut args = arguments(entry, (rank, disp), target, target_count);
    (args.origin, args.origin_count, args.origin_type) = (at.as_mut_ptr(), count as u64, origin);
    // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
    Some(unsafe { verbs.start(operation, &args) })
}

/// MPI_Accumulate.
#[inline(always)]
pub fn accumulate(
    here: Admission,
    name: &'static str,
    win: Win,
    origin: Data,
    there: Target,
    op: Op,
) -> Result<c_int, Inside> {
    let mut here = here.quick()?;
    let status = start_accumulate(&mut here.entry, win, origin, there, op);
    ended(here, name, win, status)
}

#[inline(always)]
fn start_accumulate(
    entry: &mut Entry,
    win: Win,
    (at, count, origin): Data,
    (rank, disp, target_count, target): Target,
    op: Op,
) -> Option<Status> {
    let verbs = verbs(get(win)?, rank)?;
    let (origin, target) = (usable(origin)?, usable(target)?);
    let same = core::ptr::eq(origin, target) && count == target_count && target.base != Base::MIXED;
    if count < 0 || disp < 0 || !same || !is_buffer(at) {
        return None;
    }
    // Read where it is made: a copy loads 16 bytes at once that were stored as several words, and waits 5 ns until these are in the cache.
    let operation = one_sided(op, Some(target.base), false);
    let operation = operation.as_ref().ok()?;
    let mut args = arguments(entry, (rank, disp), target, count);
    (args.origin, args.origin_count, args.origin_type) = (at.as_mut_ptr(), count as u64, origin);
    args.op = operation;
    // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
    Some(unsafe { verbs.start(Operation::Accumulate, &args) })
}

/// MPI_Fetch_and_op.
#[inline(always)]
pub fn fetch_and_op(
    here: Admission,
    name: &'static str,
    win: Win,
    element: Element,
    there: (c_int, Aint),
    op: Op,
) -> Result<c_int, Inside> {
    let mut here = here.quick()?;
    let status = start_fetch(&mut here.entry, win, element, there, op);
    ended(here, name, win, status)
}

#[inline(always)]
fn start_fetch(
    entry: &mut Entry,
    win: Win,
    (at, result, datatype): Element,
    target: (c_int, Aint),
    op: Op,
) -> Option<Status> {
    let verbs = verbs(get(win)?, target.0)?;
    let of = datatype::basic(datatype)?;
    if target.1 < 0 || !is_buffer(result) || !is_buffer(at) {
        return None;
    }
    // See `start_accumulate`.
    let operation = one_sided(op, Some(of.base), true);
    let operation = operation.as_ref().ok()?;
    let mut args = arguments(entry, target, of, 1);
    (args.origin, args.origin_count, args.origin_type) = (at.as_mut_ptr(), 1, of);
    (args.result, args.result_count, args.result_type) = (result.as_mut_ptr(), 1, of);
    args.op = operation;
    // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
    Some(unsafe { verbs.start(Operation::FetchAndOp, &args) })
}

/// MPI_Compare_and_swap.
#[inline(always)]
pub fn compare_and_swap(
    here: Admission,
    name: &'static str,
    win: Win,
    element: Element,
    compare: Address,
    there: (c_int, Aint),
) -> Result<c_int, Inside> {
    let mut here = here.quick()?;
    let status = start_compare(&mut here.entry, win, element, compare, there);
    ended(here, name, win, status)
}

#[inline(always)]
fn start_compare(
    entry: &mut Entry,
    win: Win,
    (at, result, datatype): Element,
    compare: Address,
    target: (c_int, Aint),
) -> Option<Status> {
    let verbs = verbs(get(win)?, target.0)?;
    let of = datatype::basic(datatype).filter(|of| can_be_compared(of.base))?;
    if target.1 < 0 || !is_buffer(result) || !is_buffer(at) || !is_buffer(compare) {
        return None;
    }
    let mut args = arguments(entry, target, of, 1);
    (args.origin, args.origin_count, args.origin_type) = (at.as_mut_ptr(), 1, of);
    (args.result, args.result_count, args.result_type) = (result.as_mut_ptr(), 1, of);
    args.compare = compare.as_ptr();
    // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
    Some(unsafe { verbs.start(Operation::CompareAndSwap, &args) })
}

/// MPI_Win_flush, and MPI_Win_flush_local.
#[inline(always)]
pub fn flush(
    here: Admission,
    name: &'static str,
    win: Win,
    rank: c_int,
    local: bool,
) -> Result<c_int, Inside> {
    let mut here = here.quick()?;
    let verbs = get(win).and_then(|object| verbs(object, rank));
    let status = verbs.map(|verbs| verbs.flush(&mut here.entry, Some(rank as u32), local));
    ended(here, name, win, status)
}
