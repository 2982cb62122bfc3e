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
//! **Locks.** The mode's own first, then the locks of all CRIs on which messages come, then a shard's. A communicator with deferred messages
//! stands in a list under a lock of its own, which is a leaf.

use crate::communicators::comm::Comm;
use crate::matching::Pattern;
use crate::order::signals::is_sure;
use crate::peers::peer::Peer;
use crate::receive::incoming::Envelope;
use crate::receive::receiver::Receiver;
use crate::receive::shard::{KeptMessage, ShardData};
use crate::requests::completer::Completer;
use crate::state::hand::Hand;
use crate::state::locked::ALWAYS;
use crate::wire;
use oxmpi_mca::{CriSetGuard, Entry};
use std::collections::HashMap;

impl Receiver {
    /// Matches the deferred messages whose turn is sure, of all communicators, under all CRI locks. Returns the number
    /// of messages handled; 0 if another thread is at it.
    #[cold]
    pub fn resolve_some(&self, entry: &mut Entry) -> i32 {
        let Some(_mode) = self.escalated.mode.try_guard() else { return 0 };
        self.resolve(&mut self.instance().hold_wide(entry))
    }

    /// The oldest stamp that a process has announced of its messages that wait for room, or 0. A peer that cannot be
    /// reached announces nothing.
    fn announced_by(&self, proc: u32) -> u64 {
        // SYNC POINT with `Peer::queue_changed`.
        self.peers().peer(proc, ALWAYS).map_or(0, Peer::announced_stamp)
    }

    /// Takes the arrivals of all FIFOs twice, reads between the two what senders announce, and matches the deferred
    /// messages whose turn is sure then. Under the mode's lock; returns how many messages were
    /// handled.
    fn resolve(&self, all: &mut CriSetGuard<'_>) -> i32 {
        let mut events = self.look_everywhere(all);
        let comms = self.escalated.take();
        let deferred = |comm: &Comm| comm.shards().home(all.entry()).order.deferred.len();
        let seen: Vec<_> = comms.iter().map(|comm| deferred(comm)).collect();
        // After the first look and before the second: see the module's head.
        let mut told = HashMap::new();
        for comm in &comms {
            for proc in comm.shards().home(all.entry()).deferred().map(|inc| inc.proc) {
                told.entry(proc).or_insert_with(|| self.announced_by(proc));
            }
        }
        events += self.look_everywhere(all);
        for (comm, seen) in comms.iter().zip(seen) {
            self.settle(all, comm, seen, &told);
        }
        events
    }

    /// Polls every CRI that is held until it has no more arrivals, then handles early messages that have become due.
    /// Returns the number of events.
    fn look_everywhere(&self, all: &mut CriSetGuard<'_>) -> i32 {
        let mut events = 0;
        all.for_each(|held| {
            loop {
                let more = self.take_arrivals(held);
                if more == 0 {
                    break;
                }
                events += more;
            }
        });
        // A message that one FIFO brought may be the one that those of another wait for (`switch.rs`).
        while self.instance().is_watchful() {
            let mut taken = 0;
            all.for_each(|held| taken += self.take_early(held));
            if taken == 0 {
                break;
            }
        }
        events
    }

    /// Matches the deferred messages of a communicator whose turn is sure: `seen` of them had come before the
    /// last look at all FIFOs, and before it their processes told of what waits.
    fn settle(&self, all: &mut CriSetGuard<'_>, comm: &Comm, seen: usize, told: &HashMap<u32, u64>) {
        let mut shard = comm.shards().enter_in_mode_one(all.entry());
        let mut waiting = core::mem::take(&mut shard.order.deferred);
        // Nobody spreads what is in our hands.
        shard.order.wild += 1;
        drop(shard);
        // By source, the oldest that the last look brought.
        let mut unseen = HashMap::new();
        for inc in waiting.iter().skip(seen).map(KeptMessage::incoming) {
            let oldest = unseen.entry(wire::source_of(inc.key)).or_insert(inc.order_key);
            *oldest = inc.order_key.min(*oldest);
        }
        waiting.sort_by_key(|message| message.incoming().order_key);
        let mut later = Vec::new();
        for message in waiting {
            let about = message.incoming().about;
            let first_unseen = unseen.get(&wire::source_of(about.key));
            let in_sight = first_unseen.is_none_or(|&oldest| about.order_key < oldest);
            if in_sight
                && told.get(&about.proc).is_some_and(|&told| is_sure(ShardData::stamp_of(&about), told))
            {
                self.place(all, comm, message);
            } else {
                later.push(message);
            }
        }
        let mut shard = comm.shards().home(all.entry());
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
        for message in later {
            match shard.meet(message.incoming().arrival(comm.index()), all.entry()) {
                Some(completer) => matched.push((message, completer)),
                None => shard.add_waiting(message),
            }
        }
        drop(shard);
        for (message, completer) in matched {
            self.deliver_under(all, comm, completer, message);
        }
    }

    /// Delivers a message that was deferred, and gives its record back.
    fn deliver_under(
        &self,
        all: &mut CriSetGuard<'_>,
        comm: &Comm,
        completer: Completer,
        message: KeptMessage,
    ) {
        let inc = message.incoming();
        let key = inc.key;
        self.deliver(completer, &inc, Hand::Held(&mut all.held(inc.ctx.into())));
        comm.shard_of(key, all.entry(), None).give(message);
    }

