//! The component opened for one rank, with the host that it sees, and a folder for files.

use crate::setup::Setup;
use core::time::Duration;
use oxmpi_fbtl::{FbtlModule, FbtlTable};
use oxmpi_mca::host::HostTable;
use oxmpi_mca::{Descriptor, Status};
use oxmpi_testing::{Desk, FakeHost, JobState, setup};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A component under test.
pub struct Rig {
    pub(crate) module: FbtlModule,
    pub(crate) patience: Duration,
    descriptor: *const Descriptor,
    params: Vec<(String, String)>,
    bound: Option<String>,
    folder: PathBuf,
    _table: Box<HostTable>,
    _host: Box<Ears>,
}

// SAFETY: modules may be used in any thread, descriptors are statics.
unsafe impl Send for Rig {}
// SAFETY: as above.
unsafe impl Sync for Rig {}

struct Ears {
    desk: Desk,
}

impl FakeHost for Ears {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        panic!("a component that transfers file data {what}");
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        panic!("a component that transfers file data reported process {proc}: {message}");
    }
}

/// Folders of this process so far.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

impl Rig {
    /// Opens the component with these parameters.
    pub(crate) fn new(setup: &Setup, params: &[(String, String)]) -> Rig {
        Rig::open(setup, params).unwrap_or_else(|status| panic!("open: {status}"))
    }

    /// The same; an error: the component does not open.
    pub(crate) fn open(setup: &Setup, params: &[(String, String)]) -> Result<Rig, Status> {
        let desk = Desk::new(Desk::job_of(0, 1), 1, true, Arc::<JobState>::default());
        let host = Box::new(Ears { desk });
        let table = Box::new(host.desk.table(&*host));
        // SAFETY: a static of the component.
        let descriptor = unsafe { &*setup.descriptor };
        let (_, modules) = setup::open::<FbtlModule>(descriptor, &table, params)?;
        assert_eq!(modules.len(), 1, "a component that transfers file data has one module");
        // SAFETY: valid as long as the module.
        let version = unsafe { ((*modules[0].table).size, (*modules[0].table).version) };
        assert_eq!(version, (size_of::<FbtlTable>() as u32, oxmpi_fbtl::TABLE_VERSION));
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("oxmpi-fbtl-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files");
        Ok(Rig {
            module: modules[0],
            patience: setup.patience,
            descriptor,
            params: params.to_vec(),
            bound: setup.bound.clone(),
            folder,
            _table: table,
            _host: host,
        })
    }

    /// The same component opened once more, with so many operations at most; `None`: it has no such bound.
    pub fn bounded(&self, most: usize) -> Option<Rig> {
        let bound = self.bound.clone()?;
        let mut params = self.params.clone();
        params.retain(|(name, _)| *name != bound);
        params.push((bound, most.to_string()));
        Some(Rig::new(&Setup::new(self.descriptor).patience(self.patience), &params))
    }

    pub(crate) fn table(&self) -> &FbtlTable {
        // SAFETY: valid as long as the module.
        unsafe { &*self.module.table }
    }

    /// A path of a file that is not there yet.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Looks for completions.
    pub fn harvest(&self) -> u32 {
        (self.table().harvest)(self.module.state)
    }

    /// The descriptor to sleep on, if there is one.
    pub fn event_fd(&self) -> Option<i32> {
        let fd = (self.table().event_fd)(self.module.state);
        (fd >= 0).then_some(fd)
    }

    /// Ends the component, as a child of the process may that was forked; the parent's stays.
    pub fn end(&self) {
        (self.module.finalize)(self.module.state);
    }

    /// Ends the component.
    pub(crate) fn finish(self) {
        self.end();
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Files that are left behind lie in a folder for that.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
