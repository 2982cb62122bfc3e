//! Bytes that other processes see: the published card, the head of every message, and the three messages that make a link. Versioned,
//! little-endian, and checked when they come in.

use oxmpi_mca::ProcName;
use oxmpi_mca::services::AUTH_BYTES;

/// Raise it with every change of what follows.
pub const VERSION: u16 = 4;
pub const NONCE: usize = 32;

/// Takes fields off the front of bytes that came.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(front)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }
    fn half(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }
    fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Where an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The provider's own.
    pub bytes: Vec<u8>,
    /// Number of the context behind it, where it is that of a scalable endpoint; 0 elsewhere.
    pub context: u16,
}

/// How a process is reached by one of its rails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Number of the rail: rails of one number reach each other.
    pub rail: u16,
    /// The provider with its layers: both sides have the same.
    pub provider: String,
    /// Form of the addresses, as the library numbers them.
    pub format: u32,
    /// Bytes of a buffer, which bounds what may be sent.
    pub buffer: u32,
    /// Peers may read and write memory of the process.
    pub rma: bool,
    /// Ordinary contexts; behind their addresses are those of the service context and of the target of one-sided operations.
    pub contexts: u16,
    pub addresses: Vec<Address>,
}

/// Why a card is of no use.
#[derive(Debug, PartialEq, Eq)]
pub enum BadCard {
    Version(u16),
    Damaged,
}

/// Longest address, and longest name of a provider.
const LONGEST: usize = 256;

/// Cards of a process's rails, as the host's exchange carries them.
pub fn publish(cards: &[&Card]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(cards.len() as u16).to_le_bytes());
    for card in cards {
        let bytes = card.encode();
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&bytes);
    }
    out
}

/// The cards that a process has published, at least one.
pub fn published(bytes: &[u8]) -> Result<Vec<Card>, BadCard> {
    let mut r = Reader(bytes);
    match r.half() {
        Some(VERSION) => cards(r).ok_or(BadCard::Damaged),
        Some(other) => Err(BadCard::Version(other)),
        None => Err(BadCard::Damaged),
    }
}

fn cards(mut r: Reader<'_>) -> Option<Vec<Card>> {
    let count = r.half()?;
    let one = |r: &mut Reader<'_>| {
        let len = r.word()? as usize;
        Card::fields(Reader(r.bytes(len)?))
    };
    let all = (0..count).map(|_| one(&mut r)).collect::<Option<Vec<_>>>()?;
    (r.0.is_empty() && !all.is_empty()).then_some(all)
}

impl Card {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.rail.to_le_bytes());
        out.extend_from_slice(&self.contexts.to_le_bytes());
        out.extend_from_slice(&self.format.to_le_bytes());
        out.extend_from_slice(&self.buffer.to_le_bytes());
        out.extend_from_slice(&u16::from(self.rma).to_le_bytes());
        let mut text = |text: &[u8]| {
            out.extend_from_slice(&(text.len() as u16).to_le_bytes());
            out.extend_from_slice(text);
        };
        text(self.provider.as_bytes());
        self.addresses.iter().for_each(|address| text(&address.bytes));
        self.addresses.iter().for_each(|address| out.extend_from_slice(&address.context.to_le_bytes()));
        out
    }

    fn fields(mut r: Reader<'_>) -> Option<Card> {
        let (rail, contexts, format, buffer, rma) = (r.half()?, r.half()?, r.word()?, r.word()?, r.half()?);
        let text = |r: &mut Reader<'_>| {
            let len = usize::from(r.half()?);
            if len <= LONGEST { r.bytes(len).map(<[u8]>::to_vec) } else { None }
        };
        let provider = String::from_utf8(text(&mut r)?).ok()?;
        let count = usize::from(contexts) + 2;
        let bytes = (0..count).map(|_| text(&mut r)).collect::<Option<Vec<_>>>()?;
        let with_context = |bytes| r.half().map(|context| Address { bytes, context });
        let addresses = bytes.into_iter().map(with_context).collect::<Option<Vec<_>>>()?;
        let sane = contexts > 0 && buffer > HEAD as u32 && rma < 2 && r.0.is_empty();
        let same = addresses.iter().all(|a| !a.bytes.is_empty());
        (sane && same).then_some(Card { rail, provider, format, buffer, rma: rma == 1, contexts, addresses })
    }

    /// Number of the service context's address.
    pub fn service(&self) -> u16 {
        self.contexts
    }

    /// Number of the address to which one-sided operations go.
    pub fn target(&self) -> u16 {
        self.contexts + 1
    }
}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Calls: the caller says who it is.
    Hello = 1,
    /// The called process proves that it knows the secret, and asks for the caller's proof.
    Challenge = 2,
    /// The caller's proof.
    Proof = 3,
    /// The called process does not want the link.
    Refusal = 4,
    /// An active message for an ordinary context.
    Message = 5,
    /// A request to a service context, and its reply.
    Request = 6,
    Reply = 7,
    /// The sender leaves; its last message on the link.
    Bye = 8,
    /// From the called process: so many messages (the tag) were taken, and as many more may come. The first, behind the caller's proof, opens
    /// the link.
    Credits = 9,
}

