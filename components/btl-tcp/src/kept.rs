//! Frames whose payload is kept by reference until the peer has acknowledged them: it is sent from where it lies, and sent again from there.
//!
//! They take no place in the ring, but one in the stream, between frames that are there. A frame is written in three pieces: its header with the message's own, the payload,
//! and the padding.

use crate::check::Summing;
use crate::frame::{HEADER, Header, Kind, room};
use core::slice::from_raw_parts;
use oxmpi_btl::Message;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Payload of messages of this length and longer is kept.
pub const KEPT_FROM: usize = 16 << 10;
/// The longest header of a message that there is (the contract of `SendDesc`).
const UPPER: usize = 128;
const PADDING: [u8; 8] = [0; 8];

/// A frame.
struct Kept<D> {
    /// Where it begins in the stream.
    at: u64,
    /// Its header and the message's own, and as many bytes of them.
    head: [u8; HEADER + UPPER],
    head_len: usize,
    payload: Payload,
    done: D,
}

/// Payload of the layer above, which stays until the completion is told.
struct Payload(*const u8, usize);

// SAFETY: the bytes stay, and are only read, until the completion is told (the contract of `KeptDesc`), by whichever thread has the context.
unsafe impl Send for Payload {}

impl Payload {
    fn bytes(&self) -> &[u8] {
        // SAFETY: as above: whoever tells the completion has taken the frame out first.
        unsafe { from_raw_parts(self.0, self.1) }
    }
}

impl<D> Kept<D> {
    fn message_len(&self) -> usize {
        self.head_len - HEADER + self.payload.1
    }

    fn room(&self) -> u64 {
        room(self.message_len()) as u64
    }

    /// The bytes from `from` on.
    fn pieces(&self, from: usize) -> [IoSlice<'_>; 3] {
        let padding = self.room() as usize - HEADER - self.message_len();
        let mut skip = from;
        [&self.head[..self.head_len], self.payload.bytes(), &PADDING[..padding]].map(|piece| {
            let left = &piece[skip.min(piece.len())..];
            skip -= piece.len() - left.len();
            IoSlice::new(left)
        })
    }
}

/// The frames of a stream that are kept, in their order; each with the right to tell its end, a `D`.
pub struct KeptFrames<D> {
    all: VecDeque<Kept<D>>,
    /// Bytes of those that were acknowledged.
    gone: u64,
}

impl<D> Default for KeptFrames<D> {
    fn default() -> KeptFrames<D> {
        KeptFrames { all: VecDeque::new(), gone: 0 }
    }
}

impl<D> KeptFrames<D> {
    /// Puts a frame at the end of a stream, which is `at`. `summed`: the message gets a checksum.
    pub fn push(&mut self, at: u64, msg: &Message<'_>, acked: u64, summed: bool, done: D) {
        let upper = msg.header();
        let payload = Payload(msg.desc().payload, msg.payload_len());
        let sum = summed.then(|| {
            let mut summing = Summing::default();
            summing.add(upper);
            summing.add(payload.bytes());
            summing.sum()
        });
        let len = msg.total_len() as u32;
        let frame = Header { len, kind: Kind::Awaited, tag: msg.tag(), sum, position: at, acked };
        let mut head = [0; HEADER + UPPER];
        let head_len = HEADER + upper.len();
        head[..HEADER].copy_from_slice(&frame.encode());
        head[HEADER..head_len].copy_from_slice(upper);
        self.all.push_back(Kept { at, head, head_len, payload, done });
    }

    /// The position in the ring of a byte of the stream that lies there.
    pub fn in_ring(&self, at: u64) -> u64 {
        let before: u64 = self.all.iter().take_while(|kept| kept.at < at).map(Kept::room).sum();
        at - self.gone - before
    }

    /// Bytes of the frame that begins there, if it is one of these.
    pub fn room_at(&self, at: u64) -> Option<u64> {
        self.all.iter().find(|kept| kept.at == at).map(Kept::room)
    }

    /// The rest of the frame in which `at` lies, if it is one of these.
    pub fn pieces(&self, at: u64) -> Option<[IoSlice<'_>; 3]> {
        let inside = |kept: &&Kept<D>| kept.at <= at && at < kept.at + kept.room();
        self.all.iter().find(inside).map(|kept| kept.pieces((at - kept.at) as usize))
    }

    /// Where the next of these frames begins, from `at` on.
    pub fn next(&self, at: u64) -> Option<u64> {
        self.all.iter().map(|kept| kept.at).find(|&next| next >= at)
    }

    /// Takes out the frames before `to`, and gives what is to be told of them.
    pub fn drop_to(&mut self, to: u64, mut tell: impl FnMut(D)) {
        while self.all.front().is_some_and(|kept| kept.at < to) {
            let Some(kept) = self.all.pop_front() else { break };
            self.gone += kept.room();
            tell(kept.done);
        }
    }
}
