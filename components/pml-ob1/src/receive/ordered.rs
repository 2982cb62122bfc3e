//! MPI_ANY_TAG over several FIFOs: which of a source's messages is the oldest.
//!
//! Messages that one exact-tag receive can match share a FIFO and need nothing of this. A receive with
//! MPI_ANY_TAG must take the message with the smallest stamp among all FIFOs of a source, and it must be sure
//! that no older one is still on its way.
//!
//! **Proof.** The transports here show a message as soon as its send has returned, unless there was no
//! room for it: then its sender has told its stamp by then (`switch.rs`). So whatever was sent before a message X, as
//! the program orders it, was visible or told of when X was visible: *see X, read what its sender tells, look at all
//! FIFOs once more: if X is older than what was told, everything that must be matched before X is here.* A message
//! that was told of and has found room since, so that the word said nothing of it any more, is found by that last
//! look. A message that the last look brings is not sure itself, and then nothing younger is. (Its stamp says little of when it
//! became visible: a thread that counts its stamps may do so while its message before is still on the way out of its core.)
//!
//! **Ordered mode.** While MPI_ANY_TAG receives are posted in a communicator (`Ordering::wild`), its stamped
//! messages are not matched as they come but *deferred*, unseen by any receive. The thread that makes progress then
//! resolves them ([`Receiver::resolve`]): it takes all CRI locks, looks at all FIFOs twice and reads in between, and matches, in
//! the order of stamps, what had been seen after the first look, as far as it is older than all that the second brought and
//! than what was told. The rest waits for the next turn. With the last MPI_ANY_TAG receive the communicator leaves the
//! mode.
//!
//! A receive or probe with MPI_ANY_TAG that finds messages waiting does the same before it takes the one with
//! the smallest stamp ([`Receiver::in_order`]); if none waits it is posted at once. If all that wait for it are younger
//! than what their senders tell, they become deferred, and the receive is posted; a probe has found nothing. Other
//! receives look at what waits as ever. An older message of their tag may only be among the deferred if all of that
//! tag are, since those of one tag share a FIFO, and then it is matched when its turn is sure, as those that come.
//!
//! **Shards.** MPI_ANY_TAG needs the communicator in one shard (`shards.rs`), so all of this happens in home:
//! who comes with MPI_ANY_TAG gathers first, and while `wild` is not 0 or messages are deferred nobody spreads.
//! In mode many stamped messages are matched as they come, each in its shard.
//!
//! **Locks.** The mode's own first, then all CRI locks, then a shard's. A communicator with deferred messages
//! stands in `list`, guarded by a leaf.

use crate::communicators::comm::Comm;
use crate::matching::{Pattern, Unexpected};
use crate::order::signals::is_sure;
use crate::peers::peer::Peer;
use crate::receive::incoming::Incoming;
use crate::receive::meet::{meet, post};
use crate::receive::receiver::Receiver;
use crate::receive::shard::{Record, ShardData};
use crate::requests::request::Request;
use crate::state::guarded::AllHeld;
use crate::wire;
use core::ptr::NonNull;
use std::collections::HashMap;

impl Receiver {
    /// Matches the deferred messages whose turn is sure, of all communicators, under all CRI locks. Returns the number
    /// of messages handled; 0 if another thread is at it.
    #[cold]
    pub fn resolve_some(&self) -> i32 {
        if !self.escalated.mode.try_lock() {
            return 0;
        }
        let events = self.resolve(&self.instance().hold_all(self.instance().width(), true));
        self.escalated.mode.unlock();
        events
    }

    /// The oldest stamp that a process has announced of its messages that wait for room, or 0. A peer that cannot be
    /// reached announces nothing.
    fn announced_by(&self, proc: u32) -> u64 {
        // SYNC POINT with `Peer::queue_changed`.
        self.peers().peer(proc, true).map_or(0, Peer::announced_stamp)
    }

    /// Takes the arrivals of all FIFOs twice, reads between the two what senders announce, and matches the deferred
    /// messages whose turn is sure then. Under the mode's lock and all CRI locks; returns how many messages were
    /// handled.
    fn resolve(&self, all: &AllHeld<'_>) -> i32 {
        let mut events = self.look_everywhere(all);
        let comms = self.escalated.with_list(core::mem::take);
        let seen: Vec<_> = comms
            .iter()
            // SAFETY: communicators leave the list before they go, under the locks we hold.
            .map(|&comm| unsafe { &*comm })
            .map(|comm| (comm, comm.shards().home(true).order.deferred.len()))
            .collect();
        // After the first look and before the second: see the module's head.
        let mut told = HashMap::new();
        for (comm, _) in &seen {
            for proc in comm.shards().home(true).deferred().map(|inc| inc.proc) {
                told.entry(proc).or_insert_with(|| self.announced_by(proc));
            }
        }
        events += self.look_everywhere(all);
        for (comm, seen) in seen {
            self.settle(all, comm, seen, &told);
        }
        events
    }

