//! A message whose payload is read to where it belongs, which the layer that takes its tag says (`oxmpi_btl::PlaceBy`).
//!
//! The layer is asked once the message's own header is in the buffer. The place is good until it is called again or the context's turn ends, so it is asked for again in front of
//! each read. Where it says then that there is none any more, since the operation has ended, the rest of the message is read and dropped.
//!
//! A message that meets its receive by this is *claimed*: the layer knows it by a name from then on, and the header in the buffer stays until all has come, whatever becomes of
//! connections. So only a message without a checksum is claimed, whose header is believed as soon as it is here.
//!
//! Nothing of another message is believed before it is whole: its checksum is that of header and place together, and a damaged one comes again, to the same place. So the memory has wrong
//! bytes for a while perhaps, and its operation is not over before they are right.

use crate::check::Summing;
use crate::fault::Fault;
use crate::frame::{HEADER, Header, Kind, room};
use core::ptr::{copy_nonoverlapping, null_mut};
use oxmpi_btl::{PayloadPlace, Placer};
use oxmpi_mca::Status;
use std::sync::OnceLock;

/// The longest header of a message that there is (the contract of `SendDesc`).
pub const UPPER: usize = 128;

/// Messages of this length and longer are asked about: the copy of a shorter one costs less than another call of the system.
pub const PLACED_FROM: usize = 16 << 10;

/// See the module's head.
pub struct Placing {
    /// Bytes of the message in front of those that have a place, and all of it.
    header: usize,
    len: usize,
    /// As many of them have come.
    got: usize,
    /// Null: nowhere.
    at: Address,
    /// A question stands where the message should go on.
    cut: bool,
    /// Where the stream goes on behind the message.
    behind: u64,
    /// The name by which the layer knows the message, which it has taken; 0: it has not.
    name: u64,
}

/// The address of a place.
struct Address(*mut u8);

// SAFETY: it is nothing but a number until the thread that has the context has asked for it again.
unsafe impl Send for Address {}

impl Placing {
    /// Places the message of a frame, of which nothing has been taken yet. `name`: the layer has claimed it; 0: it has not.
    pub fn new(frame: &Header, place: PayloadPlace, name: u64) -> Placing {
        Placing {
            header: place.header as usize,
            len: frame.len as usize,
            got: place.header as usize,
            at: Address(place.at),
            cut: false,
            behind: frame.position + room(frame.len as usize) as u64,
            name,
        }
    }

    /// Bytes of the message's own header, which stay in the buffer.
    pub fn header(&self) -> usize {
        self.header
    }

    /// Padding behind the message.
    fn padding(&self) -> usize {
        room(self.len) - HEADER - self.len
    }

    /// Bytes in the buffer from the frame's beginning on.
    pub fn kept(&self) -> usize {
        HEADER + self.header + self.padding()
    }

    /// Bytes of payload that are missing.
    pub fn rest(&self) -> usize {
        self.len - self.got
    }

    /// The name of a message that the layer has claimed, or 0.
    pub fn name(&self) -> u64 {
        self.name
    }

    /// Its payload comes again.
    pub fn begin_again(&mut self) {
        (self.got, self.cut) = (self.header, false);
    }

    /// Bytes of payload that have come.
    pub fn placed(&self) -> usize {
        self.got - self.header
    }

    /// A question was seen where the message should go on.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// It belongs there now. A message of which something has gone nowhere gets no place any more.
    pub fn be_at(&mut self, place: Option<PayloadPlace>) {
        self.at = Address(match place {
            Some(place) if !self.at.0.is_null() && place.header as usize == self.header => place.at,
            _ => null_mut(),
        });
    }

    /// The place; `None`: it goes nowhere.
    pub fn place(&self) -> Option<PayloadPlace> {
        (!self.at.0.is_null()).then_some(PayloadPlace { header: self.header as u64, at: self.at.0 })
    }

    /// Copies payload that lies in the buffer.
    ///
    /// # Safety
    /// The place is good, and `payload` is no longer than what is missing.
    pub unsafe fn copy(&mut self, payload: &[u8]) {
        // SAFETY: the place has room for all that is missing, by the caller's promise.
        unsafe {
            copy_nonoverlapping(payload.as_ptr(), self.at.0.add(self.got - self.header), payload.len())
        };
        self.got += payload.len();
    }

    /// The part of the place that is missing still; `None`: it goes nowhere.
    ///
    /// # Safety
    /// The place is good.
    pub unsafe fn missing(&mut self) -> Option<&mut [u8]> {
        let at = self.place()?.at;
        // SAFETY: memory of an operation that is under way, which nobody else touches until it is over; to this process it came from outside.
        Some(unsafe { core::slice::from_raw_parts_mut(at.add(self.got - self.header), self.rest()) })
    }

    /// The payload that has come; `None`: it goes nowhere.
    ///
    /// # Safety
    /// The place is good.
    pub unsafe fn there(&self) -> Option<&[u8]> {
        let at = self.place()?.at;
        // SAFETY: as in `missing`; so many bytes of it have been written.
        Some(unsafe { core::slice::from_raw_parts(at, self.placed()) })
    }

    /// Counts bytes that were read to the place, or dropped; `last` has the last of them.
    pub fn add(&mut self, bytes: usize, dropped: &[u8]) {
        self.got += bytes;
        let placed = self.got - self.header;
        let mut last = [0; HEADER];
        if self.at.0.is_null() {
            let Some(end) = dropped.last_chunk() else { return };
            last = *end;
        } else if placed >= HEADER {
            // SAFETY: so many bytes of the place have been written, in this turn the last of them.
            unsafe { copy_nonoverlapping(self.at.0.add(placed - HEADER), last.as_mut_ptr(), HEADER) };
        }
        let asks = |h: Header| h.kind == Kind::Question && h.position >= self.behind;
        self.cut = self.rest() > 0 && Header::decode(&last).is_ok_and(asks);
    }

    /// Whether all of it has come, and is right. `buffer` has what lies behind the frame's header in the buffer. To be asked in the turn in which the last
    /// byte came.
    pub fn finished(&self, frame: &Header, buffer: &[u8]) -> Result<bool, Fault> {
        if self.cut {
            return Err(Fault::Damaged("a message whose end is missing"));
        }
        if self.rest() > 0 || buffer.len() < self.header + self.padding() {
            return Ok(false);
        }
        if let (Some(sum), Some(place)) = (frame.sum, self.place()) {
            let mut summing = Summing::default();
            summing.add(&buffer[..self.header]);
            // SAFETY: the place is good in this turn, and all of it has been written.
            summing.add(unsafe { core::slice::from_raw_parts(place.at, self.len - self.header) });
            if summing.sum() != sum {
                return Err(Fault::Damaged("a message with a wrong checksum"));
            }
        }
        Ok(true)
    }
}

/// Those who say where messages belong, by tag.
#[derive(Default)]
pub struct Placers([OnceLock<(u8, Placer)>; 4]);

impl Placers {
    /// Adds one. BAD_PARAM: the tag has one. NO_RESOURCE: there are too many.
    pub fn add(&self, tag: u8, placer: Placer) -> Status {
        if self.of(tag).is_some() {
            return Status::BAD_PARAM;
        }
        match self.0.iter().any(|row| row.set((tag, placer)).is_ok()) {
            true => Status::OK,
            false => Status::NO_RESOURCE,
        }
    }

    /// The one of a tag.
    pub fn of(&self, tag: u8) -> Option<Placer> {
        self.0.iter().filter_map(OnceLock::get).find(|(of, _)| *of == tag).map(|(_, placer)| *placer)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0[0].get().is_none()
    }
}
