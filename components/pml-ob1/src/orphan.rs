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
use crate::wire::{self, Prefix, Reader, flag};

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
}

impl Ob1 {
    /// Keeps a message for later.
    #[cold]
    pub fn keep_orphan(&self, held: &Held<'_>, proc: u32, message: &[u8]) {
        let orphan = Orphan { proc, bytes: message.into() };
        self.cri(held.ctx).orphans.with(held, |o| o.push(orphan));
    }

    /// Handles what was kept for a communicator that exists now.
    pub fn adopt_orphans(&self, held: &Held<'_>, comm: &Comm) {
        let all = self.cri(held.ctx).orphans.with(held, core::mem::take);
        let (ours, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|o| o.address().is_some_and(|(head, prefix)| comm.claims(head, prefix.as_ref())));
        self.cri(held.ctx).orphans.with(held, |o| *o = others);
        for o in ours {
            self.handle(held, &o.bytes, o.proc);
        }
    }
}
