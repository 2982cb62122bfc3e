//! Messages as bytes: a header of fixed length, the target's layout as runs, packed data.

use oxmpi_datatype::Run;
use oxmpi_osc_support::wire::{RUN, read_runs, write_runs};

/// Kinds of messages.
pub mod kind {
    /// To the target; each is answered by DONE or DATA.
    pub const PUT: u32 = 1;
    pub const GET: u32 = 2;
    pub const ACCUMULATE: u32 = 3;
    /// Old values are wanted.
    pub const FETCH: u32 = 4;
    /// Compare and swap: the value to compare with, then the new one.
    pub const SWAP: u32 = 5;
    pub const LOCK: u32 = 6;
    pub const UNLOCK: u32 = 7;
    pub const POST: u32 = 8;
    pub const COMPLETE: u32 = 9;
    /// Answers.
    pub const DONE: u32 = 10;
    pub const DATA: u32 = 11;
}

/// The header that every message begins with. Windows and operations are numbers of the process that is named by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// One of [`kind`].
    pub kind: u32,
    /// The receiver's number of the window.
    pub window: u32,
    /// The sender's rank in the window.
    pub from: u32,
    /// The origin's number of the operation, which comes back with the answer; [`Header::NO_OPERATION`]: none.
    pub operation: u32,
    /// Of accumulates: the operation and basic type; of LOCK: the lock type; of answers: the status.
    pub code: u32,
    pub base: u32,
    /// How many runs follow.
    pub runs: u32,
    pub reserved: u32,
    /// Where in the operation's packed data the message's data begins.
    pub at: u64,
}

impl Header {
    pub const LEN: usize = 40;
    pub const NO_OPERATION: u32 = u32::MAX;

    fn words(&self) -> [u32; 8] {
        [self.kind, self.window, self.from, self.operation, self.code, self.base, self.runs, self.reserved]
    }

    /// A message; `data` is appended by whoever has it.
    pub fn message(&self, runs: &[Run], room: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(Header::LEN + runs.len() * RUN + room);
        self.words().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(&self.at.to_le_bytes());
        write_runs(runs, &mut out);
        out
    }

    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let (head, _) = bytes.split_at_checked(Header::LEN)?;
        let (words, rest) = head.split_at(32);
        let (words, _) = words.as_chunks::<4>();
        let word = |i: usize| u32::from_le_bytes(words[i]);
        Some(Header {
            kind: word(0),
            window: word(1),
            from: word(2),
            operation: word(3),
            code: word(4),
            base: word(5),
            runs: word(6),
            reserved: word(7),
            at: u64::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

/// The runs and the data behind a header; `None`: the message is too short for them.
pub fn body<'a>(header: &Header, bytes: &'a [u8]) -> Option<(Vec<Run>, &'a [u8])> {
    let body = bytes.get(Header::LEN..)?;
    let (runs, data) = body.split_at_checked((header.runs as usize).checked_mul(RUN)?)?;
    Some((read_runs(runs.as_chunks().0), data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_the_wire() {
        let header = Header {
            kind: kind::FETCH,
            window: 7,
            from: 3,
            operation: 9,
            code: 1,
            base: 2,
            runs: 2,
            reserved: 0,
            at: 1 << 40,
        };
        let runs = [
            Run { disp: -8, len: 4, count: 2, stride: -16 },
            Run { disp: i64::MAX, len: u64::MAX, count: 1, stride: 0 },
        ];
        let mut message = header.message(&runs, 3);
        message.extend_from_slice(b"abc");
        assert_eq!(Header::decode(&message), Some(header));
        assert_eq!(body(&header, &message), Some((runs.to_vec(), &b"abc"[..])));
        assert_eq!(Header::decode(&message[..Header::LEN - 1]), None);
        assert_eq!(body(&header, &message[..Header::LEN + 2 * RUN - 1]), None);
        assert_eq!(body(&Header { runs: u32::MAX, ..header }, &message), None);
    }
}
