//! The frame in front of every message on a connection: 32 bytes, little-endian, with a checksum of their own.
//!
//! **Positions.** Frames that carry messages are numbered by bytes: `position` is where the frame begins among all bytes of
//! such frames that its sender ever sent on the stream, whatever connections it went through. So a receiver sees at once
//! when something is missing or comes twice. Frames about the connection itself (acknowledgement, question, good-bye, parting)
//! take no place.
//!
//! **Resumption.** A connection may begin inside of a frame, of which the one before it has brought the beginning: its first frame is a `Resumption`
//! then, which says where it goes on, and the checksum of what has come.

use crate::check;

/// Bytes of a header.
pub const HEADER: usize = 32;

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An active message between ordinary contexts.
    Message = 1,
    /// A request to a service context.
    Request = 2,
    /// Its reply.
    Reply = 3,
    /// Only `acked` counts.
    Ack = 4,
    /// Asks for an Ack; `position` says where the next message will begin, so that its receiver sees what was lost.
    Question = 5,
    /// Nothing will follow on this stream: the process ends in good order.
    Bye = 6,
    /// An active message between ordinary contexts whose sender keeps its payload, and waits for the acknowledgement.
    Awaited = 8,
    /// The process knows the other one no more, and goes on: the stream ends once the other one says so, too.
    Part = 7,
    /// In front of all others on a connection that begins inside of a frame: `position` says where, `sum` is that of the frame's bytes before it.
    Resumption = 9,
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Message,
        Kind::Request,
        Kind::Reply,
        Kind::Ack,
        Kind::Question,
        Kind::Bye,
        Kind::Part,
        Kind::Awaited,
        Kind::Resumption,
    ];

    /// Takes a place in the stream.
    pub fn is_in_stream(self) -> bool {
        matches!(self, Kind::Message | Kind::Request | Kind::Reply | Kind::Awaited)
    }

    /// Is an active message between ordinary contexts.
    pub fn is_plain(self) -> bool {
        matches!(self, Kind::Message | Kind::Awaited)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the message behind the header.
    pub len: u32,
    pub kind: Kind,
    pub tag: u8,
    /// Checksum of the message, if it was asked for (`btl_tcp_checksum`).
    pub sum: Option<u32>,
    pub position: u64,
    /// All of the other direction before this position has come.
    pub acked: u64,
}

/// Why a header is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHeader {
    /// Its checksum is wrong: something on the way damaged it.
    Damaged,
    /// It is what its sender wrote, and that makes no sense.
    Unknown,
}

/// In the flags: `sum` is there.
const SUMMED: u16 = 1;

/// How much room a frame with a message of `len` bytes takes: a multiple of 8, so that every message begins at one.
pub const fn room(len: usize) -> usize {
    (HEADER + len).next_multiple_of(8)
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..4].copy_from_slice(&self.len.to_le_bytes());
        out[4] = self.kind as u8;
        out[5] = self.tag;
        out[6..8].copy_from_slice(&(if self.sum.is_some() { SUMMED } else { 0 }).to_le_bytes());
        out[8..16].copy_from_slice(&self.position.to_le_bytes());
        out[16..24].copy_from_slice(&self.acked.to_le_bytes());
        out[24..28].copy_from_slice(&self.sum.unwrap_or(0).to_le_bytes());
        let sum = check::sum(&out[..28]);
        out[28..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    pub fn decode(b: &[u8; HEADER]) -> Result<Header, BadHeader> {
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let long = |at: usize| u64::from(word(at + 4)) << 32 | u64::from(word(at));
        if check::sum(&b[..28]) != word(28) {
            return Err(BadHeader::Damaged);
        }
        let kind = Kind::ALL.into_iter().find(|k| *k as u8 == b[4]).ok_or(BadHeader::Unknown)?;
        let flags = u16::from_le_bytes([b[6], b[7]]);
        if flags & !SUMMED != 0 || (!kind.is_in_stream() && word(0) != 0) {
            return Err(BadHeader::Unknown);
        }
        let sum = (flags & SUMMED != 0).then(|| word(24));
        Ok(Header { len: word(0), kind, tag: b[5], sum, position: long(8), acked: long(16) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_survive_the_way() {
        for kind in Kind::ALL {
            let len = if kind.is_in_stream() { 77 } else { 0 };
            for sum in [None, Some(5), Some(0)] {
                let h = Header { len, kind, tag: 255, sum, position: u64::MAX - 9, acked: 1 << 40 };
                assert_eq!(Header::decode(&h.encode()), Ok(h));
            }
        }
    }

    #[test]
    fn every_damaged_bit_is_seen() {
        let good = Header { len: 9, kind: Kind::Message, tag: 1, sum: None, position: 64, acked: 8 }.encode();
        for bit in 0..HEADER * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bad), Err(BadHeader::Damaged), "bit {bit}");
        }
    }

    proptest! {
        /// For any bytes: an answer, and what is taken is what would be sent.
        #[test]
        fn any_bytes_have_an_answer(mut bytes in any::<[u8; HEADER]>(), right in any::<bool>()) {
            if right {
                let sum = check::sum(&bytes[..28]);
                bytes[28..].copy_from_slice(&sum.to_le_bytes());
            }
            if let Ok(h) = Header::decode(&bytes) {
                let again = Header::decode(&h.encode());
                prop_assert_eq!(again, Ok(h));
            }
        }
    }
}
