//! Receives and messages are swept out for which nothing can come any more: on revoked communicators, and of lost processes (`ending/revoke.rs`).

use crate::communicators::comm::Comm;
use crate::long::revoked::fin_revoked;
use crate::receive::incoming::Envelope;
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::state::hand::Hand;
use oxmpi_mca::{CriGuard, Status};

impl Receiver {
    /// Refuses a message on a revoked communicator: returns its credit, and tells a sender that waits for an answer by
    /// a FIN with REVOKED.
    pub fn refuse_message(&self, held: &mut CriGuard<'_>, about: &Envelope) {
        self.peers().consumed(about, Hand::Held(held));
        if about.src_req != 0
            && let Ok(peer) = self.peers().flow(about.proc, held.ctx(), held.entry())
        {
            self.peers().control(held, peer, fin_revoked(about.src_req));
        }
    }

    /// Fails the posted receives for which nothing can come any more, on all communicators: those on revoked ones, and
    /// those that name a lost process.
    #[cold]
    pub fn sweep(&self, held: &mut CriGuard<'_>) {
        let (comms, mut held) = self.comms.beside(held);
        comms.all().for_each(|comm| self.sweep_communicator(&mut held, comm));
    }

    /// Fails the posted receives of a communicator for which nothing can come any more; if it was revoked, refuses its
    /// unexpected messages that came on the held CRI.
    pub fn sweep_communicator(&self, held: &mut CriGuard<'_>, comm: &Comm) {
        let (revoked, lost) = (comm.is_revoked(), self.peers().lost());
        let (mut ended, mut refused) = (Vec::new(), Vec::new());
        let is_lost = |source: i32| comm.process_of(source).is_some_and(|proc| self.peers().is_closed(proc));
        comm.shards().each(held.entry(), |shard: &mut ShardData| {
            if shard.swept != (shard.stamp, lost) || revoked {
                shard.swept = (shard.stamp, lost);
                ended.extend(shard.unpost_all(|asks| revoked || asks.named_source().is_some_and(is_lost)));
            }
            if revoked {
                refuse_waiting(shard, held.ctx(), &mut refused);
            }
        });
        for completer in ended {
            self.peers().fail_taken(held.entry(), completer, Status::PEER_FAILED);
        }
        refused.iter().for_each(|about| self.refuse_message(held, about));
    }
}

/// Takes the unexpected messages that came on CRI `ctx` out of a shard; gives what is known of them.
fn refuse_waiting(shard: &mut ShardData, ctx: u32, refused: &mut Vec<Envelope>) {
    let mut others = Vec::new();
    while let Some(message) = shard.pop_unmatched() {
        let about = message.incoming().about;
        if u32::from(about.ctx) == ctx {
            refused.push(about);
            shard.give(message);
        } else {
            others.push(message);
        }
    }
    others.into_iter().for_each(|message| shard.put_back(message));
}
