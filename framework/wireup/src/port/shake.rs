//! The four frames by which caller and port prove that both know the key.
//!
//! ```text
//! caller                                  port
//!   greeting (version, rendezvous, nonce) ->
//!                                         <- challenge (answer, nonce)
//!   proof                                 ->
//!                                         <- welcome (answer, proof)
//! ```

use crate::secret::Secret;

/// Raise it with every change of what goes over a link.
pub(super) const VERSION: u16 = 1;
const MAGIC: &[u8; 8] = b"oxmpiprt";
pub(super) const NONCE: usize = 32;

/// A port's word to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Welcome,
    /// It speaks this version.
    Version(u16),
    /// It is another port.
    Elsewhere,
    /// The caller does not know the key.
    Stranger,
}

impl Answer {
    fn encode(self) -> [u8; 3] {
        let (kind, version) = match self {
            Answer::Welcome => (0, VERSION),
            Answer::Version(version) => (1, version),
            Answer::Elsewhere => (2, VERSION),
            Answer::Stranger => (3, VERSION),
        };
        let [a, b] = version.to_le_bytes();
        [kind, a, b]
    }

    fn decode([kind, a, b]: [u8; 3]) -> Option<Answer> {
        Some(match kind {
            0 => Answer::Welcome,
            1 => Answer::Version(u16::from_le_bytes([a, b])),
            2 => Answer::Elsewhere,
            3 => Answer::Stranger,
            _ => return None,
        })
    }
}

/// The caller's first frame.
pub(super) fn greeting(rendezvous: u64, nonce: &[u8; NONCE]) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &rendezvous.to_le_bytes(), nonce].concat()
}

/// Version, rendezvous and nonce of a greeting; `None`: it is none.
pub(super) fn read_greeting(frame: &[u8]) -> Option<(u16, u64, [u8; NONCE])> {
    let rest = frame.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        // The rest is another version's.
        return Some((version, 0, [0; NONCE]));
    }
    let (rendezvous, nonce) = rest.split_first_chunk::<8>()?;
    Some((version, u64::from_le_bytes(*rendezvous), nonce.try_into().ok()?))
}

/// An answer with 32 bytes: a nonce or a proof.
pub(super) fn answer(answer: Answer, bytes: &[u8; NONCE]) -> Vec<u8> {
    [&answer.encode()[..], bytes].concat()
}

/// Reads an answer; `None`: it is none.
pub(super) fn read_answer(frame: &[u8]) -> Option<(Answer, [u8; NONCE])> {
    let (head, bytes) = frame.split_first_chunk::<3>()?;
    Some((Answer::decode(*head)?, bytes.try_into().ok()?))
}

/// Proofs of both sides, and the bridge, of one key and both nonces.
pub(super) struct Proofs<'a> {
    pub(super) key: &'a Secret,
    pub(super) rendezvous: u64,
    pub(super) caller: [u8; NONCE],
    pub(super) port: [u8; NONCE],
}

impl Proofs<'_> {
    fn parts<'b>(&'b self, side: &'b [u8], rendezvous: &'b [u8; 8]) -> [&'b [u8]; 4] {
        [side, rendezvous, &self.caller, &self.port]
    }

    fn of(&self, side: &[u8]) -> [u8; NONCE] {
        self.key.prove(&self.parts(side, &self.rendezvous.to_le_bytes()))
    }

    fn is_of(&self, side: &[u8], proof: &[u8]) -> bool {
        self.key.verify(&self.parts(side, &self.rendezvous.to_le_bytes()), proof)
    }

    pub(super) fn callers(&self) -> [u8; NONCE] {
        self.of(b"oxmpi port 1 caller")
    }

    pub(super) fn is_callers(&self, proof: &[u8]) -> bool {
        self.is_of(b"oxmpi port 1 caller", proof)
    }

    pub(super) fn ports(&self) -> [u8; NONCE] {
        self.of(b"oxmpi port 1 port")
    }

    pub(super) fn is_ports(&self, proof: &[u8]) -> bool {
        self.is_of(b"oxmpi port 1 port", proof)
    }

    pub(super) fn bridge(&self) -> Secret {
        Secret::from_bytes(self.of(b"oxmpi port 1 bridge"))
    }
}
