//! The bytes that peers see. Everything is made of little-endian 64-bit words.
//!
//! Word 0 of every message is the **head**: type u8, flags u8, destination endpoint u16, index of
//! the communicator *at the receiver* u32. The words that follow depend on the type:
//!
//! | type | words behind the head | then |
//! |---|---|---|
//! | MATCH | source and tag, order key, \[prefix\], \[sender's request if SYNC\] | payload |
//! | RNDV | source and tag, order key, \[prefix\], message length, sender's request | first part |
//! | RGET | source and tag, order key, \[prefix\], message length, sender's request, address | registration handles |
//! | RPUT | as RNDV | |
//! | RUNS | as RNDV | where the data lies in the sender (`runs.rs`) |
//! | ACK | sender's request, receiver's request, offset, wanted | |
//! | FRAG | receiver's request, offset | payload |
//! | PUT | sender's request, receiver's request, wanted, address | registration handles |
//! | FIN | request of whoever waits for the end of a get or a put | |
//! | CREDIT | bytes | |
//! | CID | source and tag (the rank that answers), order key 0, prefix (index = the answerer's) | |
//! | SWITCH, OPEN | if COMM: source and tag (the rank that sends) | |
//! | SKIP | source and tag, order key, \[prefix\] | |
//! | FAILURE | source and tag, order key, \[prefix\] | the error, one word |
//! | CANCEL | source and tag, order key 0, \[prefix\], sender's request | |
//! | CANCELLED | sender's request | |
//!
//! Registration handles are as long as the transport says, which may be 0; of several transports that share a message's memory there is
//! one each, in their order. A plain MATCH header has 24 bytes, so that
//! with a transport's 8-byte control word up to 32 bytes of payload fit one cache line.
//!
//! SWITCH and OPEN say where a sender goes from one FIFO to several, with the flag COMM where its messages of one communicator
//! do (`switch.rs`); behind a SWITCH of all its messages they
//! have the flag STAMPED and a stamp as order key, or NUMBERED and a number (`numbered.rs`), or neither where
//! they may overtake each other; before it the order key is 0. SKIP says that a number will not be used. CANCEL
//! asks for a message back that nobody has received, CANCELLED gives it back (`cancel.rs`). FAILURE stands for a message whose
//! data does not come: it is matched as a MATCH, and ends its receive with the error.
//!
//! The **prefix** (flag CID, three words) names the communicator by its global id while the sender
//! does not know the receiver's index: gid, gid, and index u32, endpoint u16, wire version u16 of
//! whoever wrote it. Request ids are slot and generation in a table of the process that gave them.
//!
//! **Nothing here is trusted**: [`Reader`] yields `None` past the end, and what the words mean is
//! checked where they are used (`arrive.rs`).

use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use oxmpi_btl::SendDesc;
use oxmpi_mca::host::am_tag;

/// Version of this page. Checked before the first message to a peer and in every prefix.
pub const VERSION: u16 = 10;

/// Message types.
pub mod kind {
    pub const MATCH: u8 = 1;
    pub const RNDV: u8 = 2;
    pub const RGET: u8 = 3;
    pub const ACK: u8 = 4;
    pub const FRAG: u8 = 5;
    pub const PUT: u8 = 6;
    pub const FIN: u8 = 7;
    pub const CREDIT: u8 = 8;
    pub const CID: u8 = 9;
    /// On the first FIFO: messages that follow may come on any FIFO.
    pub const SWITCH: u8 = 10;
    /// In front of the first matched message on every other FIFO.
    pub const OPEN: u8 = 11;
    /// No message has this number.
    pub const SKIP: u8 = 12;
    /// A rendezvous for data in pieces, which the receiver may read from the sender's memory.
    pub const RUNS: u8 = 13;
    /// Asks for a message back, if nobody has received it.
    pub const CANCEL: u8 = 14;
    /// Gives back a message that CANCEL asked for.
    pub const CANCELLED: u8 = 15;
    /// A rendezvous without a first part: the data can be put where the receiver says.
    pub const RPUT: u8 = 18;
    /// In place of a message whose data does not come; ends its receive with an error.
    pub const FAILURE: u8 = 19;
    /// One above the largest.
    pub const END: usize = 20;
}

