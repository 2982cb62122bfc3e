//! Data access (MPI 5.0 §14.4): where an access begins, and the ways in which it is carried out.

use super::access::{Access, Elements, Part, part_of};
use super::collective::{Collective, SERVICES};
use super::object::{File, Split, SplitKind};
use super::planned::{Finish, Outcome, write_access};
use super::view_data::ViewData;
use crate::request::Header;
use oxmpi_coll::CollComm;
use oxmpi_fbtl::transfer;
use oxmpi_fcoll::PlanArgs;
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

/// The request of an access of all ranks, and what was wrong with this rank's arguments.
type Begun<E> = (Header, Option<E>);

/// An access of this rank: data, and the part of the view that it goes to; or what was wrong with the arguments.
type Own<E> = Result<(Part, Wish), E>;

/// All that a collective access holds until it is over, with what the component has addresses of.
struct Holds {
    layout: oxmpi_fcoll::Layout,
    access: oxmpi_fcoll::Access,
    _layout: Arc<super::layout::Layout>,
    _view: Arc<ViewData>,
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
    fn part_at(&self, view: Arc<ViewData>, from: u64, len: u64) -> Result<Part, Error> {
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
        self.count_access(false);
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
        self.count_access(false);
        let outcome = Arc::new(Outcome::default());
        let bytes = outcome.bytes.clone();
        let kept = Box::new((UnderWay::new(self), wish.kept));
        let (file, finish) = (self.clone(), wish.finish);
        let write = move |comm: &CollComm| write_access(comm, file, access, outcome, finish);
        // SAFETY: the step holds what it needs, and the memory is there by `Elements::new`.
        let begun = unsafe { self.comm.begin_plan(entry, false, (Some(kept), bytes), write) };
        begun.map_err(|status| self.failure(status, if writes { "written" } else { "read" }))
    }

