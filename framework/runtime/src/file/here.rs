//! The file as one rank has it open, and ranks that open it later than others.
//!
//! Where the hint `romio_no_indep_rw` says that no rank accesses the file by itself, MPI_File_open opens it in rank 0 and in the ranks that transfer for others. Another rank opens it when
//! it first needs it: at an access of its own, in atomic mode, or when it asks for the file's size. All that ranks have to agree on is what those tell that have opened it, so such a
//! rank finds nothing new; an error is that of the call that opens.
//!
//! Several threads may come to it at once: each opens, the first one's stays, and the others close theirs again, which takes no lock of the first one's away.

use super::object::File;
use super::opening::Known;
use super::serve::{Manner, OnDisk, Transfers};
use crate::objects::Instance;
use oxmpi_loading::accept::FsComponent;
use oxmpi_loading::error::Error;
use oxmpi_mca::Status;
use std::sync::Arc;

/// An open file, prepared for transfers.
pub(super) struct Here {
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
    pub(super) fn prepare(&self, instance: &Instance, disk: OnDisk) -> Result<Here, Status> {
        let parts = instance.file_parts().map_err(|_| Status::INTERNAL)?;
        let about = (&disk, self.how.mode, self.known.mount.magic);
        let transfers = Transfers::open(instance, parts, about)?;
        Ok(Here { transfers, disk })
    }
}

impl File {
    /// The open file, opened now where it was not. It may wait for the file system.
    pub(super) fn here(&self) -> Result<Arc<Here>, Error> {
        self.here_or_status().map_err(|status| self.failure(status, "opened"))
    }

    /// The same, with the failure as a status.
    pub(super) fn here_or_status(&self) -> Result<Arc<Here>, Status> {
        if let Some(here) = self.here.get() {
            return Ok(here.clone());
        }
        let opened = self.place.open().and_then(|disk| self.place.prepare(self.host(), disk))?;
        Ok(self.here.get_or_init(|| Arc::new(opened)).clone())
    }
}
