//! A context's turn: what came is handed up, what waits goes out, broken connections are made again.

use crate::context::{BELL, Context, LOBBY, STREAMS, TIMER};
use crate::door::Admission;
use crate::frame::{Header, Kind};
use crate::hello::{Refusal, Welcome};
use crate::inbound::{Fault, Inbound};
use crate::proof::ProofContext;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys::{self, Got, no_events, send_all};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::SERVICE_CTX;
use oxmpi_mca::RecvDesc;
use oxmpi_mca::host::receive;
use std::sync::Arc;
use std::time::Instant;

/// Messages handed up from one stream in one turn at most.
const BATCH: i32 = 64;

/// Why a stream's connection ends.
enum End {
    Bye,
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
    pub(crate) fn turn(&self, cx: &Context) -> i32 {
        // From inside a receive callback, which is against the contract.
        if cx.inside.replace(true) {
            return 0;
        }
        let handled = self.turn_inside(cx);
        while let Some(s) = cx.next_late() {
            self.flush(cx, &s);
        }
        cx.inside.set(false);
        if handled > 0 {
            cx.note_event();
        }
        handled
    }

    fn turn_inside(&self, cx: &Context) -> i32 {
        let mut handled = 0;
        for _ in 0..cx.listed() {
            let Some(s) = cx.next_listed() else { break };
            handled += self.serve_stream(cx, &s);
        }
        if handled > 0 || !cx.may_look() {
            return handled;
        }
        if !cx.is_turn_of_all()
            && let Some(hot) = cx.at_slot(cx.hot.get())
        {
            handled += self.serve_stream(cx, &hot);
            if handled > 0 {
                return handled;
            }
        }
        let mut events = no_events();
        for event in cx.poller.look(&mut events) {
            handled += match event.token {
                LOBBY => self.visit_lobby(),
                BELL => self.admit_all(cx),
                TIMER => {
                    cx.timer.set(None);
                    1
                }
                token => self.stream_event(cx, (token - STREAMS) as usize, event),
            };
        }
        let now = Instant::now();
        if cx.is_due(now) {
            self.look_after(cx, now);
        }
        handled
    }

    fn stream_event(&self, cx: &Context, slot: usize, event: sys::Event) -> i32 {
        let Some(s) = cx.at_slot(slot) else { return 0 };
        if matches!(*s.link.borrow(), Link::Calling(_)) {
            self.advance_call(cx, &s);
            return 1;
        }
        if event.writable {
            self.flush(cx, &s);
        }
        let handled = if event.readable { self.serve_stream(cx, &s) } else { 0 };
        handled.max(event.writable.into())
    }

    /// Takes what came on a stream; how many messages.
    pub(crate) fn serve_stream(&self, cx: &Context, s: &Arc<Stream>) -> i32 {
        let (mut handled, end) = self.take(cx, s);
        if let Some(end) = end {
            self.ended(cx, s, end);
            handled += 1;
        } else if s.at.get() - s.told.get() >= s.tell_after.get() {
            self.tell(cx, s);
        }
        handled
    }

    /// Says how far we are.
    fn tell(&self, cx: &Context, s: &Stream) {
        s.out.borrow_mut().note(Kind::Ack, s.at.get());
        s.told.set(s.at.get());
        self.flush_soon(cx, s);
    }

