//! One rank's access to its part of a file: the view cut against memory, batch by batch, each submitted when the one before has ended.
//!
//! It is a machine that never waits ([`Access::advance`]): a thread that has nothing else to do drives it ([`Access::run`]), a plan's step does for a nonblocking one. In atomic mode the
//! range that it touches is locked first, and given back behind the last batch. Where writes of the file are sieved, each batch of one is a [`SievedWrite`].

use super::object::File;
use super::presence::Presence;
use super::sieved_write::SievedWrite;
use super::submission::Submission;
use super::view_data::ViewData;
use oxmpi_datatype::TypeRef;
use oxmpi_fbtl::transfer;
use oxmpi_files::{Memory, Pieces};
use oxmpi_fs::{Range, lock};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

/// Pieces of a batch.
const PIECES: usize = 4096;
/// Bytes of a batch.
const BYTES: u64 = 1 << 30;

/// Elements in memory, whose packed bytes are what is in the file.
pub struct Elements {
    pub(super) base: *mut u8,
    pub(super) count: u64,
    pub(super) dtype: TypeRef,
}

// SAFETY: the memory is the user's promise to whichever thread drives the access (`Elements::new`).
unsafe impl Send for Elements {}
// SAFETY: as above.
unsafe impl Sync for Elements {}

impl Elements {
    /// Elements at `base`.
    ///
    /// # Safety
    /// The memory is there until the access that gets them has ended; read, or written by a reading access, by nobody else meanwhile.
    pub unsafe fn new(base: *mut u8, count: u64, dtype: TypeRef) -> Elements {
        Elements { base, count, dtype }
    }

    /// Bytes of all of them in the file.
    pub fn bytes(&self) -> u64 {
        self.dtype.packed.saturating_mul(self.count)
    }
}

/// A part of a view: bytes `from` to `from + len` of its data.
pub(super) struct Part {
    pub view: Arc<ViewData>,
    pub from: u64,
    pub len: u64,
}

/// The pieces at hand, and how they are transferred.
enum Batch {
    Plain(Submission),
    Sieved(Box<SievedWrite>),
}

/// How far an access is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Lock(Range),
    Move,
    Over,
}

/// See the essay.
pub(super) struct Access {
    file: Arc<File>,
    presence: Arc<Presence>,
    what: u32,
    stage: Stage,
    locked: Option<Range>,
    /// Walks types that `_held` keeps.
    pieces: Pieces<'static>,
    batch: Batch,
    /// Bytes of the batch; 0: there is none.
    due: u64,
    moved: u64,
    status: Status,
    _held: (Arc<ViewData>, TypeRef),
}

// SAFETY: pieces point to memory that is the user's promise to whichever thread drives the access (`Elements::new`).
unsafe impl Send for Access {}

impl Access {
    /// An access that has not begun. An error where the view has no such bytes, or where the file cannot be opened, which is done now if it was not.
    pub(super) fn new(file: Arc<File>, what: u32, part: Part, elements: &Elements) -> Result<Access, Error> {
        let Part { view, from, len } = part;
        let reach = match len {
            0 => None,
            _ => Some(part_of(&file, &view, from, len)?),
        };
        let dtype = elements.dtype.clone();
        // SAFETY: descriptors do not move, and both are held by the access, behind the pieces.
        let (walker, desc) = unsafe {
            let filetype: &'static oxmpi_datatype::TypeDesc = &*view.filetype.as_ptr();
            (oxmpi_files::View::new(view.displacement, filetype), &*dtype.as_ptr())
        };
        // SAFETY: the promise of `Elements::new`.
        let memory = unsafe { Memory::new(elements.base, desc) };
        let pieces = Pieces::new(&walker, from, len, &memory, 0);
        let sieving = match (what, &reach) {
            (transfer::WRITE, Some(range)) => file.sieving(range.len > len)?,
            _ => None,
        };
        let presence = file.presence()?;
        let batch = match sieving {
            None => Batch::Plain(Submission::of(Vec::new())),
            Some(measure) => {
                let measure = presence.disk.is_readable.then_some(measure);
                Batch::Sieved(Box::new(SievedWrite::new(measure, !file.atomicity())))
            }
        };
        let stage = match reach {
            Some(range) if file.atomic.load(Ordering::Acquire) => Stage::Lock(range),
            Some(_) => Stage::Move,
            None => Stage::Over,
        };
        Ok(Access {
            presence,
            file,
            what,
            stage,
            locked: None,
            pieces,
            batch,
            due: 0,
            moved: 0,
            status: Status::OK,
            _held: (view, dtype),
        })
    }