    /// Polls every CRI that is held until it has no more arrivals, then handles early messages that have become due.
    /// Returns the number of events.
    fn look_everywhere(&self, all: &AllHeld<'_>) -> i32 {
        let mut events = 0;
        for held in all.each() {
            loop {
                let more = self.take_arrivals(&held);
                if more == 0 {
                    break;
                }
                events += more;
            }
        }
        // A message that one FIFO brought may be the one that those of another wait for (`switch.rs`).
        while self.instance().is_watchful()
            && all.each().map(|held| self.take_early(&held)).sum::<usize>() > 0
        {}
        events
    }

    /// Matches the deferred messages of a communicator whose turn is sure: `seen` of them had come before the
    /// last look at all FIFOs, and before it their processes told of what waits.
    fn settle(&self, all: &AllHeld<'_>, comm: &Comm, seen: usize, told: &HashMap<u32, u64>) {
        let mut shard = comm.shards().enter_in_mode_one(true);
        let mut waiting = core::mem::take(&mut shard.order.deferred);
        // Nobody spreads what is in our hands.
        shard.order.wild += 1;
        drop(shard);
        // SAFETY: what is deferred belongs to the holder of the mode's lock once it is out of the list.
        let about = |r: NonNull<Record>| unsafe { r.as_ref() }.incoming();
        // By source, the oldest that the last look brought.
        let mut unseen = HashMap::new();
        for inc in waiting.iter().skip(seen).map(|&r| about(r)) {
            let oldest = unseen.entry(wire::source_of(inc.key)).or_insert(inc.order_key);
            *oldest = inc.order_key.min(*oldest);
        }
        waiting.sort_by_key(|&r| about(r).order_key);
        let mut later = Vec::new();
        for record in waiting {
            let inc = about(record);
            let in_sight = unseen.get(&wire::source_of(inc.key)).is_none_or(|&oldest| inc.order_key < oldest);
            if in_sight && told.get(&inc.proc).is_some_and(|&told| is_sure(ShardData::stamp_of(&inc), told)) {
                self.place(all, comm, record, &inc);
            } else {
                later.push(record);
            }
        }
        let mut shard = comm.shards().home(true);
        shard.order.wild -= 1;
        if shard.order.wild != 0 {
            if !later.is_empty() {
                shard.order.deferred = later;
                self.escalated.add(comm);
            }
            return;
        }
        // Nobody asks for their order any more; and who does next finds them all waiting.
        let mut matched = Vec::new();
        for record in later {
            let inc = about(record);
            match meet(&mut shard, inc.arrival(comm.index()), true) {
                Some(req) => matched.push((record, inc, req)),
                None => shard.add_waiting(record),
            }
        }
        drop(shard);
        for (record, inc, req) in matched {
            self.deliver(req, &inc, Some(&all.held(inc.ctx as u32)), true);
            comm.shard_of(inc.key, true, None).give(record);
        }
    }

    /// Gives a deferred message whose turn is sure to the oldest posted receive that fits, or adds it to the unexpected
    /// messages.
    fn place(&self, all: &AllHeld<'_>, comm: &Comm, record: NonNull<Record>, inc: &Incoming) {
        let mut shard = comm.shards().home(true);
        let Some(req) = meet(&mut shard, inc.arrival(comm.index()), true) else {
            return shard.add_waiting(record);
        };
        drop(shard);
        self.deliver(req, inc, Some(&all.held(inc.ctx as u32)), true);
        comm.shards().home(true).give(record);
    }

