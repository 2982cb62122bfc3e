//! A message that is kept as it came, for a communicator or a turn to come.

use crate::receive::incoming::Incoming;
use crate::wire::{self, Prefix, Reader, flag, kind};

/// A message that is kept as it came, and the process that sent it.
pub struct Orphan {
    pub(super) proc: u32,
    pub(super) bytes: Box<[u8]>,
}

impl Orphan {
    /// Reads the kept message's word 0, and its prefix if it has one. `None`: the message is too short.
    pub fn address(&self) -> Option<(u64, Option<Prefix>)> {
        let mut r = Reader::new(&self.bytes);
        let head = r.word()?;
        if wire::flags_of(head) & flag::CID == 0 {
            return Some((head, None));
        }
        r.word()?;
        r.word()?;
        Some((head, Some(r.prefix()?)))
    }

    /// Reads the kept message as matching takes it, as having come on FIFO `ctx`. `None`: it is malformed.
    pub fn incoming(&self, ctx: u32) -> Option<Incoming<'_>> {
        let mut r = Reader::new(&self.bytes);
        let head = r.word()?;
        let (inc, _) = Incoming::read(head, r, self.proc, ctx)?;
        Some(inc)
    }

    /// Turns a kept message with a number into a SKIP of that number. `false`: it has no number, and nothing changed.
    pub fn skip(&mut self) -> bool {
        let Some((head, prefix)) =
            self.address().filter(|(head, _)| wire::flags_of(*head) & flag::NUMBERED != 0)
        else {
            return false;
        };
        let mut flags = flag::NUMBERED;
        let mut len = wire::MATCH_BYTES;
        if prefix.is_some() {
            flags |= flag::CID;
            len += wire::PREFIX_BYTES;
        }
        let head = head & !0xffff | kind::SKIP as u64 | (flags as u64) << 8;
        let mut bytes = self.bytes[..len].to_vec();
        bytes[..8].copy_from_slice(&head.to_le_bytes());
        self.bytes = bytes.into();
        true
    }
}
