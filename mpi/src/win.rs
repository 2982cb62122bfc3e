//! Windows as objects: handle, error handler, attributes, name and hints (MPI 5.0 §12.2, §7.7, §9.3).
//! `win_create` makes them. What a window does is one-sided communication's, which is not in this version.

use crate::attr::Attributes;
use crate::constants::*;
use crate::errhandler::Handler;
use crate::error::{Failure, On, Res, call_on};
use crate::handle::{Kind, Table};
use crate::info;
use crate::memory::{object_name, text, write, write_made, write_text};
use crate::types::{Aint, Info, Win};
use core::ffi::{c_char, c_int, c_void};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::shared::SharedMemory;
use parking_lot::Mutex;
use std::sync::Arc;

/// What the predefined attributes of a window show.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub base: usize,
    pub size: Aint,
    pub disp_unit: Aint,
    pub disp_unit_attribute: c_int,
    pub flavor: c_int,
    pub model: c_int,
    /// The lowest rank that gave memory, where each rank's is its own.
    pub first: Option<u32>,
}

/// Whose the memory is.
pub enum Memory {
    /// The program's.
    Users,
    /// Ours, from the allocator.
    Allocated(*mut c_void),
    /// Of all ranks.
    Shared(SharedMemory),
}

// SAFETY: memory belongs to the process, not to a thread.
unsafe impl Send for Memory {}
// SAFETY: as above; nobody looks into it here.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn base(&self) -> *mut c_void {
        match self {
            Memory::Allocated(base) => *base,
            _ => core::ptr::null_mut(),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Memory::Allocated(base) = self {
            // SAFETY: from the allocator, given back once.
            unsafe { libc::free(*base) };
        }
    }
}

/// What a constructor has made.
pub struct Made {
    pub facts: Facts,
    pub comm: Arc<Communicator>,
    pub memory: Memory,
    pub hints: oxmpi_runtime::Info,
}

pub struct WinObject {
    pub facts: Facts,
    /// The window's own.
    pub comm: Arc<Communicator>,
    pub memory: Memory,
    /// First and last address of what is attached to a dynamic window.
    pub attached: Mutex<Vec<(usize, usize)>>,
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
pub fn adopt(made: Made) -> Res<Win> {
    let object = WinObject {
        facts: made.facts,
        comm: made.comm,
        memory: made.memory,
        attached: Mutex::new(Vec::new()),
        handler: Mutex::new(Handler::Fatal),
        attributes: Attributes::new(),
        text: Mutex::new((String::new(), made.hints)),
    };
    match TABLE.insert(Box::new(object)) {
        Some(handle) => Ok(Win(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many windows"),
    }
}

/// The handle is stale from now on, the memory gone.
pub fn forget(win: Win) {
    drop(TABLE.remove(win.0));
}

impl WinObject {
    /// A copy, so that no guard is alive when it is called.
    pub fn handler(&self) -> Handler {
        self.handler.lock().clone()
    }

    pub fn set_handler(&self, handler: Handler) {
        let old = core::mem::replace(&mut *self.handler.lock(), handler);
        drop(old);
    }

    /// What MPI_Win_get_attr gives of a predefined attribute: the base itself, of the others the
    /// address of the value, which lives as long as the window.
    pub fn predefined(&self, keyval: c_int) -> Option<usize> {
        Some(match keyval {
            MPI_WIN_BASE => self.facts.base,
            MPI_WIN_SIZE => &raw const self.facts.size as usize,
            MPI_WIN_DISP_UNIT => &raw const self.facts.disp_unit_attribute as usize,
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
        call_on(NAME, On::Win(win), |_| {
            let object = require(win)?;
            let hints = info::require(info)?;
            object.text.lock().1.merge(&hints);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_info(win: Win, info_used: *mut Info) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let hints = require(win)?.text.lock().1.clone();
            write_made(info_used, "info_used", || info::adopt(hints))
        })
    }
}
