//! The receiving side: which rings are looked at, in what order, and when the receiver may sleep.
//!
//! A context's receiver polls the few rings it *watches* and, for all others, one summary word: idle
//! polling touches a handful of cache lines whatever the number of peers. A ring whose ready bit is
//! found is drained, and watched if a place is free. When all places are taken, a ring that was found
//! [`ACTIVATIONS`] times replaces the watched ring that has been silent longest, if that one was silent
//! all that time: giving up a watched ring costs a system call, so it must pay for many messages, and
//! not happen more than once in [`TURNS_BETWEEN`] turns. Where more processes than cores run, nothing is
//! watched: receivers sleep often there, and going to sleep is then free of system calls.
//!
//! A turn takes at most [`BATCH`] messages from each ring it looks at. Messages that remain in a
//! watched ring are found by the next turn; for another ring the receiver sets the ready bit itself.
//!
//! Messages are handed up where they lie. The ring moves on after the callback; a callback may send,
//! also on this context, so nothing here holds a `&mut` over one. Everything in this file is touched
//! only inside verbs of its context, which the caller serialises.

use crate::device::Shm;
use crate::receiver::handover::{FETCHED, PATIENCE};
use crate::receiver::incoming::{InPieces, Incoming, Receiver};
use crate::receiver::pace::Pace;
use crate::ring::{Consumer, LineMessage, Look, Mapped, Rest};
use crate::segment::doorbell::{self, ASLEEP};
use crate::segment::inbox::InboxMem;
use crate::segment::ready;
use crate::wire::{GRANULE, MAX_SHORT};
use core::cell::Cell;
use oxmpi_btl::WaitWord;
use oxmpi_mca::host::receive::STOP;

/// Messages taken from one ring in one turn.
const BATCH: i32 = 32;
/// Bytes prefetched of a long message that came behind others.
const FETCHED_OF_MORE: u64 = 8 * GRANULE;
/// From so many lines on a short message makes ready for one like it in return ([`Incoming::expect_answer`]). One line is
/// worth it as well; of few lines the requests cross those for the message itself, and both are late, unless the
/// sender leaves the lines of the answer alone for a while (`pace.rs`).
const MANY_LINES: u64 = 12;
/// How often a ring is found before it may displace a watched one.
const ACTIVATIONS: u32 = 16;
/// Turns between two displacements.
const TURNS_BETWEEN: u64 = 4096;

/// Outcome of a look into a ring.
enum Taken {
    /// Nothing was there, or not all of it.
    Nothing,
    /// A message, behind which this turn takes no more from the ring.
    Last,
    /// A message or a request for help; the ring is looked at again.
    More,
}

impl Shm {
    /// Carries out the verb progress: polls the watched rings, the rings whose ready bits are set, shared reads, and
    /// replies of service links. Returns the number of events.
    #[inline(always)]
    pub(crate) fn turn(&self, ctx: u32) -> i32 {
        let Some(receiver) = self.receiver(ctx) else { return 0 };
        receiver.turn.set(receiver.turn.get() + 1);
        let mut events = 0;
        for incoming in receiver.watched() {
            if events == 0 {
                // SAFETY: the outgoing end to the sender, touched in a verb of its context and not beyond this call.
                let sent = unsafe { (*incoming.back).get() }.tail();
                incoming.pace.pause_before_look(sent, receiver.turn.get(), || !self.host().threaded());
            }
            events += self.drain(receiver, incoming);
        }
        if ready::any(&receiver.inbox) {
            events += self.sweep(receiver);
        }
        // One branch for both.
        if receiver.cooperative_reads.is_waiting() | receiver.requests.is_waiting() {
            events += self.end_reads(ctx) + self.take_replies(ctx);
        }
        events
    }

