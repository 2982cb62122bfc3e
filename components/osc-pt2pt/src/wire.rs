//! Messages and questions as bytes: records one behind the other, each a head of fixed length, the target's layout as short runs, and packed data.
//!
//! **A question** for a target's listener begins with the number of the origin's rank ([`QUESTION`]). Its answer is a status, that of the first operation that failed and has
//! none of its own, and behind it status and data of each operation that gets something ([`STATUS`]), in whole words.
//!
//! Numbers are those of the origin: they come back with the answer. All processes of a job have the same byte order, which the
//! records do not depend on all the same.

use core::ops::Deref;
use oxmpi_datatype::Run;
use oxmpi_mca::Status;
use oxmpi_osc_support::runs::bytes;
use oxmpi_osc_support::wire::{take_short_runs, write_short_runs};

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
    /// The records behind it come after the first `number` questions of their origin.
    pub const AFTER: u8 = 12;
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
    /// Bytes that they take.
    pub layout: u32,
}

/// Bytes of a [`Head`].
pub const HEAD: usize = 40;
/// Bytes in front of the records of a question.
pub const QUESTION: usize = 8;
/// Bytes of a status in an answer.
pub const STATUS: usize = 8;

/// Begins a question of this rank.
pub fn begin_question(rank: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&u64::from(rank).to_le_bytes());
}

/// The rank that asks, and the records of its question.
pub fn asker(question: &[u8]) -> Option<(u32, &[u8])> {
    let (rank, records) = question.split_first_chunk::<QUESTION>()?;
    Some((u32::try_from(u64::from_le_bytes(*rank)).ok()?, records))
}

/// Bytes of an answer that an operation's status and `len` bytes of data take.
pub fn room_of(len: usize) -> usize {
    STATUS + len.next_multiple_of(8)
}

/// The status at the front of these bytes, and what is behind it.
pub fn take_status(bytes: &[u8]) -> Option<(Status, &[u8])> {
    let (status, rest) = bytes.split_first_chunk::<STATUS>()?;
    Some((Status(i64::from_le_bytes(*status) as i32), rest))
}

/// Writes a status to the front of these bytes. Panics if it does not fit.
pub fn write_status(status: Status, to: &mut [u8]) {
    to[..STATUS].copy_from_slice(&i64::from(status.0).to_le_bytes());
}

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
        HEAD.checked_add(self.layout as usize)?.checked_add(self.inline()?)
    }

    /// Appends it; its layout and data are to follow.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.kind, self.flags]);
        out.extend_from_slice(&self.code.to_le_bytes());
        out.extend_from_slice(&self.word.to_le_bytes());
        [self.number, self.disp.cast_unsigned(), self.len]
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(&self.runs.to_le_bytes());
        out.extend_from_slice(&self.layout.to_le_bytes());
    }
}

/// The layout of runs as a record has it.
pub fn layout_of(runs: &[Run]) -> Vec<u8> {
    let mut layout = Vec::new();
    write_short_runs(runs, &mut layout);
    layout
}

/// A record as it stands in a message.
pub struct Record<'a> {
    pub head: Head,
    layout: &'a [u8],
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
            layout: half(36),
        };
        let all = bytes.get(HEAD..head.record()?)?;
        let (layout, data) = all.split_at(head.layout as usize);
        Some((Record { head, layout, data }, HEAD + all.len()))
    }

    /// The layout of the data at the target; `None`: it is none, or not of as many bytes.
    pub fn runs(&self) -> Option<Layout> {
        let Head { disp, len, .. } = self.head;
        if self.head.runs == 0 {
            let fits = self.layout.is_empty() && len > 0;
            return fits.then_some(Layout::Block([Run { disp, len, count: 1, stride: 0 }]));
        }
        let mut rest = self.layout;
        let runs = take_short_runs(&mut rest, self.head.runs)?;
        (rest.is_empty() && bytes(&runs) == Some(len)).then_some(Layout::Runs(runs))
    }
}

/// The runs of a record, of which there is one in most cases.
pub enum Layout {
    Block([Run; 1]),
    Runs(Vec<Run>),
}

impl Deref for Layout {
    type Target = [Run];
    fn deref(&self) -> &[Run] {
        match self {
            Layout::Block(run) => run,
            Layout::Runs(runs) => runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Run { disp: i64::MAX, len: 4, count: 1, stride: 0 },
        ];
        let layout = layout_of(&runs);
        let (runs_of_it, bytes) = (runs.len() as u32, layout.len() as u32);
        let fetch = Head {
            kind: kind::FETCH,
            code: 7,
            word: 9,
            len: 12,
            runs: runs_of_it,
            layout: bytes,
            ..Head::default()
        };
        let mut message = Vec::new();
        put.write(&mut message);
        message.extend_from_slice(b"abc");
        fetch.write(&mut message);
        message.extend_from_slice(&layout);

        let (first, len) = Record::first(&message).expect("a record");
        assert_eq!((first.head, first.data, len), (put, &b"abc"[..], HEAD + 3));
        assert_eq!(first.runs().as_deref(), Some(&[Run { disp: -8, len: 3, count: 1, stride: 0 }][..]));
        let (second, rest) = Record::first(&message[len..]).expect("a record");
        assert_eq!((second.head, second.data, second.runs().as_deref()), (fetch, &b""[..], Some(&runs[..])));
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
        Head { kind: kind::PUT, flags: flag::GIVES, len: u64::MAX, layout: u32::MAX, ..Head::default() }
            .write(&mut message);
        assert!(Record::first(&message).is_none());
    }

    #[test]
    fn layouts_that_make_no_sense_are_none() {
        let layout = layout_of(&[Run { disp: 8, len: 4, count: 2, stride: 8 }]);
        let record = |runs, len, layout: &[u8]| {
            let mut message = Vec::new();
            Head { kind: kind::GET, len, runs, layout: layout.len() as u32, ..Head::default() }
                .write(&mut message);
            message.extend_from_slice(layout);
            Record::first(&message).expect("a record").0.runs().is_some()
        };
        assert!(record(1, 8, &layout) && record(0, 8, &[]));
        assert!(!record(0, 8, &layout) && !record(2, 8, &layout), "another number of runs");
        assert!(!record(1, 9, &layout), "of other bytes");
        assert!(!record(1, 8, &layout[..3]), "cut off");
    }

    #[test]
    fn a_question_names_who_asks() {
        let mut question = Vec::new();
        begin_question(7, &mut question);
        question.push(1);
        assert_eq!(asker(&question), Some((7, &[1][..])));
        assert_eq!(asker(&question[..7]), None);
        assert_eq!(asker(&[0xff; 8]), None);
        let mut answer = [0; 16];
        write_status(Status::RMA_RANGE, &mut answer[..]);
        assert_eq!(take_status(&answer), Some((Status::RMA_RANGE, &[0; 8][..])));
        assert_eq!((room_of(0), room_of(1), room_of(8)), (8, 16, 16));
    }
}