    /// Goes on as far as possible without waiting; the outcome once it is over: status and bytes. `now`: the calling thread has nothing else to do.
    pub(super) fn advance(&mut self, now: bool) -> Option<(Status, u64)> {
        loop {
            match self.stage {
                Stage::Over => return Some((self.status, self.moved)),
                Stage::Lock(range) => self.lock(range)?,
                Stage::Move => self.transfer(now)?,
            }
        }
    }

    /// Whether it waits for a lock that another process has, of whose end nobody tells.
    pub(super) fn polls(&self) -> bool {
        matches!(self.stage, Stage::Lock(_)) || matches!(&self.batch, Batch::Sieved(write) if write.polls())
    }

    fn lock_kind(&self) -> u32 {
        if self.what == transfer::WRITE { lock::EXCLUSIVE } else { lock::SHARED }
    }

    /// Takes the lock; `None`: somebody else has a part of it.
    fn lock(&mut self, range: Range) -> Option<()> {
        match self.file.locks.take(&self.presence.disk, &range, self.lock_kind()) {
            Status::PENDING => return None,
            status if status.is_err() => self.end(status),
            _ => {
                self.locked = Some(range);
                self.stage = Stage::Move;
            }
        }
        Some(())
    }

    /// Looks at the batch under way and begins the next one; `None`: one is under way, or there is no room for one.
    fn transfer(&mut self, now: bool) -> Option<()> {
        if self.due == 0 {
            let batch = match &mut self.batch {
                Batch::Plain(submission) => {
                    submission.pieces.clear();
                    &mut submission.pieces
                }
                Batch::Sieved(write) => write.begin(),
            };
            self.due = self.pieces.batch(PIECES, BYTES, batch);
            if self.due == 0 {
                self.end(Status::OK);
                return Some(());
            }
        }
        let (file, here) = (&*self.file, &*self.presence);
        let (status, bytes) = match &mut self.batch {
            Batch::Plain(submission) => submission.transfer(file, here, self.what, now)?,
            Batch::Sieved(write) => write.advance(file, here, now)?,
        };
        self.moved += bytes;
        if status.is_err() || bytes < self.due {
            self.end(status);
        }
        self.due = 0;
        Some(())
    }

    /// Ends the access, with the lock given back.
    fn end(&mut self, status: Status) {
        self.status = status;
        if let Some(range) = self.locked.take() {
            let given = self.file.locks.give(&self.presence.disk, &range, self.lock_kind());
            if self.status.is_ok() && given.is_err() {
                self.status = given;
            }
        }
        self.file.count_bytes(self.what, self.moved);
        self.stage = Stage::Over;
    }

    /// Drives it to its end; the calling thread makes progress, or sleeps, meanwhile. Holds nothing.
    pub(super) fn run(&mut self, entry: &mut Entry) -> (Status, u64) {
        let file = self.file.clone();
        let instance = file.host();
        loop {
            let (_, awaited) = instance.file_bell_rung();
            if let Some(outcome) = self.advance(true) {
                return outcome;
            }
            match self.polls() {
                true => {
                    instance.poll(entry);
                    oxmpi_waiting::futex::nap(LOCK_NAP);
                }
                false => instance.wait_word(entry, awaited, || false),
            }
        }
    }
}

/// Between two questions for a lock that another process has.
const LOCK_NAP: std::time::Duration = std::time::Duration::from_micros(100);

impl Drop for Access {
    fn drop(&mut self) {
        // A plan that is thrown away has nothing under way; here only a panic leads.
        let (file, here) = (&*self.file, &*self.presence);
        match &mut self.batch {
            Batch::Plain(submission) => submission.break_off(file, here),
            Batch::Sieved(write) => write.break_off(file, here),
        }
        if self.stage != Stage::Over {
            self.end(Status::NOT_AVAILABLE);
        }
    }
}

/// The bytes of the file between the first and the last one of a part that is not empty.
pub(super) fn part_of(file: &File, view: &ViewData, from: u64, len: u64) -> Result<Range, Error> {
    let walker = view.walker();
    if walker.is_empty() {
        let message = format!(
            "{}: the filetype of the view has no data, so nothing can be accessed",
            file.path.display()
        );
        return Err(Error::new(ErrorKind::Io, message));
    }
    let ends = walker.end(from, len).and_then(|end| Some((walker.offset(from)?, end)));
    let Some((offset, end)) = ends else {
        let (kind, what) = match walker.is_one_tile() {
            true => (
                ErrorKind::Io,
                "the access reaches behind the first element of a filetype whose elements overlap: its extent is too small",
            ),
            false => (ErrorKind::Arg, "the access reaches beyond what a file can have"),
        };
        return Err(Error::new(kind, format!("{}: {what}", file.path.display())));
    };
    Ok(Range { offset, len: end.saturating_sub(offset).max(1) })
}
