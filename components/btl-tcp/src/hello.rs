//! The four messages that begin a connection, as bytes: hello, challenge, proof, welcome.
//!
//! ```text
//! connector                                  acceptor
//!   hello (both names, contexts, nonce)  ->
//!                                        <-  challenge (nonce)
//!   proof (answer, where I am)           ->
//!                                        <-  welcome (answer, where I am)
//! ```
//!
//! Each has a fixed length, so neither side reads further than it. Only a process that knows the job's secret can answer; what is answered covers
//! both names and all else of the hello, so an answer is good for one side of one connection (`proof.rs`). A refusal stands in
//! the status of challenge or welcome, and the connection ends behind it.

use crate::check;
use oxmpi_mca::ProcName;
use oxmpi_mca::services::AUTH_BYTES;

/// Raise it with every change of what goes over a connection, of the card, and of which rails are paired by two cards.
pub const VERSION: u16 = 5;
const MAGIC: u32 = u32::from_le_bytes(*b"oxTC");
/// Instead of the number of a context: the service context.
pub const SERVICE: u16 = u16::MAX;
pub const NONCE: usize = 32;
/// Magic, version, what it is, status.
const PREFIX: usize = 8;

/// Why a connection is refused; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    None = 0,
    Version = 1,
    /// A name that is not that of the acceptor or of any process of its job.
    Name = 2,
    /// The answer is not that of a process that knows the secret.
    Secret = 3,
    /// Both connect at once, and the other connection is kept.
    Crossed = 4,
    /// A newer connection of the same stream is there.
    Stale = 5,
    /// The acceptor has closed that process.
    Closed = 6,
    /// No such context or interface here.
    Context = 7,
}

impl Refusal {
    const ALL: [Refusal; 8] = [
        Refusal::None,
        Refusal::Version,
        Refusal::Name,
        Refusal::Secret,
        Refusal::Crossed,
        Refusal::Stale,
        Refusal::Closed,
        Refusal::Context,
    ];
    /// For people.
    pub fn explanation(self) -> &'static str {
        match self {
            Refusal::None => "it accepts",
            Refusal::Version => "it speaks another version of the protocol",
            Refusal::Name => "it is another process than the one that was called, or of another job",
            Refusal::Secret => "it says that our answer is not that of a process that knows the job's secret",
            Refusal::Crossed => "it has called at the same time",
            Refusal::Stale => "it has a newer connection",
            Refusal::Closed => "it has closed this process",
            Refusal::Context => "it has no such context",
        }
    }
}

/// Why bytes are no message of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHello {
    /// Not of this protocol, or damaged.
    Garbage,
    Version(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub from: ProcName,
    pub to: ProcName,
    pub from_ctx: u16,
    pub to_ctx: u16,
    pub from_rail: u16,
    pub to_rail: u16,
    /// Counts the connector's attempts on this stream, from 1.
    pub attempt: u32,
    /// The last attempt of the acceptor that the connector has admitted: a call from before that is over.
    pub seen: u32,
    /// How much the connector keeps without an acknowledgement.
    pub window: u32,
    pub nonce: [u8; NONCE],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub refusal: Refusal,
    pub nonce: [u8; NONCE],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Everything before this position has come; send from here.
    pub position: u64,
    pub answer: [u8; AUTH_BYTES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    pub refusal: Refusal,
    pub window: u32,
    pub position: u64,
    pub answer: [u8; AUTH_BYTES],
}

/// Writes a message: prefix, fields, zeros, checksum.
struct Writer<const N: usize> {
    out: [u8; N],
    at: usize,
}

impl<const N: usize> Writer<N> {
    fn new(what: u8, refusal: Refusal) -> Writer<N> {
        let mut w = Writer { out: [0; N], at: 0 };
        w.put(&MAGIC.to_le_bytes());
        w.put(&VERSION.to_le_bytes());
        w.put(&[what, refusal as u8]);
        w
    }
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
    fn end(mut self) -> [u8; N] {
        let sum = check::sum(&self.out[..N - 4]);
        self.out[N - 4..].copy_from_slice(&sum.to_le_bytes());
        self.out
    }
}

/// Reads what a writer of the same size has written.
struct Reader<'a, const N: usize> {
    bytes: &'a [u8; N],
    at: usize,
}

impl<'a, const N: usize> Reader<'a, N> {
    fn new(bytes: &'a [u8; N], what: u8) -> Result<(Reader<'a, N>, Refusal), BadHello> {
        let mut r = Reader { bytes, at: 0 };
        if u32::from_le_bytes(r.take()) != MAGIC {
            return Err(BadHello::Garbage);
        }
        let version = u16::from_le_bytes(r.take());
        if version != VERSION {
            return Err(BadHello::Version(version));
        }
        let [kind, refusal] = r.take();
        let refusal = Refusal::ALL.into_iter().find(|x| *x as u8 == refusal).ok_or(BadHello::Garbage)?;
        let mut sum = Reader { bytes, at: N - 4 };
        let right = u32::from_le_bytes(sum.take()) == check::sum(&bytes[..N - 4]);
        if kind != what || !right { Err(BadHello::Garbage) } else { Ok((r, refusal)) }
    }
    fn take<const M: usize>(&mut self) -> [u8; M] {
        let mut out = [0; M];
        out.copy_from_slice(&self.bytes[self.at..self.at + M]);
        self.at += M;
        out
    }
}

impl Hello {
    pub const BYTES: usize = PREFIX + 16 + 16 + 8 + 4 + 4 + 4 + NONCE + 4;