impl Kind {
    /// It is one of the messages that make a link, which name the version instead of their place.
    fn makes_link(self) -> bool {
        matches!(self, Kind::Hello | Kind::Challenge | Kind::Proof | Kind::Refusal)
    }

    /// It has a place among the messages of its direction of the link.
    pub fn is_numbered(self) -> bool {
        matches!(self, Kind::Message | Kind::Request | Kind::Reply | Kind::Bye)
    }
}

/// Bytes in front of every message, a multiple of 8.
pub const HEAD: usize = 16;

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the link at the receiver, and the token that was agreed for it: nobody else knows that.
    pub link: u32,
    pub token: u64,
    pub kind: Kind,
    /// Row of the receiver.
    pub tag: u8,
    /// Place among the numbered messages of this direction of the link, 0 in others.
    pub number: u16,
}

/// Stands in the place of the number in messages that make a link: a mark of this driver, and the version.
const MARK: u16 = 0xb7 | VERSION << 8;

/// The number, or what stands in its place.
fn word_of(low: u64) -> u16 {
    (low >> 48) as u16
}

impl Head {
    #[inline]
    pub fn encode(&self) -> [u8; HEAD] {
        let low = u64::from(self.link)
            | (self.kind as u64) << 32
            | u64::from(self.tag) << 40
            | u64::from(if self.kind.makes_link() { MARK } else { self.number }) << 48;
        (u128::from(low) | u128::from(self.token) << 64).to_le_bytes()
    }

    /// The head and what is behind it. `None`: it is no message of this driver's version.
    #[inline]
    pub fn split(bytes: &[u8]) -> Option<(Head, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        Some((Head::decode(head)?, rest))
    }

    /// `None`: it is no message of this driver's version.
    #[inline]
    pub fn decode(bytes: &[u8; HEAD]) -> Option<Head> {
        let word = u128::from_le_bytes(*bytes);
        let (low, token) = (word as u64, (word >> 64) as u64);
        let kind = match (low >> 32) as u8 {
            1 => Kind::Hello,
            2 => Kind::Challenge,
            3 => Kind::Proof,
            4 => Kind::Refusal,
            5 => Kind::Message,
            6 => Kind::Request,
            7 => Kind::Reply,
            8 => Kind::Bye,
            9 => Kind::Credits,
            _ => return None,
        };
        let due = match kind.makes_link() {
            true => MARK,
            false if kind.is_numbered() => word_of(low),
            false => 0,
        };
        let number = if kind.makes_link() { 0 } else { due };
        (word_of(low) == due).then_some(Head {
            link: low as u32,
            token,
            kind,
            tag: (low >> 40) as u8,
            number,
        })
    }
}

/// The caller's first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub from: ProcName,
    pub to: ProcName,
    /// Numbers of the two endpoints' addresses in their processes' cards.
    pub from_lane: u16,
    pub to_lane: u16,
    /// Number of the link at the caller, and the token by which the caller knows answers.
    pub link: u32,
    pub token: u64,
    pub nonce: [u8; NONCE],
    /// Where the caller's endpoint is: its card cannot be asked for while messages are taken.
    pub address: Address,
}

impl Hello {
    pub fn encode(&self) -> Vec<u8> {
        [
            &self.from.bytes[..],
            &self.to.bytes,
            &self.from_lane.to_le_bytes(),
            &self.to_lane.to_le_bytes(),
            &self.link.to_le_bytes(),
            &self.token.to_le_bytes(),
            &self.nonce,
            &self.address.context.to_le_bytes(),
            &self.address.bytes,
        ]
        .concat()
    }