    /// Calls `then` with the home shard, the oldest unexpected message that fits `pattern` (`None`: there is none of
    /// which the turn is sure; it is not taken out), and the messages that fit but of which the turn is not sure, which
    /// were taken out. Meanwhile stamped messages are deferred; all CRI locks are taken.
    fn in_order<R>(
        &self,
        comm: &Comm,
        pattern: Pattern,
        then: impl FnOnce(&mut ShardData, Option<NonNull<Unexpected>>, Vec<NonNull<Record>>) -> R,
    ) -> R {
        let _mode = self.escalated.mode.guard(true);
        let all = self.instance().hold_all(self.instance().width(), true);
        // From here on stamped messages are deferred, so that none is found that came with the last look.
        comm.shards().enter_in_mode_one(true).order.wild += 1;
        let (mut told, mut floors) = (HashMap::new(), HashMap::new());
        let (mut unsure, mut looked) = (Vec::new(), false);
        let (mut shard, found) = loop {
            let mut shard = comm.shards().home(true);
            shard.sort_waiting();
            let node = shard.engine.find_unexpected(pattern, false);
            // SAFETY: it is in the engine; the lock is held.
            let inc = node.map(|node| unsafe { Record::of(node).as_ref() }.incoming());
            let stamped = inc.filter(|inc| inc.order_key & ShardData::STAMPED != 0);
            let asks = stamped.map(|inc| inc.proc).filter(|proc| !told.contains_key(proc));
            if asks.is_some() || (node.is_none() && !looked) {
                drop(shard);
                told.extend(asks.map(|proc| (proc, self.announced_by(proc))));
                self.resolve(&all);
                floors.clear();
                looked = true;
                continue;
            }
            let Some(inc) = stamped else { break (shard, node) };
            // The oldest stamp that its sender tells of, and our own oldest whose turn is not sure: nothing younger is.
            let floor = *floors.entry(inc.proc).or_insert_with(|| {
                let deferred = shard.deferred().filter(|other| other.proc == inc.proc);
                let oldest = deferred.map(|other| ShardData::stamp_of(&other)).min();
                oldest.into_iter().chain(told.get(&inc.proc).copied().filter(|&t| t != 0)).min().unwrap_or(0)
            });
            if is_sure(ShardData::stamp_of(&inc), floor) {
                break (shard, node);
            }
            // SAFETY: what the engine gives out is ours.
            unsure.extend(shard.engine.find_unexpected(pattern, true).map(|n| unsafe { Record::of(n) }));
        };
        let result = then(&mut shard, found, unsure);
        shard.order.wild -= 1;
        result
    }

    /// Posts an MPI_ANY_TAG receive in a communicator with stamped messages, or delivers to it the oldest unexpected
    /// message that fits. The caller holds no lock.
    #[cold]
    pub fn post_in_order(&self, comm: &Comm, req: &'static Request, pattern: Pattern) {
        let mut shard = comm.shards().enter_in_mode_one(true);
        if shard.order.deferred.is_empty() && shard.engine.find_unexpected(pattern, false).is_none() {
            return post(&mut shard, req, pattern, true);
        }
        drop(shard);
        let found = self.in_order(comm, pattern, |shard, found, unsure| {
            if found.is_some() {
                unsure.into_iter().for_each(|record| shard.add_waiting(record));
                return shard.engine.find_unexpected(pattern, true);
            }
            if shard.order.deferred.is_empty() && !unsure.is_empty() {
                self.escalated.add(comm);
            }
            shard.order.deferred.extend(unsure);
            post(shard, req, pattern, true);
            None
        });
        if let Some(node) = found {
            // SAFETY: it came out of the shard's engine.
            self.deliver_record(comm, req, unsafe { Record::of(node) }, true);
        }
    }

    /// Finds the oldest unexpected message that an MPI_ANY_TAG probe fits, and takes it out if `take` says so. `None`:
    /// no message whose turn is sure. The caller holds no lock.
    #[cold]
    pub fn look_in_order(
        &self,
        comm: &Comm,
        pattern: Pattern,
        take: bool,
    ) -> Option<(NonNull<Record>, Incoming)> {
        let mut shard = comm.shards().enter_in_mode_one(true);
        if shard.order.deferred.is_empty() && shard.engine.find_unexpected(pattern, false).is_none() {
            return None;
        }
        drop(shard);
        self.in_order(comm, pattern, |shard, found, unsure| {
            let node =
                if take && found.is_some() { shard.engine.find_unexpected(pattern, true) } else { found };
            unsure.into_iter().for_each(|record| shard.add_waiting(record));
            // SAFETY: it is in the engine, or just came out of it; the lock is held.
            let record = unsafe { Record::of(node?) };
            // SAFETY: as above.
            Some((record, unsafe { record.as_ref() }.incoming()))
        })
    }
}
