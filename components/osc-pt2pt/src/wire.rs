//! Messages as bytes: records one behind the other, each a head of fixed length, the target's layout as runs, and packed data.
//!
//! Numbers are those of the origin: they come back with the answer. All processes of a job have the same byte order, which the
//! records do not depend on all the same.

use oxmpi_datatype::Run;
use oxmpi_osc_support::wire::{RUN, read_runs};

/// Tags of messages on the window's communicator.
pub mod tag {
    /// Records; received from any rank, in order.
    pub const RECORDS: i32 = 0;
    /// A record that is longer than a message.
    pub const WHOLE: i32 = 1;
    /// Data of an operation, to its target.
    pub const DATA: i32 = 2;
    /// Data of the target, to the origin.
    pub const RESULT: i32 = 3;
}

/// Kinds of records.
pub mod kind {
    pub const PUT: u8 = 1;
    pub const GET: u8 = 2;
    pub const ACCUMULATE: u8 = 3;
    /// Old values are wanted.
    pub const FETCH: u8 = 4;
    /// The value to compare with, then the new one.
    pub const SWAP: u8 = 5;
    pub const LOCK: u8 = 6;
    /// Answered by DONE, as FLUSH.
    pub const UNLOCK: u8 = 7;
    pub const FLUSH: u8 = 8;
    pub const POST: u8 = 9;
    pub const COMPLETE: u8 = 10;
    /// A record of `len` bytes follows as a message of its own.
    pub const WHOLE: u8 = 11;
    /// Answers: everything before the FLUSH or UNLOCK of this number is done.
    pub const DONE: u8 = 16;
    /// The end of an operation that gets something, with what it gets if that is not APART.
    pub const DATA: u8 = 17;
    /// The lock is yours.
    pub const GRANTED: u8 = 18;
}

/// Bits of [`Head::flags`].
pub mod flag {
    /// Data is sent to the target.
    pub const GIVES: u8 = 1;
    /// The data sent follows as a message of its own.
    pub const GIVES_APART: u8 = 2;
    /// The data that comes back comes as a message of its own.
    pub const TAKES_APART: u8 = 4;
    /// The operation adds to a counter of the target's, whose number is `word`.
    pub const NOTIFIES: u8 = 8;
}

/// The head of every record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// One of [`kind`].
    pub kind: u8,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Operation of accumulates, lock type of LOCK.
    pub code: u16,
    /// Basic type of accumulates; counter of notified operations; status of answers.
    pub word: u32,
    pub number: u64,
    /// Where the one block of data lies at the target, if there are no runs.
    pub disp: i64,
    /// Bytes of data at the target.
    pub len: u64,
    /// How many runs follow.
    pub runs: u32,
}

/// Bytes of a [`Head`].
pub const HEAD: usize = 40;

impl Head {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Bytes of data that stand in the record.
    pub fn inline(&self) -> Option<usize> {
        let len = usize::try_from(self.len).ok()?;
        let gives = self.has(flag::GIVES) && !self.has(flag::GIVES_APART);
        match self.kind {
            kind::PUT | kind::ACCUMULATE | kind::FETCH if gives => Some(len),
            kind::SWAP => len.checked_mul(2),
            kind::DATA if !self.has(flag::TAKES_APART) => Some(len),
            _ => Some(0),
        }
    }

    /// Bytes of the whole record.
    pub fn record(&self) -> Option<usize> {
        (self.runs as usize).checked_mul(RUN)?.checked_add(HEAD)?.checked_add(self.inline()?)
    }

    /// Appends it; its runs and data are to follow.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.kind, self.flags]);
        out.extend_from_slice(&self.code.to_le_bytes());
        out.extend_from_slice(&self.word.to_le_bytes());
        [self.number, self.disp.cast_unsigned(), self.len]
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(&self.runs.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
    }
}

/// A record as it stands in a message.
pub struct Record<'a> {
    pub head: Head,
    runs: &'a [[u8; RUN]],
    pub data: &'a [u8],
}

impl<'a> Record<'a> {
    /// The first record, and how long it is; `None`: there is none, or not all of it.
    pub fn first(bytes: &'a [u8]) -> Option<(Record<'a>, usize)> {
        let (fixed, _) = bytes.split_first_chunk::<HEAD>()?;
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| fixed[at + i]));
        let half = |at: usize| u32::from_le_bytes(core::array::from_fn(|i| fixed[at + i]));
        let head = Head {
            kind: fixed[0],
            flags: fixed[1],
            code: u16::from_le_bytes([fixed[2], fixed[3]]),
            word: half(4),
            number: word(8),
            disp: word(16).cast_signed(),
            len: word(24),
            runs: half(32),
        };
        let all = bytes.get(HEAD..head.record()?)?;
        let (runs, data) = all.split_at(head.runs as usize * RUN);
        Some((Record { head, runs: runs.as_chunks::<RUN>().0, data }, HEAD + all.len()))
    }

    /// The layout of the data at the target.
    pub fn runs(&self) -> Vec<Run> {
        if self.runs.is_empty() {
            return vec![Run { disp: self.head.disp, len: self.head.len, count: 1, stride: 0 }];
        }
        read_runs(self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_osc_support::wire::write_runs;

    #[test]
    fn records_survive_the_wire() {
        let put = Head {
            kind: kind::PUT,
            flags: flag::GIVES,
            number: 1 << 40,
            disp: -8,
            len: 3,
            ..Head::default()
        };
        let runs = [
            Run { disp: -8, len: 4, count: 2, stride: -16 },
            Run { disp: i64::MAX, len: u64::MAX, count: 1, stride: 0 },
        ];
        let fetch = Head { kind: kind::FETCH, code: 7, word: 9, len: 12, runs: 2, ..Head::default() };
        let mut message = Vec::new();
        put.write(&mut message);
        message.extend_from_slice(b"abc");
        fetch.write(&mut message);
        write_runs(&runs, &mut message);

        let (first, len) = Record::first(&message).expect("a record");
        assert_eq!((first.head, first.data, len), (put, &b"abc"[..], HEAD + 3));
        assert_eq!(first.runs(), [Run { disp: -8, len: 3, count: 1, stride: 0 }]);
        let (second, rest) = Record::first(&message[len..]).expect("a record");
        assert_eq!((second.head, second.data, second.runs()), (fetch, &b""[..], runs.to_vec()));
        assert_eq!(len + rest, message.len());
        assert!(Record::first(&message[..len - 1]).is_none());
        assert!(Record::first(&message[len..message.len() - 1]).is_none());
    }

    #[test]
    fn lengths_that_no_message_has_are_none() {
        let mut message = Vec::new();
        Head { kind: kind::SWAP, len: u64::MAX, ..Head::default() }.write(&mut message);
        assert!(Record::first(&message).is_none());
        message.clear();
        Head { kind: kind::PUT, flags: flag::GIVES, len: u64::MAX, runs: u32::MAX, ..Head::default() }
            .write(&mut message);
        assert!(Record::first(&message).is_none());
    }
}
