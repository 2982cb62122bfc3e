//! Taking what came: the completion queue is read, ends of operations are told, and messages are handed up in order.

use crate::buffers::Route;
use crate::context::{Context, Holder};
use crate::link::{Called, Core};
use crate::order::{Buffered, Place};
use crate::post::Body;
use crate::rail::Rail;
use crate::wire::{Head, Kind};
use core::sync::atomic::Ordering;
use oxmpi_btl::{Arrival, Bytes, Entered};
use oxmpi_mca::Status;
use std::sync::Arc;

/// Messages handed up in one turn at most, so that other transports get theirs.
const BATCH: i32 = 32;

/// The end of a look at a message.
enum Fate {
    /// It is early, and keeps its buffer.
    Kept,
    /// Its buffer is free.
    Over {
        /// Its receiver wants the batch to end.
        stops: bool,
    },
}

impl Fate {
    const DROPPED: Fate = Fate::Over { stops: false };
}

impl Rail {
    /// A turn of an endpoint's holder. How much it handled.
    pub fn turn<C: Holder>(&self, at: &mut Entered<'_, C>) -> i32 {
        // A turn from inside a receiver is against the contract.
        if core::mem::replace(&mut at.context().is_busy, true) {
            return 0;
        }
        let mut handled = self.take(at.context());
        handled += self.tell_ends(at);
        handled += self.hand_up_all(at);
        let cx = at.context();
        if cx.kept > 0 && self.has_losses.load(Ordering::Relaxed) {
            self.give_up(cx);
        }
        if !cx.unposted.is_empty() {
            self.post_receives(cx);
        }
        if !cx.operations.again.is_empty() {
            self.try_again(cx);
        }
        if cx.has_unsent() {
            handled += self.send_unsent(cx);
        }
        cx.is_busy = false;
        if handled > 0 {
            cx.pause.begin_anew();
        } else if let Some(target) = &self.target {
            target.help();
        }
        handled
    }

    /// Tells the host the ends of operations.
    fn tell_ends<C: Holder>(&self, at: &mut Entered<'_, C>) -> i32 {
        let mut told = 0;
        while let Some((done, status)) = at.context().operations.over.pop_front() {
            at.complete(done, status);
            told += 1;
        }
        told
    }

    fn hand_up_all<C: Holder>(&self, at: &mut Entered<'_, C>) -> i32 {
        let mut handled = 0;
        while handled < BATCH {
            let Some(came) = at.context().arrived.pop_front() else { break };
            handled += 1;
            match self.hand_up(at, came) {
                Fate::Kept => at.context().kept += 1,
                Fate::Over { stops } => {
                    at.context().unposted.push(came.0);
                    if stops {
                        break;
                    }
                }
            }
        }
        handled
    }

    /// Hands up the message in a receive buffer, if it is due.
    fn hand_up<C: Holder>(&self, at: &mut Entered<'_, C>, came: Buffered) -> Fate {
        let (base, _) = at.context().buffers.receive(came.0);
        let len = came.1.min(at.context().buffers.size());
        // SAFETY: a receive buffer that is not posted, of at least that length; it lies outside of the context.
        let bytes = unsafe { core::slice::from_raw_parts(base.cast_const(), len) };
        let Some((head, body)) = Head::split(bytes) else { return Fate::DROPPED };
        let core = match self.sender(at.context(), head) {
            Some(core) => core,
            None => {
                self.tell_stranger("a message without the token of a link");
                return Fate::DROPPED;
            }
        };
        let is_for_service = head.kind == Kind::Request;
        if head.kind != Kind::Bye && is_for_service != C::SERVES {
            return self.wrong(core.proc, head, len);
        }
        match self.take_place(at.context(), head, came) {
            Place::Due => {}
            Place::Early => return Fate::Kept,
            Place::Wrong => return self.wrong(core.proc, head, len),
        }
        match head.kind {
            Kind::Bye => {
                core.leave();
                at.context().ins[head.link as usize].called = Called::Left;
                return Fate::DROPPED;
            }
            Kind::Reply if !at.context().outs[head.link as usize].take_reply() => {
                return self.wrong(core.proc, head, len);
            }
            Kind::Message => self.give_credit(at.context(), head.link),
            _ => {}
        }
        if self.closing.load(Ordering::Acquire) {
            return Fate::DROPPED;
        }
        Fate::Over { stops: self.deliver(at, head, core.proc, body) }
    }

    /// Runs the receiver of a message. Whether it wants the batch to end.
    fn deliver<C: Holder>(&self, at: &mut Entered<'_, C>, head: Head, proc: u32, body: &[u8]) -> bool {
        let link = if C::SERVES { Rail::request_number(proc, head.link) } else { 0 };
        if C::SERVES {
            at.begin_request(head.link);
        }
        let answer = at.deliver(&self.host, Arrival { proc, tag: head.tag, bytes: Bytes::from(body), link });
        if C::SERVES && at.end_request() {
            self.host.error(&format!("a request with tag {} was not answered by its receiver", head.tag));
        }
        answer.stops()
    }

    /// The process whose link a message names with the right token.
    #[inline]
    fn sender(&self, cx: &Context, head: Head) -> Option<Arc<Core>> {
        let number = head.link as usize;
        if head.kind == Kind::Reply {
            return cx.outs.get(number).filter(|o| o.token == head.token).map(|o| o.core.clone());
        }
        let link = cx.ins.get(number)?;
        (link.token == head.token && matches!(link.called, Called::Open)).then(|| link.core.clone())
    }

    /// The place of a message on its link, which there is. The one behind it comes next where it was early.
    #[inline]
    fn take_place(&self, cx: &mut Context, head: Head, came: Buffered) -> Place {
        let order = match head.kind {
            Kind::Reply => &mut cx.outs[head.link as usize].replies,
            _ => &mut cx.ins[head.link as usize].messages,
        };
        let place = order.take(head.number, came);
        if place == Place::Due
            && let Some(next) = order.next()
        {
            cx.kept -= 1;
            cx.arrived.push_front(next);
        }
        place
    }

    /// Takes the receive buffers back that messages of lost processes keep.
    #[cold]
    fn give_up(&self, cx: &mut Context) {
        let ins = cx.ins.iter_mut().map(|l| (&l.core, &mut l.messages));
        let outs = cx.outs.iter_mut().map(|l| (&l.core, &mut l.replies));
        for (_, order) in ins.chain(outs).filter(|(core, _)| core.is_out()) {
            for (number, _) in order.give_up() {
                cx.kept -= 1;
                cx.unposted.push(number);
            }
        }
    }

    /// A message of a link is taken: tells its sender where it has half of its credits to get back.
    #[inline]
    fn give_credit(&self, cx: &mut Context, number: u32) {
        let link = &mut cx.ins[number as usize];
        link.owed += 1;
        if link.owed < self.settings.credits.div_ceil(2) {
            return;
        }
        let (door, count) = (link.door, link.owed as u8);
        link.owed = 0;
        let sent = self.post(cx, door, Route::In(number), Kind::Credits, count, Body::Bytes(&[]));
        if sent == Status::NO_RESOURCE {
            cx.wait(Route::In(number), Kind::Credits, count, Box::default());
        }
    }

    /// Nobody who keeps to the protocol sends that.
    #[cold]
    fn wrong(&self, proc: u32, head: Head, len: usize) -> Fate {
        let what = format!("process {proc} sent {len} bytes as {:?}, which cannot be", head.kind);
        self.host.peer_error(proc, true, &what);
        Fate::DROPPED
    }
}
