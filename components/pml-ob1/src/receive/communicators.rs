//! Communicators are added and deleted (`communicators/comm.rs` has what is known of one).

use crate::communicators::comm::Comm;
use crate::communicators::inbound::Assignment;
use crate::matching::{Choice, Engine, Setting};
use crate::receive::receiver::Receiver;
use crate::receive::shards::Lock;
use oxmpi_mca::{CriSetGuard, Entry, Status};
use oxmpi_pml::{Counts, Described};
use std::sync::Arc;

impl Receiver {
    /// Makes a communicator and handles the messages that were kept for it. Takes all CRI locks. `Err`: no matching
    /// engine has the name, or the table has no place.
    pub fn add_communicator(&self, entry: &mut Entry, desc: Described<'_>) -> Result<Arc<Comm>, Status> {
        // SAFETY: the text of the host's description is valid for the call.
        let choice = match unsafe { desc.matching.get() } {
            Some("") => self.instance().config().matching.choice,
            name => Choice::by_name(name.unwrap_or_default()).ok_or_else(|| {
                self.instance()
                    .host()
                    .help("no-engine", &[name.unwrap_or("?"), &Choice::ALL.map(Choice::name).join(", ")]);
                Status::NOT_FOUND
            })?,
        };
        let windows = self.instance().config().matching.windows.for_ranks(desc.num_peers);
        let engine = Engine::new(Setting { choice, windows, ..self.instance().config().matching });
        let host = self.instance().host();
        let how = (self.instance().config().max_shards, self.instance().assignment() == Assignment::Stream);
        let mut all = self.instance().hold_all(entry);
        let lock = Lock::new(host.locks());
        let comm = self.comms.write(&mut all).add(desc, engine, how, lock)?;
        all.for_each(|held| {
            for orphan in self.take_orphans(held, &comm) {
                // Not by `handle`: what is early of the same process is behind it.
                self.handle_in_turn(held, &orphan.bytes, orphan.proc);
            }
        });
        Ok(comm)
    }

    /// Deletes a communicator, now or once nothing uses it. Takes all CRI locks.
    pub fn del_communicator(&self, entry: &mut Entry, comm: Arc<Comm>) -> Status {
        let mut all = self.instance().hold_all(entry);
        self.comms.write(&mut all).delete(comm);
        self.reap(&mut all);
        Status::OK
    }

    /// Frees deleted communicators that nothing uses any more: no posted receive, and no work or queued message
    /// anywhere that may name one. Messages that nobody received cost their sender no credit any more.
    fn reap(&self, all: &mut CriSetGuard<'_>) {
        let mut busy = self.owed.is_any();
        all.for_each(|held| busy |= self.instance().has_backlog(held));
        for comm in self.comms.write(all).reap(busy) {
            self.escalated.remove(&comm);
            all.for_each(|held| self.instance().own(held).last_arrival().forget());
            let mut left = Vec::new();
            for inbound in comm.all_inbound() {
                inbound.with(|s| left.extend(s.clear().map(|early| early.incoming().about)));
            }
            comm.shards().each(all.entry(), |shard| {
                while let Some(message) = shard.pop_unmatched() {
                    left.push(message.incoming().about);
                    shard.give(message);
                }
            });
            left.iter().for_each(|about| self.discard_message(&mut all.held(about.ctx.into()), about));
        }
    }

    /// Gives the counts of a communicator's messages and receives, for the performance variables.
    pub fn counts(&self, entry: &Entry, comm: &Comm) -> Counts {
        let mut sum = Counts::default();
        let mut home = 0;
        comm.shards().each(entry, |shard| {
            sum.unexpected += shard.waiting.kept;
            sum.posted += shard.posted(home);
            sum.posted_now += shard.engine.posted_len() as u64;
            if shard.spreading.home {
                sum.spreads = shard.spreading.count;
                home = shard.stamp;
                (sum.waiting, sum.most_waiting) = (shard.waiting.now(), shard.waiting.most());
            }
        });
        for kept in comm.all_inbound().map(|i| i.with(|s| s.kept())) {
            sum.out_of_sequence += kept.all;
            sum.out_of_sequence_now += kept.now;
            sum.most_out_of_sequence = sum.most_out_of_sequence.max(kept.most);
        }
        sum.match_time = self.match_time();
        sum
    }
}