/// Bits of the flags byte.
pub mod flag {
    /// A prefix follows the three matching words.
    pub const CID: u8 = 1;
    /// The sender waits for an ACK when this is matched.
    pub const SYNC: u8 = 2;
    /// In an ACK: this receiver cannot read the sender's memory; do not offer it again.
    pub const REFUSED: u8 = 4;
    /// The order key is a stamp: the sender uses several FIFOs.
    pub const STAMPED: u8 = 8;
    /// The order key is the message's number among those of its communicator to this rank.
    pub const NUMBERED: u8 = 16;
    /// In a FIN: the message ended with its communicator, which was revoked.
    pub const REVOKED: u8 = 32;
    /// In SWITCH and OPEN: of the messages of one communicator, from one rank.
    pub const COMM: u8 = 64;
}

pub const MATCH_BYTES: usize = 24;
pub const PREFIX_BYTES: usize = 24;
pub const FRAG_BYTES: usize = 24;
/// The longest header: a prefixed RGET.
pub const MAX_WORDS: usize = 9;
/// The index of a communicator whose index is not known yet.
pub const NO_INDEX: u32 = u32::MAX;

/// Payload up to this size costs no credit: it lies inside the record of an unexpected message.
pub const FREE_BYTES: u64 = 64;

/// Place in the order of a message that has none: it goes on any FIFO and is matched when it comes.
pub const FREE: u64 = u64::MAX;

/// Packs word 0 of a message: its type and flags, the destination endpoint, and the communicator's index at the
/// receiver.
#[inline(always)]
pub const fn head(kind: u8, flags: u8, endpoint: u16, index: u32) -> u64 {
    kind as u64 | (flags as u64) << 8 | (endpoint as u64) << 16 | (index as u64) << 32
}
/// Gives the message type in a head.
#[inline(always)]
pub const fn kind_of(head: u64) -> u8 {
    head as u8
}
/// Gives the flags in a head.
#[inline(always)]
pub const fn flags_of(head: u64) -> u8 {
    (head >> 8) as u8
}
/// Gives the communicator's index at the receiver in a head.
#[inline(always)]
pub const fn index_of(head: u64) -> u32 {
    (head >> 32) as u32
}
/// Gives endpoint and index in a head as one number: a communicator's address, compared in one go.
#[inline(always)]
pub const fn address_of(head: u64) -> u64 {
    head >> 16
}
/// Gives the destination endpoint in a head.
#[inline(always)]
pub const fn endpoint_of(head: u64) -> u16 {
    (head >> 16) as u16
}
/// Packs word 1 of a message: source in the low half, tag in the high half. Matching works on this word as it is.
#[inline(always)]
pub const fn source_tag(source: i32, tag: i32) -> u64 {
    source as u32 as u64 | (tag as u32 as u64) << 32
}
/// Gives the source rank in a word of source and tag.
#[inline(always)]
pub const fn source_of(word: u64) -> i32 {
    word as u32 as i32
}
/// Gives the tag in a word of source and tag.
#[inline(always)]
pub const fn tag_of(word: u64) -> i32 {
    (word >> 32) as u32 as i32
}

/// Reads the three words of a plain MATCH header: head, source and tag, order key.
#[inline(always)]
pub fn match_words(header: &[u8; MATCH_BYTES]) -> [u64; 3] {
    let (words, _) = header.as_chunks::<8>();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1]), u64::from_le_bytes(words[2])]
}

/// The prefix of a message on a communicator whose index at the receiver is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    pub gid: [u64; 2],
    pub index: u32,
    pub endpoint: u16,
    pub version: u16,
}

impl Prefix {
    /// Packs the prefix into its three words, as they stand in a header.
    fn words(&self) -> [u64; 3] {
        let last = self.index as u64 | (self.endpoint as u64) << 32 | (self.version as u64) << 48;
        [self.gid[0], self.gid[1], last]
    }
}

