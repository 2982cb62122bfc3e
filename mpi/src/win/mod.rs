//! Windows as the C interface has them: handle, error handler, attributes, name and hints (MPI 5.0 §12.2, §7.7, §9.3).
//!
//! Map: here the object · `create` (made and freed) · `memory` (memory of ranks, attached memory) · `argument` (what all calls
//! on a window look at) · `usual` (calls in which nothing is unusual) · `operation` (put, get, accumulate) · `atomic` (one element) · `fence`, `post` (active
//! synchronisation) · `lock` (passive synchronisation) · `notify`, `duplicate` (extensions of `mpi-ext.h`). What a window does is its one-sided component's
//! ([`oxmpi_runtime::window`]).

mod argument;
mod atomic;
mod create;
mod duplicate;
mod fence;
mod lock;
mod memory;
mod notify;
mod operation;
mod post;
mod usual;

use crate::attr::Attributes;
use crate::constants::*;
use crate::errhandler::Handler;
use crate::error::{Failure, On, Res, call_on};
use crate::handle::{Kind, Table};
use crate::info;
use crate::memory::{object_name, text, write, write_made, write_text};
use crate::types::{Aint, Info, Win};
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_runtime::{Communicator, Window};
use parking_lot::Mutex;
use std::sync::Arc;

/// Values of the predefined attributes of a window.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub base: usize,
    pub size: Aint,
    pub disp_unit: c_int,
    pub flavor: c_int,
    pub model: c_int,
}

/// Requests hold its address beside a bit (`request::WINDOW`).
#[repr(align(64))]
pub struct WinObject {
    pub facts: Facts,
    pub window: Arc<Window>,
    /// First and last address of what is attached to a dynamic window that no component serves.
    attached: Mutex<Vec<(usize, usize)>>,
    handle: AtomicUsize,
    handler: Mutex<Handler>,
    pub attributes: Attributes,
    text: Mutex<(String, oxmpi_runtime::Info)>,
}

pub static TABLE: Table<WinObject> = Table::new(Kind::Win);

/// The object of a handle.
pub fn get(win: Win) -> Option<&'static WinObject> {
    TABLE.get(win.0)
}

/// The object of a handle, or what to tell the user.
pub fn require(win: Win) -> Res<&'static WinObject> {
    get(win).ok_or_else(|| match win.0 {
        MPI_WIN_NULL => Failure::new(MPI_ERR_WIN, "win is MPI_WIN_NULL"),
        other => Failure::new(MPI_ERR_WIN, format!("win {other:#x} is no window, or was freed")),
    })
}

/// A handle for a window, whose errors are fatal until the program says otherwise (MPI 5.0 §12.6).
fn adopt(facts: Facts, window: Arc<Window>, hints: oxmpi_runtime::Info) -> Res<Win> {
    let object = WinObject {
        facts,
        window,
        attached: Mutex::new(Vec::new()),
        handle: AtomicUsize::new(MPI_WIN_NULL),
        handler: Mutex::new(Handler::Fatal),
        attributes: Attributes::new(),
        text: Mutex::new((String::new(), hints)),
    };
    match TABLE.insert(Box::new(object)) {
        Some(handle) => {
            if let Some(object) = TABLE.get(handle) {
                object.handle.store(handle, Ordering::Relaxed);
            }
            Ok(Win(handle))
        }
        None => Failure::err(MPI_ERR_NO_MEM, "too many windows"),
    }
}

/// The handle is stale from now on, the memory gone.
fn forget(win: Win) {
    drop(TABLE.remove(win.0));
}

impl WinObject {
    /// The window's own communicator.
    pub fn comm(&self) -> &Communicator {
        self.window.comm()
    }

    pub fn handle(&self) -> Win {
        Win(self.handle.load(Ordering::Relaxed))
    }

    /// A copy, so that no guard is alive when it is called.
    pub fn handler(&self) -> Handler {
        self.handler.lock().clone()
    }

    pub fn set_handler(&self, handler: Handler) {
        let old = core::mem::replace(&mut *self.handler.lock(), handler);
        drop(old);
    }

    /// The answer of MPI_Win_get_attr for a predefined attribute: the base itself, of the others the
    /// address of the value, which lives as long as the window.
    pub fn predefined(&self, keyval: c_int) -> Option<usize> {
        Some(match keyval {
            MPI_WIN_BASE => self.facts.base,
            MPI_WIN_SIZE => &raw const self.facts.size as usize,
            MPI_WIN_DISP_UNIT => &raw const self.facts.disp_unit as usize,
            MPI_WIN_CREATE_FLAVOR => &raw const self.facts.flavor as usize,
            MPI_WIN_MODEL => &raw const self.facts.model as usize,
            _ => return None,
        })
    }
}

mpi_fn! {
    fn MPI_Win_set_name(win: Win, win_name: *const c_char) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = require(win)?;
            object.text.lock().0 = object_name(text(win_name, "win_name")?);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_name(win: Win, win_name: *mut c_char, resultlen: *mut c_int) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let name = match win.0 {
                // Asked for by the standard since MPI 4.1: null handles have names.
                MPI_WIN_NULL => "MPI_WIN_NULL".to_string(),
                _ => require(win)?.text.lock().0.clone(),
            };
            let n = write_text(win_name, "win_name", &name, MPI_MAX_OBJECT_NAME as usize)?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Win_set_info(win: Win, info: Info) -> c_int {
        call_on(NAME, On::Win(win), |process| {
            let object = require(win)?;
            let hints = info::require(info)?;
            object.window.set_info(process.thread(), &hints)?;
            object.text.lock().1.merge(&hints);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_info(win: Win, info_used: *mut Info) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = require(win)?;
            // The program's keys, and in the place of each hint that is known the value in force.
            let mut hints = object.text.lock().1.clone();
            hints.merge(&object.window.info());
            write_made(info_used, "info_used", || info::adopt(hints))
        })
    }
}
