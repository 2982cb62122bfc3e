//! The component and its open file.

use crate::params::{LOCK_ALGORITHM, Settings};
use oxmpi_fs::{Description, Facts, File, Fs, FsModule, LockKind, Locked, Opening, Range, keeps};
use oxmpi_fs_support::mounts::{kept, type_of};
use oxmpi_fs_support::{PosixFile, params, unlink};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::path::Path;

pub struct UfsComponent;

impl Component for UfsComponent {
    type Module = FsModule;
    const NAME: &'static str = "ufs";

    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FsModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fs::module(Ufs { settings })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        params::tell(params, LOCK_ALGORITHM, answers);
        Ok(())
    }
}

/// The component of one instance.
struct Ufs {
    settings: Settings,
}

impl Fs for Ufs {
    type File = UfsFile;

    fn query(&self, _facts: &Facts<'_>) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn open(&self, how: &Opening<'_>) -> Result<UfsFile, Status> {
        const LOCKS: u32 = keeps::LOCKS_HERE | keeps::LOCKS;
        let mut file = PosixFile::open(how)?;
        let mut kept = kept(&how.facts);
        if !file.has_locks() {
            kept =
                kept.without(LOCKS, format!("the file system (type {}) refuses locks", type_of(&how.facts)));
        } else if !self.settings.locks {
            file.forbid_locks();
            kept = kept.without(LOCKS, params::because("fs_ufs_lock_algorithm"));
        }
        let about = Description { keeps: kept.bits, because: kept.reason(), ..file.about() };
        Ok(UfsFile { file, about })
    }

    fn delete(&self, path: &Path) -> Result<(), Status> {
        unlink(path)
    }
}

struct UfsFile {
    file: PosixFile,
    about: Description,
}

impl File for UfsFile {
    fn about(&self) -> Description {
        self.about.clone()
    }
    fn close(self) -> Result<(), Status> {
        self.file.close()
    }
    fn length(&self) -> Result<u64, Status> {
        self.file.length()
    }
    fn resize(&self, bytes: u64) -> Result<(), Status> {
        self.file.resize(bytes)
    }
    fn preallocate(&self, bytes: u64) -> Result<(), Status> {
        self.file.preallocate(bytes)
    }
    fn sync(&self) -> Result<(), Status> {
        self.file.sync()
    }
    fn lock(&self, range: Range, kind: LockKind) -> Result<Locked, Status> {
        self.file.lock(range, kind)
    }
    fn unlock(&self, range: Range) -> Result<(), Status> {
        self.file.unlock(range)
    }
}
