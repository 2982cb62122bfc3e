//! The sending half of a stream: frames are put into the ring whole, go out as the socket takes them, and stay until the peer
//! acknowledges them.
//!
//! Positions are those of the stream: `begin <= sent <= end`. Bytes before `begin` are acknowledged, bytes before `sent` went
//! out on the present connection. On a new connection the peer tells the position that it has received up to, and `sent` goes back to it ([`Outbound::resume`]). Where that lies inside of a frame the connection begins with a Resumption.
//! Frames about the connection go out between frames of the ring, never inside of one: `edge` is the end of the frame in
//! which `sent` lies. They are not kept: each says how things stand, and a later one says it better.
//!
//! Frames whose payload is kept by reference (`kept.rs`) stand between those of the ring, in which they take no place: the ring counts its own bytes.

use crate::check::{self, Summing};
use crate::frame::{HEADER, Header, Kind, room};
use crate::kept::KeptFrames;
use crate::ring::Ring;
use oxmpi_btl::{Completion, Message};
use std::io::{self, IoSlice};

pub struct Outbound<D = Completion> {
    ring: Ring,
    kept: KeptFrames<D>,
    /// Completions of those that were acknowledged.
    released: Vec<D>,
    begin: u64,
    end: u64,
    /// Bytes between `begin` and `end` at most.
    limit: u64,
    sent: u64,
    edge: u64,
    /// Frames about the connection that wait to go out, and how much of them went.
    notes: Vec<u8>,
    noted: usize,
    /// The Resumption that goes before everything, and how much of it went.
    opening: Vec<u8>,
    opened: usize,
    /// Messages get a checksum.
    summed: bool,
}

/// An acknowledgement of what was never sent, or of half a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAck;

impl<D> Outbound<D> {
    pub fn new(limit: usize, summed: bool) -> Outbound<D> {
        Outbound {
            ring: Ring::new(limit),
            kept: KeptFrames::default(),
            released: Vec::new(),
            begin: 0,
            end: 0,
            limit: limit as u64,
            sent: 0,
            edge: 0,
            notes: Vec::new(),
            noted: 0,
            opening: Vec::new(),
            opened: 0,
            summed,
        }
    }

    /// Bytes that no socket has taken yet.
    pub fn unsent(&self) -> u64 {
        let (notes, opening) = (self.notes.len() - self.noted, self.opening.len() - self.opened);
        self.end - self.sent + (notes + opening) as u64
    }
    /// Nothing waits for an acknowledgement.
    pub fn is_settled(&self) -> bool {
        self.begin == self.end
    }
    /// Up to here the peer has everything.
    pub fn settled_to(&self) -> u64 {
        self.begin
    }

