//! Bytes of emulated one-sided operations: requests to a target, and its replies. Versioned, little-endian, and
//! never trusted when they come in.

use oxmpi_mca::Status;
use oxmpi_mca::host::am_tag;

/// Raise it with every change of what follows.
pub const VERSION: u16 = 3;

/// AM tag of requests and replies.
pub const TAG: u8 = am_tag::HOST + 1;

/// Bytes of an encoded [`Request`]; payload of a put, or entries of a list, follow.
pub const REQUEST: usize = 64;
/// Bytes of an encoded [`Reply`]; payload of a get, or results of a list, follow.
pub const REPLY: usize = 24;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verb {
    Put = 1,
    Get = 2,
    Atomic = 3,
    /// Entries ([`Entry`]), each with its bytes behind it.
    List = 4,
}

/// The operation that a target is asked to do with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub verb: Verb,
    /// Of an atomic: operation, flags and operands as in `AtomicDesc`.
    pub flags: u8,
    pub op: u32,
    pub operand: u64,
    pub compare: u64,
    /// The requester's name for it; comes back in the reply.
    pub id: u64,
    pub registration: RegistrationName,
    pub addr: u64,
    /// Of an atomic: its width. Of a list: the bytes of all entries.
    pub len: u64,
}

/// A registration as the target hands it out: which, and proof of having got it from the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegistrationName {
    pub id: u64,
    pub key: u64,
}

/// Bytes of an encoded [`RegistrationName`].
pub const NAME: usize = 16;

impl RegistrationName {
    /// The bytes of the name.
    pub fn encode(self) -> [u8; NAME] {
        let mut out = [0; NAME];
        out[..8].copy_from_slice(&self.id.to_le_bytes());
        out[8..].copy_from_slice(&self.key.to_le_bytes());
        out
    }

    /// Reads a name out of its bytes.
    pub fn decode(bytes: &[u8; NAME]) -> RegistrationName {
        RegistrationName { id: word(bytes, 0), key: word(bytes, 8) }
    }
}

/// A request that cannot be, with the id to answer it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRequest {
    pub id: u64,
    pub status: Status,
}

/// An id that no requester gives.
pub const NO_ID: u64 = u64::MAX;

/// The word of 64 bits at offset `at`; 0 where the bytes end before.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

impl Request {
    /// The bytes of the request, to which the payload is added.
    pub fn encode(&self) -> [u8; REQUEST] {
        let mut out = [0; REQUEST];
        out[..2].copy_from_slice(&VERSION.to_le_bytes());
        out[2] = self.verb as u8;
        out[3] = self.flags;
        out[4..8].copy_from_slice(&self.op.to_le_bytes());
        let RegistrationName { id, key } = self.registration;
        let words = [self.id, id, key, self.addr, self.len, self.operand, self.compare];
        for (place, word) in out[8..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Reads a request, and the payload behind it, which must be as long as the request says.
    pub fn decode(bytes: &[u8]) -> Result<(Request, &[u8]), BadRequest> {
        let id = if bytes.len() >= 16 { word(bytes, 8) } else { NO_ID };
        let bad = |status| Err(BadRequest { id, status });
        let Some((b, payload)) = bytes.split_first_chunk::<REQUEST>() else { return bad(Status::BAD_PARAM) };
        if u16::from_le_bytes([b[0], b[1]]) != VERSION {
            return bad(Status::NOT_SUPPORTED);
        }
        let verb = [Verb::Put, Verb::Get, Verb::Atomic, Verb::List].into_iter().find(|v| *v as u8 == b[2]);
        let Some(verb) = verb else { return bad(Status::NOT_SUPPORTED) };
        let request = Request {
            verb,
            flags: b[3],
            op: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            id,
            registration: RegistrationName { id: word(b, 16), key: word(b, 24) },
            addr: word(b, 32),
            len: word(b, 40),
            operand: word(b, 48),
            compare: word(b, 56),
        };
        let follows = if matches!(verb, Verb::Put | Verb::List) { request.len } else { 0 };
        if payload.len() as u64 != follows {
            return bad(Status::BAD_PARAM);
        }
        Ok((request, payload))
    }
}

/// One entry of a list: what to do with how many bytes of memory. Its data follows, and fills whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub registration: RegistrationName,
    pub addr: u64,
    /// Of an entry for a listener: the bytes of its answer.
    pub compare: u64,
    pub len: u32,
    /// As in `ListEntry`.
    pub op: u16,
    pub flags: u8,
    /// The old elements are asked for.
    pub fetches: bool,
}

/// Bytes of an encoded [`Entry`].
pub const ENTRY: usize = oxmpi_btl::LIST_ENTRY as usize;

impl Entry {
    /// Adds the bytes of the entry to a list; its data follows.
    pub fn encode(&self, into: &mut Vec<u8>) {
        let mut out = [0; ENTRY];
        out[..NAME].copy_from_slice(&self.registration.encode());
        out[16..24].copy_from_slice(&self.addr.to_le_bytes());
        out[24..32].copy_from_slice(&self.compare.to_le_bytes());
        out[32..36].copy_from_slice(&self.len.to_le_bytes());
        out[36..38].copy_from_slice(&self.op.to_le_bytes());
        out[38..].copy_from_slice(&[self.flags, u8::from(self.fetches)]);
        into.extend_from_slice(&out);
    }

