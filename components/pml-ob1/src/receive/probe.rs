//! Probing: looking at the waiting messages, with or without taking one out.

use crate::communicators::comm::Comm;
use crate::matching::Pattern;
use crate::receive::receiver::Receiver;
use crate::receive::shard::Record;
use crate::requests::thread_state::identity;
use crate::wire;
use core::ptr::null_mut;
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_pml::{Message, RecvArgs};

impl Receiver {
    /// The oldest waiting message that fits. Taken out, it belongs to the caller until `imrecv`.
    pub fn look(&self, args: &RecvArgs, status: &mut MsgStatus, take: bool) -> Option<*mut Message> {
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(args.comm) };
        let pattern = Pattern::new(args.src, args.tag);
        if self.instance().threaded() {
            self.look_there_first(comm, None, args);
        }
        let mut shard = comm.enter_to_receive(pattern, identity(args.thread), self.instance().threaded());
        let (record, inc) = if shard.order.stamped && !pattern.has_tag() {
            drop(shard);
            self.look_in_order(comm, pattern, take)?
        } else {
            let node = shard.engine.find_unexpected(pattern, take)?;
            // SAFETY: it is in the engine, or just came out of it; the lock is held.
            let record = unsafe { Record::of(node) };
            // SAFETY: as above.
            (record, unsafe { record.as_ref() }.incoming())
        };
        *status = MsgStatus {
            source: wire::source_of(inc.key),
            tag: wire::tag_of(inc.key),
            error: Status::OK,
            cancelled: 0,
            bytes: inc.msg_len,
        };
        Some(if take { record.as_ptr().cast() } else { null_mut() })
    }
}
