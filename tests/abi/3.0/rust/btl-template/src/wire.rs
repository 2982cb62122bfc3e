//! Bytes that other processes see: the address, and the frame of a message. Versioned, little-endian, and
//! never trusted when they come in.
//!
//! Two processes of a job may have loaded different builds of this component, so the version here is the
//! one that counts between peers, not the version of the crate.

/// Raise it with every change of what follows.
pub const VERSION: u32 = 2;

/// How a process is found: where its sockets can be reached, and their names, one per context and, last in the encoding,
/// that of the service context.
#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    /// Equal in processes that reach each other.
    pub place: Vec<u8>,
    pub names: Vec<Vec<u8>>,
    pub service: Vec<u8>,
}

/// Why an address is of no use.
#[derive(Debug, PartialEq, Eq)]
pub enum BadAddress {
    Version(u32),
    Damaged,
}

impl Address {
    /// Version, place, number of names, names; place and names each with its length in front.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(self.place.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.place);
        out.extend_from_slice(&(self.names.len() as u32 + 1).to_le_bytes());
        for name in self.names.iter().chain([&self.service]) {
            out.extend_from_slice(&(name.len() as u32).to_le_bytes());
            out.extend_from_slice(name);
        }
        out
    }

    pub fn decode(mut bytes: &[u8]) -> Result<Address, BadAddress> {
        let version = take_u32(&mut bytes).ok_or(BadAddress::Damaged)?;
        if version != VERSION {
            return Err(BadAddress::Version(version));
        }
        let place = take_bytes(&mut bytes).ok_or(BadAddress::Damaged)?;
        let count = take_u32(&mut bytes).ok_or(BadAddress::Damaged)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(take_bytes(&mut bytes).ok_or(BadAddress::Damaged)?);
        }
        let service = names.pop();
        match service {
            Some(service) if !names.is_empty() && bytes.is_empty() => Ok(Address { place, names, service }),
            _ => Err(BadAddress::Damaged),
        }
    }
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let len = take_u32(bytes)? as usize;
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken.to_vec())
}

/// The kind of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An active message on an ordinary context.
    Message,
    /// A request to a service context. Its reply goes to the socket that it came from.
    Request,
    /// The reply to a request.
    Reply,
}

/// In front of every message: whose job, who sends, which tag. Anybody on this machine can send a
/// datagram to a socket whose name he reads in /proc/net/unix; the job's random number tells his from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub job_id: u64,
    pub proc: u32,
    pub tag: u8,
    pub kind: Kind,
    /// Of requests and replies: the requester's context, and the request's number on the link, from 0.
    pub ctx: u16,
    pub sequence: u32,
}

/// Bytes of an encoded [`Frame`]; a multiple of 8, so that what follows is aligned.
pub const FRAME: usize = 24;

/// Room for a message with its frame. One byte more than the largest: a longer one shows by filling it.
pub fn buffer(largest: usize) -> Box<[u8]> {
    vec![0; FRAME + largest + 1].into()
}

impl Frame {
    pub fn encode(&self) -> [u8; FRAME] {
        let mut out = [0; FRAME];
        out[..8].copy_from_slice(&self.job_id.to_le_bytes());
        out[8..12].copy_from_slice(&self.proc.to_le_bytes());
        out[12] = self.tag;
        out[13] = self.kind as u8;
        out[14..16].copy_from_slice(&self.ctx.to_le_bytes());
        out[16..20].copy_from_slice(&self.sequence.to_le_bytes());
        out
    }

    /// `None`: too short, or of no kind that there is.
    pub fn decode(bytes: &[u8]) -> Option<Frame> {
        let b: &[u8; FRAME] = bytes.first_chunk()?;
        let kind = [Kind::Message, Kind::Request, Kind::Reply].into_iter().find(|k| *k as u8 == b[13])?;
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        Some(Frame {
            job_id: u64::from(word(4)) << 32 | u64::from(word(0)),
            proc: word(8),
            tag: b[12],
            kind,
            ctx: u16::from_le_bytes([b[14], b[15]]),
            sequence: word(16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_way() {
        for count in 1..5 {
            let names = (0..count).map(|i| vec![i as u8; i * 7]).collect();
            let a = Address { place: vec![3; count], names, service: vec![9; count] };
            assert_eq!(Address::decode(&a.encode()), Ok(a));
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Address { place: vec![], names: vec![vec![1]], service: vec![2] }.encode();
        bytes[0] = 9;
        assert_eq!(Address::decode(&bytes), Err(BadAddress::Version(9)));
    }

    /// Any bytes that a peer publishes get an answer, never a crash.
    #[test]
    fn damaged_addresses_are_refused() {
        let good =
            Address { place: vec![4; 7], names: vec![vec![5; 20], vec![6; 3]], service: vec![7; 4] }.encode();
        for len in 0..good.len() {
            assert_eq!(Address::decode(&good[..len]), Err(BadAddress::Damaged));
        }
        // The lengths of the place, of the list, and of its first name.
        for at in (4..8).chain(15..23) {
            let mut bad = good.clone();
            bad[at] = 0xff;
            assert_eq!(Address::decode(&bad), Err(BadAddress::Damaged));
        }
        assert_eq!(Address::decode(&[&good[..], &[0]].concat()), Err(BadAddress::Damaged));
    }

    #[test]
    fn frames_survive_the_way() {
        for kind in [Kind::Message, Kind::Request, Kind::Reply] {
            let f = Frame { job_id: u64::MAX - 5, proc: 7, tag: 255, kind, ctx: 300, sequence: 1 << 30 };
            assert_eq!(Frame::decode(&f.encode()), Some(f));
            assert_eq!(Frame::decode(&f.encode()[..FRAME - 1]), None);
            let mut bad = f.encode();
            bad[13] = 3;
            assert_eq!(Frame::decode(&bad), None);
        }
    }
}
