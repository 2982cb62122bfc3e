//! Bytes that other processes see: the published card, the offers in datagrams, and the head of a message. Versioned, little-endian, and
//! checked when they come in.

use crate::abi::{DATAGRAM, MemHandle};

/// Raise it with every change of what follows.
pub const VERSION: u32 = 1;

/// How a process is reached, as the host's exchange carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Address of its node.
    pub address: u32,
    /// Most bytes of a message in a mailbox, and its messages: both sides have the same.
    pub message_size: u32,
    pub credits: u16,
    /// Ordinary contexts; the service lane has the number behind them.
    pub contexts: u16,
    /// Number of the domain of each virtual device.
    pub insts: Vec<u32>,
}

/// Why a card is of no use.
#[derive(Debug, PartialEq, Eq)]
pub enum BadCard {
    Version(u32),
    Damaged,
}

/// Most virtual devices of a process.
pub const MOST_DEVICES: usize = 128;

impl Card {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [VERSION, self.address, self.message_size] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.credits.to_le_bytes());
        out.extend_from_slice(&self.contexts.to_le_bytes());
        for inst in &self.insts {
            out.extend_from_slice(&inst.to_le_bytes());
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Card, BadCard> {
        let word = |n: usize| bytes.get(4 * n..4 * n + 4).and_then(|b| b.first_chunk().copied());
        let word = |n: usize| word(n).map(u32::from_le_bytes).ok_or(BadCard::Damaged);
        let version = word(0)?;
        if version != VERSION {
            return Err(BadCard::Version(version));
        }
        let both = word(3)?;
        let insts = (4..bytes.len() / 4).map(word).collect::<Result<Vec<u32>, _>>()?;
        let card = Card {
            address: word(1)?,
            message_size: word(2)?,
            credits: both as u16,
            contexts: (both >> 16) as u16,
            insts,
        };
        let sane = bytes.len().is_multiple_of(4)
            && (1..=MOST_DEVICES).contains(&card.insts.len())
            && card.contexts > 0
            && card.credits > 0;
        if sane { Ok(card) } else { Err(BadCard::Damaged) }
    }
}

/// One side's half of a link: where its mailbox is, and how its events are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub job_id: u64,
    pub name: [u8; 16],
    /// Lanes of the sender of the offer and of its receiver.
    pub from: u16,
    pub to: u16,
    /// Number in the events of messages to the sender of the offer.
    pub index: u32,
    /// Domain of the lane's device.
    pub inst: u32,
    pub base: u64,
    pub offset: u32,
    pub size: u32,
    pub handle: MemHandle,
}

impl Offer {
    pub fn encode(&self) -> [u8; DATAGRAM] {
        let mut out = [0; DATAGRAM];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&VERSION.to_le_bytes());
        put(&self.from.to_le_bytes());
        put(&self.to.to_le_bytes());
        put(&self.job_id.to_le_bytes());
        put(&self.name);
        put(&self.index.to_le_bytes());
        put(&self.inst.to_le_bytes());
        put(&self.base.to_le_bytes());
        put(&self.offset.to_le_bytes());
        put(&self.size.to_le_bytes());
        put(&self.handle.qword1.to_le_bytes());
        put(&self.handle.qword2.to_le_bytes());
        out
    }

    /// `None`: it is no offer of this version. The answer of a datagram for whoever comes is all zeros.
    pub fn decode(b: &[u8; DATAGRAM]) -> Option<Offer> {
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let mut name = [0; 16];
        name.copy_from_slice(&b[16..32]);
        (word(0) == VERSION).then(|| Offer {
            from: word(4) as u16,
            to: (word(4) >> 16) as u16,
            job_id: long(8),
            name,
            index: word(32),
            inst: word(36),
            base: long(40),
            offset: word(48),
            size: word(52),
            handle: MemHandle { qword1: long(56), qword2: long(64) },
        })
    }
}

/// Kind of a message; the tag of the library's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An active message on an ordinary lane.
    Message,
    /// A request to a service lane, and its reply.
    Request,
    Reply,
    /// The sender leaves; the last message of the link.
    Bye,
}

impl Kind {
    pub fn of(tag: u8) -> Option<Kind> {
        [Kind::Message, Kind::Request, Kind::Reply, Kind::Bye].into_iter().find(|k| *k as u8 == tag)
    }
}

/// Bytes in front of every message, a multiple of 8: the tag of its receiver, and how long it is behind them.
pub const HEAD: usize = 8;

pub fn head(tag: u8, len: usize) -> [u8; HEAD] {
    (u64::from(tag) | (len as u64) << 32).to_le_bytes()
}

pub fn read_head(bytes: [u8; HEAD]) -> (u8, usize) {
    let word = u64::from_le_bytes(bytes);
    (word as u8, (word >> 32) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_survive_the_way() {
        for count in [1, 2, MOST_DEVICES] {
            let card = Card {
                address: 77,
                message_size: 8192,
                credits: 32,
                contexts: 5,
                insts: (0..count as u32).map(|i| i << 8 | 3).collect(),
            };
            assert_eq!(Card::decode(&card.encode()), Ok(card.clone()));
            let mut bytes = card.encode();
            for len in 0..17.min(bytes.len()) {
                let decoded = Card::decode(&bytes[..len]);
                assert_eq!(decoded, Err(BadCard::Damaged), "{len} bytes");
            }
            bytes[0] = 9;
            assert_eq!(Card::decode(&bytes), Err(BadCard::Version(9)));
        }
    }

    #[test]
    fn offers_survive_the_way_and_zeros_are_none() {
        let offer = Offer {
            job_id: u64::MAX - 6,
            name: [7; 16],
            from: 65535,
            to: 3,
            index: 0x00ff_ffff,
            inst: 0xffff_fff0,
            base: 0x7fff_0000_1234_5678,
            offset: 1 << 20,
            size: 1 << 19,
            handle: MemHandle { qword1: u64::MAX, qword2: 5 },
        };
        assert_eq!(Offer::decode(&offer.encode()), Some(offer));
        assert_eq!(Offer::decode(&[0; DATAGRAM]), None);
    }

    #[test]
    fn heads_and_kinds_survive_the_way() {
        assert_eq!(read_head(head(255, 65535)), (255, 65535));
        assert_eq!(read_head(head(0, 0)), (0, 0));
        for kind in [Kind::Message, Kind::Request, Kind::Reply, Kind::Bye] {
            assert_eq!(Kind::of(kind as u8), Some(kind));
        }
        assert_eq!(Kind::of(4), None);
    }
}
