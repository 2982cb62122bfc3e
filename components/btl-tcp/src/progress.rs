//! A context's turn: what came is handed up, what waits goes out, broken connections are made again.

use crate::context::{BELL, Context, LOBBY, PATIENCE, TIMER};
use crate::door::Admission;
use crate::fault::Fault;
use crate::frame::{Header, Kind};
use crate::hello::{Refusal, Welcome};
use crate::placed::PLACED_FROM;
use crate::proof::ProofContext;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys::{self, Got, no_events, send_all};
use crate::turn::InTurn;
use core::mem::replace;
use core::sync::atomic::Ordering;
use oxmpi_btl::{Arrival, Placer};
use std::io;
use std::time::Instant;

/// Messages handed up from one stream in one turn at most.
const BATCH: i32 = 64;

/// Why a stream's connection ends.
enum End {
    Bye,
    Parted,
    Broken(String),
    Hostile(&'static str),
}

/// How far the frames in a buffer went.
enum Taken {
    /// The buffer has no whole frame.
    All,
    /// Some are left, for the next turn.
    Some,
    End(End),
}

impl Tcp {
    /// One turn of a context; how much happened.
    pub(crate) fn turn(&self, at: &mut impl InTurn) -> i32 {
        // From inside a receive callback, which is against the contract.
        if replace(&mut at.context().inside, true) {
            return 0;
        }
        let cx = at.context();
        while let Some(&slot) = cx.gathering.last() {
            self.flush(cx, slot);
        }
        let mut handled = self.turn_inside(at);
        while let Some((done, status)) = at.context().released.pop() {
            handled += 1;
            at.tell_end(done, status);
        }
        let cx = at.context();
        while let Some(slot) = cx.next_late() {
            self.flush(cx, slot);
        }
        cx.inside = false;
        if handled > 0 {
            cx.note_event();
        }
        handled
    }

    fn turn_inside(&self, at: &mut impl InTurn) -> i32 {
        let mut handled = 0;
        for _ in 0..at.context().listed() {
            let Some(slot) = at.context().next_listed() else { break };
            handled += self.serve_stream(at, slot);
        }
        let cx = at.context();
        if handled > 0 || !cx.may_look() {
            return handled;
        }
        let hot = cx.hot;
        if !cx.is_turn_of_all() && hot < cx.streams.len() {
            handled += self.serve_stream(at, hot);
            if handled > 0 {
                return handled;
            }
        }
        let mut events = no_events();
        for event in at.context().poller.look(&mut events) {
            handled += match event.token {
                LOBBY => self.visit_lobby(),
                BELL => self.admit_all(at.context()),
                TIMER => {
                    at.context().timer.set(None);
                    1
                }
                _ => self.stream_event(at, event),
            };
        }
        let (cx, now) = (at.context(), Instant::now());
        if cx.is_due(now) {
            self.look_after(cx, now);
        }
        handled
    }

    fn stream_event(&self, at: &mut impl InTurn, event: sys::Event) -> i32 {
        let cx = at.context();
        // One may have gone since the set was asked, and its slot be another's.
        let Some(slot) = cx.streams.slot_of_token(event.token) else { return 0 };
        if matches!(cx.streams[slot].link, Link::Calling(_)) {
            self.advance_call(cx, slot);
            return 1;
        }
        if event.writable {
            self.flush(cx, slot);
        }
        let handled = if event.readable { self.serve_stream(at, slot) } else { 0 };
        handled.max(event.writable.into())
    }

    /// Takes what came on a stream; how many messages.
    fn serve_stream(&self, at: &mut impl InTurn, slot: usize) -> i32 {
        let (mut handled, end) = self.take(at, slot);
        let cx = at.context();
        let s = &cx.streams[slot];
        if let Some(end) = end {
            self.ended(cx, slot, end);
            handled += 1;
        } else if s.at() - s.told >= s.tell_after || s.awaited && s.at() > s.told {
            self.tell(cx, slot);
        }
        handled
    }

    /// Says how far we are.
    fn tell(&self, cx: &mut Context, slot: usize) {
        let s = &mut cx.streams[slot];
        s.note(Kind::Ack);
        (s.told, s.awaited) = (s.at(), false);
        self.flush_soon(cx, slot);
    }

