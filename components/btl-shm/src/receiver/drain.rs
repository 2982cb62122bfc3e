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
//! Messages are handed up where they lie, and the ring moves on after the callback. A callback may send, also on this context, and nothing of
//! that may be borrowed then: so a ring is taken out of its place while a turn looks into it. Nothing that a callback does needs it
//! there, since turns do not nest.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::receiver::handover::{FETCHED, PATIENCE};
use crate::receiver::incoming::{InPieces, Incoming};
use crate::ring::{Consumer, Front, LineMessage, Look, Rest};
use crate::segment::doorbell::{self, ASLEEP};
use crate::segment::inbox::InboxMem;
use crate::segment::ready::{self, Taken as Found};
use crate::sender::outgoing::unknown_peer;
use crate::wire::{Flag, GRANULE, MAX_SHORT, PER_LINE};
use oxmpi_btl::{Answer, Bytes, WaitWord};

/// Messages taken from one ring in one turn.
const BATCH: i32 = 32;
/// Bytes prefetched of a long message that came behind others.
const FETCHED_OF_MORE: u64 = 8 * GRANULE;
/// From so many lines on a short message makes ready for one like it in return (`Outgoing::claim_lines`). One line is
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

/// Makes ready for a message in return that is as long as the one that is taken: of one line, or of so many. In further segments nobody does.
#[inline(always)]
fn claim_lines(cx: &Context, incoming: &Incoming, lines: Option<u64>) {
    let Some(outgoing) = cx.outgoing.get(incoming.source as usize) else { return };
    match lines {
        None => outgoing.claim_line(),
        Some(lines) => outgoing.claim_lines(lines),
    }
}

impl Shm {
    /// Carries out the verb progress: polls the watched rings, the rings whose ready bits are set, shared reads,
    /// replies of service links, and further segments. Returns the number of events.
    #[inline(always)]
    pub(crate) fn turn(&self, at: &mut At<'_>) -> i32 {
        at.receiver.turn += 1;
        let (mut events, mut place) = (0, 0);
        while place < at.receiver.watched.len() {
            let Some(mut incoming) = at.receiver.watched[place].take() else { break };
            if events == 0 {
                // Those of the first segment alone are watched.
                let Some(outgoing) = at.outgoing.get(incoming.source as usize) else { unknown_peer() };
                let sent = outgoing.tail();
                incoming.pace.pause_before_look(sent, at.receiver.turn, || !self.host().threaded());
            }
            events += self.drain::<false>(at, &mut incoming);
            if incoming.closed {
                // Another one is at this place then, or none.
                at.receiver.shut(incoming, Some(place));
            } else {
                at.receiver.put_back(incoming, Some(place));
                place += 1;
            }
        }
        if ready::any(&at.receiver.inbox) {
            events += self.sweep(at);
        }
        // One branch for all.
        if at.reads.is_waiting() | at.aside.is_any() {
            events += self.end_reads(at) + self.take_replies(at) + self.sweep_further(at);
        }
        events
    }

    /// Hands up the messages of a ring, at most a batch, and none behind a long message that was waited for: the
    /// thread that waited posts its next receive first. Else two ranks that exchange messages fall into a step in
    /// which one always finds the next message early, copies it twice, and stays behind. A message in pieces ends it
    /// always, others where the layer above [asks for that](Answer::stops). `FURTHER`: a ring of a further segment, of which nothing is
    /// handed up that may be of another life of its process (`joining.rs`). Returns how many were handled.
    #[inline(always)]
    fn drain<const FURTHER: bool>(&self, at: &mut At<'_>, incoming: &mut Incoming) -> i32 {
        let mut events = 0;
        while events < BATCH {
            match incoming.ring.front() {
                Front::Nothing => break,
                // Behind the look: a process that is known anew sends after this process has said so.
                _ if FURTHER && self.is_out_of_date(at) => break,
                Front::Line(LineMessage { at: line, len, tag }) => {
                    if events == 0 {
                        claim_lines(at, incoming, None);
                    }
                    // SAFETY: the line has no more bytes than fit into one, and stays as it is until the ring moves on.
                    let bytes = unsafe { Bytes::new(incoming.ring.mem().line_data(line), len) };
                    let answer = self.hand_up(at, incoming, bytes, tag);
                    incoming.ring.advance(1);
                    events += 1;
                    if answer.stops() {
                        break;
                    }
                }
                Front::Other(flag) => match self.take(at, incoming, flag, events == 0) {
                    Taken::Nothing => break,
                    Taken::Last => {
                        events += 1;
                        break;
                    }
                    Taken::More => events += 1,
                },
            }
        }
        if events > 0 {
            incoming.pace.note_messages(at.receiver.turn, at.receiver.longest_pause);
            incoming.last = at.receiver.turn;
        }
        events
    }