    /// The first entry of a list, its data, and the rest of the list. `None`: the list is empty, or ends within the
    /// entry.
    pub fn decode(bytes: &[u8]) -> Option<(Entry, &[u8], &[u8])> {
        let (b, rest) = bytes.split_first_chunk::<ENTRY>()?;
        let entry = Entry {
            registration: RegistrationName { id: word(b, 0), key: word(b, 8) },
            addr: word(b, 16),
            compare: word(b, 24),
            len: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            op: u16::from_le_bytes([b[36], b[37]]),
            flags: b[38],
            fetches: b[39] != 0,
        };
        let (data, rest) = rest.split_at_checked((entry.len as usize).next_multiple_of(8))?;
        Some((entry, &data[..entry.len as usize], rest))
    }
}

/// The target's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    pub id: u64,
    /// OK, or why nothing was done.
    pub status: Status,
    /// Of an atomic: the old value.
    pub old: u64,
}

impl Reply {
    /// The bytes of the reply, to which the payload is added.
    pub fn encode(&self) -> [u8; REPLY] {
        let mut out = [0; REPLY];
        out[..2].copy_from_slice(&VERSION.to_le_bytes());
        out[4..8].copy_from_slice(&self.status.0.to_le_bytes());
        out[8..16].copy_from_slice(&self.id.to_le_bytes());
        out[16..].copy_from_slice(&self.old.to_le_bytes());
        out
    }

    /// Reads a reply, and the payload behind it. `None`: another version, or no reply.
    pub fn decode(bytes: &[u8]) -> Option<(Reply, &[u8])> {
        let (b, payload) = bytes.split_first_chunk::<REPLY>()?;
        if u16::from_le_bytes([b[0], b[1]]) != VERSION {
            return None;
        }
        let status = match Status(i32::from_le_bytes([b[4], b[5], b[6], b[7]])) {
            // Statuses that a target may answer; anything else is no answer to rely on.
            s @ (Status::OK
            | Status::BAD_PARAM
            | Status::NOT_FOUND
            | Status::NO_PERMISSION
            | Status::NOT_SUPPORTED
            | Status::NOT_AVAILABLE
            | Status::RMA_RANGE) => s,
            _ => Status::PEER_FAILED,
        };
        Some((Reply { id: word(b, 8), status, old: word(b, 16) }, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOME: Request = Request {
        verb: Verb::Atomic,
        flags: 7,
        op: 5,
        operand: 1,
        compare: 2,
        id: 3,
        registration: RegistrationName { id: 4, key: 5 },
        addr: 6,
        len: 8,
    };

    #[test]
    fn requests_and_replies_survive_the_way() {
        assert_eq!(Request::decode(&SOME.encode()), Ok((SOME, &[][..])));
        let put = Request { verb: Verb::Put, len: 3, ..SOME };
        let bytes = [&put.encode()[..], &[7, 8, 9]].concat();
        assert_eq!(Request::decode(&bytes), Ok((put, &[7, 8, 9][..])));
        let reply = Reply { id: 9, status: Status::RMA_RANGE, old: u64::MAX };
        assert_eq!(Reply::decode(&reply.encode()), Some((reply, &[][..])));
        let name = RegistrationName { id: 1, key: 2 };
        assert_eq!(RegistrationName::decode(&name.encode()), name);
    }

    #[test]
    fn entries_follow_each_other() {
        let registration = RegistrationName { id: 1, key: 2 };
        let one = Entry { registration, addr: 3, compare: 4, len: 3, op: 64, flags: 5, fetches: true };
        let two = Entry { len: 8, fetches: false, ..one };
        let mut bytes = Vec::new();
        one.encode(&mut bytes);
        bytes.extend_from_slice(&[7, 8, 9, 0, 0, 0, 0, 0]);
        two.encode(&mut bytes);
        bytes.extend_from_slice(&[1; 8]);
        assert_eq!(bytes.len(), ENTRY + 8 + ENTRY + 8);
        let (first, data, rest) = Entry::decode(&bytes).expect("one");
        assert_eq!((first, data), (one, &[7, 8, 9][..]));
        assert_eq!(Entry::decode(rest), Some((two, &[1; 8][..], &[][..])));
        assert_eq!(Entry::decode(&rest[..47]), None);
    }

    #[test]
    fn what_cannot_be_is_named_by_its_id() {
        let bad = |bytes: &[u8]| Request::decode(bytes).expect_err("bad");
        let good = SOME.encode();
        assert_eq!(bad(&good[..15]), BadRequest { id: NO_ID, status: Status::BAD_PARAM });
        assert_eq!(bad(&good[..63]), BadRequest { id: 3, status: Status::BAD_PARAM });
        assert_eq!(bad(&[&good[..], &[1]].concat()).status, Status::BAD_PARAM);
        for (at, value) in [(0, 9), (2, 0), (2, 5)] {
            let mut other = good;
            other[at] = value;
            assert_eq!(bad(&other), BadRequest { id: 3, status: Status::NOT_SUPPORTED });
        }
        let odd = Reply { id: 1, status: Status::PENDING, old: 0 };
        assert_eq!(Reply::decode(&odd.encode()).map(|r| r.0.status), Some(Status::PEER_FAILED));
    }

    proptest! {
        #[test]
        fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Request::decode(&bytes);
            let _ = Entry::decode(&bytes);
            let _ = Reply::decode(&bytes);
        }
    }
}