    pub fn decode(bytes: &[u8]) -> Option<Hello> {
        let mut r = Reader(bytes);
        let hello = Hello {
            from: ProcName { bytes: r.array()? },
            to: ProcName { bytes: r.array()? },
            from_lane: r.half()?,
            to_lane: r.half()?,
            link: r.word()?,
            token: r.long()?,
            nonce: r.array()?,
            address: Address { context: r.half()?, bytes: r.0.to_vec() },
        };
        (1..=LONGEST).contains(&hello.address.bytes.len()).then_some(hello)
    }
}

/// The called process's answer. Its head names the caller's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Number of the link at the called process, and the token by which that knows the caller's messages.
    pub link: u32,
    pub token: u64,
    pub nonce: [u8; NONCE],
    pub proof: [u8; AUTH_BYTES],
}

impl Challenge {
    /// The bytes in front of the proof, which covers them.
    pub fn said(&self) -> Vec<u8> {
        [&self.link.to_le_bytes()[..], &self.token.to_le_bytes(), &self.nonce].concat()
    }

    pub fn encode(&self) -> Vec<u8> {
        [&self.said()[..], &self.proof].concat()
    }

    pub fn decode(bytes: &[u8]) -> Option<Challenge> {
        let mut r = Reader(bytes);
        let challenge = Challenge { link: r.word()?, token: r.long()?, nonce: r.array()?, proof: r.array()? };
        r.0.is_empty().then_some(challenge)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn card(contexts: u16) -> Card {
        Card {
            rail: contexts + 3,
            provider: "tcp;ofi_rxm".into(),
            format: 2,
            buffer: 16384,
            rma: true,
            contexts,
            addresses: (0..contexts + 2)
                .map(|n| Address { bytes: vec![n as u8 + 1; 16 + usize::from(n)], context: n % 7 })
                .collect(),
        }
    }

    #[test]
    fn cards_survive_the_way() {
        for contexts in [1, 2, 200] {
            let (card, other) = (card(contexts), card(7));
            let bytes = publish(&[&card, &other]);
            for len in [0, 1, 3, 13, 20, bytes.len() - 1] {
                assert_eq!(published(&bytes[..len]), Err(BadCard::Damaged), "{len} bytes");
            }
            assert_eq!(published(&[&bytes[..], &[0]].concat()), Err(BadCard::Damaged));
            assert_eq!(published(&bytes), Ok(vec![card, other]));
        }
        assert_eq!(published(&publish(&[])), Err(BadCard::Damaged), "none");
        let mut bytes = publish(&[&card(1)]);
        bytes[0] = 9;
        assert_eq!(published(&bytes), Err(BadCard::Version(9)));
    }

    #[test]
    fn messages_of_a_link_survive_the_way() {
        let kinds = [
            Kind::Hello,
            Kind::Challenge,
            Kind::Proof,
            Kind::Refusal,
            Kind::Message,
            Kind::Request,
            Kind::Reply,
            Kind::Bye,
            Kind::Credits,
        ];
        for kind in kinds {
            let number = if kind.is_numbered() { 0xfedc } else { 0 };
            let head = Head { link: u32::MAX - 3, token: 0x0123_4567_89ab_cdef, kind, tag: 255, number };
            assert_eq!(Head::decode(&head.encode()), Some(head));
            let mut other = head.encode();
            other[7] ^= 1;
            let as_it_was = Head::decode(&other);
            assert_eq!(as_it_was.is_some(), kind.is_numbered(), "{kind:?} of another version");
        }
        assert_eq!(Head::decode(&[0; HEAD]), None);
        let hello = Hello {
            from: ProcName { bytes: [1; 16] },
            to: ProcName { bytes: [2; 16] },
            from_lane: 3,
            to_lane: u16::MAX,
            link: 5,
            token: u64::MAX - 1,
            nonce: [7; NONCE],
            address: Address { bytes: vec![4; 16], context: 0x1234 },
        };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello.clone()));
        let challenge = Challenge { link: 9, token: 8, nonce: [6; NONCE], proof: [5; AUTH_BYTES] };
        assert_eq!(Challenge::decode(&challenge.encode()), Some(challenge));
        assert_eq!(Challenge::decode(&hello.encode()), None, "too long");
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (published(&bytes), Hello::decode(&bytes), Challenge::decode(&bytes));
            let mut long = [0; HEAD];
            bytes.iter().zip(&mut long).for_each(|(from, to)| *to = *from);
            if let Some(head) = Head::decode(&long) {
                prop_assert_eq!(head.encode(), long);
            }
        }
    }
}
