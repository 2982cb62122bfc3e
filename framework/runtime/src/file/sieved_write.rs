//! Pieces written under locks, where the hint `romio_ds_write` asks for sieving: window by window, each locked, with the holes between its pieces read before and written back.
//!
//! The bytes that are written back into a hole are right only if nobody has written there meanwhile. So once a file is sieved, every write of it is made by this machine, and each takes an exclusive
//! lock of its window: a piece alone too, and those of ranks that transfer for others. All ranks agree on that ([`File::settle_sieving`]). At most one window is locked at a time, and
//! none while ranks wait for each other, so that writers do not stop each other for good.
//!
//! In atomic mode the whole access is locked already, and the windows take nothing.
//!
//! **The end of the file.** A window ends with its last piece. Where the file ends before that, what could not be read is zeros, as a hole would be.

use super::object::File;
use super::presence::Presence;
use super::submission::Submission;
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_files::{Window, window};
use oxmpi_fs::{Range, lock};
use oxmpi_mca::Status;

/// How far a window is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// There is none.
    Choose,
    Lock,
    Read,
    Write,
}

/// See the essay.
pub(super) struct SievedWrite {
    pieces: Vec<Piece>,
    /// The first piece that is not written.
    next: usize,
    window: Window,
    stage: Stage,
    /// The range of the window that this has locked.
    locked: Option<Range>,
    /// Windows are locked here.
    locks: bool,
    /// Bytes of a window at most; `None`: holes are not read, since the file cannot be.
    measure: Option<u64>,
    /// The file's bytes of the window.
    image: Vec<u8>,
    submission: Submission,
    moved: u64,
}

// SAFETY: pieces point to memory that is the user's promise to whichever thread drives the access.
unsafe impl Send for SievedWrite {}

impl SievedWrite {
    /// One without pieces. `locks`: the caller has not locked what it will write.
    pub(super) fn new(measure: Option<u64>, locks: bool) -> SievedWrite {
        SievedWrite {
            pieces: Vec::new(),
            next: 0,
            window: Window::default(),
            stage: Stage::Choose,
            locked: None,
            locks,
            measure,
            image: Vec::new(),
            submission: Submission::of(Vec::new()),
            moved: 0,
        }
    }

    /// The list, to be filled when it has ended, or not begun.
    pub(super) fn begin(&mut self) -> &mut Vec<Piece> {
        (self.next, self.moved) = (0, 0);
        self.pieces.clear();
        &mut self.pieces
    }

    /// Whether it waits for a lock.
    pub(super) fn polls(&self) -> bool {
        self.stage == Stage::Lock
    }

    /// Goes on as far as possible without waiting; the outcome once all pieces are written, or one could not be: status and bytes. `now`: the calling thread has nothing else to do.
    pub(super) fn advance(&mut self, file: &File, here: &Presence, now: bool) -> Option<(Status, u64)> {
        loop {
            let status = match self.stage {
                Stage::Choose if self.next == self.pieces.len() => return Some((Status::OK, self.moved)),
                Stage::Choose => self.choose(),
                Stage::Lock => self.lock(file, here)?,
                Stage::Read => self.read(file, here, now)?,
                Stage::Write => match self.write(file, here, now)? {
                    (Status::OK, true) => Status::OK,
                    (status, _) => {
                        let given = self.unlock(file, here);
                        return Some((if status.is_ok() { given } else { status }, self.moved));
                    }
                },
            };
            if status.is_err() {
                self.unlock(file, here);
                return Some((status, self.moved));
            }
        }
    }

    /// Chooses the next window.
    fn choose(&mut self) -> Status {
        self.window = window(&self.pieces[self.next..], self.measure.unwrap_or(0));
        self.stage = match (self.locks, self.window.has_holes) {
            (true, _) => Stage::Lock,
            (false, true) => Stage::Read,
            (false, false) => Stage::Write,
        };
        self.submission.pieces.clear();
        Status::OK
    }

    fn lock(&mut self, file: &File, here: &Presence) -> Option<Status> {
        let range = Range { offset: self.window.offset, len: self.window.len.max(1) };
        let status = file.locks.take(&here.disk, &range, lock::EXCLUSIVE);
        if status == Status::PENDING {
            return None;
        }
        if status.is_ok() {
            self.locked = Some(range);
            self.stage = if self.window.has_holes { Stage::Read } else { Stage::Write };
        }
        Some(status)
    }

    fn unlock(&mut self, file: &File, here: &Presence) -> Status {
        self.stage = Stage::Choose;
        self.locked.take().map_or(Status::OK, |range| file.locks.give(&here.disk, &range, lock::EXCLUSIVE))
    }

    /// The pieces of the window.
    fn own(&self) -> &[Piece] {
        &self.pieces[self.next..self.next + self.window.pieces]
    }

    /// Reads the window, and puts the pieces in.
    fn read(&mut self, file: &File, here: &Presence, now: bool) -> Option<Status> {
        if !self.submission.is_under_way() {
            let Window { offset, len, .. } = self.window;
            self.image.clear();
            self.image.resize(len as usize, 0);
            self.submission.pieces.clear();
            self.submission.pieces.push(Piece { offset, memory: self.image.as_mut_ptr(), len });
        }
        let (status, _) = self.submission.transfer(file, here, transfer::READ, now)?;
        if status.is_ok() {
            self.put_in();
            self.stage = Stage::Write;
        }
        Some(status)
    }

    /// Copies the pieces' memory to their places in the window.
    fn put_in(&mut self) {
        let own = self.next..self.next + self.window.pieces;
        for piece in &self.pieces[own] {
            let at = (piece.offset - self.window.offset) as usize;
            let to = &mut self.image[at..at + piece.len as usize];
            // SAFETY: the piece's memory is there and not written until the access has ended (`Elements::new`, or the plan's), and the image is this one's own.
            unsafe { std::ptr::copy_nonoverlapping(piece.memory, to.as_mut_ptr(), to.len()) };
        }
    }

    /// Writes the window, or its pieces where these have no holes; status, and whether all of it was written.
    fn write(&mut self, file: &File, here: &Presence, now: bool) -> Option<(Status, bool)> {
        // A window with holes is in the list since it was read.
        if !self.submission.is_under_way() && !self.window.has_holes {
            let own = self.next..self.next + self.window.pieces;
            self.submission.pieces.clear();
            self.submission.pieces.extend_from_slice(&self.pieces[own]);
        }
        let (mut status, bytes) = self.submission.transfer(file, here, transfer::WRITE, now)?;
        self.moved += self.written(bytes);
        let whole = status.is_ok() && bytes == self.window.len;
        if whole {
            self.next += self.window.pieces;
            status = self.unlock(file, here);
        }
        Some((status, whole))
    }

    /// Bytes of pieces among the first ones of the window.
    fn written(&self, bytes: u64) -> u64 {
        let end = self.window.offset + bytes;
        self.own().iter().map(|piece| end.saturating_sub(piece.offset).min(piece.len)).sum()
    }

    /// Ends what is under way, with the lock given back.
    pub(super) fn break_off(&mut self, file: &File, here: &Presence) {
        self.submission.break_off(file, here);
        let _ = self.unlock(file, here);
    }
}
