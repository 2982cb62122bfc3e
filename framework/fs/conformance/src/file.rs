//! An open file of a check.

use crate::rig::{Rig, how, place};
use oxmpi_fs::{FsFile, OpenFile, Range, mode};
use oxmpi_mca::{SliceRef, Status};
use std::os::fd::{FromRawFd, RawFd};
use std::path::Path;

/// A file that the component has open.
pub struct File<'a> {
    rig: &'a Rig,
    /// The component's description.
    pub told: FsFile,
    open: bool,
}

impl<'a> File<'a> {
    /// Opens a path. An error: the component's.
    pub fn open(rig: &'a Rig, path: &Path, mode: u32) -> Result<File<'a>, Status> {
        File::open_as(rig, path, how(mode))
    }

    /// The same, with hints.
    pub fn open_as(rig: &'a Rig, path: &Path, how: OpenFile) -> Result<File<'a>, Status> {
        let mut told = place(size_of::<FsFile>());
        match rig.open(path, how, &mut told) {
            Status::OK => Ok(File { rig, told, open: true }),
            status => {
                assert!(told.file.is_null() && told.fd == -1, "what is not open is not described");
                Err(status)
            }
        }
    }

    /// Makes a new file for reading and writing.
    pub fn new(rig: &'a Rig, name: &str) -> File<'a> {
        File::open(rig, &rig.path(name), mode::CREATE | mode::RDWR)
            .unwrap_or_else(|e| panic!("open {name}: {e}"))
    }

    /// The descriptor for data.
    pub fn fd(&self) -> RawFd {
        self.told.fd
    }

    /// The descriptor for data, as the standard library has it.
    pub fn std(&self) -> std::mem::ManuallyDrop<std::fs::File> {
        // SAFETY: open as long as the file, and not closed by this one.
        std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(self.told.fd) })
    }

    /// Why something is not kept.
    pub fn because(&self) -> String {
        let text = self.told.because;
        // SAFETY: valid as long as the file is open.
        let bytes = unsafe { SliceRef { ptr: text.ptr, len: text.len }.get() };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The length.
    pub fn length(&self) -> Result<u64, Status> {
        let mut bytes = u64::MAX;
        (self.rig.table().length)(self.told.file, &mut bytes).ok()?;
        Ok(bytes)
    }
    /// Cuts or extends it.
    pub fn resize(&self, bytes: u64) -> Status {
        (self.rig.table().resize)(self.told.file, bytes)
    }
    /// Has space ready.
    pub fn preallocate(&self, bytes: u64) -> Status {
        (self.rig.table().preallocate)(self.told.file, bytes)
    }
    /// Writes it to the device.
    pub fn sync(&self) -> Status {
        (self.rig.table().sync)(self.told.file)
    }
    /// Takes a lock.
    pub fn lock(&self, offset: u64, len: u64, kind: u32) -> Status {
        (self.rig.table().lock)(self.told.file, &Range { offset, len }, kind)
    }
    /// Gives locks back.
    pub fn unlock(&self, offset: u64, len: u64) -> Status {
        (self.rig.table().unlock)(self.told.file, &Range { offset, len })
    }
    /// Forgets what is kept.
    pub fn refresh(&self, offset: u64, len: u64) -> Status {
        (self.rig.table().refresh)(self.told.file, &Range { offset, len })
    }
    /// Closes it.
    pub fn close(mut self) -> Status {
        self.open = false;
        (self.rig.table().close)(self.told.file)
    }
}

impl Drop for File<'_> {
    fn drop(&mut self) {
        if self.open {
            let status = (self.rig.table().close)(self.told.file);
            assert!(status == Status::OK || std::thread::panicking(), "close: {status}");
        }
    }
}
