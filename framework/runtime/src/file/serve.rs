//! An open file of one process: what a file system component has opened, and what a component that transfers has prepared for it.

use super::mount::Mount;
use crate::objects::{FileParts, Instance};
use core::ffi::c_void;
use oxmpi_fbtl::{Bell, FileFacts};
use oxmpi_fs::error::system;
use oxmpi_fs::{FsFile, OpenFile, PathFacts, Range, mode};
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

/// A component and the priority with which it would serve; `None`: it does not.
pub(crate) type Rated<'a, C> = Vec<(&'a C, Option<i32>)>;

/// The answer of each component for a path. `named`: the one that the path's prefix names.
pub(crate) fn rate<'a>(
    parts: &'a FileParts,
    path: &Path,
    mount: &Mount,
    named: Option<&str>,
) -> Rated<'a, FsComponent> {
    let facts = facts(path, mount, named.is_some() || parts.fs_is_named);
    let candidates = parts.fss.iter().filter(|c| named.is_none_or(|name| name == c.name));
    let rated = candidates.map(|component| {
        let mut priority = 0;
        let status = (component.module.query)(component.module.state, &facts, &mut priority);
        (component, status.is_ok().then_some(priority))
    });
    rated.collect()
}

/// The best of them, the first one of several.
pub(crate) fn best<'a, C>(rated: &Rated<'a, C>) -> Option<&'a C> {
    let mut best: Option<(i32, &C)> = None;
    for (component, priority) in rated {
        if let Some(priority) = priority
            && best.is_none_or(|(most, _)| *priority > most)
        {
            best = Some((*priority, component));
        }
    }
    best.map(|(_, component)| component)
}

/// The component that serves a path: the one that is named, or the best.
pub(crate) fn choose<'a>(
    parts: &'a FileParts,
    path: &Path,
    mount: &Mount,
    named: Option<&str>,
) -> Result<&'a FsComponent, Error> {
    best(&rate(parts, path, mount, named)).ok_or_else(|| {
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
    /// A file that is opened for writing only is opened for reading, too, where the system permits it.
    pub reads_too: bool,
}

impl Manner {
    /// For a file whose writes are sieved: through the system's cache alone. Windows reach into pages that another rank writes, and the system cannot keep its cache right where
    /// one goes through it and the other past it at the same time.
    pub(crate) fn sieved(self) -> Manner {
        Manner { reads_too: true, direct_read: false, direct_write: false, ..self }
    }
}

/// A file that a file system component has opened. It is closed when this goes, at the latest.
pub(crate) struct OnDisk {
    pub component: FsComponent,
    pub facts: FsFile,
    /// Its descriptor may be read.
    pub is_readable: bool,
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
        if how.reads_too && how.mode & (mode::WRONLY | mode::SEQUENTIAL) == mode::WRONLY {
            let both = Manner { mode: how.mode & !mode::WRONLY | mode::RDWR, reads_too: false, ..*how };
            match OnDisk::open(component, path, mount, named, &both) {
                Err(status) if status == system(libc::EACCES) => {}
                opened => return opened,
            }
        }
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
        let is_readable = how.mode & mode::WRONLY == 0;
        Ok(OnDisk { component: *component, facts, is_readable, open: AtomicBool::new(true) })
    }

    /// A file of tests, whose functions are those of the table.
    #[cfg(test)]
    pub(crate) fn of_test(component: FsComponent, keeps: u32) -> OnDisk {
        // SAFETY: zeros are numbers, a null pointer and an empty text.
        let facts = FsFile { keeps, ..unsafe { MaybeUninit::<FsFile>::zeroed().assume_init() } };
        OnDisk { component, facts, is_readable: true, open: AtomicBool::new(false) }
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

    /// Whether transfers in a direction (`oxmpi_fs::mode::RDONLY`, `WRONLY`) pass the system's cache by where pieces are aligned.
    pub(crate) fn passes_by(&self, direction: u32) -> bool {
        self.facts.direct_fd >= 0 && self.facts.direct_for & (direction | mode::RDWR) != 0
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

    /// Forgets what this node keeps of a range.
    pub(crate) fn refresh(&self, range: &Range) -> Status {
        (self.component.table.refresh)(self.facts.file, range)
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

/// An open file as components that transfer are asked about it.
fn file_facts(disk: &OnDisk, mode: u32, magic: u64, bell: &Bell) -> FileFacts {
    FileFacts {
        size: size_of::<FileFacts>() as u32,
        fd: disk.facts.fd,
        direct_fd: disk.facts.direct_fd,
        direct_for: disk.facts.direct_for,
        direct_unit: disk.facts.direct_unit,
        keeps: disk.facts.keeps,
        mode,
        magic,
        bell,
    }
}

impl Transfers {
    /// The answer of each component for a file, the best first.
    pub(crate) fn rate<'a>(
        parts: &'a FileParts,
        disk: &OnDisk,
        (mode, magic): (u32, u64),
        bell: &Bell,
    ) -> Rated<'a, FbtlComponent> {
        let facts = file_facts(disk, mode, magic, bell);
        let rated = parts.fbtls.iter().map(|component| {
            let mut priority = 0;
            let status = (component.module.query)(component.module.state, &facts, &mut priority);
            (component, status.is_ok().then_some(priority))
        });
        let mut rated: Rated<'a, FbtlComponent> = rated.collect();
        rated.sort_by_key(|(_, priority)| std::cmp::Reverse(*priority));
        rated
    }

    /// Has the best component prepare for a file; the next one if that one cannot. NOT_AVAILABLE: none serves it.
    pub(crate) fn open(
        instance: &Instance,
        parts: &FileParts,
        (disk, mode, magic): (&OnDisk, u32, u64),
    ) -> Result<Transfers, Status> {
        let bell = instance.file_bell();
        let facts = file_facts(disk, mode, magic, &bell);
        let mut last = Status::NOT_AVAILABLE;
        for (component, priority) in Transfers::rate(parts, disk, (mode, magic), &bell) {
            if priority.is_none() {
                continue;
            }
            let mut file = null_mut();
            last = (component.table.open)(component.module.state, &facts, &mut file);
            if last.is_ok() {
                return Ok(Transfers { component: *component, file, open: AtomicBool::new(true) });
            }
        }
        Err(last)
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
