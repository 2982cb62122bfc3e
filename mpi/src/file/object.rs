//! The object behind a handle of a file: the runtime's [`File`] with its error handler.

use crate::call::handle::{Kind, Table};
use crate::constants::*;
use crate::error::handler::Handler;
use crate::error::{Failure, Res};
use crate::types::File as Handle;
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_runtime::file::File;
use parking_lot::Mutex;
use std::sync::Arc;

/// Requests hold its address beside a bit (`request::owner::FILE`).
#[repr(align(64))]
pub struct FileObject {
    pub file: Arc<File>,
    /// As MPI_File_open was given it.
    pub amode: core::ffi::c_int,
    handle: AtomicUsize,
    handler: Mutex<Handler>,
}

pub static TABLE: Table<FileObject> = Table::new(Kind::File);

/// The handler of MPI_FILE_NULL, which files get when they are opened (MPI 5.0 §14.7).
static DEFAULT: Mutex<Handler> = Mutex::new(Handler::Return);

/// The object of a handle, or what to tell the user.
pub fn require(file: Handle) -> Res<&'static FileObject> {
    TABLE.get(file.0).ok_or_else(|| match file.0 {
        MPI_FILE_NULL => Failure::new(MPI_ERR_FILE, "fh is MPI_FILE_NULL"),
        other => Failure::new(MPI_ERR_FILE, format!("fh {other:#x} is no file, or was closed")),
    })
}

/// The handler of a file's errors: that of MPI_FILE_NULL for that one; `None`: there is no such file.
pub fn handler_of(file: Handle) -> Option<Handler> {
    match file.0 {
        MPI_FILE_NULL => Some(DEFAULT.lock().clone()),
        other => TABLE.get(other).map(|object| object.handler.lock().clone()),
    }
}

/// Gives a file another handler; of MPI_FILE_NULL that of files to come. An error where there is no such file.
pub fn set_handler_of(file: Handle, handler: Handler) -> Res {
    // The old one is dropped outside the lock.
    let old = match file.0 {
        MPI_FILE_NULL => core::mem::replace(&mut *DEFAULT.lock(), handler),
        _ => core::mem::replace(&mut *require(file)?.handler.lock(), handler),
    };
    drop(old);
    Ok(())
}

/// A handle for a file that has just been opened.
pub fn adopt(file: Arc<File>, amode: core::ffi::c_int) -> Res<Handle> {
    let object = FileObject {
        file,
        amode,
        handle: AtomicUsize::new(MPI_FILE_NULL),
        handler: Mutex::new(DEFAULT.lock().clone()),
    };
    match TABLE.insert(Box::new(object)) {
        Some(handle) => {
            if let Some(object) = TABLE.get(handle) {
                object.handle.store(handle, Ordering::Relaxed);
            }
            Ok(Handle(handle))
        }
        None => Failure::err(MPI_ERR_NO_MEM, "too many files"),
    }
}

/// The handle is stale from now on.
pub fn forget(file: Handle) {
    drop(TABLE.remove(file.0));
}

impl FileObject {
    pub fn handle(&self) -> Handle {
        Handle(self.handle.load(Ordering::Relaxed))
    }
}