    fn take(&self, at: &mut impl InTurn, slot: usize) -> (i32, Option<End>) {
        let mut handled = 0;
        // It stays up in here: what its receivers send on it at most marks it as broken.
        while at.context().streams[slot].is_up() {
            match self.take_frames(at, slot, &mut handled) {
                Taken::End(end) => return (handled, Some(end)),
                Taken::Some => {
                    at.context().list(slot);
                    break;
                }
                Taken::All if handled >= BATCH => break,
                Taken::All => {}
            }
            self.find_place(at, slot);
            let s = &mut at.context().streams[slot];
            // SAFETY: the place was just asked for, and nobody of the host has been called since.
            let Some(got) = (unsafe { read_on(s) }) else { break };
            // SAFETY: as above.
            match unsafe { s.inn.go_on() } {
                Ok(false) => {}
                Ok(true) => self.host.debug(&format!(
                    "the connection with process {} goes on inside of a message",
                    s.core.proc
                )),
                Err(Fault::Damaged(why) | Fault::Hostile(why)) => {
                    s.inn.distrust();
                    return (handled, Some(End::Broken(why.into())));
                }
            }
            match got {
                Ok(got) if got.over => {
                    return (handled, Some(End::Broken("the peer's side was closed".into())));
                }
                Ok(Intake { bytes: 0, .. }) if s.broken => {
                    return (handled, Some(End::Broken("it takes nothing any more".into())));
                }
                Ok(Intake { bytes: 0, .. }) => break,
                Ok(got) if got.bytes < got.room => {
                    // All there was; what comes meanwhile the poller tells.
                    match self.take_frames(at, slot, &mut handled) {
                        Taken::End(end) => return (handled, Some(end)),
                        Taken::Some => at.context().list(slot),
                        Taken::All => {}
                    }
                    break;
                }
                Ok(_) => {}
                Err(e) => return (handled, Some(End::Broken(e.to_string()))),
            }
        }
        if handled > 0 {
            at.context().hot = slot;
        }
        (handled, None)
    }

    /// Asks for the place of the message that has begun in a stream's buffer, if it is long, or again if it has one.
    fn find_place(&self, at: &mut impl InTurn, slot: usize) {
        if self.placers.is_empty() {
            return;
        }
        let s = &mut at.context().streams[slot];
        s.inn.place_from(if s.asks() || s.answers() { 0 } else { PLACED_FROM });
        let again = s.inn.is_placing();
        let header = if again { s.inn.placed_header() } else { s.inn.asks_for_place() };
        let Some(header) = header else { return };
        let name = s.inn.name_of_front();
        let (proc, lent) = (s.core.proc, s.inn.lend_beginning());
        let start = Arrival { proc, tag: header.tag, bytes: lent.message().into(), link: name };
        let placer = self.placers.of(header.tag);
        let ask = |placer: &Placer| match at.place_of(placer, &start, header.len.into()) {
            None if !again && header.sum.is_none() => at.claim(placer, &start, header.len.into()),
            place => place.map(|place| (place, 0)),
        };
        let found = placer.as_ref().and_then(ask);
        let inn = &mut at.context().streams[slot].inn;
        inn.take_back(lent);
        if again {
            // SAFETY: the layer has just named the place, and is not called again before it is written.
            unsafe { inn.place_again(found.map(|(place, _)| place)) };
        } else if let Some((place, name)) = found {
            // SAFETY: as above.
            unsafe { inn.place(&header, place, name) };
        }
    }

