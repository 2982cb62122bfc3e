//! Posts that carry data: in the line, in the cell, or as an address in the memory of the one who posts.
//!
//! | packed bytes | where |
//! |---|---|
//! | up to [`INLINE`] | beside the word, in its line |
//! | up to the cell's | in the slot's cell, packed by who posts and unpacked by who reads |
//! | of a *stream* | in the cells of several steps, one piece behind the other; the line has the length of the piece, the header what is left |
//! | of a *table* | in the cell, which says where each rank's data is (`table`) |
//! | more | where they are, if they are contiguous, or packed in temporary memory; readers copy them from there (`peer_read`) |
//!
//! A header says what kind it is, how long, and for which collective. All of it is the peer's word, so lengths are checked, and a post for another
//! collective is MISMATCH. An address is only passed on to the system, which refuses what is not there.

use crate::area::INLINE;
use crate::call::Call;
use crate::data::{Place, Room, Source, memory};
use crate::protocol::{Desk, Protocol, Result, slot};
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;

const IN_LINE: u64 = 1;
const IN_CELL: u64 = 2;
const AT_ADDRESS: u64 = 3;
const IN_STREAM: u64 = 4;
const AS_TABLE: u64 = 5;

/// Data of another rank's process is copied in pieces of this many bytes where it cannot go to its place directly.
pub const PIECE: u64 = 16 << 10;

/// A post, as a rank sees it.
#[derive(Clone, Copy)]
pub struct Post<'a> {
    call: &'a Call<'a>,
    rank: u32,
    step: u32,
    kind: u64,
    len: u64,
    /// Bytes of the stream behind this piece.
    rest: u64,
}

/// Temporary memory that others read, to be kept until they have.
#[derive(Default)]
pub struct Kept(Vec<u64>);

impl Kept {
    /// Memory of `bytes` bytes.
    pub fn of(&mut self, bytes: u64) -> Result<Room<'_>> {
        self.0 = memory(bytes)?;
        Ok(Room::of(&mut self.0))
    }
}

/// Where packed data is.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    Here(Room<'a>),
    /// At an address in a rank's memory.
    There(u32, u64),
}

impl<'a> Call<'a> {
    /// Whether data of so many bytes is too long for a cell.
    #[inline]
    pub fn is_long(&self, len: u64) -> bool {
        len > self.area().cell_bytes() as u64
    }

    /// The place for `len` bytes in this rank's slot of a step; they fit its cell. The caller has made room.
    #[inline]
    pub fn room(&self, step: u32, len: u64) -> Room<'_> {
        let (rank, slot) = (self.rank(), slot(step));
        assert!(!self.is_long(len), "data fits a cell");
        let is_short = len <= INLINE as u64;
        let at = if is_short { self.area().inline(rank, slot) } else { self.area().cell(rank, slot) };
        // SAFETY: this rank's own, as large as was just looked at.
        unsafe { Room::new(at, len) }
    }

    /// Posts the bytes that this rank has put into [`Call::room`].
    #[inline]
    pub fn post_room(&self, step: u32, tag: u32, len: u64) {
        let kind = if len <= INLINE as u64 { IN_LINE } else { IN_CELL };
        self.post(step, header(kind, tag, len));
    }

    /// Posts data. `kept` has a packed copy of it if one is made, and goes when all have read it.
    #[inline]
    pub fn offer(&self, step: u32, tag: u32, data: Source<'_>, kept: &mut Kept) -> Result {
        let len = data.bytes()?;
        self.make_room(step)?;
        if !self.is_long(len) {
            data.pack(self.room(step, len))?;
            self.post_room(step, tag, len);
            return Ok(());
        }
        let Some(at) = data.contiguous() else { return self.offer_kept(step, tag, data, kept) };
        self.post_address(step, tag, at.expose_provenance() as u64, len);
        Ok(())
    }

    /// Posts data that changes before all have read it: a copy, where it does not fit the cell.
    pub fn offer_copy(&self, step: u32, tag: u32, data: Source<'_>, kept: &mut Kept) -> Result {
        match self.is_long(data.bytes()?) {
            false => self.offer(step, tag, data, kept),
            true => {
                self.make_room(step)?;
                self.offer_kept(step, tag, data, kept)
            }
        }
    }

    fn offer_kept(&self, step: u32, tag: u32, data: Source<'_>, kept: &mut Kept) -> Result {
        let len = data.bytes()?;
        let room = kept.of(len)?;
        data.pack(room)?;
        self.post_address(step, tag, room.start().expose_provenance() as u64, len);
        Ok(())
    }

    /// The first bytes of the cell of this rank's slot of a step. The caller has made room.
    pub fn cell(&self, step: u32, len: u64) -> Room<'_> {
        assert!(!self.is_long(len), "it fits a cell");
        // SAFETY: this rank's own, as large as was just looked at.
        unsafe { Room::new(self.area().cell(self.rank(), slot(step)), len) }
    }

    /// Posts the table that this rank has put into [`Call::cell`], of data in its memory.
    pub fn post_table(&self, step: u32, tag: u32, len: u64) {
        self.post(step, header(AS_TABLE, tag, len));
    }

    fn post_address(&self, step: u32, tag: u32, at: u64, len: u64) {
        // SAFETY: the payload of this rank's own slot, aligned to 16 and longer than a word.
        unsafe { self.area().inline(self.rank(), slot(step)).cast::<u64>().write(at) };
        self.post(step, header(AT_ADDRESS, tag, len));
    }

    /// Posts bytes `from..from + len` of packed data as a piece of a stream; they fit a cell. False: it was the last piece.
    pub fn offer_piece(&self, step: u32, tag: u32, data: Source<'_>, from: u64, len: u64) -> Result<bool> {
        let left = data.bytes()? - from;
        let len = len.min(left);
        self.make_room(step)?;
        data.pack_part(from, self.cell(step, len));
        // SAFETY: the payload of this rank's own slot, aligned to 16 and longer than a word.
        unsafe { self.area().inline(self.rank(), slot(step)).cast::<u64>().write(len) };
        self.post(step, header(IN_STREAM, tag, left));
        Ok(len < left)
    }

    /// Waits for a rank's post of a step. MISMATCH: it is one for another collective.
    #[inline]
    pub fn look(&self, rank: u32, step: u32, tag: u32) -> Result<Post<'_>> {
        let header = self.see(rank, step)?;
        self.read(rank, step, tag, header)
    }

    /// This rank's own post of a step.
    #[inline]
    pub fn own(&self, step: u32, tag: u32) -> Result<Post<'_>> {
        let header = self.header(self.rank(), slot(step)).load(Ordering::Relaxed);
        self.read(self.rank(), step, tag, header)
    }

    #[inline]
    fn read(&self, rank: u32, step: u32, tag: u32, header: u64) -> Result<Post<'_>> {
        let (kind, mut len, mut rest) = (header >> 8 & 0xff, header >> 16, 0);
        if kind == IN_STREAM {
            // SAFETY: the payload has room for a word and is aligned to 16; its rank has posted it.
            let piece = unsafe { self.area().inline(rank, slot(step)).cast::<u64>().read() };
            (len, rest) = (piece.min(len), len - piece.min(len));
        }
        let fits = match kind {
            IN_LINE => len <= INLINE as u64,
            IN_CELL | IN_STREAM | AS_TABLE => !self.is_long(len),
            AT_ADDRESS => true,
            _ => false,
        };
        match header as u8 == tag as u8 && fits {
            true => Ok(Post { call: self, rank, step, kind, len, rest }),
            false => Err(Status::MISMATCH),
        }
    }
}

