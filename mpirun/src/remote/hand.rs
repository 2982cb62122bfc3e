//! The handshake's frames, before a connection is a link.

use super::proof::Bytes;
use crate::link::Message;
use oxmpi_wireup::frame::{Builder, Fields, Frame, Malformed};

/// Longest of them: what a stranger may send.
pub const LIMIT: usize = 1024;
/// The version of the link is its last letter.
const MAGIC: &[u8; 8] = b"oxmpilk1";
/// How a frame of another version of the link shows.
const VERSION: &str = "version of the link";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hand {
    /// mpirun's challenge.
    Challenge(Bytes),
    Answer {
        node: u32,
        challenge: Bytes,
        proof: Bytes,
    },
    /// mpirun's answer.
    Welcome(Bytes),
    Refused(String),
}

/// Why what came is no frame of the handshake, said of whoever sent it.
pub fn why_not(malformed: &Malformed) -> String {
    match malformed {
        Malformed::Value { field: VERSION, value } => {
            let own = char::from(MAGIC[7]);
            format!(
                "it speaks version {value} of the link between mpirun and its daemons, and this end version {own}"
            )
        }
        other => format!("it sent something else: {other}"),
    }
}

const CHALLENGE: u8 = 0xd1;
const ANSWER: u8 = 0xd2;
const WELCOME: u8 = 0xd3;
const REFUSED: u8 = 0xd4;

impl Message for Hand {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            Hand::Challenge(challenge) => Builder::new(CHALLENGE).raw(MAGIC).raw(challenge),
            Hand::Answer { node, challenge, proof } => {
                Builder::new(ANSWER).raw(MAGIC).u32(*node).raw(challenge).raw(proof)
            }
            Hand::Welcome(proof) => Builder::new(WELCOME).raw(proof),
            Hand::Refused(why) => Builder::new(REFUSED).text(why),
        }
        .finish()
    }

    fn decode(frame: Frame<'_>) -> Result<Hand, Malformed> {
        let mut f = Fields::new(frame.payload);
        if matches!(frame.kind, CHALLENGE | ANSWER) {
            match f.array::<8>("magic")? {
                magic if magic == *MAGIC => {}
                [b'o', b'x', b'm', b'p', b'i', b'l', b'k', version] => {
                    let value = u64::from(version.wrapping_sub(b'0'));
                    return Err(Malformed::Value { field: VERSION, value });
                }
                _ => return Err(Malformed::Value { field: "magic", value: 0 }),
            }
        }
        let hand = match frame.kind {
            CHALLENGE => Hand::Challenge(f.array("challenge")?),
            ANSWER => Hand::Answer {
                node: f.u32("node")?,
                challenge: f.array("challenge")?,
                proof: f.array("proof")?,
            },
            WELCOME => Hand::Welcome(f.array("proof")?),
            REFUSED => Hand::Refused(f.text("reason")?.to_owned()),
            other => return Err(Malformed::Kind(other)),
        };
        f.finish()?;
        Ok(hand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_wireup::frame::Inbox;

    #[test]
    fn frames_and_back() {
        for hand in [
            Hand::Challenge([1; 32]),
            Hand::Answer { node: 7, challenge: [2; 32], proof: [3; 32] },
            Hand::Welcome([4; 32]),
            Hand::Refused("no".into()),
        ] {
            let bytes = hand.encode().expect("short");
            let mut inbox = Inbox::new(LIMIT);
            inbox.extend(&bytes);
            let frame = inbox.next().expect("sound").expect("whole");
            assert_eq!(Hand::decode(frame), Ok(hand));
            let mut later = frame.payload.to_vec();
            if later.starts_with(MAGIC) {
                later[7] = b'2';
                let why =
                    Hand::decode(Frame { kind: frame.kind, payload: &later }).expect_err("another version");
                assert!(why_not(&why).contains("speaks version 2 of the link"), "{why}");
            }
            for end in 0..frame.payload.len() {
                let cut = Frame { kind: frame.kind, payload: &frame.payload[..end] };
                assert!(Hand::decode(cut).is_err());
            }
        }
    }
}