    /// Hands up the messages of a ring, at most a batch, and none behind a long message that was waited for: the
    /// thread that waited posts its next receive first. Else two ranks that exchange messages fall into a step in
    /// which one always finds the next message early, copies it twice, and stays behind. A message in pieces ends it
    /// always, others where the layer above answers [`STOP`]. Returns how many were handled.
    #[inline(always)]
    fn drain(&self, receiver: &Receiver, incoming: &Incoming) -> i32 {
        let mut events = 0;
        let was_awaited = incoming.last.get() + 1 != receiver.turn.get();
        while events < BATCH {
            let look = match incoming.ring.look_for_line() {
                Ok(LineMessage { at, len, tag }) => {
                    if events == 0 {
                        incoming.expect_answer(1);
                    }
                    let data = incoming.ring.mem().line_data(at);
                    let answer = self.hand_up(receiver, incoming, data, len, tag);
                    incoming.ring.advance(1);
                    events += 1;
                    if answer == STOP {
                        break;
                    }
                    continue;
                }
                Err(look) => look,
            };
            match self.take(receiver, incoming, look, (events == 0, was_awaited)) {
                Taken::Nothing => break,
                Taken::Last => {
                    events += 1;
                    break;
                }
                Taken::More => events += 1,
            }
        }
        if events > 0 {
            incoming.pace.note_messages(receiver.turn.get(), receiver.longest_pause);
            incoming.last.set(receiver.turn.get());
        }
        events
    }

    /// Handles what a look has found in a ring: hands up a message, or helps with a read, and moves the ring on.
    /// [`Taken::Nothing`]: the message is not there as far as it has to be, or is garbage, which closes the ring. `first`: this
    /// turn has handled nothing of this ring before. `was_awaited`: the turn before this one found nothing in it.
    #[inline(always)]
    fn take(
        &self,
        receiver: &Receiver,
        incoming: &Incoming,
        look: Look,
        (first, was_awaited): (bool, bool),
    ) -> Taken {
        let after = |ends: bool| if ends { Taken::Last } else { Taken::More };
        match look {
            Look::Nothing => Taken::Nothing,
            Look::Short { at, len, tag, lines } => {
                incoming.ring.mem().fetch_lines(at, lines);
                if first && (lines >= MANY_LINES || incoming.pace.is_steady()) {
                    incoming.expect_answer(lines);
                }
                let answer = self.take_lines(receiver, incoming, at, len, tag, lines);
                answer.map_or(Taken::Nothing, |answer| after(answer == STOP))
            }
            Look::Long { at, len, tag } => {
                incoming.pace.note_long_message();
                let most = if first { FETCHED } else { FETCHED_OF_MORE };
                incoming.ring.mem().fetch_bulk(at, len.min(most));
                let data = incoming.ring.mem().bulk_at(at);
                let answer = self.hand_up(receiver, incoming, data, len, tag);
                incoming.ring.advance_long(at, len, 1);
                after(was_awaited || answer == STOP)
            }
            Look::Cell { which, len, tag } => {
                incoming.pace.note_long_message();
                if first {
                    incoming.expect_answer(1);
                }
                let answer = self.take_cell(receiver, incoming, which, len, tag);
                answer.map_or(Taken::Nothing, |answer| after(was_awaited || answer == STOP))
            }
            Look::Pieces { location, len, tag, line, lines } => {
                incoming.pace.note_long_message();
                if first {
                    incoming.expect_answer(lines);
                }
                // Always the last one: it takes so long that one turn more does not count.
                let whole =
                    self.take_pieces(receiver, incoming, InPieces { location, len, tag, line, lines });
                if whole { Taken::Last } else { Taken::Nothing }
            }
            Look::Assist { at, len } => {
                incoming.pace.note_long_message();
                let line = incoming.ring.mem().line_data(at);
                if !self.help(incoming.source, receiver.ctx, line, len) {
                    self.garbage(receiver, incoming, len);
                    return Taken::Nothing;
                }
                incoming.ring.advance(1);
                Taken::More
            }
            Look::Garbage(word) => {
                self.garbage(receiver, incoming, word);
                Taken::Nothing
            }
        }
    }