    /// Handles what a look has found in a ring that is not a message of one line: hands up a message, or helps with a read, and moves
    /// the ring on. [`Taken::Nothing`]: the message is not there as far as it has to be, or is garbage, which closes the ring.
    /// `first`: this turn has handled nothing of this ring before.
    #[inline(never)]
    fn take(&self, at: &mut At<'_>, incoming: &mut Incoming, flag: Flag, first: bool) -> Taken {
        let after = |ends: bool| if ends { Taken::Last } else { Taken::More };
        // The turn before this one found nothing in it.
        let was_awaited = incoming.last + 1 != at.receiver.turn;
        match incoming.ring.explain(flag) {
            Look::Nothing => Taken::Nothing,
            Look::Short { at: line, len, tag, lines } => {
                incoming.ring.mem().fetch_lines(line, lines);
                if first && (lines >= MANY_LINES || incoming.pace.is_steady()) {
                    claim_lines(at, incoming, Some(lines));
                }
                let answer = self.take_lines(at, incoming, line, len, tag, lines);
                answer.map_or(Taken::Nothing, |answer| after(answer.stops()))
            }
            Look::Long { at: position, len, tag } => {
                incoming.pace.note_long_message();
                let most = if first { FETCHED } else { FETCHED_OF_MORE };
                incoming.ring.mem().fetch_bulk(position, len.min(most));
                // SAFETY: a look finds no message that is not within the bulk, and it stays as it is until the ring moves on.
                let bytes = unsafe { Bytes::new(incoming.ring.mem().bulk_at(position), len) };
                let answer = self.hand_up(at, incoming, bytes, tag);
                incoming.ring.advance_long(position, len, 1);
                after(was_awaited || answer.stops())
            }
            Look::Cell { which, len, tag } => {
                incoming.pace.note_long_message();
                if first {
                    claim_lines(at, incoming, None);
                }
                let answer = self.take_cell(at, incoming, which, len, tag);
                answer.map_or(Taken::Nothing, |answer| after(was_awaited || answer.stops()))
            }
            Look::Pieces { location, len, tag, line, lines } => {
                incoming.pace.note_long_message();
                if first {
                    claim_lines(at, incoming, Some(lines));
                }
                // Always the last one: it takes so long that one turn more does not count.
                let whole = self.take_pieces(at, incoming, InPieces { location, len, tag, line, lines });
                if whole { Taken::Last } else { Taken::Nothing }
            }
            Look::Assist { at: line, len } => {
                incoming.pace.note_long_message();
                let mut call = [0; PER_LINE as usize];
                // SAFETY: there is room for one line.
                unsafe { incoming.ring.mem().copy_lines(line, 1, call.as_mut_ptr()) };
                let ctx = at.number();
                if !self.help(&mut at.attached, ctx, incoming.source, &call, len) {
                    self.garbage(incoming, len);
                    return Taken::Nothing;
                }
                incoming.ring.advance(1);
                Taken::More
            }
            Look::Garbage(word) => {
                self.garbage(incoming, word);
                Taken::Nothing
            }
        }
    }