    fn take(&self, cx: &Context, s: &Stream) -> (i32, Option<End>) {
        let link = s.link.borrow();
        // Taken while a receiver runs.
        let (Link::Up(fd), Ok(mut inn)) = (&*link, s.inn.try_borrow_mut()) else { return (0, None) };
        let mut handled = 0;
        loop {
            match self.take_frames(cx, s, &mut inn, &mut handled) {
                Taken::End(end) => return (handled, Some(end)),
                Taken::Some => {
                    cx.list(s);
                    break;
                }
                Taken::All if handled >= BATCH => break,
                Taken::All => {}
            }
            let (mut room, mut over) = (0, false);
            let got = inn.fill(|into| {
                room = into.len();
                let got = sys::read(fd, into)?;
                over = got == Got::End;
                Ok(if let Got::Bytes(n) = got { n } else { 0 })
            });
            match got {
                Ok(_) if over => return (handled, Some(End::Broken("the peer's side was closed".into()))),
                Ok(0) if s.broken.get() => {
                    return (handled, Some(End::Broken("it takes nothing any more".into())));
                }
                Ok(0) => break,
                Ok(n) if n < room => {
                    // All there was; what comes meanwhile the poller tells.
                    match self.take_frames(cx, s, &mut inn, &mut handled) {
                        Taken::End(end) => return (handled, Some(end)),
                        Taken::Some => cx.list(s),
                        Taken::All => {}
                    }
                    break;
                }
                Ok(_) => {}
                Err(e) => return (handled, Some(End::Broken(e.to_string()))),
            }
        }
        if handled > 0 {
            cx.hot.set(s.slot);
        }
        (handled, None)
    }

