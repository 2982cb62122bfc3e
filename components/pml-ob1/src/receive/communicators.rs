//! Communicators are added and deleted (`communicators/comm.rs` has what is known of one).

use crate::communicators::comm::Comm;
use crate::communicators::inbound::Assignment;
use crate::matching::{Choice, Engine, Setting};
use crate::receive::receiver::Receiver;
use crate::state::guarded::AllHeld;
use oxmpi_mca::Status;
use oxmpi_pml::{CommDesc, Counts};

impl Receiver {
    /// Makes a communicator and handles the messages that were kept for it. Takes all CRI locks. `Err`: no matching
    /// engine has the name, or the table has no place.
    pub fn add_communicator(&self, desc: &CommDesc) -> Result<*mut Comm, Status> {
        // SAFETY: the host's text is valid for the call.
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
        let all = self.instance().hold_all(self.instance().width(), self.instance().threaded());
        let (most, streams) =
            (self.instance().config().max_shards, self.instance().assignment() == Assignment::Stream);
        let comm = self
            .comms
            .with(&all.held(0), |t| t.add(desc, engine, most, streams, self.instance().host().locks()))?;
        for held in all.each() {
            // SAFETY: just made, and we hold the locks.
            for orphan in self.take_orphans(&held, unsafe { &*comm }) {
                // Not by `handle`: what is early of the same process is behind it.
                self.handle_in_turn(&held, &orphan.bytes, orphan.proc);
            }
        }
        Ok(comm)
    }

    /// Deletes a communicator, now or once nothing uses it. Takes all CRI locks.
    pub fn del_communicator(&self, comm: *mut Comm) -> Status {
        let all = self.instance().hold_all(self.instance().width(), self.instance().threaded());
        self.comms.with(&all.held(0), |t| t.delete(comm));
        self.reap(&all);
        Status::OK
    }

    /// Frees deleted communicators that nothing uses any more: no posted receive, and no work or queued message
    /// anywhere that may name one. Messages that nobody received cost their sender no credit any more. The caller holds
    /// all CRI locks.
    fn reap(&self, all: &AllHeld<'_>) {
        let owed = self.owed.is_any();
        let busy = owed || all.each().any(|held| self.instance().has_backlog(&held));
        for (at, comm) in self.comms.with(&all.held(0), |t| t.reap(busy)) {
            self.escalated.remove(at);
            all.each().for_each(|held| self.instance().cri(held.ctx).last_arrival().forget(&held));
            for early in comm.all_inbound().flat_map(|i| i.with(|s| s.clear().collect::<Vec<_>>())) {
                let inc = early.incoming();
                self.discard_message(&all.held(inc.ctx as u32), &inc);
            }
            comm.shards().each(false, |shard| {
                while let Some(record) = shard.pop_unmatched() {
                    // SAFETY: it came out of the shard.
                    let inc = unsafe { record.as_ref() }.incoming();
                    shard.give(record);
                    self.discard_message(&all.held(inc.ctx as u32), &inc);
                }
            });
        }
    }

    /// Gives the counts of a communicator's messages and receives, for the performance variables.
    pub fn counts(&self, comm: &Comm) -> Counts {
        let mut sum = Counts::default();
        let mut home = 0;
        comm.shards().each(self.instance().threaded(), |shard| {
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
