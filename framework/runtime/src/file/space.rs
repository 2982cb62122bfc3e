//! Space ahead (MPI_File_preallocate, MPI 5.0 §14.2.5): the file system's own, or zeros written behind the end of the file where it has none.
//!
//! **By writing.** Bytes behind the end are written, made durable, and taken back where that fails, so that a full disk is told here and stays as full as it was. A hole before the end
//! stays one on such file systems: to fill it would be to read and write back what others may write meanwhile.

use super::access::{Access, Elements, Part};
use super::object::File;
use super::presence::Presence;
use super::view_data::ViewData;
use oxmpi_fbtl::transfer;
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

/// Zeros that are written at once.
const AT_ONCE: u64 = 4 << 20;

impl File {
    /// Has space for the first bytes of the file, which is at least that long then. Of one rank; it waits for the file system.
    pub(super) fn have_space(self: &Arc<File>, entry: &mut Entry, here: &Presence, bytes: u64) -> Status {
        match here.disk.preallocate(bytes) {
            Status::NOT_SUPPORTED => {}
            status => return status,
        }
        let length = match here.disk.length() {
            Ok(length) => length,
            Err(status) => return status,
        };
        if length >= bytes {
            return Status::OK;
        }
        let mut status = self.write_zeros(entry, length, bytes);
        if status.is_ok() {
            // A client of a server hears only now that there is no space.
            status = here.disk.sync();
        }
        // A file that is longer has been written by others meanwhile.
        if status.is_err() && here.disk.length().is_ok_and(|now| now > length && now <= bytes) {
            let _ = here.disk.resize(length);
        }
        status
    }

    /// Writes zeros from one offset to another.
    fn write_zeros(self: &Arc<File>, entry: &mut Entry, from: u64, end: u64) -> Status {
        let mut zeros = vec![0; AT_ONCE.min(end - from) as usize];
        let view = Arc::new(ViewData::bytes(self.host()));
        let mut at = from;
        while at < end {
            let len = (zeros.len() as u64).min(end - at);
            let part = Part { view: view.clone(), from: at, len };
            // SAFETY: read until the access has ended, below; nobody else has it.
            let elements = unsafe { Elements::new(zeros.as_mut_ptr(), len, view.filetype.clone()) };
            let Ok(mut access) = Access::new(self.clone(), transfer::WRITE, part, &elements) else {
                return Status::BAD_PARAM;
            };
            match access.run(entry) {
                (status, _) if status.is_err() => return status,
                (_, 0) => return oxmpi_fs::error::system(libc::EIO),
                (_, bytes) => at += bytes,
            }
        }
        Status::OK
    }
}
