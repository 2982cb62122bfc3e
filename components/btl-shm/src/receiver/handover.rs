//! A message is handed to the receiver of its tag where it lies, and a ring with something impossible in it is closed.

use crate::context::At;
use crate::device::Shm;
use crate::receiver::incoming::Incoming;
use oxmpi_btl::{Answer, Arrival, Bytes};

/// Looks at a line that its sender is just writing before the receiver turns to something else.
pub const PATIENCE: u32 = 300;
/// Bytes prefetched of a long message that was waited for, while it is matched: as much as is asked for sooner than
/// the processor sees a stream.
pub const FETCHED: u64 = 8 << 10;

impl Shm {
    /// Calls the receiver of the message's tag with a message where it lies; returns its answer.
    #[inline(always)]
    pub fn hand_up(&self, at: &mut At<'_>, incoming: &Incoming, bytes: Bytes<'_>, tag: u8) -> Answer {
        at.deliver(self.host(), Arrival { proc: incoming.proc, tag, bytes, link: 0 })
    }

    /// Closes a ring into which its sender wrote something impossible (`word`), and reports the peer; the first time
    /// only.
    #[cold]
    #[inline(never)]
    pub fn garbage(&self, incoming: &mut Incoming, word: u64) {
        if !core::mem::replace(&mut incoming.closed, true) {
            self.peer_broke(incoming.source, &format!("wrote {word:#018x} where a message should start"));
        }
    }
}
