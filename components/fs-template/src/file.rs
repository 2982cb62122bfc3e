//! An open file. The host calls its methods from any thread; data goes through its descriptor, by another component.

use oxmpi_fs::{Access, Description, File, LockKind, Locked, Opening, Range, error, keeps};
use oxmpi_mca::Status;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// The number of "is a directory", which is no file.
const EISDIR: i32 = 21;

/// A failure of the system as the contract has it; the host makes of it an error class of MPI, with the path and the system's words.
pub fn code(error: io::Error) -> Status {
    error.raw_os_error().map_or(Status::BAD_PARAM, error::system)
}

pub struct TemplateFile {
    file: std::fs::File,
}

impl TemplateFile {
    /// Only the rank that creates a file has `create` and `exclusive`; hints that mean nothing here are passed over.
    pub fn open(how: &Opening<'_>) -> Result<TemplateFile, Status> {
        let mut options = OpenOptions::new();
        options.read(how.access != Access::Write).write(how.access != Access::Read);
        options.create(how.create).create_new(how.create && how.exclusive).mode(how.permissions);
        let file = options.open(how.facts.path).map_err(code)?;
        if file.metadata().map_err(code)?.is_dir() {
            return Err(error::system(EISDIR));
        }
        Ok(TemplateFile { file })
    }
}

impl File for TemplateFile {
    /// Promise nothing that is not so: the host refuses what needs more, and names the reason.
    fn about(&self) -> Description {
        Description {
            keeps: keeps::COHERENT,
            because: "the component fs-template has no locks".into(),
            block: 4096,
            ..Description::new(self.file.as_raw_fd())
        }
    }

    fn close(self) -> Result<(), Status> {
        Ok(())
    }
    fn length(&self) -> Result<u64, Status> {
        Ok(self.file.metadata().map_err(code)?.len())
    }
    fn resize(&self, bytes: u64) -> Result<(), Status> {
        self.file.set_len(bytes).map_err(code)
    }
    fn sync(&self) -> Result<(), Status> {
        self.file.sync_all().map_err(code)
    }

    /// A lock never waits: `Locked::Excluded` says that somebody else holds one.
    fn lock(&self, _range: Range, _kind: LockKind) -> Result<Locked, Status> {
        Err(Status::NOT_SUPPORTED)
    }
    fn unlock(&self, _range: Range) -> Result<(), Status> {
        Err(Status::NOT_SUPPORTED)
    }
}
