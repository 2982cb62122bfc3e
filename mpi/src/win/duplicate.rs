//! A second window on the memory of one, and one flush of several windows (`mpi-ext.h`).

use super::argument::served;
use super::object::{adopt, get, require};
use crate::call::counting;
use crate::call::memory::{In, Out, slice, write};
use crate::call::process;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, call_on, check, raise_on, raise_without_call};
use crate::types::{Info, Win};
use crate::{info, win::WinObject};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_runtime::window::CallKind;

mpi_fn! {
    fn MPIX_Win_dup_with_info(win: Win, info: Info, newwin: Out<Win>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let given = info::optional(info)?.unwrap_or_default();
            if newwin.is_null() {
                return Failure::err(MPI_ERR_ARG, "newwin is a null pointer");
            }
            served(object)?;
            let window = object.window.dup(entry, &given)?;
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
fn flush(entry: &mut Entry, objects: &[&'static WinObject]) -> Option<(Win, Failure)> {
    for object in objects {
        if counting::on() {
            object.window.note(CallKind::Flush);
        }
        // The flush begins what cannot be begun apart, and tells what may not be flushed.
        if let Some(verbs) = object.window.verbs() {
            let _ = verbs.flush_begin(entry, None);
        }
    }
    let mut first = None;
    for object in objects {
        // All of them, also behind one that failed.
        let flushed = served(object).and_then(|verbs| check(verbs.flush(entry, None, false)));
        if let (Err(failure), None) = (flushed, &first) {
            first = Some((object.handle(), failure));
        }
    }
    first
}

mpi_fn! {
    fn MPIX_Win_flush_many(count: c_int, wins: In<Win>) -> c_int |here| {
        let listed = process::require().and_then(|process| {
            let Ok(n) = usize::try_from(count) else {
                return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
            };
            // SAFETY: the interface has the caller pass `wins` with `count` elements.
            Ok((process, unsafe { slice(wins, n, "wins") }?))
        });
        let (process, wins) = match listed {
            Ok(listed) => listed,
            Err(failure) => return raise_without_call(NAME, ErrorObject::Nothing, failure),
        };
        let mut entry = here.of(process).entry;
        let failed = match windows(wins) {
            Ok(objects) => flush(&mut entry, &objects),
            Err(failed) => Some(failed),
        };
        failed.map_or(MPI_SUCCESS, |(win, failure)| raise_on(&mut entry, NAME, ErrorObject::Win(win), failure))
    }
}