    /// Copies a message of several lines into one buffer, hands it up, and moves the ring on. Returns the answer of
    /// its receiver; `None`: not all lines are written.
    #[inline]
    fn take_lines(
        &self,
        at: &mut At<'_>,
        incoming: &mut Incoming,
        line: u64,
        len: u64,
        tag: u8,
        lines: u64,
    ) -> Option<Answer> {
        match incoming.ring.has_all(line, lines, PATIENCE) {
            Rest::Here => {}
            Rest::Missing => return None,
            Rest::Garbage(word) => {
                self.garbage(incoming, word);
                return None;
            }
        }
        let mut stage = at.receiver.stage.take().unwrap_or_else(|| Box::new([0; MAX_SHORT as usize]));
        // SAFETY: the stage takes the lines of the longest message.
        unsafe { incoming.ring.mem().copy_lines(line, lines, stage.as_mut_ptr()) };
        let answer = self.hand_up(at, incoming, stage[..len as usize].into(), tag);
        at.receiver.stage = Some(stage);
        incoming.ring.advance(lines);
        Some(answer)
    }

    /// Drains the rings whose ready bits are set, and watches them where a place is free. Returns the number of
    /// messages.
    #[cold]
    #[inline(never)]
    fn sweep(&self, at: &mut At<'_>) -> i32 {
        let mut events = 0;
        let mut found = Found::begin(&at.receiver.inbox);
        while let Some(source) = found.next(&at.receiver.inbox, at.receiver.inbox.words()) {
            let number = at.number();
            let Some((mut incoming, place)) = self.incoming(at, number, source) else { continue };
            if incoming.closed {
                at.receiver.put_back(incoming, None);
                continue;
            }
            let place = place.or_else(|| self.consider(at, &mut incoming));
            events += self.drain::<false>(at, &mut incoming);
            if incoming.closed {
                at.receiver.shut(incoming, place);
                continue;
            }
            if place.is_none() && !incoming.ring.is_empty() {
                ready::mark_again(&at.receiver.inbox, source);
            }
            at.receiver.put_back(incoming, place);
        }
        events
    }

    /// Drains the rings of further segments whose ready bits are set; none is watched. Returns the number of messages.
    #[cold]
    #[inline(never)]
    fn sweep_further(&self, at: &mut At<'_>) -> i32 {
        if !at.aside.has_further() {
            return 0;
        }
        let ctx = at.number();
        self.follow(at, ctx);
        let mut events = 0;
        // Callbacks may add segments behind these, and nothing else.
        for number in 0..at.further.all.len() {
            let mut found = Found::begin(&at.further.all[number].inbox);
            loop {
                let foothold = &mut at.further.all[number];
                let Some(place) = found.next(&foothold.inbox, foothold.inbox.words()) else { break };
                let Some(ring) = foothold.rings.get_mut(place as usize) else { continue };
                let (ring, source) = (ring.take(), foothold.joined.base() + place);
                let Some(mut incoming) = ring.or_else(|| self.attach(at, ctx, source)) else { continue };
                if !incoming.closed {
                    events += self.drain::<true>(at, &mut incoming);
                }
                if !incoming.closed && !incoming.ring.is_empty() {
                    at.further.mark_again(source);
                }
                at.further.put_back(incoming);
            }
        }
        events
    }

    /// The receiver's end of the ring from `source`, mapped on first use, and taken out of its place, with the number
    /// of that if it is watched. `None`: there is none, or it cannot be mapped, now or at all.
    #[inline(always)]
    fn incoming(&self, cx: &mut Context, ctx: u32, source: u32) -> Option<(Box<Incoming>, Option<usize>)> {
        match cx.receiver.rings.get_mut(source as usize)?.take() {
            Some(incoming) => Some((incoming, None)),
            None => self.watched_or_new(cx, ctx, source),
        }
    }

    /// The same for a ring that is watched, or is met for the first time.
    #[inline(never)]
    fn watched_or_new(
        &self,
        cx: &mut Context,
        ctx: u32,
        source: u32,
    ) -> Option<(Box<Incoming>, Option<usize>)> {
        if source == self.local_rank() {
            // Nobody sends to itself: this process has said that its further segments have changed.
            self.hear(cx);
            return None;
        }
        let place = cx.receiver.watched().position(|incoming| incoming.source == source);
        let watched = place.and_then(|place| cx.receiver.watched[place].take());
        watched.or_else(|| self.attach(cx, ctx, source)).map(|incoming| (incoming, place))
    }

