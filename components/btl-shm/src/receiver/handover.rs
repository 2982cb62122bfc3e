//! A message is handed to the receiver of its tag where it lies, and a ring with something impossible in it is closed.

use crate::device::Shm;
use crate::receiver::incoming::{Incoming, Receiver};
use core::ffi::c_void;
use oxmpi_mca::RecvDesc;

/// Looks at a line that its sender is just writing before the receiver turns to something else.
pub const PATIENCE: u32 = 300;
/// Bytes prefetched of a long message that was waited for, while it is matched: as much as is asked for sooner than
/// the processor sees a stream.
pub const FETCHED: u64 = 8 << 10;

impl Shm {
    /// Calls the receiver of the message's tag with a message where it lies; returns its answer.
    #[inline(always)]
    pub fn hand_up(
        &self,
        receiver: &Receiver,
        incoming: &Incoming,
        data: *const u8,
        len: u64,
        tag: u8,
    ) -> u32 {
        let row = self.host().am(tag);
        (row.receive)(row.ctx, &self.describe(receiver, incoming, data, len))
    }

    /// The descriptor with which a message at `data` is handed up: bytes, sending process, context and module.
    #[inline(always)]
    pub fn describe(&self, receiver: &Receiver, incoming: &Incoming, data: *const u8, len: u64) -> RecvDesc {
        RecvDesc {
            data,
            len,
            proc: incoming.proc,
            ctx: receiver.ctx,
            module: core::ptr::from_ref(self).cast_mut().cast::<c_void>(),
            link: 0,
        }
    }

    /// Closes a ring into which its sender wrote something impossible (`word`), and reports the peer; the first time
    /// only.
    #[cold]
    #[inline(never)]
    pub fn garbage(&self, receiver: &Receiver, incoming: &Incoming, word: u64) {
        if !incoming.closed.replace(true) {
            receiver.forget(incoming);
            self.peer_broke(incoming.source, &format!("wrote {word:#018x} where a message should start"));
        }
    }
}
