//! An open file of one rank, and what its functions share.
//!
//! **State.** View and individual pointer are under one lock, since an access takes both at once; it is held for a few instructions and never while anything waits. A view is
//! shared by the accesses that began with it, so that a later one of the file does not change them.

use super::layout::Layout;
use super::locks::Locks;
use super::pointer::Pointer;
use super::presence::{Place, Presence};
use super::totals::FileTotals;
use super::view_data::ViewData;
use crate::objects::{Communicator, EndsWithInstance, Instance};
use crate::request::Header;
use oxmpi_files::hints::Hints;
use oxmpi_fs::mode;
use oxmpi_loading::accept::FcollComponent;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_system::locks::Mutex;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

/// All that may change while a file is open.
pub(super) struct State {
    pub view: Arc<ViewData>,
    /// The individual pointer, in etypes of the view.
    pub position: u64,
    /// Hints that the program has given.
    pub hints: Hints,
    /// All that is equal in all ranks.
    pub layout: Arc<Layout>,
    /// The split collective access that has begun and not ended.
    pub split: Option<Split>,
    /// Accesses of all ranks in which this one has no data, since its arguments were wrong: the program has no request of them.
    pub left: Vec<Header>,
}

// SAFETY: requests of `left` belong to no thread, and are taken out by the one that waits for them.
unsafe impl Send for State {}

/// A split collective access under way.
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub which: SplitKind,
    pub request: Header,
}

// SAFETY: a request belongs to no thread, and is taken out of the state by the one that waits for it.
unsafe impl Send for Split {}

/// The pair of functions that began a split access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitKind {
    /// MPI_File_read_all_begin.
    ReadAll,
    /// MPI_File_read_at_all_begin.
    ReadAtAll,
    /// MPI_File_read_ordered_begin.
    ReadOrdered,
    /// MPI_File_write_all_begin.
    WriteAll,
    /// MPI_File_write_at_all_begin.
    WriteAtAll,
    /// MPI_File_write_ordered_begin.
    WriteOrdered,
}

impl SplitKind {
    /// Whether data goes to the file.
    pub(super) fn writes(self) -> bool {
        matches!(self, SplitKind::WriteAll | SplitKind::WriteAtAll | SplitKind::WriteOrdered)
    }
}

/// An open file, as one rank has it.
pub struct File {
    pub(super) comm: Arc<Communicator>,
    pub(super) path: PathBuf,
    pub(super) amode: u32,
    pub(super) place: Place,
    /// Empty in a rank that opens it later.
    pub(super) presence: OnceLock<Arc<Presence>>,
    /// Bits of `oxmpi_fs::keeps` that are kept in all ranks.
    pub(super) keeps: u32,
    /// Devices and bytes of a stripe, as those ranks tell that have opened it; 0: not known.
    pub(super) striping: (u64, u64),
    pub(super) collective: FcollComponent,
    pub(super) pointer: Pointer,
    pub(super) locks: Locks,
    pub(super) atomic: AtomicBool,
    /// Writes are sieved, under locks: rank 0's hint.
    pub(super) sieves: AtomicBool,
    pub(super) totals: FileTotals,
    /// A line is printed at its end.
    pub(super) tells: bool,
    pub(super) state: Mutex<State>,
    /// Nonblocking accesses under way.
    pub(super) under_way: AtomicU64,
    pub(super) closed: AtomicBool,
}

impl File {
    /// The file's own communicator.
    pub fn comm(&self) -> &Arc<Communicator> {
        &self.comm
    }

    /// Whether it was closed in this process.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The path without prefix.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bits of `oxmpi_fs::mode`, as MPI_File_open was given them.
    pub fn amode(&self) -> u32 {
        self.amode
    }

    /// The instance of its rank.
    pub(super) fn host(&self) -> &Instance {
        self.comm.instance()
    }

    /// Whether it may be read, or written; otherwise the error of who tries.
    pub(super) fn permits(&self, writes: bool) -> Result<(), Error> {
        let refuse =
            |kind, what: &str| Err(Error::new(kind, format!("{} is open {what}", self.path.display())));
        match (self.amode & (mode::RDONLY | mode::WRONLY), writes) {
            (mode::RDONLY, true) => refuse(ErrorKind::ReadOnly, "for reading only"),
            (mode::WRONLY, false) => refuse(ErrorKind::Access, "for writing only"),
            _ => Ok(()),
        }
    }

