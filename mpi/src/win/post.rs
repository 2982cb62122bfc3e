//! Post, start, complete and wait: synchronisation among groups of ranks (MPI 5.0 §12.5.2).

use super::argument::{assertions, served};
use super::{WinObject, require};
use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on, check};
use crate::group;
use crate::types::{Group, Win};
use core::ffi::c_int;
use oxmpi_mca::Status;

/// The members of a group as ranks of the window.
fn ranks(object: &WinObject, group: Group) -> Res<Vec<u32>> {
    let group = group::require(group)?;
    let all: Vec<u32> = (0..group.size()).collect();
    let ranks = group.translate(&all, object.comm().group())?;
    let outside = || Failure::new(MPI_ERR_GROUP, "the group has a member that is not in the window's group");
    ranks.into_iter().map(|rank| rank.ok_or_else(outside)).collect()
}

mpi_fn! {
    fn MPI_Win_post(group: Group, assert: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let assert = assertions(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)?;
            let ranks = ranks(object, group)?;
            check(served(object)?.post(entry, &ranks, assert))
        })
    }
}
mpi_fn! {
    fn MPI_Win_start(group: Group, assert: c_int, win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let assert = assertions(assert, MPI_MODE_NOCHECK)?;
            let ranks = ranks(object, group)?;
            check(served(object)?.access(entry, &ranks, assert))
        })
    }
}
mpi_fn! {
    fn MPI_Win_complete(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| check(served(require(win)?)?.complete(entry)))
    }
}
mpi_fn! {
    fn MPI_Win_wait(win: Win) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| check(served(require(win)?)?.wait(entry, true)))
    }
}
mpi_fn! {
    fn MPI_Win_test(win: Win, flag: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let verbs = served(require(win)?)?;
            if flag.is_null() {
                return Failure::err(MPI_ERR_ARG, "flag is a null pointer");
            }
            let status = verbs.wait(entry, false);
            check(status)?;
            write(flag, "flag", (status != Status::PENDING).into())
        })
    }
}