    pub fn encode(&self) -> [u8; Hello::BYTES] {
        let mut w = Writer::new(1, Refusal::None);
        w.put(&self.from.bytes);
        w.put(&self.to.bytes);
        for half in [self.from_ctx, self.to_ctx, self.from_rail, self.to_rail] {
            w.put(&half.to_le_bytes());
        }
        w.put(&self.attempt.to_le_bytes());
        w.put(&self.seen.to_le_bytes());
        w.put(&self.window.to_le_bytes());
        w.put(&self.nonce);
        w.end()
    }

    pub fn decode(bytes: &[u8; Hello::BYTES]) -> Result<Hello, BadHello> {
        let (mut r, _) = Reader::new(bytes, 1)?;
        let half = |r: &mut Reader<'_, { Hello::BYTES }>| u16::from_le_bytes(r.take());
        Ok(Hello {
            from: ProcName { bytes: r.take() },
            to: ProcName { bytes: r.take() },
            from_ctx: half(&mut r),
            to_ctx: half(&mut r),
            from_rail: half(&mut r),
            to_rail: half(&mut r),
            attempt: u32::from_le_bytes(r.take()),
            seen: u32::from_le_bytes(r.take()),
            window: u32::from_le_bytes(r.take()),
            nonce: r.take(),
        })
    }
}

impl Challenge {
    pub const BYTES: usize = PREFIX + NONCE + 8;

    pub fn encode(&self) -> [u8; Challenge::BYTES] {
        let mut w = Writer::new(2, self.refusal);
        w.put(&self.nonce);
        w.end()
    }
    pub fn decode(bytes: &[u8; Challenge::BYTES]) -> Result<Challenge, BadHello> {
        let (mut r, refusal) = Reader::new(bytes, 2)?;
        Ok(Challenge { refusal, nonce: r.take() })
    }
}

impl Proof {
    pub const BYTES: usize = PREFIX + 8 + AUTH_BYTES + 8;

    pub fn encode(&self) -> [u8; Proof::BYTES] {
        let mut w = Writer::new(3, Refusal::None);
        w.put(&self.position.to_le_bytes());
        w.put(&self.answer);
        w.end()
    }
    pub fn decode(bytes: &[u8; Proof::BYTES]) -> Result<Proof, BadHello> {
        let (mut r, _) = Reader::new(bytes, 3)?;
        Ok(Proof { position: u64::from_le_bytes(r.take()), answer: r.take() })
    }
}

impl Welcome {
    pub const BYTES: usize = PREFIX + 8 + 8 + AUTH_BYTES + 8;

    /// Says why a caller is not welcome.
    pub fn refusal(refusal: Refusal) -> Welcome {
        Welcome { refusal, window: 0, position: 0, answer: [0; AUTH_BYTES] }
    }

    pub fn encode(&self) -> [u8; Welcome::BYTES] {
        let mut w = Writer::new(4, self.refusal);
        w.put(&self.window.to_le_bytes());
        w.put(&[0; 4]);
        w.put(&self.position.to_le_bytes());
        w.put(&self.answer);
        w.end()
    }
    pub fn decode(bytes: &[u8; Welcome::BYTES]) -> Result<Welcome, BadHello> {
        let (mut r, refusal) = Reader::new(bytes, 4)?;
        let window = u32::from_le_bytes(r.take());
        let _: [u8; 4] = r.take();
        Ok(Welcome { refusal, window, position: u64::from_le_bytes(r.take()), answer: r.take() })
    }
}

/// The longest message of a handshake.
pub const LONGEST: usize = Hello::BYTES;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello {
            from: ProcName { bytes: [1; 16] },
            to: ProcName { bytes: [2; 16] },
            from_ctx: 3,
            to_ctx: SERVICE,
            from_rail: 1,
            to_rail: 2,
            attempt: 9,
            seen: 4,
            window: 1 << 20,
            nonce: [7; NONCE],
        }
    }

    #[test]
    fn messages_survive_the_way() {
        assert_eq!(Hello::decode(&hello().encode()), Ok(hello()));
        for refusal in Refusal::ALL {
            let c = Challenge { refusal, nonce: [5; NONCE] };
            assert_eq!(Challenge::decode(&c.encode()), Ok(c));
            let w = Welcome { refusal, window: 8, position: 1 << 50, answer: [6; AUTH_BYTES] };
            assert_eq!(Welcome::decode(&w.encode()), Ok(w));
            assert!(!refusal.explanation().is_empty());
        }
        let p = Proof { position: 99, answer: [8; AUTH_BYTES] };
        assert_eq!(Proof::decode(&p.encode()), Ok(p));
    }

    #[test]
    fn other_versions_and_garbage_are_named() {
        let mut b = hello().encode();
        b[4] = 9;
        assert_eq!(Hello::decode(&b), Err(BadHello::Version(9)));
        b[0] ^= 1;
        assert_eq!(Hello::decode(&b), Err(BadHello::Garbage));
        let mut b = hello().encode();
        b[50] ^= 1;
        assert_eq!(Hello::decode(&b), Err(BadHello::Garbage));
        assert_eq!(
            Hello::decode(b"GET / HTTP/1.1\r\n".repeat(7)[..Hello::BYTES].try_into().expect("long enough")),
            Err(BadHello::Garbage)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in any::<[u8; Hello::BYTES]>(), welcome in any::<[u8; Welcome::BYTES]>()) {
            prop_assert!(Hello::decode(&bytes).is_err());
            prop_assert!(Welcome::decode(&welcome).is_err());
        }
    }
}
