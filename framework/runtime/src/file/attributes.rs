//! Attributes of an open file apart from its view: size, durability, atomic mode (MPI 5.0 §14.2.4 to §14.2.6, §14.6), and arguments that all ranks have to give alike.

use super::object::File;
use super::presence::Presence;
use oxmpi_fs::{Range, keeps, mode};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

impl File {
    /// MPI_File_set_size of all ranks, each of which sees the file as it is then. `bytes`: the size, or what is wrong with this rank's; ranks fail together, but for one whose machine cannot forget what it keeps of the file.
    pub fn set_size(&self, entry: &mut Entry, bytes: Result<u64, Error>) -> Result<(), Error> {
        self.sized(entry, bytes, "resized", |_, here, bytes| here.disk.resize(bytes))
    }

    /// MPI_File_preallocate of all ranks. A file that is longer keeps its length. `bytes` as in [`File::set_size`].
    pub fn preallocate(self: &Arc<File>, entry: &mut Entry, bytes: Result<u64, Error>) -> Result<(), Error> {
        self.sized(entry, bytes, "given its space", |entry, here, bytes| self.have_space(entry, here, bytes))
    }

    /// Has rank 0 change the file's size when all ranks are there; their arguments have to be the same.
    fn sized(
        &self,
        entry: &mut Entry,
        bytes: Result<u64, Error>,
        what: &str,
        change: impl FnOnce(&mut Entry, &Presence, u64) -> Status,
    ) -> Result<(), Error> {
        if self.amode & mode::RDONLY != 0 {
            self.permits(true)?;
        }
        self.not_sequential()?;
        let [bytes] = self.same_in_all(entry, bytes.map(|bytes| [bytes]), "sizes")?;
        let own = match self.comm.rank() {
            0 => self
                .presence_or_status()
                .map_or_else(|status| status, |here| change(&mut *entry, &here, bytes)),
            _ => Status::OK,
        };
        let status = self.comm.least(entry, own)?;
        let seen = self.forget_kept();
        let status = if status.is_ok() { seen } else { status };
        if status.is_err() { Err(self.failure(status, what)) } else { Ok(()) }
    }

    /// Drops what this rank's machine keeps of the file, where machines keep data for themselves: it may tell of bytes that another one has cut.
    fn forget_kept(&self) -> Status {
        match self.presence.get() {
            Some(here) if self.keeps & keeps::COHERENT == 0 => {
                here.disk.refresh(&Range { offset: 0, len: 0 })
            }
            _ => Status::OK,
        }
    }

    /// Compares what all ranks have to give alike: this rank's, if it is fine and the same everywhere. Ranks fail together.
    pub(super) fn same_in_all<const N: usize>(
        &self,
        entry: &mut Entry,
        own: Result<[u64; N], Error>,
        what: &str,
    ) -> Result<[u64; N], Error> {
        let mut words = vec![own.as_ref().err().map_or(0, |why| why.class() as u64)];
        words.extend(own.as_ref().unwrap_or(&[0; N]));
        let all = self.comm.tell_all(entry, &words)?;
        let own = own?;
        let mut ranks = all.chunks(N + 1).enumerate();
        if let Some((rank, theirs)) = ranks.clone().find(|(_, theirs)| theirs[0] != 0) {
            let kind = ErrorKind::of_class(theirs[0] as i32).unwrap_or(ErrorKind::Other);
            let message = format!("{}: rank {rank} has a wrong argument", self.path.display());
            return Err(Error::new(kind, message));
        }
        match ranks.find(|(_, theirs)| theirs[1..] != all[1..=N]) {
            None => Ok(own),
            Some((rank, _)) => {
                let message = format!("{}: ranks 0 and {rank} gave different {what}", self.path.display());
                Err(Error::new(ErrorKind::NotSame, message))
            }
        }
    }

    /// The file's length in bytes.
    pub fn bytes_now(&self) -> Result<u64, Error> {
        self.presence()?.disk.length().map_err(|status| self.failure(status, "asked for its size"))
    }

    /// MPI_File_sync: of this rank alone, without waiting for others. A rank that has not opened the file has nothing to write, and finds what is there when it opens it.
    pub fn sync(&self) -> Result<(), Error> {
        let status = self.presence.get().map_or(Status::OK, |here| here.disk.sync());
        if status.is_err() { Err(self.failure(status, "made durable")) } else { Ok(()) }
    }

    /// MPI_File_set_atomicity of all ranks.
    pub fn set_atomicity(&self, entry: &mut Entry, atomic: bool) -> Result<(), Error> {
        // Each rank's accesses are under its own locks from now on.
        let here = if atomic { self.presence().map(Some) } else { Ok(None) };
        let class = here.as_ref().err().map_or(0, |why| why.class() as u64);
        let own = u64::from(atomic) | u64::from(self.locks_exclude()) << 1 | class << 8;
        let all = self.comm.tell_all(entry, &[own])?;
        here?;
        if let Some(rank) = all.iter().position(|theirs| theirs >> 8 != 0) {
            let kind = ErrorKind::of_class((all[rank] >> 8) as i32).unwrap_or(ErrorKind::Other);
            let message = format!("{} cannot be opened in rank {rank}", self.path.display());
            return Err(Error::new(kind, message));
        }
        if all.iter().any(|theirs| (theirs ^ all[0]) & 1 != 0) {
            let message = format!("{}: ranks gave different values", self.path.display());
            return Err(Error::new(ErrorKind::NotSame, message));
        }
        if atomic && all.iter().any(|theirs| theirs & 2 == 0) {
            return Err(self.lacks_locks());
        }
        self.atomic.store(atomic, Ordering::Release);
        Ok(())
    }
}
