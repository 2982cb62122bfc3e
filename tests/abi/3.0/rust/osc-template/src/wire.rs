//! Messages of a window: their bytes, and what cannot be one.
//!
//! ```text
//! origin                                             target
//! OPERATION  what, where, data            ─────►      carries it out
//! UNLOCK, POST, COMPLETE                  ─────►      takes note
//! the first message without answer is done ◄─────     ANSWER   failure, old data
//!
//! LOCK       shared or exclusive          ─────►      waits for those before it
//! has the lock                            ◄─────      GRANTED
//! ```
//!
//! Every message of the first three lines is answered, in order. Numbers of operations are the origin's and come back as they are.

use oxmpi_datatype::Run;
use oxmpi_mca::Status;
use oxmpi_osc_support::simple::Kind;
use oxmpi_osc_support::wire::{RUN, read_runs, write_runs};

/// An operation, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: Kind,
    /// Number of the predefined operation, and of the basic type that it works on.
    pub code: u32,
    pub base: u32,
    /// The origin's number of the operation; 0: nothing is waited for but the answer itself.
    pub operation: u64,
    /// Packed bytes in front of this part.
    pub at: u64,
    /// The blocks at the target, from the beginning of its memory.
    pub runs: Vec<Run>,
}

/// A message. Of OPERATION and ANSWER, the rest is data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Operation(Part),
    Answer {
        operation: u64,
        at: u64,
        status: Status,
    },
    /// The lock type.
    Lock(u32),
    Granted,
    Unlock,
    Post,
    Complete,
}

/// Bytes in front of runs and data, in every message.
pub const HEAD: usize = 5 * 8;

/// The kinds of operations, by their numbers in messages.
const KINDS: [Kind; 5] = [Kind::Put, Kind::Get, Kind::Accumulate, Kind::Fetch, Kind::Swap];

impl Message {
    /// The bytes of the message; data is appended to them.
    pub fn encode(&self) -> Vec<u8> {
        let (words, runs): ([u64; 5], &[Run]) = match self {
            Message::Operation(part) => {
                let kind = KINDS.iter().position(|kind| *kind == part.kind).unwrap_or(KINDS.len()) as u64;
                let combines = u64::from(part.code) << 32 | u64::from(part.base);
                ([kind << 8, combines, part.operation, part.at, part.runs.len() as u64], &part.runs)
            }
            Message::Answer { operation, at, status } => {
                ([1, u64::from(status.0.cast_unsigned()), *operation, *at, 0], &[])
            }
            Message::Lock(kind) => ([2, u64::from(*kind), 0, 0, 0], &[]),
            Message::Granted => ([3, 0, 0, 0, 0], &[]),
            Message::Unlock => ([4, 0, 0, 0, 0], &[]),
            Message::Post => ([5, 0, 0, 0, 0], &[]),
            Message::Complete => ([6, 0, 0, 0, 0], &[]),
        };
        let mut out = Vec::with_capacity(HEAD + runs.len() * RUN);
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        write_runs(runs, &mut out);
        out
    }

    /// Reads a message and the data behind it. `None`: nobody who speaks this protocol wrote that.
    pub fn decode(bytes: &[u8]) -> Option<(Message, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let (words, _) = head.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let runs = usize::try_from(word(4)).ok()?.checked_mul(RUN)?;
        let (runs, data) = rest.split_at_checked(runs)?;
        let low = word(1) as u32;
        let message = match word(0) & 0xff {
            0 => {
                let kind = *KINDS.get(usize::try_from(word(0) >> 8).ok()?)?;
                let code = (word(1) >> 32) as u32;
                let runs = read_runs(runs.as_chunks().0);
                Message::Operation(Part { kind, code, base: low, operation: word(2), at: word(3), runs })
            }
            1 => Message::Answer { operation: word(2), at: word(3), status: Status(low.cast_signed()) },
            2 => Message::Lock(low),
            3 => Message::Granted,
            4 => Message::Unlock,
            5 => Message::Post,
            6 => Message::Complete,
            _ => return None,
        };
        let has_data = matches!(message, Message::Operation(_) | Message::Answer { .. });
        (has_data || data.is_empty()).then_some((message, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way_and_damaged_ones_are_refused() {
        let runs = vec![
            Run { disp: -8, len: 4, count: 2, stride: -16 },
            Run { disp: i64::MAX, len: u64::MAX, count: 1, stride: 0 },
        ];
        let part = Part { kind: Kind::Swap, code: 13, base: u32::MAX, operation: 1 << 40, at: 7, runs };
        let answer = Message::Answer { operation: 3, at: u64::MAX, status: Status::RMA_RANGE };
        for (message, data) in [
            (Message::Operation(part), &[1, 2, 3][..]),
            (answer, &[4]),
            (Message::Lock(2), &[]),
            (Message::Granted, &[]),
            (Message::Unlock, &[]),
            (Message::Post, &[]),
            (Message::Complete, &[]),
        ] {
            let head = message.encode();
            let bytes = [&head[..], data].concat();
            assert_eq!(Message::decode(&bytes), Some((message.clone(), data)));
            (0..head.len())
                .for_each(|len| assert_eq!(Message::decode(&bytes[..len]), None, "{message:?}: {len}"));
            let is_longer = Message::decode(&[&bytes[..], &[1]].concat()).is_some();
            assert_eq!(is_longer, !data.is_empty(), "{message:?} with a byte more");
        }
        let mut none = Message::Post.encode();
        none[0] = 7;
        assert_eq!(Message::decode(&none), None, "no such message");
        none[..2].copy_from_slice(&[0, 5]);
        assert_eq!(Message::decode(&none), None, "no such operation");
    }
}
