//! Names and hints of windows (MPI 5.0 §7.8, §12.2.7).

use super::object::require;
use crate::call::memory::{Out, Text, object_name, text, write, write_made, write_text};
use crate::constants::*;
use crate::error::{ErrorObject, call_on};
use crate::info;
use crate::types::{Info, Win};
use core::ffi::{c_char, c_int};

mpi_fn! {
    fn MPI_Win_set_name(win: Win, win_name: Text) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = require(win)?;
            object.text.lock().0 = object_name(text(win_name, "win_name")?);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_name(win: Win, win_name: Out<c_char>, resultlen: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let name = match win.0 {
                // Asked for by the standard since MPI 4.1: null handles have names.
                MPI_WIN_NULL => "MPI_WIN_NULL".to_string(),
                _ => require(win)?.text.lock().0.clone(),
            };
            // SAFETY: the standard has the caller pass `win_name` with room for MPI_MAX_OBJECT_NAME bytes.
            let n = unsafe { write_text(win_name, "win_name", &name, MPI_MAX_OBJECT_NAME as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Win_set_info(win: Win, info: Info) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = require(win)?;
            let hints = info::require(info)?;
            object.window.set_info(entry, &hints)?;
            object.text.lock().1.merge(&hints);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_info(win: Win, info_used: Out<Info>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = require(win)?;
            // The program's keys, and in the place of each hint that is known the value in force.
            let mut hints = object.text.lock().1.clone();
            hints.merge(&object.window.info());
            write_made(info_used, "info_used", || info::adopt(hints))
        })
    }
}
