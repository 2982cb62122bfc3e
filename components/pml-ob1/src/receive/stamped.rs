//! A message with a stamp is admitted: at once, or among the deferred while MPI_ANY_TAG asks for the order of stamps (`ordered.rs`).

use crate::communicators::comm::Comm;
use crate::receive::incoming::{Incoming, MAX_KEPT};
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::receive::timing::Watch;
use crate::wire;
use oxmpi_mca::CriGuard;

impl Receiver {
    /// Admits a message with a stamp: matches or keeps it at once, or, while MPI_ANY_TAG asks for the order of stamps,
    /// puts it among the deferred messages of its communicator.
    pub fn arrive_stamped<const TIMED: bool>(
        &self,
        held: &mut CriGuard<'_>,
        comm: &Comm,
        inc: &Incoming<'_>,
    ) {
        if !comm.has_source(wire::source_of(inc.key)) {
            return self.peers().bad_header(
                held,
                inc.proc,
                "a source rank that its communicator does not have",
            );
        }
        if inc.len as usize > MAX_KEPT {
            return self.peers().bad_header(held, inc.proc, "an eager message larger than any");
        }
        let watch = Watch::<TIMED>::start();
        let mut shard = comm.shard_of(inc.key, held.entry(), held.who());
        if !shard.order.stamped {
            shard.order.stamped = true;
            shard.count_wild();
        }
        // MPI_ANY_TAG fits none of the library's own tags, so their order is that of their FIFO.
        let at_once = wire::tag_of(inc.key) < 0 || (shard.order.wild == 0 && shard.order.deferred.is_empty());
        if at_once {
            let met = self.match_or_keep(held, shard, comm, inc, true, watch);
            return self.end_meeting(held, met, inc);
        }
        if let Some(message) = shard.record(inc, inc.order_key | ShardData::STAMPED) {
            shard.order.deferred.push(message);
            if shard.order.deferred.len() == 1 {
                self.escalated.add(comm);
            }
            return watch.stop(self, held);
        }
        drop(shard);
        self.instance().host().fatal("no memory to keep a message that nobody receives yet");
    }
}
