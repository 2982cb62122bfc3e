//! Views, and the pointers that count in their etypes (MPI 5.0 §14.3).

use super::object::{File, State};
use super::view_data::ViewData;
use crate::info::Info;
use oxmpi_datatype::TypeDesc;
use oxmpi_files::view::{Refusal, check};
use oxmpi_fs::mode;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

/// Where a pointer is moved from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// MPI_SEEK_SET.
    Set,
    /// MPI_SEEK_CUR.
    Cur,
    /// MPI_SEEK_END.
    End,
}

/// Words by which ranks compare their arguments of MPI_File_set_view: the class of what is wrong here, bytes of an etype, and the representation.
const WORDS: usize = 3;

impl File {
    /// MPI_File_set_view of all ranks: sets the pointers to 0. `wanted`: the view, and a number for its representation, or why there is none; ranks fail together.
    /// A failure leaves the old view and hints.
    pub fn set_view(
        &self,
        entry: &mut Entry,
        wanted: Result<(ViewData, u64), Error>,
        hints: &Info,
    ) -> Result<(), Error> {
        let wanted = wanted.and_then(|(view, representation)| {
            self.may_be_view(&view.etype, &view.filetype).map(|()| (view, representation))
        });
        let own: [u64; WORDS] = match &wanted {
            Ok((view, representation)) => [0, view.etype.packed, *representation],
            Err(why) => [why.class() as u64, 0, 0],
        };
        let all = self.comm.tell_all(entry, &own)?;
        let ranks: Vec<&[u64]> = all.chunks(WORDS).collect();
        let (view, _) = wanted?;
        if let Some((rank, theirs)) = ranks.iter().enumerate().find(|(_, theirs)| theirs[0] != 0) {
            let kind = ErrorKind::of_class(theirs[0] as i32).unwrap_or(ErrorKind::Other);
            return Err(Error::new(
                kind,
                format!("{}: rank {rank} cannot set its view", self.path.display()),
            ));
        }
        for (at, what) in [(1, "sizes of etype"), (2, "data representation")] {
            if let Some(rank) = ranks.iter().position(|theirs| theirs[at] != own[at]) {
                let message = format!(
                    "{}: ranks {} and {rank} gave different {what}",
                    self.path.display(),
                    self.comm.rank()
                );
                return Err(Error::new(ErrorKind::NotSame, message));
            }
        }
        {
            let mut state = self.state.lock();
            state.view = Arc::new(view);
            state.position = 0;
        }
        self.take_hints(hints);
        self.reset_shared(entry)
    }

    /// Whether the types may be a view of this file.
    fn may_be_view(&self, etype: &TypeDesc, filetype: &TypeDesc) -> Result<(), Error> {
        let writes = self.amode & (mode::WRONLY | mode::RDWR) != 0;
        check(etype, filetype, writes).map_err(|why| {
            let kind = if why == Refusal::NotOfEtypes { ErrorKind::Arg } else { ErrorKind::Io };
            Error::new(kind, why.to_string())
        })
    }

    /// Has rank 0 set the shared pointer to 0, and waits for it and for its hints; called by all ranks.
    fn reset_shared(&self, entry: &mut Entry) -> Result<(), Error> {
        let set = if self.comm.rank() == 0 { self.pointer.store(entry, 0) } else { Status::OK };
        let all = self.comm.tell_all(entry, &[u64::from(set.0.cast_unsigned()), self.about_sieving()])?;
        self.settle_sieving(all.iter().skip(1).step_by(2).copied());
        let status = Status((all.first().copied().unwrap_or(0) as u32).cast_signed());
        if status.is_err() { Err(Error::status(status, "the shared file pointer")) } else { Ok(()) }
    }

    /// The view.
    pub fn view(&self) -> Arc<ViewData> {
        self.state.lock().view.clone()
    }

    /// Where etype `offset` of the view lies in the file.
    pub fn byte_offset(&self, offset: u64) -> Result<u64, Error> {
        let view = self.view();
        let position = offset.checked_mul(view.etype_bytes());
        let walker = view.walker();
        if walker.is_empty() {
            return Ok(view.displacement);
        }
        position.and_then(|position| walker.offset(position)).ok_or_else(|| {
            Error::new(ErrorKind::Arg, format!("offset {offset} is beyond what a file can have"))
        })
    }

    /// The individual pointer, in etypes.
    pub fn position(&self) -> u64 {
        self.state.lock().position
    }

    /// MPI_File_seek.
    pub fn seek(&self, offset: i64, whence: Whence) -> Result<(), Error> {
        self.not_sequential()?;
        let (view, current) = {
            let state = self.state.lock();
            (state.view.clone(), state.position)
        };
        let position = self.moved(&view, offset, whence, current)?;
        self.state.lock().position = position;
        Ok(())
    }

    /// A pointer that is moved, in etypes.
    fn moved(&self, view: &ViewData, offset: i64, whence: Whence, current: u64) -> Result<u64, Error> {
        let from = match whence {
            Whence::Set => 0,
            Whence::Cur => current,
            Whence::End => {
                let length = self.bytes_now()?;
                match view.walker() {
                    walker if walker.is_empty() => 0,
                    walker => walker.etypes_before(length, view.etype_bytes()),
                }
            }
        };
        from.checked_add_signed(offset).filter(|position| i64::try_from(*position).is_ok()).ok_or_else(|| {
            Error::new(ErrorKind::Arg, format!("offset {offset} is before the beginning of the view"))
        })
    }

    /// MPI_File_seek_shared of all ranks, which have to give the same. `to`: offset and whence, or what is wrong with them; ranks fail together.
    pub fn seek_shared(&self, entry: &mut Entry, to: Result<(i64, Whence), Error>) -> Result<(), Error> {
        // No rank moves it before all are here.
        let words = to.as_ref().map(|(offset, whence)| [offset.cast_unsigned(), *whence as u64]);
        self.same_in_all(entry, words.map_err(Clone::clone), "offsets or whence")?;
        let (offset, whence) = to?;
        let view = self.view();
        let mut set = Status::OK;
        let mut moved = Ok(0);
        if self.comm.rank() == 0 {
            moved = match self.pointer.load(entry) {
                Ok(current) => self.moved(&view, offset, whence, current),
                Err(status) => Err(Error::status(status, "the shared file pointer")),
            };
            set = match &moved {
                Ok(etypes) => self.pointer.store(entry, *etypes),
                Err(_) => Status::BAD_PARAM,
            };
        }
        let status = self.comm.least(entry, set)?;
        moved?;
        if status.is_err() {
            return Err(Error::status(status, "the shared file pointer"));
        }
        Ok(())
    }

    /// The shared pointer, in etypes.
    pub fn position_shared(&self, entry: &mut Entry) -> Result<u64, Error> {
        self.pointer.load(entry).map_err(|status| Error::status(status, "the shared file pointer"))
    }
}

impl State {
    /// Takes so many etypes from the individual pointer on: view and position.
    pub(super) fn advance(&mut self, etypes: u64) -> (Arc<ViewData>, u64) {
        let from = self.position;
        self.position = self.position.saturating_add(etypes);
        (self.view.clone(), from)
    }
}