    fn take_frames(&self, at: &mut impl InTurn, slot: usize, handled: &mut i32) -> Taken {
        loop {
            let cx = at.context();
            let s = &mut cx.streams[slot];
            let header = match s.inn.next() {
                Ok(Some(frame)) => frame.header,
                Ok(None) => return Taken::All,
                Err(Fault::Damaged(why)) => {
                    s.inn.distrust();
                    return Taken::End(End::Broken(why.into()));
                }
                Err(Fault::Hostile(why)) => return Taken::End(End::Hostile(why)),
            };
            let acknowledged = s.out.acknowledge(header.acked);
            cx.take_released(slot);
            let s = &mut cx.streams[slot];
            if acknowledged.is_err() {
                return Taken::End(End::Hostile("an acknowledgement of what was never sent"));
            }
            let mut stops = false;
            match header.kind {
                // None comes in a stream (`Inbound::next`).
                Kind::Ack | Kind::Resumption => {}
                Kind::Question => self.tell(cx, slot),
                Kind::Bye => return Taken::End(End::Bye),
                Kind::Part => {
                    s.they_parted = true;
                    if s.told_parted {
                        return Taken::End(End::Parted);
                    }
                }
                Kind::Message | Kind::Awaited | Kind::Request | Kind::Reply => {
                    s.awaited |= header.kind == Kind::Awaited;
                    s.inn.count(&header);
                    match self.hand_up(at, slot, &header) {
                        Ok(said) => stops = said,
                        Err(why) => return Taken::End(End::Hostile(why)),
                    }
                    *handled += 1;
                }
            }
            let inn = &mut at.context().streams[slot].inn;
            inn.pass(&header);
            if (stops || *handled >= BATCH) && !inn.is_empty() {
                return Taken::Some;
            }
        }
    }

    /// Hands the message at the front of a stream's buffer up. True: the batch should end behind it.
    fn hand_up(&self, at: &mut impl InTurn, slot: usize, header: &Header) -> Result<bool, &'static str> {
        let s = &mut at.context().streams[slot];
        let fits = match header.kind {
            Kind::Message | Kind::Awaited => !s.asks() && !s.answers(),
            Kind::Request => s.answers(),
            _ => s.asks() && s.requests > 0,
        };
        if !fits {
            return Err("a message of a kind that does not belong on its stream");
        }
        if header.kind == Kind::Reply {
            s.requests -= 1;
        }
        let placed = s.inn.is_placing().then(|| s.inn.place_of_front());
        let name = s.inn.name_of_front();
        let (proc, lent) = (s.core.proc, s.inn.lend(header));
        let message = Arrival { proc, tag: header.tag, bytes: lent.message().into(), link: name };
        let stops = match placed {
            None => at.hand_up(&self.host, slot, message),
            Some(place) => self
                .placers
                .of(header.tag)
                .is_some_and(|placer| at.hand_up_placed(&placer, &message, header.len.into(), place)),
        };
        at.context().streams[slot].inn.take_back(lent);
        Ok(stops)
    }

    fn ended(&self, cx: &mut Context, slot: usize, end: End) {
        let core = &cx.streams[slot].core;
        match end {
            End::Bye => {
                core.gone.store(true, Ordering::Release);
                self.shut(cx, slot);
            }
            End::Parted => self.shut(cx, slot),
            End::Broken(_) if core.is_over() || self.has_parted(core) => self.shut(cx, slot),
            End::Broken(why) => self.lost(cx, slot, why),
            End::Hostile(why) => self.fail(cx, slot, &format!("it sent {why}")),
        }
    }

    /// Work that has to be done without the peer's doing.
    fn look_after(&self, cx: &mut Context, now: Instant) {
        for slot in 0..cx.streams.len() {
            let s = &cx.streams[slot];
            if s.is_shut() {
                continue;
            }
            if s.core.is_lost() {
                self.shut(cx, slot);
                continue;
            }
            if self.has_parted(&s.core) && self.part_from(cx, slot) {
                continue;
            }
            let s = &cx.streams[slot];
            let (rested, silent) = match &s.link {
                Link::Resting(until) => (*until <= now, false),
                Link::Calling(call) => (false, call.deadline <= now),
                _ => (false, false),
            };
            if (rested || matches!(s.link, Link::Idle)) && s.core.gone.load(Ordering::Acquire) {
                self.shut(cx, slot);
            } else if rested {
                self.call(cx, slot);
            } else if silent {
                self.call_again(cx, slot);
            } else {
                self.ask(cx, slot, now);
            }
            let next = match &cx.streams[slot].link {
                Link::Resting(until) => *until,
                Link::Calling(call) => call.deadline,
                _ => continue,
            };
            cx.wake_at(next);
        }
        cx.wake_at(now + PATIENCE);
    }

