//! Data access (MPI 5.0 §14.4): where an access begins, and the ways in which it is carried out.

use super::access::{Access, Elements, Part, part_of};
use super::collective::{Collective, SERVICES};
use super::object::{File, Split, SplitKind};
use super::planned::{Finish, Outcome, write_access};
use crate::request::Header;
use oxmpi_coll::CollComm;
use oxmpi_fbtl::transfer;
use oxmpi_fcoll::PlanArgs;
use oxmpi_fs::mode;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::any::Any;
use std::sync::Arc;

/// Where an access begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// At an offset in etypes.
    At(u64),
    /// At the individual pointer.
    Individual,
    /// At the shared pointer.
    Shared,
}

/// An access of one rank.
pub struct Wish {
    /// Whether data goes to the file.
    pub writes: bool,
    /// Where it begins; of an ordered access this is not looked at.
    pub at: Where,
    /// The data.
    pub elements: Elements,
    /// All that is done with it when it is there.
    pub finish: Option<Finish>,
    /// Lives until the access is over.
    pub kept: Option<Box<dyn Any + Send>>,
}

impl Wish {
    /// One of `oxmpi_fbtl::transfer`.
    fn what(&self) -> u32 {
        if self.writes { transfer::WRITE } else { transfer::READ }
    }
}

/// Counts a nonblocking access of a file until it goes.
struct UnderWay(Arc<File>);