    /// Watches a ring that its ready bit was set for, if a place is free, or if the ring was found so often that it
    /// may displace another. The ring's place among the watched from now on; `None`: it is not watched.
    fn consider(&self, cx: &mut Context, incoming: &mut Incoming) -> Option<usize> {
        let receiver = &mut cx.receiver;
        if receiver.places == 0 {
            return None;
        }
        let count = receiver.watched().count();
        if count < receiver.places {
            self.watch(incoming);
            return Some(count);
        }
        if incoming.found == 0 {
            incoming.since = receiver.turn;
        }
        incoming.found += 1;
        if incoming.found < ACTIVATIONS || receiver.turn - receiver.displaced < TURNS_BETWEEN {
            return None;
        }
        incoming.found = 0;
        self.displace(cx, incoming)
    }

    /// Gives `incoming` the place of the watched ring that has been silent longest, if that was silent
    /// since `incoming` was first found.
    fn displace(&self, cx: &mut Context, incoming: &Incoming) -> Option<usize> {
        let receiver = &mut cx.receiver;
        let (place, silent) = receiver.watched().enumerate().min_by_key(|(_, i)| i.last)?;
        if silent.last >= incoming.since {
            return None;
        }
        receiver.displaced = receiver.turn;
        let silent = receiver.watched[place].take()?;
        if !doorbell::unwatch(&silent.ring, self.barriers()) {
            receiver.put_back(silent, Some(place));
            return None;
        }
        if !silent.ring.is_empty() {
            // It came in between, and its sender may have said nothing.
            ready::mark_again(&receiver.inbox, silent.source);
        }
        receiver.put_back(silent, None);
        self.watch(incoming);
        Some(place)
    }

    /// Tells the sender of a ring that it is watched.
    fn watch(&self, incoming: &Incoming) {
        doorbell::watch(&incoming.ring, self.barriers());
    }

    /// Prepares a context for sleep: the word on which to sleep, and the value to expect there. `None`: something has
    /// come, or the barrier failed, so the caller must poll on. [`Shm::disarm_ctx`] follows in any case.
    pub(crate) fn arm_ctx(&self, cx: &mut Context) -> Option<WaitWord> {
        let receiver = &cx.receiver;
        // A look that costs nothing before the one that may cost a system call.
        if ready::any(&receiver.inbox)
            || !receiver.watched_rings().all(Consumer::is_empty)
            || cx.reads.is_waiting()
            || cx.aside.is_waiting() && cx.requests.has_reply()
            || self.is_awake_for_further(cx)
        {
            return None;
        }
        self.arm_further(cx);
        let receiver = &mut cx.receiver;
        let first = !core::mem::replace(&mut receiver.armed, true) && self.count_armed(1);
        let quiet = doorbell::arm(&receiver.inbox, receiver.watched_rings(), self.barriers(), first);
        // SYNC POINT with the fence in `reply` of the peer's service context: behind the barrier of `arm`.
        // In further segments as well: nobody watches there, so a sender sets its bit and looks at the bell.
        if !quiet || self.is_awake_for_further(cx) || cx.aside.is_waiting() && cx.requests.has_reply() {
            return None;
        }
        let addr = core::ptr::from_ref(cx.receiver.inbox.bell()).cast();
        Some(WaitWord { addr, expected: ASLEEP, reserved: 0 })
    }

    /// Ends the sleep of a context: its rings are watched again. Nothing happens to a context that is not armed.
    pub(crate) fn disarm_ctx(&self, cx: &mut Context) {
        self.disarm_further(cx);
        let receiver = &mut cx.receiver;
        if core::mem::replace(&mut receiver.armed, false) {
            self.count_armed(-1);
            doorbell::disarm(&receiver.inbox, receiver.watched_rings(), self.barriers());
        }
    }
}
