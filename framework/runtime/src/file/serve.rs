//! An open file of one process: what a file system component has opened, and what a component that transfers has prepared for it.

use super::error;
use super::mount::Mount;
use crate::objects::{FileParts, Instance};
use core::ffi::c_void;
use oxmpi_fbtl::FileFacts;
use oxmpi_fs::{FsFile, OpenFile, PathFacts, Range};
use oxmpi_loading::accept::{FbtlComponent, FsComponent};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use oxmpi_mca::{Status, StrRef};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

/// Bytes of the system as a component gets them.
fn bytes(of: &[u8]) -> StrRef {
    StrRef { ptr: of.as_ptr(), len: of.len() }
}

/// All that components are told of a path; its texts are those of the arguments.
fn facts(path: &Path, mount: &Mount, named: bool) -> PathFacts {
    PathFacts {
        size: size_of::<PathFacts>() as u32,
        named: named.into(),
        path: bytes(path.as_os_str().as_bytes()),
        magic: mount.magic,
        fs_type: bytes(mount.fs_type.as_bytes()),
        source: bytes(mount.source.as_bytes()),
        options: bytes(mount.options.as_bytes()),
    }
}

/// The component that serves a path: the one that is named, or the best.
pub(crate) fn choose<'a>(
    parts: &'a FileParts,
    path: &Path,
    mount: &Mount,
    named: Option<&str>,
) -> Result<&'a FsComponent, Error> {
    let facts = facts(path, mount, named.is_some());
    let candidates = parts.fss.iter().filter(|c| named.is_none_or(|name| name == c.name));
    let mut best: Option<(i32, &FsComponent)> = None;
    for component in candidates {
        let mut priority = 0;
        let status = (component.module.query)(component.module.state, &facts, &mut priority);
        if status.is_ok() && best.is_none_or(|(most, _)| priority > most) {
            best = Some((priority, component));
        }
    }
    best.map(|(_, component)| component).ok_or_else(|| {
        let kind = if mount.fs_type.is_empty() { "its file system" } else { mount.fs_type.as_str() };
        let who =
            named.map_or_else(|| "no fs component".to_owned(), |name| format!("no fs component {name}"));
        Error::new(
            ErrorKind::Unsupported,
            format!("{}: {who} serves {kind} here; `mpi-info` lists the components", path.display()),
        )
    })
}

/// Deletes a file in this process.
pub(crate) fn delete(component: &FsComponent, path: &Path) -> Status {
    (component.table.delete)(component.module.state, bytes(path.as_os_str().as_bytes()))
}

/// The manner in which a file is to be opened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Bits of `oxmpi_fs::mode`.
    pub mode: u32,
    pub permissions: u32,
    pub striping_factor: u32,
    pub striping_unit: u64,
    pub first_device: u32,
    pub direct_read: bool,
    pub direct_write: bool,
}

/// A file that a file system component has opened. It is closed when this goes, at the latest.
pub(crate) struct OnDisk {
    pub component: FsComponent,
    pub facts: FsFile,
    open: AtomicBool,
}

// SAFETY: functions of a component may be called from any thread (contract).
unsafe impl Send for OnDisk {}
// SAFETY: and concurrently.
unsafe impl Sync for OnDisk {}

impl OnDisk {
    /// Opens a file in this process.
    pub(crate) fn open(
        component: &FsComponent,
        path: &Path,
        mount: &Mount,
        named: bool,
        how: &Manner,
    ) -> Result<OnDisk, Status> {
        let facts = facts(path, mount, named);
        let open = OpenFile {
            size: size_of::<OpenFile>() as u32,
            mode: how.mode,
            path: bytes(path.as_os_str().as_bytes()),
            permissions: how.permissions,
            striping_factor: how.striping_factor,
            striping_unit: how.striping_unit,
            first_device: how.first_device,
            direct_read: how.direct_read.into(),
            direct_write: how.direct_write.into(),
            reserved: 0,
            facts: &facts,
        };
        let mut out = MaybeUninit::<FsFile>::zeroed();
        // SAFETY: zeros are numbers, a null pointer and an empty text.
        let facts = unsafe { out.assume_init_mut() };
        (facts.size, facts.fd, facts.direct_fd, facts.block) = (size_of::<FsFile>() as u32, -1, -1, 1);
        let status = (component.table.open)(component.module.state, &open, facts);
        if status.is_err() {
            return Err(status);
        }
        // SAFETY: as above, and the component has written fields of it.
        let mut facts = unsafe { out.assume_init() };
        facts.block = facts.block.max(1);
        Ok(OnDisk { component: *component, facts, open: AtomicBool::new(true) })
    }

