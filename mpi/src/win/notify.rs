//! Notified put and get, and the counters that they add to at their targets (`mpi-ext.h`). Their names and the order of their arguments are those
//! of the MPI Forum's draft of notified communication; MPIX_Win_wait_notify_value is this library's.

use super::argument::{Buffer, Elements, Side, arguments, displacement, fits, served, target, with_data};
use super::fast_path::Target;
use super::{WinObject, require};
use crate::call::counting::{self, Counter};
use crate::call::memory::{Address, Out, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on, check};
use crate::p2p::Data;
use crate::types::{Aint, Count, Datatype, Win};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_runtime::window::{Operation, Verbs};

/// A counter of the window. Where the component has none at all it says so itself.
fn counter(object: &WinObject, index: c_int) -> Res<u32> {
    let most = object.window.num_notify();
    match u32::try_from(index) {
        Ok(index) if index < most || most == 0 => Ok(index),
        _ => Failure::err(
            MPI_ERR_ARG,
            format!(
                "notification_idx is {index}; the window has {most} counters, as many as its info key mpi_num_notify says"
            ),
        ),
    }
}

fn transfer(
    (process, entry): (&Process, &mut Entry),
    win: Win,
    operation: Operation,
    origin: Data,
    (rank, disp, count, datatype): Target,
    index: c_int,
) -> Res {
    let object = require(win)?;
    let origin = Buffer::new(process, origin, Side::ORIGIN)?;
    let there = Elements::new(count, datatype, Side::TARGET)?;
    let rank = target(object, rank, "target_rank")?;
    let counter = counter(object, index)?;
    let verbs = served(object)?;
    let Some(rank) = rank else { return Ok(()) };
    let disp = displacement(object, disp)?;
    let (bytes, of) = match operation {
        Operation::Put => {
            fits(&origin.of, &there, Side::TARGET)?;
            (origin.of.bytes(), Counter::BytesPut)
        }
        _ => {
            fits(&there, &origin.of, Side::ORIGIN)?;
            (there.bytes(), Counter::BytesGet)
        }
    };
    if counting::on() {
        counting::add_bytes(of, bytes);
        object.window.note(operation.into());
    }
    let mut args = arguments(entry, rank, disp);
    with_data(&mut args, Some(&origin), &there);
    // SAFETY: the arguments of a C function, which promises the data until the next synchronisation; the types are there.
    check(unsafe { verbs.notified(operation, &args, counter) })
}

/// A value of a counter of the calling process.
fn value(
    entry: &mut Entry,
    win: Win,
    index: c_int,
    value: Out<Count>,
    ask: impl FnOnce(&Verbs, &mut Entry, u32) -> Result<u64, oxmpi_mca::Status>,
) -> Res {
    let object = require(win)?;
    let counter = counter(object, index)?;
    if value.is_null() {
        return Failure::err(MPI_ERR_ARG, "value is a null pointer");
    }
    let found = ask(served(object)?, entry, counter)?;
    write(value, "value", Count::try_from(found).unwrap_or(Count::MAX))
}

mpi_fn! {
    fn MPIX_Put_notify[c_int], MPIX_Put_notify_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, notification_idx: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            transfer((process, entry), win, Operation::Put, origin, there, notification_idx)
        })
    }
}
mpi_fn! {
    fn MPIX_Get_notify[c_int], MPIX_Get_notify_c[Count]<N>(origin_addr: Address, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, notification_idx: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |process, entry| {
            let (origin, there) = ((origin_addr, origin_count as i64, origin_datatype), (target_rank, target_disp, target_count as i64, target_datatype));
            transfer((process, entry), win, Operation::Get, origin, there, notification_idx)
        })
    }
}
mpi_fn! {
    fn MPIX_Win_get_num_notify(win: Win, rank: c_int, num_notify: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = require(win)?;
            target(object, rank, "rank")?;
            write(num_notify, "num_notify", object.window.num_notify() as c_int)
        })
    }
}
mpi_fn! {
    fn MPIX_Win_get_notify_value(win: Win, notification_idx: c_int, value_: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            value(entry, win, notification_idx, value_, |verbs, entry, counter| verbs.notify_read(entry, counter, false))
        })
    }
}
mpi_fn! {
    fn MPIX_Win_reset_notify_value(win: Win, notification_idx: c_int, value_: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            value(entry, win, notification_idx, value_, |verbs, entry, counter| verbs.notify_read(entry, counter, true))
        })
    }
}
mpi_fn! {
    fn MPIX_Win_wait_notify_value(win: Win, notification_idx: c_int, threshold: Count, value_: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let Ok(least) = u64::try_from(threshold) else {
                return Failure::err(MPI_ERR_ARG, format!("threshold is {threshold}"));
            };
            value(entry, win, notification_idx, value_, |verbs, entry, counter| verbs.notify_wait(entry, counter, least))
        })
    }
}