    /// Completions of the messages by [`Outbound::push_kept`] that were acknowledged since the last call.
    pub fn released(&mut self) -> impl Iterator<Item = D> + '_ {
        self.released.drain(..)
    }

    /// Forgets everything, since nothing is sent any more; gives the completions of what was kept.
    pub fn give_up(&mut self) -> impl Iterator<Item = D> + use<D> {
        let mut all = core::mem::take(&mut self.released);
        self.ring.drop_to(self.ring.end());
        self.kept.drop_to(self.end, |done| all.push(done));
        (self.begin, self.sent, self.edge) = (self.end, self.end, self.end);
        self.drop_frames_about_connection();
        all.into_iter()
    }

    /// Gives the memory back, if nothing is in it that waits for an acknowledgement.
    pub fn release(&mut self) {
        if self.is_settled() {
            self.ring.release();
        }
    }

    /// Puts a message behind all others; false: no room.
    pub fn push(&mut self, kind: Kind, msg: &Message<'_>, acked: u64) -> bool {
        let total = msg.total_len();
        if !self.ring.reserve(room(total)) {
            return false;
        }
        let header = msg.header();
        self.ring.write(HEADER, header);
        self.write_payload(msg, HEADER + header.len());
        let sum = self.summed.then(|| self.sum_of(total));
        let position = self.end;
        let frame = Header { len: total as u32, kind, tag: msg.tag(), sum, position, acked };
        self.ring.write(0, &frame.encode());
        self.ring.add(room(total));
        self.end += room(total) as u64;
        true
    }

    /// Puts a message behind all others whose payload stays where it lies until `done` is told; false: no room.
    pub fn push_kept(&mut self, msg: &Message<'_>, acked: u64, done: D) -> bool {
        let room = room(msg.total_len()) as u64;
        if self.end - self.begin + room > self.limit {
            return false;
        }
        self.kept.push(self.end, msg, acked, self.summed, done);
        self.end += room;
        true
    }

    fn write_payload(&mut self, msg: &Message<'_>, skip: usize) {
        let len = msg.payload_len();
        if len == 0 {
            return;
        }
        let (first, cut, second) = self.ring.free(skip, len);
        let desc = msg.desc();
        match desc.pack {
            // SAFETY: the function is the sender's, for this call; the two pieces are writable for as much as it writes.
            Some(pack) => unsafe {
                pack(desc.pack_ctx, 0, first, cut as u64);
                if cut < len {
                    pack(desc.pack_ctx, cut as u64, second, (len - cut) as u64);
                }
            },
            // SAFETY: the sender's payload is readable for `len`, the two pieces are writable for as much.
            None => unsafe {
                core::ptr::copy_nonoverlapping(desc.payload, first, cut);
                core::ptr::copy_nonoverlapping(desc.payload.add(cut), second, len - cut);
            },
        }
    }

    fn sum_of(&mut self, total: usize) -> u32 {
        let (first, cut, second) = self.ring.free(HEADER, total);
        // SAFETY: both pieces were just written.
        let (a, b) = unsafe {
            (core::slice::from_raw_parts(first, cut), core::slice::from_raw_parts(second, total - cut))
        };
        if b.is_empty() { check::sum(a) } else { check::sum(&[a, b].concat()) }
    }

    /// Has a frame about the connection sent.
    pub fn note(&mut self, kind: Kind, acked: u64) {
        let position = self.end;
        let header = Header { len: 0, kind, tag: 0, sum: None, position, acked };
        // One that nobody has begun to send is replaced: a reader that is slow does not make them pile up.
        if self.notes.len() - self.noted >= 8 * HEADER {
            self.notes.truncate(self.notes.len() - HEADER);
        }
        self.notes.extend_from_slice(&header.encode());
    }

    /// Sends what is there, as far as `write` takes it (0: it takes nothing now). False: something is left.
    pub fn flush(&mut self, mut write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<bool> {
        if !self.open(&mut write)? {
            return Ok(false);
        }
        loop {
            let between = self.sent == self.edge || self.noted > 0;
            if !self.notes.is_empty() && between {
                let n = write(&[IoSlice::new(&self.notes[self.noted..])])?;
                self.noted += n;
                if self.noted == self.notes.len() {
                    self.notes.clear();
                    self.noted = 0;
                } else {
                    return Ok(false);
                }
            }
            let until = if self.notes.is_empty() { self.end } else { self.edge };
            if self.sent == until {
                return Ok(true);
            }
            let (n, len) = match self.kept.pieces(self.sent) {
                Some(pieces) => (write(&pieces)?, pieces.iter().map(|piece| piece.len()).sum()),
                None => {
                    let piece = self.piece(until);
                    (write(&[IoSlice::new(piece)])?, piece.len())
                }
            };
            let whole = n == len;
            self.went(n);
            if !whole {
                return Ok(false);
            }
        }
    }

    /// Sends the Resumption, if there is one. False: something of it is left.
    fn open(&mut self, write: &mut impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<bool> {
        if self.opening.is_empty() {
            return Ok(true);
        }
        self.opened += write(&[IoSlice::new(&self.opening[self.opened..])])?;
        let all = self.opened == self.opening.len();
        if all {
            self.opening.clear();
            self.opened = 0;
        }
        Ok(all)
    }

    /// The bytes of messages that go out next, as far as they lie in one piece; empty where frames about the connection go before them.
    pub fn next_piece(&self) -> &[u8] {
        let from_ring =
            self.notes.is_empty() && self.opening.is_empty() && self.kept.pieces(self.sent).is_none();
        if from_ring { self.piece(self.end) } else { &[] }
    }

    /// The bytes of the ring that go out next, as far as they lie in one piece, but not beyond `until`.
    fn piece(&self, until: u64) -> &[u8] {
        self.piece_from(self.sent, until)
    }

    /// The bytes of the ring from `at` on, as far as they lie in one piece, but not beyond `until`.
    fn piece_from(&self, at: u64, until: u64) -> &[u8] {
        let until = self.kept.next(at).map_or(until, |kept| kept.min(until));
        self.ring.piece(self.kept.in_ring(at), self.kept.in_ring(until))
    }

    /// Bytes of the frame that begins at `at`.
    fn room_at(&self, at: u64) -> u64 {
        let in_ring = || room(self.ring.len_at(self.kept.in_ring(at))) as u64;
        self.kept.room_at(at).unwrap_or_else(in_ring)
    }

    /// As many of the bytes of messages that go out next went.
    pub fn went(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        while self.edge < self.sent {
            self.edge += self.room_at(self.edge);
        }
    }

    /// The peer has everything before `to`.
    pub fn acknowledge(&mut self, to: u64) -> Result<(), BadAck> {
        if to <= self.begin {
            return Ok(()); // An old one: they overtake each other where frames are sent again.
        }
        if to > self.sent {
            return Err(BadAck);
        }
        if self.edge_before(to) != to {
            return Err(BadAck);
        }
        self.drop_to(to);
        Ok(())
    }

    /// Forgets everything before `to`, where a frame begins.
    fn drop_to(&mut self, to: u64) {
        self.ring.drop_to(self.kept.in_ring(to));
        self.kept.drop_to(to, |done| self.released.push(done));
        self.begin = to;
    }

    /// Where the frame begins in which `at` lies, or which begins there; `at` is not beyond the end.
    fn edge_before(&self, at: u64) -> u64 {
        let mut edge = self.begin;
        while edge < at {
            let next = edge + self.room_at(edge);
            if next > at {
                break;
            }
            edge = next;
        }
        edge
    }

    /// A new connection, on which the peer wants everything from `from` on. It has the bytes before that of the frame in which that lies.
    pub fn resume(&mut self, from: u64) -> Result<(), BadAck> {
        if from < self.begin || from > self.end {
            return Err(BadAck);
        }
        let edge = self.edge_before(from);
        self.drop_to(edge);
        (self.sent, self.edge) = (from, edge);
        self.drop_frames_about_connection();
        if from > edge {
            self.edge += self.room_at(edge);
            let sum = Some(self.sum_between(edge, from));
            let frame = Header { len: 0, kind: Kind::Resumption, tag: 0, sum, position: from, acked: 0 };
            self.opening.extend_from_slice(&frame.encode());
        }
        Ok(())
    }

    /// The checksum of bytes of a frame that begins at `edge`, before `to`.
    fn sum_between(&self, edge: u64, to: u64) -> u32 {
        let (mut summing, mut at) = (Summing::default(), edge);
        while at < to {
            let in_ring = || [self.piece_from(at, to), &[], &[]].map(IoSlice::new);
            let pieces = self.kept.pieces(at).unwrap_or_else(in_ring);
            for piece in pieces {
                let len = piece.len().min((to - at) as usize);
                summing.add(&piece[..len]);
                at += len as u64;
            }
        }
        summing.sum()
    }

    fn drop_frames_about_connection(&mut self) {
        self.notes.clear();
        self.opening.clear();
        (self.noted, self.opened) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_btl::SendDesc;
    use proptest::prelude::*;

    fn push(out: &mut Outbound<usize>, bytes: &[u8]) -> bool {
        let (header, payload) = bytes.split_at(bytes.len().min(5));
        let desc = SendDesc {
            tag: 3,
            hdr_len: header.len() as u32,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: payload.len() as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        // SAFETY: `Message` is a transparent wrapper of the descriptor, which outlives the call.
        out.push(Kind::Message, unsafe { &*(&raw const desc).cast::<Message<'_>>() }, 0)
    }

    /// As many bytes as a wire has room for.
    fn put(wire: &mut Vec<u8>, room: usize, pieces: &[IoSlice<'_>]) -> usize {
        let mut n = 0;
        for piece in pieces {
            let len = piece.len().min(room - n);
            wire.extend_from_slice(&piece[..len]);
            n += len;
        }
        n
    }

    /// Pushes a message whose payload is kept, behind a header of 5 bytes.
    fn keep(out: &mut Outbound<usize>, payload: &[u8], number: usize) -> bool {
        let desc = SendDesc {
            tag: 3,
            hdr_len: 5,
            hdr: [7u8; 5].as_ptr(),
            payload: payload.as_ptr(),
            len: payload.len() as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        // SAFETY: as in `push`; the tests keep the payload.
        out.push_kept(unsafe { &*(&raw const desc).cast::<Message<'_>>() }, 0, number)
    }

    /// Takes frames off a wire as a receiver does; what is left is the beginning of one.
    fn take(wire: &mut Vec<u8>, at: &mut u64, got: &mut Vec<Vec<u8>>) {
        while let Some(header) = wire.first_chunk::<HEADER>() {
            let header = Header::decode(header).expect("a header at a frame's edge");
            assert_ne!(header.kind, Kind::Resumption, "it stands in front of all others");
            let whole = if header.kind.is_in_stream() { room(header.len as usize) } else { HEADER };
            if wire.len() < whole {
                return;
            }
            if header.kind.is_in_stream() {
                assert_eq!(header.position, *at, "positions follow each other");
                got.push(wire[HEADER..HEADER + header.len as usize].to_vec());
                *at += whole as u64;
            }
            wire.drain(..whole);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(usize),
        Keep(usize),
        Write(usize),
        Note,
        Ack,
        Cut,
        /// As a receiver that keeps what has come of a frame.
        CutInside,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0..3000usize).prop_map(Step::Push),
            3 => (0..5000usize).prop_map(Step::Keep),
            6 => (0..4000usize).prop_map(Step::Write),
            2 => Just(Step::Note),
            2 => Just(Step::Ack),
            1 => Just(Step::Cut),
            1 => Just(Step::CutInside),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Through partial writes, notes in between and lost connections every message comes once and in order.
        #[test]
        fn replay_loses_and_doubles_nothing(steps in steps()) {
            let mut out = Outbound::new(16 << 10, true);
            let (mut wire, mut at, mut got, mut pushed) = (Vec::new(), 0u64, Vec::new(), Vec::new());
            // Messages whose payload was kept, and how many were released: payload that was is overwritten.
            let mut kept: Vec<(usize, Vec<u8>)> = Vec::new();
            let mut released = 0;
            for step in steps {
                match step {
                    Step::Push(len) => {
                        let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + pushed.len()) as u8).collect();
                        if push(&mut out, &bytes) {
                            pushed.push(bytes);
                        }
                    }
                    Step::Keep(len) => {
                        let bytes: Vec<u8> = (0..len).map(|i| (i * 11 + pushed.len()) as u8).collect();
                        kept.push((pushed.len(), bytes.clone()));
                        if keep(&mut out, &kept.last().expect("just pushed").1, pushed.len()) {
                            pushed.push([&[7; 5], &bytes[..]].concat());
                        } else {
                            kept.pop();
                        }
                    }
                    Step::Write(most) => {
                        let mut left = most;
                        out.flush(|pieces| {
                            let n = put(&mut wire, left, pieces);
                            left -= n;
                            Ok(n)
                        }).expect("this socket never fails");
                        take(&mut wire, &mut at, &mut got);
                    }
                    Step::Note => out.note(Kind::Ack, 5),
                    Step::Ack => prop_assert_eq!(out.acknowledge(at), Ok(())),
                    Step::Cut => {
                        wire.clear();
                        prop_assert_eq!(out.resume(at), Ok(()));
                    }
                    Step::CutInside => {
                        // The beginning of a frame of the stream stays; what is of the connection goes.
                        let begun = wire.first_chunk().and_then(|head| Header::decode(head).ok());
                        if begun.is_none_or(|header| !header.kind.is_in_stream()) {
                            wire.clear();
                        }
                        let from = at + wire.len() as u64;
                        prop_assert_eq!(out.resume(from), Ok(()));
                        if !wire.is_empty() {
                            let sum = Some(check::sum(&wire));
                            let mut first = Vec::new();
                            out.open(&mut |pieces| Ok(put(&mut first, usize::MAX, pieces))).expect("as above");
                            let due = Header { len: 0, kind: Kind::Resumption, tag: 0, sum, position: from, acked: 0 };
                            prop_assert_eq!(&first[..], &due.encode()[..]);
                        }
                    }
                }
                prop_assert_eq!(&got[..], &pushed[..got.len()]);
                for number in out.released() {
                    prop_assert!(number < got.len(), "it has come");
                    prop_assert_eq!(kept[released].0, number);
                    kept[released].1.fill(0xee);
                    released += 1;
                }
            }
            out.flush(|pieces| Ok(put(&mut wire, usize::MAX, pieces))).expect("as above");
            take(&mut wire, &mut at, &mut got);
            prop_assert_eq!(got, pushed);
            prop_assert_eq!(out.acknowledge(at), Ok(()));
            prop_assert_eq!(out.released().count(), kept.len() - released, "each is released once");
            prop_assert!(out.is_settled() && out.unsent() == 0);
        }
    }

    /// Behind a lost peer the payload is given back, and nothing of it goes out any more.
    #[test]
    fn what_is_kept_is_given_back_where_the_peer_is_lost() {
        let (mut out, payload) = (Outbound::new(64 << 10, true), vec![3; 20_000]);
        assert!(push(&mut out, &[1; 40]) && keep(&mut out, &payload, 1) && keep(&mut out, &payload, 2));
        let mut wire = Vec::new();
        assert_eq!(out.flush(|pieces| Ok(put(&mut wire, 10_000, pieces))).map_err(|e| e.kind()), Ok(false));
        assert_eq!(out.give_up().collect::<Vec<_>>(), [1, 2]);
        assert!(out.is_settled() && out.unsent() == 0 && out.next_piece().is_empty());
        assert_eq!(out.flush(|_| panic!("nothing is left")).map_err(|e| e.kind()), Ok(true));
    }

    /// As many bytes as the window has may be without an acknowledgement.
    #[test]
    fn the_window_bounds_what_is_kept() {
        let (mut out, payload) = (Outbound::new(64 << 10, false), vec![3; 30_000]);
        assert!(keep(&mut out, &payload, 1) && keep(&mut out, &payload, 2) && !keep(&mut out, &payload, 3));
        assert_eq!(out.flush(|p| Ok(put(&mut Vec::new(), usize::MAX, p))).map_err(|e| e.kind()), Ok(true));
        assert_eq!(out.acknowledge(room(30_005) as u64), Ok(()));
        assert_eq!(out.released().collect::<Vec<_>>(), [1]);
        assert!(keep(&mut out, &payload, 3));
    }

    #[test]
    fn acknowledgements_are_not_believed() {
        let mut out = Outbound::new(16 << 10, false);
        assert!(push(&mut out, &[1; 40]) && push(&mut out, &[2; 40]));
        assert_eq!(out.acknowledge(72), Err(BadAck), "nothing went out");
        let all = |pieces: &[IoSlice<'_>]| Ok(pieces.iter().map(|piece| piece.len()).sum());
        assert_eq!(out.flush(all).map_err(|e| e.kind()), Ok(true));
        assert_eq!(out.acknowledge(71), Err(BadAck), "inside of a frame");
        assert_eq!(out.acknowledge(145), Err(BadAck), "behind the end");
        assert_eq!(out.acknowledge(72), Ok(()));
        assert_eq!(out.acknowledge(0), Ok(()), "an old one");
        assert_eq!(out.resume(0), Err(BadAck), "it had that already");
        assert_eq!(out.resume(145), Err(BadAck));
        assert_eq!(out.resume(100), Ok(()), "inside of a frame, of which it keeps the beginning");
        assert_eq!(out.unsent(), 44 + HEADER as u64);
        assert_eq!(out.resume(72), Ok(()));
        assert_eq!(out.unsent(), 72);
    }
}