    /// Gives a deferred message whose turn is sure to the oldest posted receive that fits, or adds it to the unexpected
    /// messages.
    fn place(&self, all: &mut CriSetGuard<'_>, comm: &Comm, message: KeptMessage) {
        let mut shard = comm.shards().home(all.entry());
        let Some(completer) = shard.meet(message.incoming().arrival(comm.index()), all.entry()) else {
            return shard.add_waiting(message);
        };
        drop(shard);
        self.deliver_under(all, comm, completer, message);
    }

    /// Calls `then` with the home shard, whether a message that fits `pattern` and of which the turn is sure waits there as the oldest that fits, and the
    /// messages that fit but of which the turn is not sure, which
    /// were taken out. Meanwhile stamped messages are deferred; all CRI locks are taken.
    fn in_order<R>(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        pattern: Pattern,
        then: impl FnOnce(&mut ShardData, bool, Vec<KeptMessage>) -> R,
    ) -> R {
        let _mode = self.escalated.mode.guard(ALWAYS);
        let mut all = self.instance().hold_wide(entry);
        // From here on stamped messages are deferred, so that none is found that came with the last look.
        comm.shards().enter_in_mode_one(all.entry()).order.wild += 1;
        let (mut told, mut floors) = (HashMap::new(), HashMap::new());
        let (mut unsure, mut looked) = (Vec::new(), false);
        let (mut shard, found) = loop {
            let mut shard = comm.shards().home(all.entry());
            shard.sort_waiting();
            let about: Option<Envelope> = shard.find(pattern).map(|inc| inc.about);
            let stamped = about.filter(|about| about.order_key & ShardData::STAMPED != 0);
            let asks = stamped.map(|about| about.proc).filter(|proc| !told.contains_key(proc));
            if asks.is_some() || (about.is_none() && !looked) {
                drop(shard);
                told.extend(asks.map(|proc| (proc, self.announced_by(proc))));
                self.resolve(&mut all);
                floors.clear();
                looked = true;
                continue;
            }
            let Some(stamped) = stamped else { break (shard, about.is_some()) };
            // The oldest stamp that its sender tells of, and our own oldest whose turn is not sure: nothing younger is.
            let floor = *floors.entry(stamped.proc).or_insert_with(|| {
                let deferred = shard.deferred().filter(|other| other.proc == stamped.proc);
                let oldest = deferred.map(|other| ShardData::stamp_of(&other)).min();
                let told = told.get(&stamped.proc).copied().filter(|&t| t != 0);
                oldest.into_iter().chain(told).min().unwrap_or(0)
            });
            if is_sure(ShardData::stamp_of(&stamped), floor) {
                break (shard, true);
            }
            unsure.extend(shard.take(pattern));
        };
        let result = then(&mut shard, found, unsure);
        shard.order.wild -= 1;
        result
    }

    /// Posts an MPI_ANY_TAG receive in a communicator with stamped messages, or delivers to it the oldest unexpected
    /// message that fits.
    #[cold]
    pub fn post_in_order(&self, entry: &mut Entry, comm: &Comm, completer: Completer, pattern: Pattern) {
        let mut shard = comm.shards().enter_in_mode_one(entry);
        if shard.order.deferred.is_empty() && shard.find(pattern).is_none() {
            return shard.post(completer, pattern, entry);
        }
        drop(shard);
        let found = self.in_order(entry, comm, pattern, |shard, found, unsure| {
            if found {
                unsure.into_iter().for_each(|message| shard.add_waiting(message));
                return shard.take(pattern).map(|message| (completer, message));
            }
            if shard.order.deferred.is_empty() && !unsure.is_empty() {
                self.escalated.add(comm);
            }
            shard.order.deferred.extend(unsure);
            shard.post(completer, pattern, ALWAYS);
            None
        });
        if let Some((completer, message)) = found {
            self.deliver_record(entry, comm, completer, message);
        }
    }

    /// Finds the oldest unexpected message that an MPI_ANY_TAG probe fits. `None`:
    /// no message whose turn is sure.
    #[cold]
    pub fn look_in_order(&self, entry: &mut Entry, comm: &Comm, pattern: Pattern) -> Option<Envelope> {
        self.probe_in_order(entry, comm, pattern, |shard| shard.find(pattern).map(|inc| inc.about))
    }

    /// The same; takes the message out.
    #[cold]
    pub fn take_in_order(&self, entry: &mut Entry, comm: &Comm, pattern: Pattern) -> Option<KeptMessage> {
        self.probe_in_order(entry, comm, pattern, |shard| shard.take(pattern))
    }

    /// Calls `then` with the home shard if the oldest message there that fits is one whose turn is sure.
    fn probe_in_order<R>(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        pattern: Pattern,
        then: impl FnOnce(&mut ShardData) -> Option<R>,
    ) -> Option<R> {
        let mut shard = comm.shards().enter_in_mode_one(entry);
        if shard.order.deferred.is_empty() && shard.find(pattern).is_none() {
            return None;
        }
        drop(shard);
        self.in_order(entry, comm, pattern, |shard, found, unsure| {
            let result = if found { then(shard) } else { None };
            unsure.into_iter().for_each(|message| shard.add_waiting(message));
            result
        })
    }
}
