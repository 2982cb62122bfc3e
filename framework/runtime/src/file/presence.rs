//! The file as one rank has it open, and ranks that open it later than others.
//!
//! Where the hint `romio_no_indep_rw` says that no rank accesses the file by itself, MPI_File_open opens it in rank 0 and in the ranks that transfer for others. Another rank opens it when
//! it first needs it: at an access of its own, in atomic mode, or when it asks for the file's size. All that ranks have to agree on is what those tell that have opened it, so such a
//! rank finds nothing new; an error is that of the call that opens.
//!
//! Several threads may come to it at once: each opens, the first one's stays, and the others close theirs again, which takes no lock of the first one's away.

use super::mount::{self, Mount};
use super::serve::{self, Manner, OnDisk, Transfers};
use crate::objects::{FileParts, Instance};
use oxmpi_fs::mode;
use oxmpi_loading::accept::FsComponent;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Status;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A path and what is known of it in this process.
#[derive(Clone)]
pub(super) struct Known {
    pub path: PathBuf,
    pub mount: Mount,
    /// The component that a prefix names.
    pub named: Option<&'static str>,
    /// A prefix or a parameter names it.
    pub is_named: bool,
}

impl Known {
    pub(super) fn of(name: &[u8], parts: &FileParts) -> Result<Known, Error> {
        let (path, named) = mount::split(name);
        if path.is_empty() {
            return Err(Error::new(ErrorKind::BadFile, "the file name is empty"));
        }
        let path = PathBuf::from(OsStr::from_bytes(path));
        let is_named = named.is_some() || parts.fs_is_named;
        Ok(Known { mount: Mount::of(&path), path, named, is_named })
    }

    /// The component that serves it.
    pub(super) fn serving_component<'a>(&self, parts: &'a FileParts) -> Result<&'a FsComponent, Error> {
        serve::choose(parts, &self.path, &self.mount, self.named)
    }

    pub(super) fn open(&self, component: &FsComponent, how: &Manner) -> Result<OnDisk, Error> {
        OnDisk::open(component, &self.path, &self.mount, self.is_named, how)
            .map_err(|status| super::error::of(status, "opened", &self.path))
    }
}

/// An open file, prepared for transfers.
pub(super) struct Presence {
    // Before the file that they transfer.
    pub transfers: Transfers,
    pub disk: OnDisk,
}

/// How a rank opens the file.
pub(super) struct Place {
    pub known: Known,
    /// The one that serves it in all ranks.
    pub component: FsComponent,
    pub how: Manner,
}

impl Place {
    /// Opens what is there.
    pub(super) fn open(&self) -> Result<OnDisk, Status> {
        let Known { path, mount, is_named, .. } = &self.known;
        OnDisk::open(&self.component, path, mount, *is_named, &self.how)
    }

    /// Prepares an open file for transfers.
    pub(super) fn prepare(&self, instance: &Instance, disk: OnDisk) -> Result<Presence, Status> {
        let parts = instance.file_parts().map_err(|_| Status::INTERNAL)?;
        let mode = match self.how.mode {
            mode if disk.is_readable && mode & mode::WRONLY != 0 => mode & !mode::WRONLY | mode::RDWR,
            mode => mode,
        };
        let about = (&disk, mode, self.known.mount.magic);
        let transfers = Transfers::open(instance, parts, about)?;
        Ok(Presence { transfers, disk })
    }
}