impl UnderWay {
    fn new(file: &Arc<File>) -> UnderWay {
        file.under_way.fetch_add(1, Ordering::AcqRel);
        UnderWay(file.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The request of an access of all ranks, and what was wrong with this rank's part.
type Begun = (Header, Option<Error>);

/// All that a collective access holds until it is over, with what the component has addresses of.
struct Holds {
    layout: oxmpi_fcoll::Layout,
    access: oxmpi_fcoll::Access,
    _layout: Arc<super::layout::Layout>,
    _view: Arc<super::view_data::ViewData>,
    _elements: Elements,
    _collective: Arc<Collective>,
    _kept: Option<Box<dyn Any + Send>>,
    _under_way: UnderWay,
}

// SAFETY: its addresses are of what it holds, and of memory that is the user's promise to whichever thread carries the access out.
unsafe impl Send for Holds {}

impl File {
    /// Etypes of an access; an error where it is no whole number of them.
    fn etypes(&self, etype_bytes: u64, bytes: u64) -> Result<u64, Error> {
        if !bytes.is_multiple_of(etype_bytes) {
            let message = format!(
                "{}: {bytes} bytes are accessed, which is no multiple of the etype's {etype_bytes}",
                self.path.display()
            );
            return Err(Error::new(ErrorKind::Io, message));
        }
        Ok(bytes / etype_bytes)
    }

    /// The part of the view that an access is to; pointers are moved behind it.
    fn part(&self, entry: &mut Entry, at: Where, len: u64) -> Result<Part, Error> {
        if at != Where::Shared {
            self.not_sequential()?;
        }
        let (view, from) = match at {
            Where::Individual => {
                let mut state = self.state.lock();
                let etypes = self.etypes(state.view.etype_bytes(), len)?;
                state.advance(etypes)
            }
            Where::At(offset) => {
                let view = self.view();
                self.etypes(view.etype_bytes(), len)?;
                (view, offset)
            }
            Where::Shared => {
                let view = self.view();
                let etypes = self.etypes(view.etype_bytes(), len)?;
                let from = self.pointer.fetch_add(entry, etypes);
                (view, from.map_err(|status| Error::status(status, "the shared file pointer"))?)
            }
        };
        self.part_at(view, from, len)
    }

    /// A part that begins at an etype.
    fn part_at(&self, view: Arc<super::view_data::ViewData>, from: u64, len: u64) -> Result<Part, Error> {
        let bytes = from.checked_mul(view.etype_bytes()).filter(|bytes| i64::try_from(*bytes).is_ok());
        let from = bytes.ok_or_else(|| {
            Error::new(ErrorKind::Arg, format!("offset {from} is beyond what a file can have"))
        })?;
        Ok(Part { view, from, len })
    }

    /// An access that waits, of this rank alone: bytes of the program's data.
    pub fn access(self: &Arc<File>, entry: &mut Entry, wish: Wish) -> Result<u64, Error> {
        self.permits(wish.writes)?;
        let (what, len) = (wish.what(), wish.elements.bytes());
        let part = self.part(entry, wish.at, len)?;
        let mut access = Access::new(self.clone(), what, part, &wish.elements)?;
        let (status, bytes) = access.run(entry);
        drop(access);
        self.ended(wish.writes, status, wish.finish, bytes)
    }

    /// The outcome of an access that was waited for.
    fn ended(&self, writes: bool, status: Status, finish: Option<Finish>, bytes: u64) -> Result<u64, Error> {
        if status.is_err() {
            return Err(self.failure(status, if writes { "written" } else { "read" }));
        }
        match finish {
            None => Ok(bytes),
            Some(finish) => finish(bytes).map_err(|status| self.failure(status, "converted")),
        }
    }

    /// An access of this rank alone that goes on by itself: its request.
    pub fn start(self: &Arc<File>, entry: &mut Entry, wish: Wish) -> Result<Header, Error> {
        self.permits(wish.writes)?;
        let part = self.part(entry, wish.at, wish.elements.bytes())?;
        self.start_part(entry, wish, part)
    }

    /// Begins an access of this rank alone to a part.
    fn start_part(self: &Arc<File>, entry: &mut Entry, wish: Wish, part: Part) -> Result<Header, Error> {
        let (writes, what) = (wish.writes, wish.what());
        let access = Access::new(self.clone(), what, part, &wish.elements)?;
        let outcome = Arc::new(Outcome::default());
        let bytes = outcome.bytes.clone();
        let kept = Box::new((UnderWay::new(self), wish.kept));
        let (file, finish) = (self.clone(), wish.finish);
        let write = move |comm: &CollComm| write_access(comm, file, access, outcome, finish);
        // SAFETY: the step holds what it needs, and the memory is there by `Elements::new`.
        let begun = unsafe { self.comm.begin_plan(entry, false, (Some(kept), bytes), write) };
        begun.map_err(|status| self.failure(status, if writes { "written" } else { "read" }))
    }

    /// An access of all ranks that waits: bytes of the program's data.
    pub fn access_all(self: &Arc<File>, entry: &mut Entry, wish: Wish) -> Result<u64, Error> {
        let writes = wish.writes;
        let begun = self.begin_all(entry, wish, true)?;
        self.finish_all(entry, begun, writes)
    }

    /// An access of all ranks that goes on by itself: its request.
    pub fn start_all(self: &Arc<File>, entry: &mut Entry, wish: Wish) -> Result<Header, Error> {
        self.begin_all(entry, wish, false).map(|(request, _)| request)
    }

    /// Waits for an access of all ranks. All that was wrong with this rank's part says more than the plan can.
    fn finish_all(&self, entry: &mut Entry, (request, wrong): Begun, writes: bool) -> Result<u64, Error> {
        let ended = self.finish(entry, request, writes);
        wrong.map_or(ended, Err)
    }

    /// Waits for a request of the file's, and gives it back.
    fn finish(&self, entry: &mut Entry, request: Header, writes: bool) -> Result<u64, Error> {
        self.host().wait(entry, request);
        // SAFETY: complete, and ours until it is released, which it is once.
        let status: MsgStatus = unsafe {
            let status = request.status();
            request.release(entry);
            status
        };
        self.ended(writes, status.error, None, status.bytes)
    }

    /// Begins an access of all ranks.
    fn begin_all(self: &Arc<File>, entry: &mut Entry, wish: Wish, waits: bool) -> Result<Begun, Error> {
        self.permits(wish.writes)?;
        let part = self.part(entry, wish.at, wish.elements.bytes())?;
        self.begin_all_part(entry, wish, part, waits)
    }

    /// Begins an access of all ranks, of this one to a part. A part that the view does not have is an error of this rank, which takes part without data.
    fn begin_all_part(
        self: &Arc<File>,
        entry: &mut Entry,
        wish: Wish,
        part: Part,
        waits: bool,
    ) -> Result<Begun, Error> {
        if self.atomic.load(Ordering::Acquire) {
            // Each rank's access is atomic by itself, and under its own lock.
            return self.start_part(entry, wish, part).map(|request| (request, None));
        }
        let (writes, what) = (wish.writes, wish.what());
        let wrong = match part.len {
            0 => None,
            len => part_of(self, &part.view, part.from, len).err(),
        };
        let len = if wrong.is_some() { 0 } else { part.len };
        let outcome = Arc::new(Outcome::default());
        let bytes = outcome.bytes.clone();
        let thread = waits.then(|| std::thread::current().id());
        let collective = Collective::new(self.clone(), outcome, thread, wish.finish);
        if let Some(why) = &wrong {
            // A status of the same class.
            collective.spoil(if why.kind == ErrorKind::Io { Status::NOT_FOUND } else { Status::BAD_PARAM });
        }
        let layout = self.state.lock().layout.clone();
        let holds = Box::new(Holds {
            layout: layout.seen(),
            access: oxmpi_fcoll::Access {
                size: size_of::<oxmpi_fcoll::Access>() as u32,
                what,
                displacement: part.view.displacement,
                filetype: part.view.filetype.as_ptr(),
                from: part.from,
                len,
                memory: wish.elements.base,
                count: if len == 0 { 0 } else { wish.elements.count },
                memtype: wish.elements.dtype.as_ptr(),
            },
            _layout: layout,
            _view: part.view,
            _elements: wish.elements,
            _collective: collective.clone(),
            _kept: wish.kept,
            _under_way: UnderWay::new(self),
        });
        let (seen_layout, seen_access): (*const _, *const _) = (&holds.layout, &holds.access);
        let component = self.collective;
        let write = move |comm: &CollComm| {
            let args = PlanArgs {
                size: size_of::<PlanArgs>() as u32,
                reserved: 0,
                comm,
                layout: seen_layout,
                access: seen_access,
                services: SERVICES,
                ctx: collective.word(),
            };
            let status = (component.table.plan)(component.module.state, &args);
            if status.is_err() { status } else { collective.write_end(comm) }
        };
        self.host().files().counts.collective.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the steps point to is in the box that the plan keeps; the memory is there by `Elements::new`.
        let begun = unsafe { self.comm.begin_plan(entry, true, (Some(holds), bytes), write) };
        match begun {
            Ok(request) => Ok((request, wrong)),
            Err(status) => Err(self.failure(status, if writes { "written" } else { "read" })),
        }
    }

    /// The part of this rank of an ordered access: behind those of the ranks before it. Called by all ranks.
    fn ordered_part(&self, entry: &mut Entry, len: u64) -> Result<Part, Error> {
        let view = self.view();
        let etypes = self.etypes(view.etype_bytes(), len);
        let all = self.comm.tell_all(entry, &[etypes.as_ref().copied().unwrap_or(0)])?;
        let before: u64 = all.iter().take(self.comm.rank() as usize).sum();
        let own = match self.comm.rank() {
            0 => self.pointer.fetch_add(entry, all.iter().sum()).unwrap_or(u64::MAX),
            _ => 0,
        };
        let base = self.comm.tell_all(entry, &[own])?.first().copied().unwrap_or(u64::MAX);
        etypes?;
        if base == u64::MAX {
            return Err(Error::status(Status::UNREACHABLE, "the shared file pointer"));
        }
        self.part_at(view, base.saturating_add(before), len)
    }

    /// An ordered access that waits: bytes of the program's data.
    pub fn access_ordered(self: &Arc<File>, entry: &mut Entry, wish: Wish) -> Result<u64, Error> {
        self.permits(wish.writes)?;
        let part = self.ordered_part(entry, wish.elements.bytes())?;
        let writes = wish.writes;
        let begun = self.begin_all_part(entry, wish, part, true)?;
        self.finish_all(entry, begun, writes)
    }

    /// Begins a split collective access.
    pub fn split_begin(
        self: &Arc<File>,
        entry: &mut Entry,
        which: SplitKind,
        wish: Wish,
    ) -> Result<(), Error> {
        self.permits(wish.writes)?;
        if self.state.lock().split.is_some() {
            let message =
                format!("{}: a split collective access has begun and not ended", self.path.display());
            return Err(Error::new(ErrorKind::Io, message));
        }
        let part = match which {
            SplitKind::ReadOrdered | SplitKind::WriteOrdered => {
                self.ordered_part(entry, wish.elements.bytes())?
            }
            _ => self.part(entry, wish.at, wish.elements.bytes())?,
        };
        let (request, _) = self.begin_all_part(entry, wish, part, false)?;
        self.state.lock().split = Some(Split { which, request });
        Ok(())
    }

    /// Ends a split collective access: bytes of the program's data.
    pub fn split_end(&self, entry: &mut Entry, which: SplitKind) -> Result<u64, Error> {
        let split = {
            let mut state = self.state.lock();
            match state.split {
                Some(split) if split.which == which => state.split.take(),
                _ => None,
            }
        };
        let Some(split) = split else {
            let message =
                format!("{}: no split collective access of this kind has begun", self.path.display());
            return Err(Error::new(ErrorKind::Io, message));
        };
        let writes = matches!(which, SplitKind::WriteAll | SplitKind::WriteAtAll | SplitKind::WriteOrdered);
        self.finish(entry, split.request, writes)
    }

    /// MPI_File_set_size of all ranks.
    pub fn set_size(&self, entry: &mut Entry, bytes: u64) -> Result<(), Error> {
        self.sized(entry, bytes, "resized", |file| file.disk.resize(bytes))
    }

    /// MPI_File_preallocate of all ranks. A file that is longer stays as it is.
    pub fn preallocate(self: &Arc<File>, entry: &mut Entry, bytes: u64) -> Result<(), Error> {
        self.sized(entry, bytes, "given its space", |file| match file.disk.length() {
            Ok(length) if length >= bytes => Status::OK,
            Ok(_) => file.disk.preallocate(bytes),
            Err(status) => status,
        })
    }

    /// Has rank 0 change the file's size when all ranks are there; their arguments have to be the same.
    fn sized(
        &self,
        entry: &mut Entry,
        bytes: u64,
        what: &str,
        change: impl FnOnce(&File) -> Status,
    ) -> Result<(), Error> {
        if self.amode & mode::RDONLY != 0 {
            self.permits(true)?;
        }
        self.not_sequential()?;
        let all = self.comm.tell_all(entry, &[bytes])?;
        if let Some(rank) = all.iter().position(|theirs| *theirs != all[0]) {
            let message = format!("{}: ranks 0 and {rank} gave different sizes", self.path.display());
            return Err(Error::new(ErrorKind::NotSame, message));
        }
        let own = if self.comm.rank() == 0 { change(self) } else { Status::OK };
        let status = self.comm.least(entry, own)?;
        if status.is_err() { Err(self.failure(status, what)) } else { Ok(()) }
    }

    /// The file's length in bytes.
    pub fn bytes_now(&self) -> Result<u64, Error> {
        self.disk.length().map_err(|status| self.failure(status, "asked for its size"))
    }

    /// MPI_File_sync: of this rank alone, without waiting for others.
    pub fn sync(&self) -> Result<(), Error> {
        let status = self.disk.sync();
        if status.is_err() { Err(self.failure(status, "made durable")) } else { Ok(()) }
    }

    /// Whether accesses are atomic.
    pub fn atomicity(&self) -> bool {
        self.atomic.load(Ordering::Acquire)
    }

    /// MPI_File_set_atomicity of all ranks.
    pub fn set_atomicity(&self, entry: &mut Entry, atomic: bool) -> Result<(), Error> {
        let own = u64::from(atomic) | u64::from(self.locks_exclude()) << 1;
        let all = self.comm.tell_all(entry, &[own])?;
        if all.iter().any(|theirs| (theirs ^ all[0]) & 1 != 0) {
            let message = format!("{}: ranks gave different values", self.path.display());
            return Err(Error::new(ErrorKind::NotSame, message));
        }
        if atomic && all.iter().any(|theirs| theirs & 2 == 0) {
            let because = match self.disk.because() {
                "" => String::new(),
                why => format!(": {why}"),
            };
            let message = format!("{}: its locks do not exclude all ranks{because}", self.path.display());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.atomic.store(atomic, Ordering::Release);
        Ok(())
    }

    /// Whether byte-range locks exclude all ranks of the file.
    fn locks_exclude(&self) -> bool {
        use oxmpi_fs::keeps::{LOCKS, LOCKS_HERE};
        let one_node = self.comm.places().num_nodes() == 1;
        self.disk.keeps(LOCKS) || one_node && self.disk.keeps(LOCKS_HERE)
    }
}
