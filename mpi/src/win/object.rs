//! The object behind a handle of a window: the runtime's [`Window`] with its error handler, attributes, name and hints.

use crate::attr::Attributes;
use crate::call::handle::{Kind, Table};
use crate::constants::*;
use crate::error::handler::Handler;
use crate::error::{Failure, Res};
use crate::types::{Aint, Win};
use core::ffi::c_int;
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

/// Requests hold its address beside a bit (`request::owner::WINDOW`).
#[repr(align(64))]
pub struct WinObject {
    pub facts: Facts,
    pub window: Arc<Window>,
    /// First and last address of what is attached to a dynamic window that no component serves.
    pub attached: Mutex<Vec<(usize, usize)>>,
    handle: AtomicUsize,
    handler: Mutex<Handler>,
    pub attributes: Attributes,
    /// Name and hints.
    pub text: Mutex<(String, oxmpi_runtime::Info)>,
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
pub fn adopt(facts: Facts, window: Arc<Window>, hints: oxmpi_runtime::Info) -> Res<Win> {
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
pub fn forget(win: Win) {
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