/// A header being written; lives on the stack.
#[derive(Clone)]
pub struct Header {
    words: [u64; MAX_WORDS],
    len: usize,
}

impl Header {
    /// Starts a header with these words, at most [`MAX_WORDS`].
    #[inline(always)]
    pub fn new(words: &[u64]) -> Header {
        let mut h = Header { words: [0; MAX_WORDS], len: 0 };
        for &w in words {
            h.push(w);
        }
        h
    }
    /// Appends a word; a header takes at most [`MAX_WORDS`].
    #[inline(always)]
    pub fn push(&mut self, word: u64) {
        self.words[self.len] = word.to_le();
        self.len += 1;
    }
    /// Sets further bits of the flags byte in word 0.
    pub fn set_flags(&mut self, flags: u8) {
        self.words[0] |= ((flags as u64) << 8).to_le();
    }
    /// Appends the three words of a prefix.
    pub fn push_prefix(&mut self, prefix: &Prefix) {
        for w in prefix.words() {
            self.push(w);
        }
    }
    /// Points to the header's bytes as they go on the wire; good until the header moves or goes.
    #[inline(always)]
    pub fn ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }
    /// Gives the header's length in bytes.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.len * 8
    }
    /// Whether the message only spares its receiver something later (CREDIT, CID, SKIP), so that nobody waits for it.
    pub fn only_informs(&self) -> bool {
        let kind = u64::from_le(self.words[0]) as u8;
        matches!(kind, kind::CREDIT | kind::CID | kind::SKIP)
    }
}

/// A message being read, word by word; the bytes that are left.
#[derive(Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts reading a message at its first word.
    #[inline(always)]
    pub fn new(message: &'a [u8]) -> Reader<'a> {
        Reader(message)
    }
    /// Reads the next word. `None`: fewer than 8 bytes are left.
    #[inline(always)]
    pub fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }
    /// Reads the three words of a prefix. `None`: the message ends before.
    pub fn prefix(&mut self) -> Option<Prefix> {
        let (a, b, c) = (self.word()?, self.word()?, self.word()?);
        Some(Prefix { gid: [a, b], index: c as u32, endpoint: (c >> 32) as u16, version: (c >> 48) as u16 })
    }
    /// Gives the bytes that were not read: the payload.
    #[inline(always)]
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// A message that has come, as its handler takes it: the head is read.
#[derive(Clone, Copy)]
pub struct Arrived<'a> {
    pub head: u64,
    /// The bytes behind the head.
    pub rest: Reader<'a>,
    /// All of it.
    pub data: &'a [u8],
    /// The process that sent it, as its rank in the job.
    pub proc: u32,
}

impl<'a> Arrived<'a> {
    /// Reads the head of a message. `None`: it is shorter than any header.
    pub fn read(data: &'a [u8], proc: u32) -> Option<Arrived<'a>> {
        let mut rest = Reader::new(data);
        Some(Arrived { head: rest.word()?, rest, data, proc })
    }
}

/// A process's record of itself, published before the address exchange: which wire it speaks, where
/// it is, and how much unmatched eager payload it may have at each peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub version: u16,
    /// How many CRIs it has.
    pub contexts: u16,
    pub node: u32,
    pub local_rank: u32,
    pub eager_credit: u64,
    /// [`Card::NUMBERS`] …
    pub flags: u64,
}

impl Card {
    const BYTES: usize = 32;
    /// Flag: messages of the process on several FIFOs have numbers, so it uses them over any transport.
    pub const NUMBERS: u64 = 1;
    /// Flag: messages of the process on several FIFOs have numbers over transports that do not show them at once.
    pub const COUNTS: u64 = 2;
    const MAGIC: u32 = u32::from_le_bytes(*b"ob1\0");