    /// An access of all ranks that waits: bytes of the program's data. `wish`: this rank's, or what is wrong with its arguments; then it takes part without data, so that the
    /// others' go well, and gets that error.
    pub fn access_all<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        wish: Result<Wish, E>,
    ) -> Result<u64, E> {
        self.permits(writes)?;
        let own = wish.and_then(|wish| Ok((self.part(entry, wish.at, wish.elements.bytes())?, wish)));
        self.access_all_parts(entry, writes, own)
    }

    /// An access of all ranks that goes on by itself: its request. A rank with wrong arguments gets none, and takes part without data.
    pub fn start_all<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        wish: Result<Wish, E>,
    ) -> Result<Header, E> {
        self.permits(writes)?;
        let own = wish.and_then(|wish| Ok((self.part(entry, wish.at, wish.elements.bytes())?, wish)));
        self.start_all_parts(entry, writes, own)
    }

    /// An access of all ranks to parts, until it has ended.
    fn access_all_parts<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        own: Own<E>,
    ) -> Result<u64, E> {
        let (request, wrong) = self.begin_all(entry, writes, own, true)?;
        let ended = self.finish(entry, request, writes);
        match wrong {
            None => Ok(ended?),
            Some(why) => Err(why),
        }
    }

    /// Begins an access of all ranks to parts. That of a rank whose arguments were wrong is waited for when the file is closed.
    fn start_all_parts<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        own: Own<E>,
    ) -> Result<Header, E> {
        let (request, wrong) = self.begin_all(entry, writes, own, false)?;
        let Some(why) = wrong else { return Ok(request) };
        let over: Vec<Header> = {
            let mut state = self.state.lock();
            state.left.push(request);
            state.left.extract_if(.., |request| request.is_complete()).collect()
        };
        for request in over {
            // SAFETY: complete, and nobody else's.
            unsafe { request.release(entry) };
        }
        Err(why)
    }

    /// Waits for the accesses of all ranks in which this one had no data, since its arguments were wrong.
    pub(super) fn finish_left(&self, entry: &mut Entry) {
        let left = std::mem::take(&mut self.state.lock().left);
        for request in left {
            // The error was that of the call.
            let _ = self.finish(entry, request, false);
        }
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

    /// An access without data.
    fn without_data(&self, writes: bool) -> (Part, Wish) {
        let dtype = ViewData::bytes(self.host()).filetype;
        // SAFETY: no element is accessed.
        let elements = unsafe { Elements::new(std::ptr::null_mut(), 0, dtype) };
        let part = Part { view: self.view(), from: 0, len: 0 };
        (part, Wish { writes, at: Where::At(0), elements, finish: None, kept: None })
    }

    /// Begins an access of all ranks, of this one to a part.
    fn begin_all<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        own: Own<E>,
        waits: bool,
    ) -> Result<Begun<E>, E> {
        let there = own.and_then(|(part, wish)| {
            if part.len > 0 {
                part_of(self, &part.view, part.from, part.len)?;
            }
            Ok((part, wish))
        });
        let ((part, wish), wrong) = match there {
            Ok(own) => (own, None),
            Err(why) => (self.without_data(writes), Some(why)),
        };
        Ok((self.begin_all_part(entry, wish, part, waits)?, wrong))
    }

    /// Begins an access of all ranks, of this one to a part that its view has.
    fn begin_all_part(
        self: &Arc<File>,
        entry: &mut Entry,
        wish: Wish,
        part: Part,
        waits: bool,
    ) -> Result<Header, Error> {
        let (writes, what) = (wish.writes, wish.what());
        // Each rank's access is atomic by itself, and under its own lock.
        let mut alone = match self.atomicity() {
            true => {
                let own = Part { view: part.view.clone(), from: part.from, len: part.len };
                Some(Access::new(self.clone(), what, own, &wish.elements)?)
            }
            false => None,
        };
        let outcome = Arc::new(Outcome::default());
        let bytes = outcome.bytes.clone();
        let thread = waits.then(|| std::thread::current().id());
        let collective = Collective::new(self.clone(), outcome, thread, wish.finish);
        let layout = self.state.lock().layout.clone();
        if part.len > 0 && !layout.goes_by_aggregators(wish.writes) {
            // The plan may have this rank transfer its own, and who carries it out does not wait. A failure comes again there, and is told to all ranks.
            let _ = self.presence_or_status();
        }
        let holds = Box::new(Holds {
            layout: layout.seen(),
            access: oxmpi_fcoll::Access {
                size: size_of::<oxmpi_fcoll::Access>() as u32,
                what,
                displacement: part.view.displacement,
                filetype: part.view.filetype.as_ptr(),
                from: part.from,
                len: part.len,
                memory: wish.elements.base,
                count: wish.elements.count,
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
            let status = match alone.take() {
                Some(access) => super::atomic::write_plan(&args, &collective, access),
                None => (component.table.plan)(component.module.state, &args),
            };
            if status.is_err() { status } else { collective.write_end(comm) }
        };
        self.count_access(true);
        // SAFETY: what the steps point to is in the box that the plan keeps; the memory is there by `Elements::new`.
        let begun = unsafe { self.comm.begin_plan(entry, true, (Some(holds), bytes), write) };
        begun.map_err(|status| self.failure(status, if writes { "written" } else { "read" }))
    }

    /// This rank's part of an ordered access: behind those of the ranks before it. Called by all ranks; the part of one with wrong arguments is empty.
    fn ordered_part<E: From<Error>>(&self, entry: &mut Entry, wish: Result<Wish, E>) -> Own<E> {
        let view = self.view();
        let wished = wish.and_then(|wish| {
            let etypes = self.etypes(view.etype_bytes(), wish.elements.bytes())?;
            Ok((etypes, wish))
        });
        let all = self.comm.tell_all(entry, &[wished.as_ref().map_or(0, |(etypes, _)| *etypes)])?;
        let before: u64 = all.iter().take(self.comm.rank() as usize).sum();
        let own = match self.comm.rank() {
            0 => self.pointer.fetch_add(entry, all.iter().sum()).unwrap_or(u64::MAX),
            _ => 0,
        };
        let base = self.comm.tell_all(entry, &[own])?.first().copied().unwrap_or(u64::MAX);
        let (_, wish) = wished?;
        if base == u64::MAX {
            return Err(Error::status(Status::UNREACHABLE, "the shared file pointer").into());
        }
        Ok((self.part_at(view, base.saturating_add(before), wish.elements.bytes())?, wish))
    }

    /// An ordered access that waits: bytes of the program's data. `wish` as in [`File::access_all`].
    pub fn access_ordered<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        writes: bool,
        wish: Result<Wish, E>,
    ) -> Result<u64, E> {
        self.permits(writes)?;
        let own = self.ordered_part(entry, wish);
        self.access_all_parts(entry, writes, own)
    }

    /// Begins a split collective access. `wish` as in [`File::access_all`]; where it is wrong nothing has begun that could be ended.
    pub fn split_begin<E: From<Error>>(
        self: &Arc<File>,
        entry: &mut Entry,
        which: SplitKind,
        wish: Result<Wish, E>,
    ) -> Result<(), E> {
        let writes = which.writes();
        self.permits(writes)?;
        let wish = wish.and_then(|wish| {
            if self.state.lock().split.is_none() {
                return Ok(wish);
            }
            let message =
                format!("{}: a split collective access has begun and not ended", self.path.display());
            Err(Error::new(ErrorKind::Io, message).into())
        });
        let own = match which {
            SplitKind::ReadOrdered | SplitKind::WriteOrdered => self.ordered_part(entry, wish),
            _ => wish.and_then(|wish| Ok((self.part(entry, wish.at, wish.elements.bytes())?, wish))),
        };
        let request = self.start_all_parts(entry, writes, own)?;
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
        self.finish(entry, split.request, which.writes())
    }
}