impl Call<'_> {
    /// Brings `len` bytes to a place, which has room for as many. Longer data is cut, and shorter data leaves the rest as it is: TRUNCATED and MISMATCH, which are
    /// noted.
    #[inline]
    pub fn bring(&self, origin: Origin<'_>, len: u64, into: Place<'_>) -> Result {
        let room = into.bytes()?;
        if len != room {
            self.note(if len > room { Status::TRUNCATED } else { Status::MISMATCH });
        }
        let len = len.min(room);
        match origin {
            Origin::Here(here) => into.unpack(0, here.part(0, len)),
            Origin::There(rank, at) => self.bring_from_afar(rank, at, len, into),
        }
    }

    fn bring_from_afar(&self, rank: u32, at: u64, len: u64, into: Place<'_>) -> Result {
        if let Some(room) = into.room()? {
            return self.read_peer(rank, at, room.part(0, len));
        }
        let mut piece = memory(PIECE.min(len))?;
        let (piece, mut done) = (Room::of(&mut piece), 0);
        while done < len {
            let piece = piece.part(0, PIECE.min(len - done));
            self.read_peer(rank, at.wrapping_add(done), piece)?;
            into.unpack(done, piece)?;
            done += piece.len();
        }
        Ok(())
    }
}

fn header(kind: u64, tag: u32, len: u64) -> u64 {
    len << 16 | kind << 8 | u64::from(tag as u8)
}

impl<'a> Post<'a> {
    /// Bytes of its packed data.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of the stream of which it is a piece that follow in later steps.
    pub fn rest(&self) -> u64 {
        self.rest
    }

    /// Whether data lies in its rank's own memory, so that the rank waits for those who read it.
    pub fn is_at_address(&self) -> bool {
        matches!(self.kind, AT_ADDRESS | AS_TABLE)
    }

    /// Its data, where that is in shared memory.
    #[inline]
    pub fn here(&self) -> Option<Room<'a>> {
        let slot = slot(self.step);
        let at = match self.kind {
            IN_LINE => self.call.area().inline(self.rank, slot),
            IN_CELL | IN_STREAM | AS_TABLE => self.call.area().cell(self.rank, slot),
            _ => return None,
        };
        // SAFETY: a slot's payload or cell, which is as long (`read`). Its rank leaves it alone until this one has finished.
        Some(unsafe { Room::new(at, self.len) })
    }

    /// Copies its bytes from `from` on into a room, which they fill. Panics where there are not so many.
    pub fn fetch(&self, from: u64, into: Room<'_>) -> Result {
        if let Some(here) = self.here() {
            into.copy(here.part(from, into.len()));
            return Ok(());
        }
        assert!(from <= self.len && into.len() <= self.len - from, "bytes of the post");
        self.call.read_peer(self.rank, self.address().wrapping_add(from), into)
    }

    /// The address of its data.
    fn address(&self) -> u64 {
        // SAFETY: the payload has room for a word and is aligned to 16.
        unsafe { self.call.area().inline(self.rank, slot(self.step)).cast::<u64>().read() }
    }

    /// Brings its bytes `from..from + len`, as far as there are so many, to a place, as [`Call::bring`] does.
    #[inline]
    pub fn bring(&self, from: u64, len: u64, into: Place<'_>) -> Result {
        let len = len.min(self.len.saturating_sub(from));
        let origin = match self.here() {
            Some(here) => Origin::Here(here.part(from.min(self.len), len)),
            None => Origin::There(self.rank, self.address().wrapping_add(from)),
        };
        self.call.bring(origin, len, into)
    }
}