    fn take_frames(&self, cx: &Context, s: &Stream, inn: &mut Inbound, handled: &mut i32) -> Taken {
        loop {
            let frame = match inn.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Taken::All,
                Err(Fault::Damaged(why)) => return Taken::End(End::Broken(why.into())),
                Err(Fault::Hostile(why)) => return Taken::End(End::Hostile(why)),
            };
            let (header, data) = (frame.header, core::ptr::from_ref(frame.message));
            if s.out.borrow_mut().acknowledge(header.acked).is_err() {
                return Taken::End(End::Hostile("an acknowledgement of what was never sent"));
            }
            let mut answer = receive::CONTINUE;
            match header.kind {
                Kind::Ack => {}
                Kind::Question => self.tell(cx, s),
                Kind::Bye => return Taken::End(End::Bye),
                Kind::Message | Kind::Request | Kind::Reply => {
                    inn.count(&header);
                    s.at.set(inn.position());
                    match self.hand_up(cx, s, &header, data) {
                        Ok(said) => answer = said,
                        Err(why) => return Taken::End(End::Hostile(why)),
                    }
                    *handled += 1;
                }
            }
            inn.pass(&header);
            if (answer & receive::STOP != 0 || *handled >= BATCH) && !inn.is_empty() {
                return Taken::Some;
            }
        }
    }

    /// Calls the receiver of a message that lies in the stream's buffer, which stays put meanwhile.
    fn hand_up(
        &self,
        cx: &Context,
        s: &Stream,
        header: &Header,
        data: *const [u8],
    ) -> Result<u32, &'static str> {
        let fits = match header.kind {
            Kind::Message => !s.asks() && !s.answers(),
            Kind::Request => s.answers(),
            _ => s.asks() && s.requests.get() > 0,
        };
        if !fits {
            return Err("a message of a kind that does not belong on its stream");
        }
        if header.kind == Kind::Reply {
            s.requests.set(s.requests.get() - 1);
        }
        if cx.closing.get() {
            return Ok(receive::CONTINUE);
        }
        let serves = header.kind == Kind::Request;
        let row = self.host.am(header.tag);
        let desc = RecvDesc {
            data: data.cast(),
            len: u64::from(header.len),
            proc: s.core.proc,
            ctx: if serves { SERVICE_CTX } else { u32::from(cx.number) },
            module: core::ptr::from_ref(self).cast_mut().cast::<c_void>(),
            link: if serves { s.slot as u64 + 1 } else { 0 },
        };
        if serves {
            cx.serving.set(Some(s.slot));
        }
        let answer = (row.receive)(row.ctx, &desc);
        if serves && cx.serving.take().is_some() {
            self.host.error(&format!("a request with tag {} was not answered by its receiver", header.tag));
        }
        Ok(answer)
    }

    fn ended(&self, cx: &Context, s: &Arc<Stream>, end: End) {
        match end {
            End::Bye => {
                s.core.gone.store(true, Ordering::Release);
                self.shut(cx, s);
            }
            End::Broken(_) if s.core.gone.load(Ordering::Acquire) => self.shut(cx, s),
            End::Broken(why) => self.lost(cx, s, why),
            End::Hostile(why) => self.fail(cx, s, &format!("it sent {why}")),
        }
    }

    /// Work that has to be done without the peer's doing.
    fn look_after(&self, cx: &Context, now: Instant) {
        for s in cx.all() {
            if s.core.loss.is_declared() {
                self.shut(cx, &s);
                continue;
            }
            let (rested, silent) = match &*s.link.borrow() {
                Link::Resting(until) => (*until <= now, false),
                Link::Calling(call) => (false, call.deadline <= now),
                _ => (false, false),
            };
            if rested && s.core.gone.load(Ordering::Acquire) {
                self.shut(cx, &s);
            } else if rested {
                self.call(cx, &s);
            } else if silent {
                self.call_again(cx, &s);
            } else {
                self.ask(cx, &s, now);
            }
            match &*s.link.borrow() {
                Link::Resting(until) => cx.wake_at(*until),
                Link::Calling(call) => cx.wake_at(call.deadline),
                _ => {}
            }
        }
        cx.wake_at(now + crate::context::PATIENCE);
    }

    /// Asks for an acknowledgement that does not come: the answer, or the peer's seeing a gap, tells whether what was sent
    /// is there.
    fn ask(&self, cx: &Context, s: &Stream, now: Instant) {
        if !s.is_up() {
            return;
        }
        let (settled, begin) = {
            let out = s.out.borrow();
            (out.is_settled(), out.settled_to())
        };
        match s.asked.get() {
            _ if settled => s.asked.set(None),
            Some((at, since)) if at == begin => {
                if now.duration_since(since) >= crate::context::PATIENCE {
                    s.out.borrow_mut().note(Kind::Question, s.at.get());
                    s.asked.set(Some((begin, now)));
                    self.flush(cx, s);
                }
            }
            _ => s.asked.set(Some((begin, now))),
        }
    }

    /// Takes the connections that the lobby has checked.
    fn admit_all(&self, cx: &Context) -> i32 {
        let admissions = cx.door.admissions();
        let count = admissions.len() as i32;
        for admission in admissions {
            self.admit(cx, admission);
        }
        count.max(1)
    }

    fn admit(&self, cx: &Context, a: Admission) {
        let core = self.core_of(a.proc, a.hello.from);
        let s = cx.stream(&core, a.hello.from_ctx, &self.settings);
        let refusal = self.objection(&s, &a);
        if refusal != Refusal::None {
            // The caller sees a refusal or an end, and calls again where that makes sense.
            let _ = send_all(&a.fd, &Welcome::refusal(refusal).encode());
            return;
        }
        s.their_attempt.set(a.hello.attempt);
        if let Link::Calling(call) = s.link.replace(Link::Idle) {
            drop(call);
        }
        self.disconnect(cx, &s, Link::Idle);
        if s.out.borrow_mut().resume(a.position).is_err() {
            return self.fail(cx, &s, "it wants to go on from where it never was");
        }
        let (window, position) = (self.settings.window as u32, s.at.get());
        let proof_context = ProofContext::by_acceptor(&a.raw, &a.nonce, window, position);
        let Some(answer) = proof_context.answer(&self.host, &a.hello.nonce) else { return };
        let welcome = Welcome { refusal, window, position, answer };
        if send_all(&a.fd, &welcome.encode()).is_err() {
            return self.lost(cx, &s, "it was gone before it was welcome".into());
        }
        if a.by == self.rail {
            core.carried.store(true, Ordering::Relaxed);
        }
        self.connection_proved(cx, &s, a.fd, a.hello.window);
    }

    fn objection(&self, s: &Stream, a: &Admission) -> Refusal {
        let gone = s.core.gone.load(Ordering::Acquire) || s.core.loss.is_declared();
        if gone || s.is_shut() {
            return Refusal::Closed;
        }
        let old = a.hello.attempt <= s.their_attempt.get() || a.hello.seen < s.welcomed.get();
        if old || a.position < s.out.borrow().settled_to() {
            return Refusal::Stale;
        }
        let calls = matches!(*s.link.borrow(), Link::Calling(_));
        if calls && s.core.first { Refusal::Crossed } else { Refusal::None }
    }
}
