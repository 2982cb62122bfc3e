//! The component opened for one rank, with the host that it sees, and a folder for files.

use crate::setup::Setup;
use core::ptr::null_mut;
use oxmpi_fs::{FsFile, FsModule, FsTable, OpenFile, PathFacts};
use oxmpi_mca::host::HostTable;
use oxmpi_mca::{Status, StrRef};
use oxmpi_testing::{Desk, FakeHost, JobState, setup};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A component under test.
pub struct Rig {
    module: FsModule,
    setup: Setup,
    folder: PathBuf,
    _table: Box<HostTable>,
    _host: Box<Ears>,
}

struct Ears {
    desk: Desk,
}

impl FakeHost for Ears {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        panic!("a file system component {what}");
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        panic!("a file system component reported process {proc}: {message}");
    }
}

/// Folders of this process so far.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A path as it crosses the boundary.
pub(crate) fn text(path: &Path) -> StrRef {
    let bytes = path.as_os_str().as_bytes();
    StrRef { ptr: bytes.as_ptr(), len: bytes.len() }
}

/// A hint that nobody gave, and every other: how to open a path with this mode.
pub fn how(mode: u32) -> OpenFile {
    OpenFile {
        size: size_of::<OpenFile>() as u32,
        mode,
        path: StrRef::EMPTY,
        permissions: 0o644,
        striping_factor: 0,
        striping_unit: 0,
        first_device: 0,
        direct_read: 0,
        direct_write: 0,
        reserved: 0,
        facts: core::ptr::null(),
    }
}

/// A place for the description of a file, of so many bytes.
pub(crate) fn place(size: usize) -> FsFile {
    FsFile {
        size: size as u32,
        fd: -1,
        file: null_mut(),
        keeps: 0,
        striping_factor: 0,
        striping_unit: 0,
        block: 0,
        first_device: 0,
        direct_fd: -1,
        direct_unit: 0,
        direct_for: 0,
        reserved: 0,
        because: StrRef::EMPTY,
    }
}

impl Rig {
    pub(crate) fn new(setup: &Setup) -> Rig {
        let desk = Desk::new(Desk::job_of(0, 1), 1, true, Arc::<JobState>::default());
        let host = Box::new(Ears { desk });
        let table = Box::new(host.desk.table(&*host));
        // SAFETY: a static of the component.
        let descriptor = unsafe { &*setup.descriptor };
        let (_, modules) = setup::open::<FsModule>(descriptor, &table, &setup.params)
            .unwrap_or_else(|status| panic!("open: {status}"));
        assert_eq!(modules.len(), 1, "a file system component has one module");
        // SAFETY: valid as long as the module.
        let version = unsafe { ((*modules[0].table).size, (*modules[0].table).version) };
        assert_eq!(version, (size_of::<FsTable>() as u32, oxmpi_fs::TABLE_VERSION));
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = setup.folder.join(format!("oxmpi-fs-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files");
        Rig { module: modules[0], setup: setup.clone(), folder, _table: table, _host: host }
    }

    pub(crate) fn table(&self) -> &FsTable {
        // SAFETY: valid as long as the module.
        unsafe { &*self.module.table }
    }

    /// A path of a file that is not there yet.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Facts of a path for the component.
    pub fn facts(&self, path: &Path, named: bool) -> PathFacts {
        let of = |text: &str| StrRef { ptr: text.as_ptr(), len: text.len() };
        PathFacts {
            size: size_of::<PathFacts>() as u32,
            named: named.into(),
            path: text(path),
            magic: self.setup.magic,
            fs_type: of(&self.setup.fs_type),
            source: StrRef::new("here"),
            options: of(&self.setup.options),
        }
    }

    /// Asks for the priority for a path.
    pub fn query(&self, path: &Path, named: bool) -> Result<i32, Status> {
        let mut priority = i32::MIN;
        (self.module.query)(self.module.state, &self.facts(path, named), &mut priority).ok()?;
        assert!(priority > i32::MIN, "query sets the priority");
        Ok(priority)
    }

    /// Opens a path by the table.
    pub(crate) fn open(&self, path: &Path, mut how: OpenFile, out: &mut FsFile) -> Status {
        let facts = self.facts(path, false);
        how.path = text(path);
        how.facts = &facts;
        (self.table().open)(self.module.state, &how, out)
    }

    /// Deletes a path.
    pub fn delete(&self, path: &Path) -> Status {
        (self.table().delete)(self.module.state, text(path))
    }

    pub(crate) fn finish(self) {
        (self.module.finalize)(self.module.state);
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Files that are left behind lie in a folder for that.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