    /// Closes it; later calls do nothing.
    pub(crate) fn shut(&self) -> Status {
        match self.open.swap(false, Ordering::AcqRel) {
            true => (self.component.table.close)(self.facts.file),
            false => Status::OK,
        }
    }

    /// Why a property is missing, in a clause; empty where the component does not say.
    pub(crate) fn because(&self) -> &str {
        // SAFETY: valid until the file is closed, which borrows it.
        unsafe { self.facts.because.get() }.unwrap_or_default()
    }

    /// Whether the file system keeps this (bits of `oxmpi_fs::keeps`).
    pub(crate) fn keeps(&self, bits: u32) -> bool {
        self.facts.keeps & bits == bits
    }

    /// The file's length.
    pub(crate) fn length(&self) -> Result<u64, Status> {
        let mut length = 0;
        let status = (self.component.table.length)(self.facts.file, &mut length);
        if status.is_err() { Err(status) } else { Ok(length) }
    }

    /// Cuts or extends it.
    pub(crate) fn resize(&self, bytes: u64) -> Status {
        (self.component.table.resize)(self.facts.file, bytes)
    }

    /// Has space ready.
    pub(crate) fn preallocate(&self, bytes: u64) -> Status {
        (self.component.table.preallocate)(self.facts.file, bytes)
    }

    /// Makes it durable, and what others have made durable visible.
    pub(crate) fn sync(&self) -> Status {
        (self.component.table.sync)(self.facts.file)
    }

    /// Tries to lock a range.
    pub(crate) fn lock(&self, range: &Range, kind: u32) -> Status {
        (self.component.table.lock)(self.facts.file, range, kind)
    }

    /// Gives a range back.
    pub(crate) fn unlock(&self, range: &Range) -> Status {
        (self.component.table.unlock)(self.facts.file, range)
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = self.shut();
    }
}

/// All that a component that transfers has prepared for an open file. It is given back when this goes, at the latest.
pub(crate) struct Transfers {
    pub component: FbtlComponent,
    pub file: *mut c_void,
    open: AtomicBool,
}

// SAFETY: functions of a component may be called from any thread (contract).
unsafe impl Send for Transfers {}
// SAFETY: and concurrently.
unsafe impl Sync for Transfers {}

impl Transfers {
    /// Has the best component prepare for a file; the next one if that one cannot.
    pub(crate) fn open(
        instance: &Instance,
        parts: &FileParts,
        (disk, mode, magic): (&OnDisk, u32, u64),
        path: &Path,
    ) -> Result<Transfers, Error> {
        let bell = instance.file_bell();
        let facts = FileFacts {
            size: size_of::<FileFacts>() as u32,
            fd: disk.facts.fd,
            direct_fd: disk.facts.direct_fd,
            direct_for: disk.facts.direct_for,
            direct_unit: disk.facts.direct_unit,
            keeps: disk.facts.keeps,
            mode,
            magic,
            bell: &bell,
        };
        let mut ready: Vec<(i32, &FbtlComponent)> = Vec::new();
        for component in &parts.fbtls {
            let mut priority = 0;
            if (component.module.query)(component.module.state, &facts, &mut priority).is_ok() {
                ready.push((priority, component));
            }
        }
        ready.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
        let mut last = Status::NOT_AVAILABLE;
        for (_, component) in ready {
            let mut file = null_mut();
            last = (component.table.open)(component.module.state, &facts, &mut file);
            if last.is_ok() {
                return Ok(Transfers { component: *component, file, open: AtomicBool::new(true) });
            }
        }
        Err(error::of(last, "served by any fbtl component", path))
    }
}

impl Transfers {
    /// Gives it back; later calls do nothing.
    pub(crate) fn give_back(&self) {
        if self.open.swap(false, Ordering::AcqRel) {
            (self.component.table.close)(self.file);
        }
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.give_back();
    }
}
