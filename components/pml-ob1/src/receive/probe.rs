//! Probing: looking at the waiting messages, with or without taking one out.

use crate::communicators::comm::Comm;
use crate::matching::Pattern;
use crate::receive::incoming::Envelope;
use crate::receive::post::Taken;
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::receive::shards::Entered;
use crate::requests::thread_state::identity;
use crate::wire;
use oxmpi_mca::{Entry, MsgStatus, Status};
use oxmpi_pml::Incoming as Args;

/// The status of a probe that has found a message.
fn found(about: &Envelope) -> MsgStatus {
    MsgStatus {
        source: wire::source_of(about.key),
        tag: wire::tag_of(about.key),
        error: Status::OK,
        cancelled: 0,
        bytes: about.msg_len,
    }
}

impl Receiver {
    /// Looks for the oldest waiting message that fits, and leaves it there. `None`: there is none.
    pub fn look(&self, entry: &mut Entry, comm: &Comm, args: Args<'_>) -> Option<MsgStatus> {
        let pattern = Pattern::new(args.src, args.tag);
        if let Some(mut shard) = self.shard_to_probe(entry, comm, pattern, args) {
            return shard.find(pattern).map(|inc| found(&inc));
        }
        self.look_in_order(entry, comm, pattern).map(|about| found(&about))
    }

    /// Takes out the oldest waiting message that fits; it belongs to the caller until `imrecv`. `None`: there is none.
    pub fn take(&self, entry: &mut Entry, comm: &Comm, args: Args<'_>) -> Option<(Taken, MsgStatus)> {
        let pattern = Pattern::new(args.src, args.tag);
        let owner = comm.kept()?;
        let shard = self.shard_to_probe(entry, comm, pattern, args);
        let message = match shard.map(|mut shard| shard.take(pattern)) {
            Some(found) => found?,
            None => self.take_in_order(entry, comm, pattern)?,
        };
        let status = found(&message.incoming());
        Some((Taken { comm: owner, message }, status))
    }

    /// Enters the shard in which a probe looks. `None`: it is to look in the order of stamps.
    fn shard_to_probe<'a>(
        &self,
        entry: &'a Entry,
        comm: &'a Comm,
        pattern: Pattern,
        args: Args<'_>,
    ) -> Option<Entered<'a, ShardData>> {
        if entry.is_among() {
            self.look_there_first(entry, comm, None, args);
        }
        let shard = comm.enter_to_receive(pattern, entry, identity(entry));
        if shard.order.stamped && !pattern.has_tag() { None } else { Some(shard) }
    }
}
