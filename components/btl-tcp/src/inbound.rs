//! The receiving half of a stream: bytes from the socket into a buffer, frames out of it.
//!
//! A message is handed up out of the buffer, which is lent for that: it lies outside the context until its receiver returns. Bytes of a
//! peer are checked before they are used. [`Fault`] distinguishes damage on the way, after which the connection is made again and the peer
//! sends again, from a violation of the protocol, after which the peer is closed for good.
//!
//! **Placed messages** (`placed.rs`). The payload of a long message may be read to where it belongs: the buffer has the frame's header and the message's own then, and what
//! comes behind the message.
//!
//! **A connection that breaks inside of a long frame** leaves what it has brought of that ([`Inbound::forget`]), and the next one goes on there ([`Inbound::reached`]). It begins
//! with a Resumption, which has the checksum of what should have come: where that is another the frame comes again from its beginning ([`Inbound::distrust`]), as one does
//! that was seen to be damaged.

use crate::check::{self, Summing};
use crate::fault::Fault;
use crate::frame::{BadHeader, HEADER, Header, Kind, room};
use crate::placed::{PLACED_FROM, Placing, UPPER};
use core::mem::take;
use oxmpi_btl::PayloadPlace;
use std::io;

/// Bytes that are read behind a placed message: the beginning of the next frame, by which that is placed, and little of its payload.
const TAIL: usize = 512;

/// See the module's head.
pub struct Inbound {
    /// Of 8-byte words, so that messages lie aligned.
    bytes: Box<[u64]>,
    start: usize,
    end: usize,
    /// Where the next message begins: everything before has been handed up.
    position: u64,
    /// Size of the buffer at first, and of the largest message.
    first: usize,
    largest: usize,
    /// Messages of this length and longer may have a place; 0: none has.
    places_from: usize,
    /// Of the frame at this position it was asked.
    asked: Option<u64>,
    placing: Option<Placing>,
    /// The frame before was a long one.
    long: bool,
    /// The Resumption that the next connection begins with, as far as it has come.
    resuming: Option<AwaitedResumption>,
}

/// The first frame of a connection that goes on inside of a frame.
#[derive(Default)]
struct AwaitedResumption {
    bytes: [u8; HEADER],
    have: usize,
}

/// A frame that is whole, at the front of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrived<'a> {
    pub header: Header,
    pub message: &'a [u8],
}

/// The buffer of an [`Inbound`] while the message at its front is handed up.
pub struct Lent {
    bytes: Box<[u64]>,
    /// Where in it the message begins, and how long it is.
    at: usize,
    len: usize,
}

impl Lent {
    pub fn message(&self) -> &[u8] {
        &bytes_of(&self.bytes)[self.at..self.at + self.len]
    }
}

fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: the words are as many initialised bytes.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}

impl Inbound {
    pub fn new(first: usize, largest: usize) -> Inbound {
        let first = first.max(2 * HEADER).next_multiple_of(8);
        Inbound {
            bytes: Box::default(),
            start: 0,
            end: 0,
            position: 0,
            first,
            largest,
            places_from: 0,
            asked: None,
            placing: None,
            long: false,
            resuming: None,
        }
    }

    /// Lets messages of `len` bytes and longer have a place, from now on.
    pub fn place_from(&mut self, len: usize) {
        self.places_from = len;
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    /// Forgets what a lost connection has brought, but for the beginning of a long frame, with which the next one goes on.
    pub fn forget(&mut self) {
        if self.beginning().is_none() {
            self.distrust();
        }
        if let Some((here, _)) = self.beginning() {
            self.end = self.start + here;
            self.resuming = Some(AwaitedResumption::default());
        }
    }

    /// Forgets what came of an unfinished frame; of one whose message was claimed, its payload.
    pub fn distrust(&mut self) {
        if let Some(placing) = self.placing.as_mut().filter(|placing| placing.name() != 0) {
            placing.begin_again();
            self.end = self.start + HEADER + placing.header();
            self.resuming = None;
            return;
        }
        self.drop_all();
    }

    fn drop_all(&mut self) {
        (self.start, self.end, self.long) = (0, 0, false);
        (self.asked, self.placing, self.resuming) = (None, None, None);
    }

    /// Bytes of the long frame at the front that outlive its connection: those in the buffer, and those in its place.
    fn beginning(&self) -> Option<(usize, usize)> {
        let bytes = &self.slice()[self.start..self.end];
        let header = bytes.first_chunk().and_then(|head| Header::decode(head).ok())?;
        let long = header.kind.is_plain() && header.len as usize >= PLACED_FROM;
        if !long || self.check(&header).is_err() {
            return None;
        }
        let (here, placed) = match &self.placing {
            Some(placing) if placing.is_cut() => return None,
            Some(placing) => (HEADER + placing.header(), placing.placed()),
            None => (bytes.len(), 0),
        };
        // One that is whole comes again.
        (here + placed < room(header.len as usize)).then_some((here, placed))
    }

    /// The position up to which the peer has not to send again, if the connection ends now or has ended.
    pub fn reached(&self) -> u64 {
        self.position + self.beginning().map_or(0, |(here, placed)| (here + placed) as u64)
    }

    /// Gives the memory back, with what is in it. The next connection gets some again.
    pub fn release(&mut self) {
        self.drop_all();
        self.bytes = Box::default();
    }

    /// Whether the buffer has something that was not looked at yet.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn slice(&self) -> &[u8] {
        bytes_of(&self.bytes)
    }

