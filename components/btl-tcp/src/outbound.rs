//! The sending half of a stream: frames are put into the ring whole, go out as the socket takes them, and stay until the peer
//! acknowledges them.
//!
//! Positions: `ring.begin() <= sent <= ring.end()`. Bytes before `begin` are acknowledged, bytes before `sent` went
//! out on the present connection. On a new connection the peer tells the position that it has received up to, and `sent` goes back to it ([`Outbound::resume`]).
//! Frames about the connection go out between frames of the ring, never inside of one: `edge` is the end of the frame in
//! which `sent` lies. They are not kept: each says how things stand, and a later one says it better.

use crate::check;
use crate::frame::{HEADER, Header, Kind, room};
use crate::ring::Ring;
use oxmpi_btl::Message;
use std::io;

pub struct Outbound {
    ring: Ring,
    sent: u64,
    edge: u64,
    /// Frames about the connection that wait to go out, and how much of them went.
    notes: Vec<u8>,
    noted: usize,
    /// Messages get a checksum.
    summed: bool,
}

/// An acknowledgement of what was never sent, or of half a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAck;

impl Outbound {
    pub fn new(limit: usize, summed: bool) -> Outbound {
        Outbound { ring: Ring::new(limit), sent: 0, edge: 0, notes: Vec::new(), noted: 0, summed }
    }

    /// Bytes that no socket has taken yet.
    pub fn unsent(&self) -> u64 {
        self.ring.end() - self.sent + (self.notes.len() - self.noted) as u64
    }
    /// Nothing waits for an acknowledgement.
    pub fn is_settled(&self) -> bool {
        self.ring.begin() == self.ring.end()
    }
    /// Up to here the peer has everything.
    pub fn settled_to(&self) -> u64 {
        self.ring.begin()
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
        let position = self.ring.end();
        let frame = Header { len: total as u32, kind, tag: msg.tag(), sum, position, acked };
        self.ring.write(0, &frame.encode());
        self.ring.add(room(total));
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
        let position = self.ring.end();
        let header = Header { len: 0, kind, tag: 0, sum: None, position, acked };
        // One that nobody has begun to send is replaced: a reader that is slow does not make them pile up.
        if self.notes.len() - self.noted >= 8 * HEADER {
            self.notes.truncate(self.notes.len() - HEADER);
        }
        self.notes.extend_from_slice(&header.encode());
    }

    /// Sends what is there, as far as `write` takes it (0: it takes nothing now). False: something is left.
    pub fn flush(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<bool> {
        loop {
            let between = self.sent == self.edge || self.noted > 0;
            if !self.notes.is_empty() && between {
                let n = write(&self.notes[self.noted..])?;
                self.noted += n;
                if self.noted == self.notes.len() {
                    self.notes.clear();
                    self.noted = 0;
                } else {
                    return Ok(false);
                }
            }
            let until = if self.notes.is_empty() { self.ring.end() } else { self.edge };
            if self.sent == until {
                return Ok(true);
            }
            let piece = self.ring.piece(self.sent, until);
            let n = write(piece)?;
            let whole = n == piece.len();
            self.went(n);
            if !whole {
                return Ok(false);
            }
        }
    }

    /// The bytes of messages that go out next, as far as they lie in one piece; empty where frames about the connection go before them.
    pub fn next_piece(&self) -> &[u8] {
        if self.notes.is_empty() { self.ring.piece(self.sent, self.ring.end()) } else { &[] }
    }

    /// As many of the bytes of messages that go out next went.
    pub fn went(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        while self.edge < self.sent {
            self.edge += room(self.ring.len_at(self.edge)) as u64;
        }
    }

    /// The peer has everything before `to`.
    pub fn acknowledge(&mut self, to: u64) -> Result<(), BadAck> {
        if to <= self.ring.begin() {
            return Ok(()); // An old one: they overtake each other where frames are sent again.
        }
        if to > self.sent {
            return Err(BadAck);
        }
        self.check_edge(to)?;
        self.ring.drop_to(to);
        Ok(())
    }

    /// Whether a frame begins at `to`.
    fn check_edge(&self, to: u64) -> Result<(), BadAck> {
        let mut at = self.ring.begin();
        while at < to {
            at += room(self.ring.len_at(at)) as u64;
        }
        if at == to { Ok(()) } else { Err(BadAck) }
    }

    /// A new connection, on which the peer wants everything from `from` on.
    pub fn resume(&mut self, from: u64) -> Result<(), BadAck> {
        if from < self.ring.begin() || from > self.ring.end() {
            return Err(BadAck);
        }
        self.check_edge(from)?;
        self.ring.drop_to(from);
        (self.sent, self.edge) = (from, from);
        self.notes.clear();
        self.noted = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_btl::SendDesc;
    use proptest::prelude::*;

    fn push(out: &mut Outbound, bytes: &[u8]) -> bool {
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

    /// Takes frames off a wire as a receiver does; what is left is the beginning of one.
    fn take(wire: &mut Vec<u8>, at: &mut u64, got: &mut Vec<Vec<u8>>) {
        while let Some(header) = wire.first_chunk::<HEADER>() {
            let header = Header::decode(header).expect("a header at a frame's edge");
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
        Write(usize),
        Note,
        Ack,
        Cut,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0..3000usize).prop_map(Step::Push),
            6 => (0..4000usize).prop_map(Step::Write),
            2 => Just(Step::Note),
            2 => Just(Step::Ack),
            1 => Just(Step::Cut),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Through partial writes, notes in between and lost connections every message comes once and in order.
        #[test]
        fn replay_loses_and_doubles_nothing(steps in steps()) {
            let mut out = Outbound::new(16 << 10, true);
            let (mut wire, mut at, mut got, mut pushed) = (Vec::new(), 0u64, Vec::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Push(len) => {
                        let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + pushed.len()) as u8).collect();
                        if push(&mut out, &bytes) {
                            pushed.push(bytes);
                        }
                    }
                    Step::Write(most) => {
                        let mut left = most;
                        out.flush(|bytes| {
                            let n = bytes.len().min(left);
                            left -= n;
                            wire.extend_from_slice(&bytes[..n]);
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
                }
                prop_assert_eq!(&got[..], &pushed[..got.len()]);
            }
            out.flush(|bytes| { wire.extend_from_slice(bytes); Ok(bytes.len()) }).expect("as above");
            take(&mut wire, &mut at, &mut got);
            prop_assert_eq!(got, pushed);
            prop_assert_eq!(out.acknowledge(at), Ok(()));
            prop_assert!(out.is_settled() && out.unsent() == 0);
        }
    }

    #[test]
    fn acknowledgements_are_not_believed() {
        let mut out = Outbound::new(16 << 10, false);
        assert!(push(&mut out, &[1; 40]) && push(&mut out, &[2; 40]));
        assert_eq!(out.acknowledge(72), Err(BadAck), "nothing went out");
        assert_eq!(out.flush(|b| Ok(b.len())).map_err(|e| e.kind()), Ok(true));
        assert_eq!(out.acknowledge(71), Err(BadAck), "inside of a frame");
        assert_eq!(out.acknowledge(145), Err(BadAck), "behind the end");
        assert_eq!(out.acknowledge(72), Ok(()));
        assert_eq!(out.acknowledge(0), Ok(()), "an old one");
        assert_eq!(out.resume(0), Err(BadAck), "it had that already");
        assert_eq!(out.resume(100), Err(BadAck));
        assert_eq!(out.resume(72), Ok(()));
        assert_eq!(out.unsent(), 72);
    }
}
