//! A second window on the memory of one, and one flush of several windows (`mpi-ext.h`).

use super::argument::served;
use super::object::{adopt, get, require};
use crate::call::counting;
use crate::call::memory::{slice, write};
use crate::call::process::{self, Process};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, call_on, check, raise_on};
use crate::types::{Info, Win};
use crate::{info, win::WinObject};
use core::ffi::c_int;
use oxmpi_runtime::window::CallKind;

mpi_fn! {
    fn MPIX_Win_dup_with_info(win: Win, info: Info, newwin: *mut Win) -> c_int {
        call_on(NAME, ErrorObject::Win(win), |process| {
            let object = require(win)?;
            let given = info::optional(info)?.unwrap_or_default();
            if newwin.is_null() {
                return Failure::err(MPI_ERR_ARG, "newwin is a null pointer");
            }
            served(object)?;
            let window = object.window.dup(process.thread(), &given)?;
            let mut hints = object.text.lock().1.clone();
            hints.merge(&given);
            let made = adopt(object.facts, window, hints)?;
            if let Some(new) = get(made) {
                new.set_handler(object.handler());
            }
            write(newwin, "newwin", made)
        })
    }
}

/// The windows of a list, or the place of the first handle that is none, and what to tell the user.
fn windows(wins: &[Win]) -> Result<Vec<&'static WinObject>, (Win, Failure)> {
    wins.iter()
        .map(|win| require(*win).and_then(|object| served(object).map(|_| object)).map_err(|f| (*win, f)))
        .collect()
}

/// The first failure, and of which window.
fn flush(process: &Process, objects: &[&'static WinObject]) -> Option<(Win, Failure)> {
    let thread = process.thread();
    let begin = |object: &&'static WinObject| {
        if counting::on() {
            object.window.note(CallKind::Flush);
        }
        // The flush begins what cannot be begun apart, and tells what may not be flushed.
        if let Some(verbs) = object.window.verbs() {
            let _ = verbs.flush_begin(thread, None);
        }
    };
    objects.iter().for_each(begin);
    let mut first = None;
    for object in objects {
        // All of them, also behind one that failed.
        let flushed = served(object).and_then(|verbs| check(verbs.flush(thread, None, false)));
        if let (Err(failure), None) = (flushed, &first) {
            first = Some((object.handle(), failure));
        }
    }
    first
}

mpi_fn! {
    fn MPIX_Win_flush_many(count: c_int, wins: *const Win) -> c_int {
        let listed = process::require().and_then(|process| {
            let Ok(n) = usize::try_from(count) else {
                return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
            };
            Ok((process, if n == 0 { &[][..] } else { slice(wins, n, "wins")? }))
        });
        let (process, wins) = match listed {
            Ok(listed) => listed,
            Err(failure) => return raise_on(NAME, ErrorObject::Nothing, failure),
        };
        let failed = match windows(wins) {
            Ok(objects) => flush(process, &objects),
            Err(failed) => Some(failed),
        };
        failed.map_or(MPI_SUCCESS, |(win, failure)| raise_on(NAME, ErrorObject::Win(win), failure))
    }
}