    /// Packs the card into the bytes that the process publishes.
    pub fn encode(&self) -> [u8; Card::BYTES] {
        let mut out = [0; Card::BYTES];
        out[0..4].copy_from_slice(&Self::MAGIC.to_le_bytes());
        out[4..6].copy_from_slice(&self.version.to_le_bytes());
        out[6..8].copy_from_slice(&self.contexts.to_le_bytes());
        out[8..12].copy_from_slice(&self.node.to_le_bytes());
        out[12..16].copy_from_slice(&self.local_rank.to_le_bytes());
        out[16..24].copy_from_slice(&self.eager_credit.to_le_bytes());
        out[24..32].copy_from_slice(&self.flags.to_le_bytes());
        out
    }
    /// Reads a card from the bytes that a process published. `None`: they are not a card. Longer ones (of later
    /// versions) are read as far as they are known.
    pub fn decode(bytes: &[u8]) -> Option<Card> {
        let mut r = Reader::new(bytes);
        let (a, b, c) = (r.word()?, r.word()?, r.word()?);
        (a as u32 == Self::MAGIC).then_some(Card {
            version: (a >> 32) as u16,
            contexts: (a >> 48) as u16,
            node: b as u32,
            local_rank: (b >> 32) as u32,
            eager_credit: c,
            // Earlier versions have none.
            flags: r.word().unwrap_or(0),
        })
    }
}

/// A message as a transport is given it, which borrows what it points to.
pub struct Parcel<'a> {
    desc: SendDesc,
    parts: PhantomData<&'a ()>,
}

impl<'a> Parcel<'a> {
    /// Makes the parcel of a message without payload.
    pub fn header_only(header: &'a Header) -> Parcel<'a> {
        let desc = SendDesc {
            tag: am_tag::PML as u32,
            hdr_len: header.bytes() as u32,
            hdr: header.ptr(),
            payload: null(),
            len: 0,
            pack: None,
            pack_ctx: null_mut(),
        };
        Parcel { desc, parts: PhantomData }
    }

    /// Makes the parcel of a message with a payload.
    pub fn with_payload(header: &'a Header, payload: &'a [u8]) -> Parcel<'a> {
        let mut parcel = Parcel::header_only(header);
        (parcel.desc.payload, parcel.desc.len) = (payload.as_ptr(), payload.len() as u64);
        parcel
    }

    /// Makes the parcel of a descriptor.
    ///
    /// # Safety
    /// What the descriptor points to stays as it is as long as the parcel lives, and is valid as [`SendDesc`] says.
    #[inline(always)]
    pub unsafe fn of(desc: SendDesc) -> Parcel<'a> {
        Parcel { desc, parts: PhantomData }
    }

    /// Turns it into its descriptor, which says nothing of what it borrowed.
    pub fn into_desc(self) -> SendDesc {
        self.desc
    }

    /// Gives the descriptor for the transport.
    #[inline(always)]
    pub fn desc(&self) -> &SendDesc {
        &self.desc
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_take_apart_what_they_put_together() {
        let h = head(kind::RGET, flag::SYNC, 7, 0xABCD_0123);
        assert_eq!((kind_of(h), flags_of(h), endpoint_of(h), index_of(h)), (3, 2, 7, 0xABCD_0123));
        let w = source_tag(-1, -7);
        assert_eq!((source_of(w), tag_of(w)), (-1, -7));
    }

    #[test]
    fn prefix_and_card_survive_the_wire() {
        let p = Prefix { gid: [1, u64::MAX], index: 9, endpoint: 3, version: VERSION };
        let mut h = Header::new(&[]);
        h.push_prefix(&p);
        // SAFETY: a header holds `bytes` initialised bytes.
        let bytes = unsafe { core::slice::from_raw_parts(h.ptr(), h.bytes()) };
        assert_eq!(Reader::new(bytes).prefix(), Some(p));
        assert_eq!(Reader::new(&bytes[..23]).prefix(), None);
        let c = Card { version: 5, contexts: 7, node: 1, local_rank: 2, eager_credit: 1 << 33, flags: 9 };
        assert_eq!(Card::decode(&c.encode()), Some(c));
        assert_eq!(Card::decode(&c.encode()[..20]), None);
    }
}
