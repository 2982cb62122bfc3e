//! A message as matching takes it ([`Incoming`]): read from its header and checked, or kept before.

use crate::long::runs;
use crate::matching::Arrival;
use crate::wire::{self, Prefix, Reader, flag, kind};
use core::ops::Deref;
use oxmpi_mca::Status;

/// What is known of a message that is matched, beside its payload.
#[derive(Clone, Copy)]
pub struct Envelope {
    pub key: u64,
    pub order_key: u64,
    /// Bytes of payload that came with it.
    pub len: u64,
    /// Bytes of the whole message.
    pub msg_len: u64,
    /// The sender's request where it waits for an answer, or 0.
    pub src_req: u64,
    pub proc: u32,
    /// [`kind`]: MATCH, RNDV, RPUT, or RGET or RUNS (whose payload is no data, but says where that is), or FAILURE (whose payload is an
    /// error).
    pub kind: u8,
    /// The FIFO it came on.
    pub ctx: u8,
}

/// A message as matching hands it on: just arrived (payload in the transport's buffer) or kept.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    pub about: Envelope,
    pub payload: &'a [u8],
}

impl Deref for Incoming<'_> {
    type Target = Envelope;
    #[inline(always)]
    fn deref(&self) -> &Envelope {
        &self.about
    }
}

impl<'a> Incoming<'a> {
    /// Describes a plain message that just came on FIFO `ctx`.
    pub fn plain(key: u64, order_key: u64, payload: &'a [u8], proc: u32, ctx: u32) -> Incoming<'a> {
        let len = payload.len() as u64;
        let about = Envelope {
            key,
            order_key,
            len,
            msg_len: len,
            src_req: 0,
            proc,
            kind: kind::MATCH,
            ctx: ctx as u8,
        };
        Incoming { about, payload }
    }

    /// Describes a message whose payload is elsewhere already.
    pub fn without_payload(about: Envelope) -> Incoming<'a> {
        Incoming { about, payload: &[] }
    }

    /// Reads the words behind the head of a message that is matched: its description and its prefix.
    /// `None`: cut off.
    pub fn read(head: u64, mut r: Reader<'a>, proc: u32, ctx: u32) -> Option<(Incoming<'a>, Option<Prefix>)> {
        let flags = wire::flags_of(head);
        let mut about = Envelope {
            key: r.word()?,
            order_key: r.word()?,
            len: 0,
            msg_len: 0,
            src_req: 0,
            proc,
            kind: wire::kind_of(head),
            ctx: ctx as u8,
        };
        let prefix = if flags & flag::CID != 0 { Some(r.prefix()?) } else { None };
        let long = matches!(about.kind, kind::RNDV | kind::RGET | kind::RUNS | kind::RPUT);
        if long {
            about.msg_len = r.word()?;
        }
        if long || flags & flag::SYNC != 0 || about.kind == kind::CANCEL {
            about.src_req = r.word()?;
        }
        let payload = r.rest();
        about.len = payload.len() as u64;
        if about.kind == kind::MATCH {
            about.msg_len = about.len;
        }
        Some((Incoming { about, payload }, prefix))
    }

    /// The sender's address and registration handles behind an RGET header. `None`: cut off.
    pub fn address(&self) -> Option<(u64, &'a [u8])> {
        let mut r = Reader::new(self.payload);
        Some((r.word()?, r.rest()))
    }

    /// The error that a FAILURE ends its receive with. `None`: it has no such payload, or that is no error.
    pub fn failure(&self) -> Option<Status> {
        let word = u64::from_le_bytes(self.payload.try_into().ok()?);
        let error = Status(i32::try_from(word.cast_signed()).ok()?);
        error.is_err().then_some(error)
    }
}

impl Envelope {
    /// Whether all data is here and the sender waits for no answer.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.kind == kind::MATCH && self.src_req == 0
    }

    /// The fields of a message by which it is matched. `comm`: the index of its communicator.
    #[inline(always)]
    pub fn arrival(&self, comm: u32) -> Arrival {
        Arrival { key: self.key, comm, order_key: self.order_key }
    }
}

/// Payload of a message that is kept has a 32-bit length.
pub const MAX_KEPT: usize = 1 << 30;

/// Kind and flags of a plain message with a stamp.
pub const STAMPED: u16 = kind::MATCH as u16 | (flag::STAMPED as u16) << 8;

impl Incoming<'_> {
    /// The first thing about a matched message's header that cannot be, in words; `None`: it is sound.
    pub fn what_is_wrong(&self, flags: u8) -> Option<&'static str> {
        let skip = self.kind == kind::SKIP;
        if flags & !(flag::CID | flag::SYNC | flag::STAMPED | flag::NUMBERED) != 0 {
            Some("flags that do not exist")
        } else if flags & flag::STAMPED != 0 && flags & flag::NUMBERED != 0 {
            Some("a stamp and a number at once")
        } else if skip && (flags & !flag::CID != flag::NUMBERED || self.len != 0) {
            Some("a number to skip that is none")
        } else if self.kind == kind::CANCEL && (flags & !flag::CID != 0 || self.len != 0) {
            Some("a message to take back that is none")
        } else if self.kind == kind::RUNS && !runs::is_list(self.payload, self.msg_len) {
            Some("a list of pieces that does not fit its message")
        } else if self.kind == kind::RPUT && self.len != 0 {
            Some("data in front of what is to be put")
        } else if self.kind == kind::FAILURE && (flags & flag::SYNC != 0 || self.failure().is_none()) {
            Some("a failure that is none")
        } else if !matches!(self.kind, kind::RUNS | kind::RGET | kind::FAILURE) && self.len > self.msg_len {
            Some("more data than its length says")
        } else if self.msg_len > i64::MAX as u64 {
            Some("a length that no buffer has")
        } else if (matches!(self.kind, kind::RNDV | kind::RGET | kind::RPUT | kind::RUNS | kind::CANCEL)
            || flags & flag::SYNC != 0)
            && self.src_req == 0
        {
            Some("no request to answer to")
        } else {
            None
        }
    }
}