    /// Copies a message of several lines into one buffer, hands it up, and moves the ring on. Returns the answer of
    /// its receiver; `None`: not all lines are written.
    #[inline(never)]
    fn take_lines(
        &self,
        receiver: &Receiver,
        incoming: &Incoming,
        at: u64,
        len: u64,
        tag: u8,
        lines: u64,
    ) -> Option<u32> {
        let ring = &incoming.ring;
        match ring.has_all(at, lines, PATIENCE) {
            Rest::Here => {}
            Rest::Missing => return None,
            Rest::Garbage(word) => {
                self.garbage(receiver, incoming, word);
                return None;
            }
        }
        let mut stage = receiver.stage.take().unwrap_or_else(|| Box::new([0; MAX_SHORT as usize]));
        // SAFETY: the stage takes the lines of the longest message.
        unsafe { ring.mem().copy_lines(at, lines, stage.as_mut_ptr()) };
        let answer = self.hand_up(receiver, incoming, stage.as_ptr(), len, tag);
        receiver.stage.set(Some(stage));
        ring.advance(lines);
        Some(answer)
    }

    /// Drains the rings whose ready bits are set, and watches them where a place is free. Returns the number of
    /// messages.
    #[cold]
    #[inline(never)]
    fn sweep(&self, receiver: &Receiver) -> i32 {
        let mut events = 0;
        ready::take(&receiver.inbox, receiver.inbox.words(), |source| {
            let Some(incoming) = self.incoming(receiver, source) else { return };
            if incoming.closed.get() {
                return;
            }
            self.consider(receiver, incoming);
            events += self.drain(receiver, incoming);
            if !incoming.watched.get() && !incoming.closed.get() && !incoming.ring.is_empty() {
                ready::mark_again(&receiver.inbox, source);
            }
        });
        events
    }

