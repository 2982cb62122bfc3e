//! Fence and sync (MPI 5.0 §12.5.1, §12.5.4). Of a window that no component serves they order loads and stores of shared
//! memory.

use super::argument::{assertions, nobody};
use super::require;
use crate::constants::*;
use crate::error::{ErrorObject, Res, call_on, check};
use crate::types::Win;
use core::ffi::c_int;
use oxmpi_mca::Status;

const OF_FENCE: c_int = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

/// The status of a call that may have found no component.
fn done(status: Status, served: bool) -> Res {
    if status == Status::NOT_SUPPORTED && !served { Err(nobody()) } else { check(status) }
}

mpi_fn! {
    fn MPI_Win_fence(assert: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let assert = assertions(assert, OF_FENCE)?;
            done(object.window.fence(entry, assert), object.window.verbs().is_some())
        })
    }
}
mpi_fn! {
    fn MPI_Win_sync(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| check(require(win)?.window.sync(entry)))
    }
}
