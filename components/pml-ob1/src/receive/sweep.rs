//! Receives and messages are swept out for which nothing can come any more: on revoked communicators, and of lost processes (`ending/revoke.rs`).

use crate::communicators::comm::Comm;
use crate::long::revoked::fin_revoked;
use crate::receive::incoming::Incoming;
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::requests::request::request_of;
use crate::state::guarded::Held;
use oxmpi_mca::Status;

impl Receiver {
    /// Refuses a message on a revoked communicator: returns its credit, and tells a sender that waits for an answer by
    /// a FIN with REVOKED.
    pub fn refuse_message(&self, held: &Held<'_>, inc: &Incoming) {
        self.peers().consumed(inc, Some(held), held.threaded);
        if inc.src_req != 0
            && let Ok(peer) = self.peers().flow(inc.proc, held.ctx, held.threaded)
        {
            self.peers().control(held, peer, fin_revoked(inc.src_req));
        }
    }

    /// Refuses a message that `improbe` took out, on a communicator that has been revoked since.
    pub fn refuse_taken(&self, inc: &Incoming, threaded: bool) {
        self.refuse_message(&self.instance().hold(inc.ctx.into(), None, threaded), inc);
    }

    /// Fails the posted receives for which nothing can come any more, on all communicators: those on revoked ones, and
    /// those that name a lost process.
    #[cold]
    pub fn sweep(&self, held: &Held<'_>) {
        for comm in self.comms.with(held, |t| t.all()) {
            // SAFETY: communicators leave the table under all CRIs' locks, one of which is held.
            self.sweep_communicator(held, unsafe { &*comm });
        }
    }

    /// Fails the posted receives of a communicator for which nothing can come any more; if it was revoked, refuses its
    /// unexpected messages that came on the held CRI.
    pub fn sweep_communicator(&self, held: &Held<'_>, comm: &Comm) {
        let (revoked, lost) = (comm.is_revoked(), self.peers().lost());
        let (mut ended, mut refused) = (Vec::new(), Vec::new());
        let is_lost = |source: i32| comm.process_of(source).is_some_and(|proc| self.peers().is_closed(proc));
        comm.shards().each(held.threaded, |shard: &mut ShardData| {
            if shard.swept != (shard.stamp, lost) || revoked {
                shard.swept = (shard.stamp, lost);
                for node in shard.engine.take_posted() {
                    // SAFETY: it came out of the shard's engine.
                    let (pattern, stamp) = unsafe { (node.as_ref().pattern, node.as_ref().stamp) };
                    if revoked || pattern.named_source().is_some_and(is_lost) {
                        shard.uncount(stamp);
                        ended.push(node);
                    } else {
                        // SAFETY: as `post` has it; in the order of their stamps.
                        unsafe { shard.engine.post(node) };
                    }
                }
            }
            if revoked {
                refuse_waiting(shard, held, &mut refused);
            }
        });
        for node in ended {
            // SAFETY: it came out of a shard's engine; from here it is ours.
            self.peers().fail(held, unsafe { request_of(node) }, Status::PEER_FAILED);
        }
        refused.iter().for_each(|inc| self.refuse_message(held, inc));
    }
}

/// Takes the unexpected messages that came on the held CRI out of a shard into `refused`; of these only the lengths may
/// be looked at from here on.
fn refuse_waiting(shard: &mut ShardData, held: &Held<'_>, refused: &mut Vec<Incoming>) {
    let mut others = Vec::new();
    while let Some(record) = shard.pop_unmatched() {
        // SAFETY: it came out of the shard.
        let inc = unsafe { record.as_ref() }.incoming();
        if u32::from(inc.ctx) == held.ctx {
            refused.push(inc);
            shard.give(record);
        } else {
            others.push(record);
        }
    }
    for record in others {
        // SAFETY: as above; it stays until the engine gives it out again.
        unsafe { shard.engine.add_unexpected(record.cast()) };
    }
}
