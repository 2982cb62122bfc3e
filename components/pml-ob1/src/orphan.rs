//! Messages for communicators we have not been told of yet.
//!
//! A process may be through with making a communicator, and send on it, while we are still at it.
//! Its messages are kept as they came, with the CRI they came on, and handled again, in order, by `add_comm`. Their eager payload
//! counts against the sender's credit until it is matched, so it is bounded like any other.
//!
//! A prefixed message that arrives after its communicator was freed here looks the same and stays to the
//! end. That takes a program that frees a communicator with a message nobody received, in the moment
//! before the sender knew the index, and costs it that message's credit.

use crate::comm::Comm;
use crate::guarded::Held;
use crate::module::Ob1;
use crate::shard::Incoming;
use crate::wire::{self, Prefix, Reader, flag, kind};

/// A message as it came.
pub struct Orphan {
    pub proc: u32,
    pub bytes: Box<[u8]>,
}

impl Orphan {
    /// Word 0, and the prefix if there is one.
    fn address(&self) -> Option<(u64, Option<Prefix>)> {
        let mut r = Reader::new(&self.bytes);
        let head = r.word()?;
        if wire::flags_of(head) & flag::CID == 0 {
            return Some((head, None));
        }
        r.word()?;
        r.word()?;
        Some((head, Some(r.prefix()?)))
    }

    /// The part of it that is matched.
    fn incoming(&self, ctx: u32) -> Option<Incoming> {
        let mut r = Reader::new(&self.bytes);
        let head = r.word()?;
        let (inc, _, _) = Incoming::read(head, r, self.proc, ctx)?;
        Some(inc)
    }

    /// The same without what it says: its number, if it has one, will not be used. False: it has none.
    fn skip(&mut self) -> bool {
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

impl Ob1 {
    /// Keeps a message for later.
    #[cold]
    pub fn keep_orphan(&self, held: &Held<'_>, proc: u32, message: &[u8]) {
        let orphan = Orphan { proc, bytes: message.into() };
        self.cri(held.ctx).orphans.with(held, |o| o.push(orphan));
    }

    /// Takes a message back out of what is kept. `asked`: what its sender says of it.
    pub fn withdraw_orphan(&self, held: &Held<'_>, asked: &Incoming) -> Option<Incoming> {
        self.cri(held.ctx).orphans.with(held, |orphans| {
            let (at, inc) = orphans.iter().enumerate().find_map(|(at, o)| {
                let inc = o.incoming(held.ctx)?;
                let is_it = inc.src_req == asked.src_req && inc.proc == asked.proc && inc.key == asked.key;
                is_it.then_some((at, inc))
            })?;
            if !orphans[at].skip() {
                orphans.remove(at);
            }
            Some(inc)
        })
    }

    /// Handles what was kept for a communicator that exists now.
    pub fn adopt_orphans(&self, held: &Held<'_>, comm: &Comm) {
        let all = self.cri(held.ctx).orphans.with(held, core::mem::take);
        let (ours, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|o| o.address().is_some_and(|(head, prefix)| comm.claims(head, prefix.as_ref())));
        self.cri(held.ctx).orphans.with(held, |o| *o = others);
        for o in ours {
            // Not by `handle`: what is early of the same process is behind it.
            self.handle_in_turn(held, &o.bytes, o.proc);
        }
    }
}
