//! Bytes that others see, **versioned**: what a process publishes, the datagrams by which two of them connect, and the frame in front of
//! a message. Little-endian. All of it is checked before use.

use oxmpi_mca::ProcName;
use oxmpi_mca::services::AUTH_BYTES;

/// Of everything in this file; peers with another one are not reached.
pub const VERSION: u8 = 3;
/// Bytes of a challenge.
pub const NONCE: usize = 16;
const MAGIC: [u8; 4] = *b"oxVB";

struct Writer(Vec<u8>);

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn u16(&mut self, n: u16) {
        self.put(&n.to_le_bytes());
    }
    fn u32(&mut self, n: u32) {
        self.put(&n.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|b| b[0])
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
}

/// A port as peers reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub ethernet: bool,
    /// As `enum ibv_mtu`.
    pub mtu: u8,
    /// Reads and atomics that a queue pair here answers at once.
    pub rd_atomic: u8,
    pub lid: u16,
    pub gid: [u8; 16],
    /// Queue pair that takes datagrams, and its key.
    pub qp: u32,
    pub key: u32,
    pub lanes: u16,
    pub contexts: u16,
}

impl Place {
    fn write(&self, w: &mut Writer) {
        w.put(&[u8::from(self.ethernet), self.mtu, self.rd_atomic, 0]);
        w.u16(self.lid);
        w.u16(self.lanes);
        w.u16(self.contexts);
        w.u16(0);
        w.put(&self.gid);
        w.u32(self.qp);
        w.u32(self.key);
    }
    fn read(r: &mut Reader<'_>) -> Option<Place> {
        let [ethernet, mtu, rd_atomic, _] = r.take()?;
        let (lid, lanes, contexts, _) = (r.u16()?, r.u16()?, r.u16()?, r.u16()?);
        let place = Place {
            ethernet: ethernet != 0,
            mtu,
            rd_atomic,
            lid,
            lanes,
            contexts,
            gid: r.take()?,
            qp: r.u32()?,
            key: r.u32()?,
        };
        let sound = (1..=5).contains(&mtu) && lanes > 0 && contexts >= lanes && rd_atomic <= 128;
        sound.then_some(place)
    }
}

/// Address that a process publishes: its ports, in the order of its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub places: Vec<Place>,
}

/// Why a card says nothing to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCard {
    Version(u8),
    Damaged,
}

impl Card {
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.put(&[VERSION, self.places.len() as u8]);
        self.places.iter().for_each(|p| p.write(&mut w));
        w.0
    }
    pub fn decode(bytes: &[u8]) -> Result<Card, BadCard> {
        let mut r = Reader(bytes);
        if r.take() != Some(MAGIC) {
            return Err(BadCard::Damaged);
        }
        match r.u8().ok_or(BadCard::Damaged)? {
            VERSION => {}
            other => return Err(BadCard::Version(other)),
        }
        let count = r.u8().ok_or(BadCard::Damaged)?;
        let places = (0..count).map(|_| Place::read(&mut r)).collect::<Option<_>>();
        places.filter(|_| r.0.is_empty()).map(|places| Card { places }).ok_or(BadCard::Damaged)
    }
}

/// The four datagrams of a connection, and the refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
    /// The caller asks.
    Request = 1,
    /// The called one challenges.
    Reply = 2,
    /// The caller answers the challenge and names its queue pair.
    Prove = 3,
    /// The called one does likewise, and is ready to receive.
    Ready = 4,
    /// The called one cannot; `number` is a reason.
    Refuse = 5,
}

/// The use of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Active messages of two lanes, in both directions.
    Messages = 1,
    /// The caller's one-sided operations.
    Memory = 2,
    /// Requests of a lane to the called one's service lane, and their replies.
    Service = 3,
}

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub say: Say,
    pub purpose: Purpose,
    pub from: ProcName,
    pub to: ProcName,
    /// Lanes of the caller and of the called one.
    pub calling: u16,
    pub called: u16,
    pub attempt: u32,
    /// Challenges of the caller and of the called one.
    pub theirs: [u8; NONCE],
    pub ours: [u8; NONCE],
    /// The sender's queue pair and its first packet's number.
    pub number: u32,
    pub psn: u32,
    /// Messages that the sender has room for.
    pub credits: u32,
    pub place: Place,
    pub proof: [u8; AUTH_BYTES],
}

impl Datagram {
    /// Of every one.
    pub const BYTES: usize = 8 + 32 + 8 + 2 * NONCE + 12 + PLACE + AUTH_BYTES;

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.said();
        bytes.extend_from_slice(&self.proof);
        bytes
    }

    /// All but the proof: the proof is of these bytes.
    pub fn said(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.put(&[VERSION, self.say as u8, self.purpose as u8, 0]);
        w.put(&self.from.bytes);
        w.put(&self.to.bytes);
        w.u16(self.calling);
        w.u16(self.called);
        w.u32(self.attempt);
        w.put(&self.theirs);
        w.put(&self.ours);
        w.u32(self.number);
        w.u32(self.psn);
        w.u32(self.credits);
        self.place.write(&mut w);
        w.0
    }

    pub fn decode(bytes: &[u8]) -> Option<Datagram> {
        let mut r = Reader(bytes);
        if bytes.len() != Datagram::BYTES || r.take() != Some(MAGIC) {
            return None;
        }
        let [version, say, purpose, _] = r.take()?;
        let say = [Say::Request, Say::Reply, Say::Prove, Say::Ready, Say::Refuse]
            .into_iter()
            .find(|s| *s as u8 == say)?;
        let purpose = [Purpose::Messages, Purpose::Memory, Purpose::Service]
            .into_iter()
            .find(|p| *p as u8 == purpose)?;
        let datagram = Datagram {
            say,
            purpose,
            from: ProcName { bytes: r.take()? },
            to: ProcName { bytes: r.take()? },
            calling: r.u16()?,
            called: r.u16()?,
            attempt: r.u32()?,
            theirs: r.take()?,
            ours: r.take()?,
            number: r.u32()?,
            psn: r.u32()?,
            credits: r.u32()?,
            place: Place::read(&mut r)?,
            proof: r.take()?,
        };
        (version == VERSION && datagram.number < 1 << 24 && datagram.psn < 1 << 24).then_some(datagram)
    }
}