    /// Lets `read` fill the free part of the buffer, and returns the result of `read`.
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let room = self.make_room();
        // Behind a long message comes another one perhaps, of which only the beginning should lie here.
        let next_is_long = self.places_from > 0 && self.long && self.start == self.end;
        let most = if next_is_long { TAIL } else { room.max(self.first) };
        // SAFETY: the words are as many initialised bytes, and borrowed alone.
        let all = unsafe {
            core::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast::<u8>(), self.bytes.len() * 8)
        };
        let until = all.len().min(self.end + most);
        let n = read(&mut all[self.end..until])?;
        self.end += n;
        Ok(n)
    }

    /// Makes room behind the end for the rest of the frame that has begun, at least; answers how much that is.
    fn make_room(&mut self) -> usize {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let want = self.wanted();
        self.reserve(want);
        want - (self.end - self.start)
    }

    /// Has room for so many bytes from the start on.
    fn reserve(&mut self, want: usize) {
        let have = self.end - self.start;
        let size = self.bytes.len() * 8;
        if want > size || size == 0 {
            let mut larger: Box<[u64]> = vec![0; (2 * want).max(self.first).div_ceil(8)].into();
            // SAFETY: `have` bytes fit: `want` is at least as much.
            unsafe {
                let from = self.slice().as_ptr().add(self.start);
                core::ptr::copy_nonoverlapping(from, larger.as_mut_ptr().cast::<u8>(), have);
            }
            self.bytes = larger;
            (self.start, self.end) = (0, have);
        } else if size - self.start < want || self.end == size {
            let base = self.bytes.as_mut_ptr().cast::<u8>();
            // SAFETY: within the buffer; the pieces may overlap.
            unsafe { core::ptr::copy(base.add(self.start), base, have) };
            (self.start, self.end) = (0, have);
        }
    }

    /// Bytes from `start` on that the frame there needs. A length that cannot be is refused by `next`, before it is believed here.
    fn wanted(&self) -> usize {
        let bytes = &self.slice()[self.start..self.end];
        let header = bytes.first_chunk().and_then(|h| Header::decode(h).ok());
        let len = header.map_or(0, |h| h.len as usize).min(self.largest);
        let len = if header.is_some_and(|h| self.may_place(&h)) { len.min(UPPER) } else { len };
        room(len).max(bytes.len() + 1)
    }

    /// The frame at the front, if it is whole. [`Inbound::pass`] goes on behind it.
    pub fn next(&self) -> Result<Option<Arrived<'_>>, Fault> {
        if self.resuming.is_some() {
            return Ok(None);
        }
        let bytes = &self.slice()[self.start..self.end];
        let Some(head) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
        let header = match Header::decode(head) {
            Ok(header) => header,
            Err(BadHeader::Damaged) => return Err(Fault::Damaged("a header with a wrong checksum")),
            Err(BadHeader::Unknown) => return Err(Fault::Hostile("a frame of a kind that does not exist")),
        };
        self.check(&header)?;
        let len = header.len as usize;
        if let Some(placing) = &self.placing {
            return placing.finished(&header, &bytes[HEADER..]).map(|done| {
                let message = &bytes[HEADER..HEADER + placing.header()];
                done.then_some(Arrived { header, message })
            });
        }
        if header.kind.is_in_stream() && bytes.len() < room(len) {
            return if self.ends_in_question(bytes, &header) {
                Err(Fault::Damaged("a message whose end is missing"))
            } else {
                Ok(None)
            };
        }
        let message = &bytes[HEADER..HEADER + len];
        if header.sum.is_some_and(|sum| check::sum(message) != sum) {
            return Err(Fault::Damaged("a message with a wrong checksum"));
        }
        Ok(Some(Arrived { header, message }))
    }

    /// Whether a frame that is not whole ends with a question. Its sender asks between frames, so the rest of this one is
    /// lost: nothing but further questions would come, 32 bytes a second.
    fn ends_in_question(&self, bytes: &[u8], header: &Header) -> bool {
        let behind = self.position + room(header.len as usize) as u64;
        bytes[HEADER..]
            .last_chunk()
            .and_then(|last| Header::decode(last).ok())
            .is_some_and(|last| last.kind == Kind::Question && last.position >= behind)
    }

    fn check(&self, header: &Header) -> Result<(), Fault> {
        if header.len as usize > self.largest {
            return Err(Fault::Hostile("a message longer than any"));
        }
        match header.kind {
            Kind::Ack => Ok(()),
            Kind::Message
            | Kind::Awaited
            | Kind::Request
            | Kind::Reply
            | Kind::Question
            | Kind::Bye
            | Kind::Part
                if header.position == self.position =>
            {
                Ok(())
            }
            _ => Err(Fault::Damaged("a frame that does not follow the one before it")),
        }
    }

    /// Whether the message of a frame may have a place.
    fn may_place(&self, header: &Header) -> bool {
        let long = self.places_from > 0 && header.len as usize >= self.places_from;
        long && header.kind.is_plain() && self.asked != Some(self.position)
    }

    /// The frame at the front, if its message has begun and it is worth asking for its place, which is done once.
    pub fn asks_for_place(&mut self) -> Option<Header> {
        let bytes = &self.slice()[self.start..self.end];
        if self.places_from == 0
            || self.placing.is_some()
            || self.resuming.is_some()
            || bytes.len() < HEADER + UPPER
        {
            return None;
        }
        let header = bytes.first_chunk().and_then(|head| Header::decode(head).ok())?;
        let worth = room(header.len as usize) >= bytes.len() + UPPER;
        if !worth || !self.may_place(&header) || self.check(&header).is_err() {
            return None;
        }
        self.asked = Some(self.position);
        Some(header)
    }

    /// The header of the frame whose payload is being placed.
    pub fn placed_header(&self) -> Option<Header> {
        self.placing.as_ref()?;
        self.slice()[self.start..self.end].first_chunk().and_then(|head| Header::decode(head).ok())
    }

    /// The rest of the message at the front goes to this place; bytes that are here are copied. `name`: the layer has claimed it; 0: it has not.
    ///
    /// # Safety
    /// The place is good, as `oxmpi_btl::Entered::place_of` says, until [`Inbound::place_again`] says so anew.
    pub unsafe fn place(&mut self, header: &Header, place: PayloadPlace, name: u64) {
        let mut placing = Placing::new(header, place, name);
        let from = self.start + HEADER + placing.header();
        // SAFETY: the caller's promise; the frame is not whole, so this is a part of its payload.
        unsafe { placing.copy(&self.slice()[from..self.end]) };
        self.end = from;
        self.placing = Some(placing);
    }

    /// Lets `read` fill the rest of the place, and a little of the buffer behind it, and returns the result of `read`. Bytes that have no place any more are dropped.
    ///
    /// # Safety
    /// The place is good ([`Inbound::place_again`]).
    pub unsafe fn fill_place(
        &mut self,
        read: impl FnOnce(&mut [u8], &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.reserve(self.end - self.start + TAIL);
        let Some(placing) = &mut self.placing else { return Ok(0) };
        // SAFETY: the words are as many initialised bytes, and borrowed alone.
        let all = unsafe {
            core::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast::<u8>(), self.bytes.len() * 8)
        };
        let (rest, free) = (placing.rest(), &mut all[self.end..]);
        // SAFETY: the caller's promise.
        if let Some(missing) = unsafe { placing.missing() } {
            let n = read(missing, &mut free[..TAIL])?;
            placing.add(n.min(rest), &[]);
            self.end += n - n.min(rest);
            return Ok(n);
        }
        if rest == 0 {
            let n = read(&mut [], &mut free[..TAIL])?;
            self.end += n;
            return Ok(n);
        }
        let most = rest.min(free.len());
        let n = read(&mut [], &mut free[..most])?;
        placing.add(n, &free[..n]);
        Ok(n)
    }

    /// Whether a Resumption is awaited.
    pub fn is_resuming(&self) -> bool {
        self.resuming.is_some()
    }

    /// Lets `read` fill what is missing of the Resumption, and returns the result of `read`.
    pub fn fill_resumption(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let Some(resuming) = &mut self.resuming else { return Ok(0) };
        let n = read(&mut resuming.bytes[resuming.have..])?;
        resuming.have += n;
        Ok(n)
    }

    /// Goes on with the frame at the front once the Resumption is here, if that says what has come of it; false: it is not.
    ///
    /// # Safety
    /// The place is good ([`Inbound::place_again`]).
    pub unsafe fn go_on(&mut self) -> Result<bool, Fault> {
        let Some(resuming) = self.resuming.take_if(|resuming| resuming.have == HEADER) else {
            return Ok(false);
        };
        let Ok(frame) = Header::decode(&resuming.bytes) else {
            return Err(Fault::Damaged("a resumption with a wrong checksum"));
        };
        if frame.kind != Kind::Resumption || frame.position != self.reached() {
            return Err(Fault::Damaged("a connection that does not go on where it should"));
        }
        let mut summing = Summing::default();
        summing.add(&self.slice()[self.start..self.end]);
        if let Some(placing) = &self.placing {
            // SAFETY: the caller's promise.
            let Some(placed) = (unsafe { placing.there() }) else { return Ok(true) };
            summing.add(placed);
        }
        match frame.sum == Some(summing.sum()) {
            true => Ok(true),
            false => Err(Fault::Damaged("the beginning of a message with a wrong checksum")),
        }
    }

    /// The place of the message at the front, asked for again; `None`: it goes nowhere.
    ///
    /// # Safety
    /// As [`Inbound::place`].
    pub unsafe fn place_again(&mut self, place: Option<PayloadPlace>) {
        if let Some(placing) = &mut self.placing {
            placing.be_at(place);
        }
    }

    /// The name of the message at the front, if the layer has claimed it, or 0.
    pub fn name_of_front(&self) -> u64 {
        self.placing.as_ref().map_or(0, Placing::name)
    }

    /// Whether the message at the front is being placed.
    pub fn is_placing(&self) -> bool {
        self.placing.is_some()
    }

    /// The place of the message at the front; `None`: it goes, or has gone, nowhere.
    pub fn place_of_front(&self) -> Option<PayloadPlace> {
        self.placing.as_ref()?.place()
    }

    /// The frame at the front has been dealt with. To be called before its message is handed up: it comes once.
    pub fn count(&mut self, header: &Header) {
        if header.kind.is_in_stream() {
            self.position += room(header.len as usize) as u64;
        }
    }

    /// Lends the buffer, with the whole frame at its front, until [`Inbound::take_back`]. Of a message that was placed the buffer has the header.
    #[inline]
    pub fn lend(&mut self, header: &Header) -> Lent {
        let len = self.placing.as_ref().map_or(header.len as usize, Placing::header);
        Lent { bytes: take(&mut self.bytes), at: self.start + HEADER, len }
    }

    /// Lends the buffer with the beginning of a frame that is not whole.
    pub fn lend_beginning(&mut self) -> Lent {
        let at = self.start + HEADER;
        let len = self.placing.as_ref().map_or(self.end - at, Placing::header);
        Lent { bytes: take(&mut self.bytes), at, len }
    }

    /// The buffer is back.
    #[inline]
    pub fn take_back(&mut self, lent: Lent) {
        self.bytes = lent.bytes;
    }

    /// Goes on behind the frame at the front.
    pub fn pass(&mut self, header: &Header) {
        if header.kind.is_in_stream() {
            self.long = header.len as usize >= PLACED_FROM;
        }
        if let Some(placing) = self.placing.take() {
            self.start += placing.kept();
            return;
        }
        self.start += if header.kind.is_in_stream() { room(header.len as usize) } else { HEADER };
    }
}

/// All frames of some bytes, cut into pieces as a network would: for tests and fuzzing.
pub fn whole_stream(bytes: &[u8], mut cut: impl FnMut() -> usize) -> (Vec<(u8, Vec<u8>)>, Option<Fault>) {
    let (mut inbound, mut rest, mut got) = (Inbound::new(64, 4096), bytes, Vec::new());
    loop {
        match inbound.next() {
            Err(fault) => return (got, Some(fault)),
            Ok(Some(frame)) => {
                let header = frame.header;
                if header.kind.is_in_stream() {
                    got.push((header.tag, frame.message.to_vec()));
                }
                inbound.count(&header);
                inbound.pass(&header);
            }
            Ok(None) if rest.is_empty() => return (got, None),
            Ok(None) => {
                let most = cut().max(1);
                let filled = inbound.fill(|into| {
                    let n = most.min(into.len()).min(rest.len());
                    into[..n].copy_from_slice(&rest[..n]);
                    rest = &rest[n..];
                    Ok(n)
                });
                assert!(matches!(filled, Ok(n) if n > 0), "there is always room for something");
            }
        }
    }
}