    /// The receiver's end of the ring from `source`, mapped on first use. `None`: it cannot be mapped, now or at all.
    fn incoming<'a>(&self, receiver: &'a Receiver, source: u32) -> Option<&'a Incoming> {
        let slot = receiver.rings.get(source as usize)?;
        if let Some(incoming) = slot.get() {
            return Some(incoming);
        }
        let incoming = self.attach(receiver, source)?;
        Some(slot.get_or_init(|| incoming))
    }

    /// Maps the ring from `source` and makes its receiver's end. `None`: the peer broke the protocol, or memory is
    /// short, and then a later turn tries again.
    fn attach(&self, receiver: &Receiver, source: u32) -> Option<Box<Incoming>> {
        let segment = self.segment();
        let proc = segment.identity(source).map(|who| who.proc).filter(|&p| p < self.host().job().job_size);
        let Some(proc) = proc else {
            self.host().error(&format!("local rank {source} sends, but has not said who it is"));
            return None;
        };
        let place = match segment.find_ring(self.local_rank(), receiver.ctx, source) {
            Ok(Some(place)) => place,
            Ok(None) => {
                self.peer_broke(source, "announced a message in a ring that does not exist");
                return None;
            }
            Err(word) => {
                self.peer_broke(source, &format!("has {word:#x} where its ring's place should be"));
                return None;
            }
        };
        let mapping = match segment.map(place) {
            Ok(mapping) => mapping,
            Err(errno) => {
                // Its messages stay where they are; the next turn tries again.
                self.report_shortage("ring-no-memory", place.len(), &errno.to_string());
                ready::mark_again(&receiver.inbox, source);
                return None;
            }
        };
        // SAFETY: mapped as long as `_mapping`, which lives beside the consumer.
        let mem = unsafe { Mapped::new(mapping.base(), place.log2, place.several) };
        Some(Box::new(Incoming {
            ring: Consumer::new(mem),
            proc,
            source,
            watched: Cell::new(false),
            closed: Cell::new(false),
            last: Cell::new(0),
            handed_up: Cell::new(0),
            begun: Cell::new(None),
            back: core::ptr::from_ref(self.outgoing(source, receiver.ctx)?),
            pace: Pace::new(),
            found: Cell::new(0),
            since: Cell::new(0),
            _mapping: mapping,
        }))
    }

    /// Watches a ring that its ready bit was set for, if a place is free, or if the ring was found so often that it
    /// may displace another.
    fn consider(&self, receiver: &Receiver, incoming: &Incoming) {
        if incoming.watched.get() || receiver.places == 0 {
            return;
        }
        let count = receiver.count.get();
        if (count as usize) < receiver.places {
            receiver.watched[count as usize].set(incoming);
            receiver.count.set(count + 1);
            self.watch(incoming);
            return;
        }
        if incoming.found.get() == 0 {
            incoming.since.set(receiver.turn.get());
        }
        incoming.found.set(incoming.found.get() + 1);
        if incoming.found.get() >= ACTIVATIONS
            && receiver.turn.get() - receiver.displaced.get() >= TURNS_BETWEEN
        {
            incoming.found.set(0);
            self.displace(receiver, incoming);
        }
    }

    /// Gives `incoming` the place of the watched ring that has been silent longest, if that was silent
    /// since `incoming` was first found.
    fn displace(&self, receiver: &Receiver, incoming: &Incoming) {
        let Some((place, silent)) = receiver.watched().enumerate().min_by_key(|(_, i)| i.last.get()) else {
            return;
        };
        if silent.last.get() >= incoming.since.get() {
            return;
        }
        receiver.displaced.set(receiver.turn.get());
        if !doorbell::unwatch(&silent.ring, self.barriers()) {
            return;
        }
        silent.watched.set(false);
        if !silent.ring.is_empty() {
            // It came in between, and its sender may have said nothing.
            ready::mark_again(&receiver.inbox, silent.source);
        }
        receiver.watched[place].set(incoming);
        self.watch(incoming);
    }

    /// Marks a ring as watched and tells its sender so.
    fn watch(&self, incoming: &Incoming) {
        incoming.watched.set(true);
        doorbell::watch(&incoming.ring, self.barriers());
    }

    /// Maps the rings that peers have made before this rank came, or in an earlier life of it, and sets their ready
    /// bits, since their senders may believe them watched. False: the barrier for that failed.
    #[must_use]
    pub(crate) fn take_up_old_rings(&self) -> bool {
        let mut old = Vec::new();
        for receiver in self.receivers() {
            for source in 0..self.segment().layout().ranks {
                if !matches!(self.segment().find_ring(self.local_rank(), receiver.ctx, source), Ok(None))
                    && let Some(incoming) = self.incoming(receiver, source)
                {
                    doorbell::abandon(&incoming.ring);
                    old.push((receiver, source));
                }
            }
        }
        if !old.is_empty() && !self.barriers().full_barrier() {
            return false;
        }
        for (receiver, source) in old {
            ready::mark_again(&receiver.inbox, source);
        }
        true
    }

    /// Prepares a context for sleep: the word on which to sleep, and the value to expect there. `None`: something has
    /// come, or the barrier failed, so the caller must poll on. [`Shm::disarm_ctx`] follows in any case.
    pub(crate) fn arm_ctx(&self, ctx: u32) -> Option<WaitWord> {
        let receiver = self.receiver(ctx)?;
        // A look that costs nothing before the one that may cost a system call.
        if ready::any(&receiver.inbox)
            || !receiver.watched_rings().all(Consumer::is_empty)
            || receiver.cooperative_reads.is_waiting()
            || receiver.requests.has_reply()
        {
            return None;
        }
        let first = !receiver.armed.replace(true) && self.count_armed(1);
        let quiet = doorbell::arm(&receiver.inbox, receiver.watched_rings(), self.barriers(), first);
        // SYNC POINT with the fence in `reply` of the peer's service context: behind the barrier of `arm`.
        (quiet && !receiver.requests.has_reply()).then(|| WaitWord {
            addr: core::ptr::from_ref(receiver.inbox.bell()).cast(),
            expected: ASLEEP,
            reserved: 0,
        })
    }

    /// Ends the sleep of a context: its rings are watched again. Nothing happens to a context that is not armed.
    pub(crate) fn disarm_ctx(&self, ctx: u32) {
        if let Some(receiver) = self.receiver(ctx)
            && receiver.armed.replace(false)
        {
            self.count_armed(-1);
            doorbell::disarm(&receiver.inbox, receiver.watched_rings(), self.barriers());
        }
    }
}