    /// Asks for an acknowledgement that does not come: the answer, or the peer's seeing a gap, tells whether what was sent
    /// is there.
    fn ask(&self, cx: &mut Context, slot: usize, now: Instant) {
        let s = &mut cx.streams[slot];
        if !s.is_up() {
            return;
        }
        let begin = s.out.settled_to();
        match s.asked {
            _ if s.out.is_settled() => s.asked = None,
            Some((at, since)) if at == begin => {
                if now.duration_since(since) >= PATIENCE {
                    s.note(Kind::Question);
                    s.asked = Some((begin, now));
                    self.flush(cx, slot);
                }
            }
            _ => s.asked = Some((begin, now)),
        }
    }

    /// Takes the connections that the lobby has checked.
    fn admit_all(&self, cx: &mut Context) -> i32 {
        let admissions = cx.door.admissions();
        let count = admissions.len() as i32;
        for admission in admissions {
            self.admit(cx, admission);
        }
        // Somebody may have parted.
        cx.wake_at(Instant::now());
        count.max(1)
    }

    fn admit(&self, cx: &mut Context, a: Admission) {
        let core = self.core_of(a.proc, a.hello.from);
        // The caller sees a refusal or an end, and calls again where that makes sense.
        let refuse = |refusal| _ = send_all(&a.fd, &Welcome::refusal(refusal).encode());
        if core.is_over() {
            return refuse(Refusal::Closed);
        }
        let slot = cx.stream(&core, a.hello.from_ctx, &self.settings);
        let s = &mut cx.streams[slot];
        let refusal = objection(s, &a);
        if refusal != Refusal::None {
            return refuse(refusal);
        }
        s.their_attempt = a.hello.attempt;
        // A call of ours that is under way ends here, too.
        self.disconnect(cx, slot, Link::Idle);
        let resumed = cx.streams[slot].out.resume(a.position);
        cx.take_released(slot);
        if resumed.is_err() {
            return self.fail(cx, slot, "it wants to go on from where it never was");
        }
        let (window, position) = (self.settings.window as u32, cx.streams[slot].inn.reached());
        let proof_context = ProofContext::by_acceptor(&a.raw, &a.nonce, window, position);
        let Some(answer) = proof_context.answer(&self.host, &a.hello.nonce) else { return };
        let welcome = Welcome { refusal, window, position, answer };
        if send_all(&a.fd, &welcome.encode()).is_err() {
            return self.lost(cx, slot, "it was gone before it was welcome".into());
        }
        if a.by == self.rail {
            core.carried.store(true, Ordering::Relaxed);
        }
        self.connection_proved(cx, slot, a.fd, a.hello.window);
    }
}

/// Bytes that came by one call of the system.
struct Intake {
    bytes: usize,
    /// As many would have been taken.
    room: usize,
    /// The peer has closed its side.
    over: bool,
}

/// Reads from a stream's socket to where the bytes belong. `None`: it has no connection.
///
/// # Safety
/// The place of the message at the front, if it has one, is good.
unsafe fn read_on(s: &mut Stream) -> Option<io::Result<Intake>> {
    let Link::Up(fd) = &s.link else { return None };
    let (mut room, mut over) = (0, false);
    let mut read = |first: &mut [u8], second: &mut [u8]| {
        room = first.len() + second.len();
        let got = sys::read_two(fd, first, second)?;
        over = got == Got::End;
        Ok(if let Got::Bytes(n) = got { n } else { 0 })
    };
    let got = match (s.inn.is_resuming(), s.inn.is_placing()) {
        (true, _) => s.inn.fill_resumption(|into| read(&mut [], into)),
        // SAFETY: the caller's promise.
        (_, true) => unsafe { s.inn.fill_place(read) },
        _ => s.inn.fill(|into| read(&mut [], into)),
    };
    Some(got.map(|bytes| Intake { bytes, room, over }))
}

fn objection(s: &Stream, a: &Admission) -> Refusal {
    if s.is_shut() {
        return Refusal::Closed;
    }
    let old = a.hello.attempt <= s.their_attempt || a.hello.seen < s.welcomed;
    if old || a.position < s.out.settled_to() {
        return Refusal::Stale;
    }
    let calls = matches!(s.link, Link::Calling(_));
    if calls && s.core.first { Refusal::Crossed } else { Refusal::None }
}