    /// Refuses what a file that was opened with MPI_MODE_SEQUENTIAL does not permit.
    pub(super) fn not_sequential(&self) -> Result<(), Error> {
        match self.amode & mode::SEQUENTIAL {
            0 => Ok(()),
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{} is open with MPI_MODE_SEQUENTIAL, which permits shared pointers only",
                    self.path.display()
                ),
            )),
        }
    }

    /// Whether accesses are atomic.
    pub fn atomicity(&self) -> bool {
        self.atomic.load(Ordering::Acquire)
    }

    /// The error of what wants locks where they do not exclude all ranks: it names the property of the mount that is the cause.
    pub(super) fn lacks_locks(&self) -> Error {
        let here = self.presence();
        let because = match here.as_ref().map_or("", |here| here.disk.because()) {
            "" => String::new(),
            why => format!(": {why}"),
        };
        let message = format!("{}: its locks do not exclude all ranks{because}", self.path.display());
        Error::new(ErrorKind::Unsupported, message)
    }

    /// Whether byte-range locks exclude all ranks of the file.
    pub(super) fn locks_exclude(&self) -> bool {
        use oxmpi_fs::keeps::{LOCKS, LOCKS_HERE};
        let one_node = self.comm.places().num_nodes() == 1;
        self.keeps & LOCKS != 0 || one_node && self.keeps & LOCKS_HERE != 0
    }

    /// Turns a failure of a component into the error of this file.
    pub(super) fn failure(&self, status: Status, what: &str) -> Error {
        super::error::of(status, what, &self.path)
    }

    /// The open file, opened now where it was not. It may wait for the file system.
    pub(super) fn presence(&self) -> Result<Arc<Presence>, Error> {
        self.presence_or_status().map_err(|status| self.failure(status, "opened"))
    }

    /// The same, with the failure as a status.
    pub(super) fn presence_or_status(&self) -> Result<Arc<Presence>, Status> {
        if let Some(there) = self.presence.get() {
            return Ok(there.clone());
        }
        let opened = self.place.open().and_then(|disk| self.place.prepare(self.host(), disk))?;
        Ok(self.presence.get_or_init(|| Arc::new(opened)).clone())
    }

    /// The names of the components that serve it: fs, fbtl, fcoll.
    pub fn served_by(&self) -> [&'static str; 3] {
        let transfers = self.presence.get().map_or("no fbtl", |here| here.transfers.component.name);
        [self.place.component.name, transfers, self.collective.name]
    }

    /// Gives everything back but the communicator, and closes the file in this process.
    pub(super) fn close_here(&self) -> Status {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Status::OK;
        }
        let Some(here) = self.presence.get() else { return Status::OK };
        here.transfers.give_back();
        here.disk.shut()
    }
}

impl EndsWithInstance for File {
    fn end(&self) {
        let _ = self.close_here();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !self.comm.instance().in_child() {
            let _ = self.close_here();
        }
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "file {} of {:?}, served by {:?}", self.path.display(), self.comm, self.served_by())
    }
}

impl Instance {
    /// Enters a file in the instance's list, weakly, so that it is closed when the instance ends.
    pub(super) fn remember_file(&self, file: &Arc<File>) {
        let mut open = self.files().open.lock();
        if open.len() == open.capacity() {
            open.retain(|file| file.strong_count() > 0);
        }
        let file: Arc<dyn EndsWithInstance> = file.clone();
        open.push(Arc::downgrade(&file));
    }

    /// Closes the files that the program has left open, without communication, and lets go of what they shared. `finally`: the components, too.
    pub(crate) fn close_files(&self, finally: bool) {
        let open = std::mem::take(&mut *self.files().open.lock());
        open.iter().filter_map(Weak::upgrade).for_each(|file| file.end());
        self.files().pointers.lock().clear();
        if finally && let Some(Ok(parts)) = self.files().parts.get() {
            parts.end_components();
        }
    }
}