const PLACE: usize = 12 + 16 + 8;

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Message = 1,
    /// Credits alone.
    Credits = 2,
    /// The process leaves: nothing comes behind this.
    Bye = 3,
    Request = 4,
    Reply = 5,
    /// Memory to write messages to, or again that of before.
    Ring = 6,
    /// Messages are to be sent again, not written.
    Hold = 7,
    /// That is done, and all that was written lies there.
    Held = 8,
}

/// The frame in front of a message. A message of no bytes, without a frame, says that its sender is ready to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: Kind,
    pub tag: u8,
    /// The receiver's context; of a request, the requester's.
    pub ctx: u16,
    /// Messages that the sender has taken since its last frame.
    pub credits: u16,
    /// Number of a message on its link, sent or written.
    pub seq: u32,
    /// Slots of the receiver's ring that it has emptied since its last frame.
    pub slots: u16,
}

/// Bytes of a frame: what follows is aligned.
pub const FRAME: usize = 16;

impl Frame {
    /// The link adds 0 when it goes out.
    pub fn of(kind: Kind, tag: u8, ctx: u16) -> Frame {
        Frame { kind, tag, ctx, credits: 0, seq: 0, slots: 0 }
    }

    #[inline(always)]
    pub fn encode(self) -> [u8; FRAME] {
        let word = u64::from(self.kind as u8)
            | u64::from(self.tag) << 8
            | u64::from(self.ctx) << 16
            | u64::from(self.credits) << 32;
        let mut bytes = [0; FRAME];
        let more = u64::from(self.seq) | u64::from(self.slots) << 32;
        bytes[..8].copy_from_slice(&word.to_le_bytes());
        bytes[8..].copy_from_slice(&more.to_le_bytes());
        bytes
    }
    #[inline(always)]
    pub fn decode(bytes: &[u8; FRAME]) -> Option<Frame> {
        let (head, rest) = bytes.split_first_chunk::<8>()?;
        let (word, more) = (u64::from_le_bytes(*head), u64::from_le_bytes(*rest.first_chunk()?));
        let kind = match word as u8 {
            1 => Kind::Message,
            2 => Kind::Credits,
            3 => Kind::Bye,
            4 => Kind::Request,
            5 => Kind::Reply,
            6 => Kind::Ring,
            7 => Kind::Hold,
            8 => Kind::Held,
            _ => return None,
        };
        let (credits, seq, slots) = ((word >> 32) as u16, more as u32, (more >> 32) as u16);
        Some(Frame { kind, tag: (word >> 8) as u8, ctx: (word >> 16) as u16, credits, seq, slots })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            ethernet: true,
            mtu: 3,
            rd_atomic: 16,
            lid: 7,
            gid: [9; 16],
            qp: 77,
            key: 78,
            lanes: 2,
            contexts: 4,
        }
    }

    #[test]
    fn cards_survive_the_way_and_others_are_named() {
        let card = Card { places: vec![place(), Place { ethernet: false, ..place() }] };
        let mut bytes = card.encode();
        assert_eq!(Card::decode(&bytes), Ok(card));
        assert_eq!(Card::decode(&bytes[..bytes.len() - 1]), Err(BadCard::Damaged));
        bytes[4] = 9;
        assert_eq!(Card::decode(&bytes), Err(BadCard::Version(9)));
        assert_eq!(Card::decode(&[]), Err(BadCard::Damaged));
    }

    #[test]
    fn datagrams_survive_the_way_and_garbage_is_nothing() {
        let d = Datagram {
            say: Say::Prove,
            purpose: Purpose::Memory,
            from: ProcName { bytes: [1; 16] },
            to: ProcName { bytes: [2; 16] },
            calling: 3,
            called: 4,
            attempt: 5,
            theirs: [6; NONCE],
            ours: [7; NONCE],
            number: 8,
            psn: 9,
            credits: 10,
            place: place(),
            proof: [11; AUTH_BYTES],
        };
        let bytes = d.encode();
        assert_eq!(bytes.len(), Datagram::BYTES);
        assert_eq!(Datagram::decode(&bytes), Some(d));
        for (at, wrong) in [(0, 0), (4, 99), (5, 0), (5, 6), (6, 4)] {
            let mut bytes = bytes.clone();
            bytes[at] = wrong;
            assert_eq!(Datagram::decode(&bytes), None, "byte {at}");
        }
        assert_eq!(Datagram::decode(&bytes[1..]), None);
    }

    #[test]
    fn frames_survive_the_way() {
        for kind in [
            Kind::Message,
            Kind::Credits,
            Kind::Bye,
            Kind::Request,
            Kind::Reply,
            Kind::Ring,
            Kind::Hold,
            Kind::Held,
        ] {
            let f = Frame { kind, tag: 200, ctx: 3, credits: 65535, seq: u32::MAX - 1, slots: 9 };
            assert_eq!(Frame::decode(&f.encode()), Some(f));
        }
        assert_eq!(Frame::decode(&[0; FRAME]), None);
    }
}
