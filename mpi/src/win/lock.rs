//! Locks and flushes: synchronisation without the target (MPI 5.0 §12.5.3, §12.5.4).

use super::argument::{assertions, served, target};
use super::{fast_path, get, require};
use crate::call::counting;
use crate::call::entry::Inside;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on, check};
use crate::types::Win;
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_osc::lock_type;
use oxmpi_runtime::window::{CallKind, Verbs};

/// A verb for one rank; nothing is done for MPI_PROC_NULL.
fn at_rank(win: Win, rank: c_int, verb: impl FnOnce(&Verbs, u32) -> oxmpi_mca::Status) -> Res {
    let object = require(win)?;
    let rank = target(object, rank, "rank")?;
    let verbs = served(object)?;
    rank.map_or(Ok(()), |rank| check(verb(verbs, rank)))
}

/// Counts a flush, while somebody asks.
fn note_flush(win: Win) {
    if let (true, Some(object)) = (counting::on(), get(win)) {
        object.window.note(CallKind::Flush);
    }
}

/// MPI_Win_flush_all, MPI_Win_flush_local_all.
fn flush_all(entry: &mut Entry, win: Win, local: bool) -> Res {
    let object = require(win)?;
    note_flush(win);
    check(served(object)?.flush(entry, None, local))
}

#[cold]
#[inline(never)]
fn slow_flush(here: Inside, name: &'static str, win: Win, rank: c_int, local: bool) -> c_int {
    call_on(here, name, ErrorObject::Win(win), |_, entry| {
        note_flush(win);
        at_rank(win, rank, |verbs, rank| verbs.flush(entry, Some(rank), local))
    })
}

mpi_fn! {
    fn MPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            require(win)?;
            let kind = match lock_type {
                MPI_LOCK_SHARED => lock_type::SHARED,
                MPI_LOCK_EXCLUSIVE => lock_type::EXCLUSIVE,
                _ => return Failure::err(MPI_ERR_LOCKTYPE, format!("lock_type is {lock_type}")),
            };
            let assert = assertions(assert, MPI_MODE_NOCHECK)?;
            at_rank(win, rank, |verbs, rank| verbs.lock(entry, kind, rank, assert))
        })
    }
}
mpi_fn! {
    fn MPI_Win_unlock(rank: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| at_rank(win, rank, |verbs, rank| verbs.unlock(entry, rank)))
    }
}
mpi_fn! {
    fn MPI_Win_lock_all(assert: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let assert = assertions(assert, MPI_MODE_NOCHECK)?;
            check(served(object)?.lock_all(entry, assert))
        })
    }
}
mpi_fn! {
    fn MPI_Win_unlock_all(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| check(served(require(win)?)?.unlock_all(entry)))
    }
}
mpi_fn! {
    hot fn MPI_Win_flush(rank: c_int, win: Win) -> c_int |here| {
        match fast_path::flush(here, NAME, win, rank, false) {
            Ok(code) => code,
            Err(inside) => slow_flush(inside, NAME, win, rank, false),
        }
    }
}
mpi_fn! {
    hot fn MPI_Win_flush_local(rank: c_int, win: Win) -> c_int |here| {
        match fast_path::flush(here, NAME, win, rank, true) {
            Ok(code) => code,
            Err(inside) => slow_flush(inside, NAME, win, rank, true),
        }
    }
}
mpi_fn! {
    fn MPI_Win_flush_all(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| flush_all(entry, win, false))
    }
}
mpi_fn! {
    fn MPI_Win_flush_local_all(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| flush_all(entry, win, true))
    }
}
