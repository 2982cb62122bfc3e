//! Taking what came: the completion queue is read, ends of operations are told, and messages are handed up in order.

use crate::buffers::Route;
use crate::context::{Context, Holder};
use crate::link::{Called, Core};
use crate::post::Body;
use crate::rail::Rail;
use crate::wire::{HEAD, Head, Kind};
use core::sync::atomic::Ordering;
use oxmpi_btl::{Arrival, Bytes, Entered};
use oxmpi_mca::Status;
use std::sync::Arc;

/// Messages handed up in one turn at most, so that other transports get theirs.
const BATCH: i32 = 32;

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
        if !cx.unposted.is_empty() {
            self.post_receives(cx);
        }
        if !cx.operations.again.is_empty() {
            self.try_again(cx);
        }
        if !cx.unsent.is_empty() {
            handled += self.send_unsent(cx);
        }
        cx.is_busy = false;
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
            let Some((number, len)) = at.context().arrived.pop_front() else { break };
            handled += 1;
            let (base, _) = at.context().buffers.receive(number);
            let stops = self.hand_up(at, base, len);
            at.context().unposted.push(number);
            if stops {
                break;
            }
        }
        handled
    }

    /// Hands up the message in a receive buffer. Whether its receiver wants the batch to end.
    fn hand_up<C: Holder>(&self, at: &mut Entered<'_, C>, base: *mut u8, len: usize) -> bool {
        let len = len.min(at.context().buffers.size());
        // SAFETY: a receive buffer that is not posted, of at least that length.
        let bytes = unsafe { core::slice::from_raw_parts(base.cast_const(), len) };
        let head =
            bytes.split_first_chunk::<HEAD>().and_then(|(head, rest)| Some((Head::decode(head)?, rest)));
        let Some((head, body)) = head else {
            self.tell_stranger("bytes that are no message of this version of the component");
            return false;
        };
        let (link, proc) = match head.kind {
            Kind::Message | Kind::Request => {
                let due = (head.kind == Kind::Request) == C::SERVES;
                match self.in_link(at.context(), head) {
                    Some(core) if due => (head.link, core.proc),
                    Some(core) => return self.tell_wrong(core.proc, head, len),
                    None => return self.tell_unproved(),
                }
            }
            Kind::Reply => {
                let out = at.context().outs.get_mut(head.link as usize).filter(|o| o.token == head.token);
                let Some(out) = out else { return self.tell_unproved() };
                let proc = out.core.proc;
                if C::SERVES || !out.take_reply() {
                    return self.tell_wrong(proc, head, len);
                }
                (0, proc)
            }
            Kind::Bye => {
                match self.in_link(at.context(), head) {
                    Some(core) => core.leave(),
                    None => return self.tell_unproved(),
                }
                return false;
            }
            // They are taken where they come to light.
            Kind::Credits => return false,
            Kind::Hello | Kind::Challenge | Kind::Proof | Kind::Refusal => {
                // The body lies in a buffer, outside of the context.
                if !self.take_call(at.context(), head, body) {
                    self.tell_stranger("an attempt to connect by somebody who is not of this job");
                }
                return false;
            }
        };
        if head.kind == Kind::Message {
            self.give_credit(at.context(), head.link);
        }
        if self.closing.load(Ordering::Acquire) {
            return false;
        }
        let link = if C::SERVES { Rail::request_number(proc, link) } else { 0 };
        if C::SERVES {
            at.begin_request(head.link);
        }
        let answer = at.deliver(&self.host, Arrival { proc, tag: head.tag, bytes: Bytes::from(body), link });
        if C::SERVES && at.end_request() {
            self.host.error(&format!("a request with tag {} was not answered by its receiver", head.tag));
        }
        answer.stops()
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

    /// The process whose link a message names with the right token.
    #[inline]
    fn in_link<'a>(&self, cx: &'a Context, head: Head) -> Option<&'a Arc<Core>> {
        let link = cx.ins.get(head.link as usize)?;
        (link.token == head.token && matches!(link.called, Called::Open)).then_some(&link.core)
    }

    #[cold]
    fn tell_unproved(&self) -> bool {
        self.tell_stranger("a message without the token of a link");
        false
    }

    /// Nobody who keeps to the protocol sends that.
    #[cold]
    fn tell_wrong(&self, proc: u32, head: Head, len: usize) -> bool {
        let what = format!("process {proc} sent {len} bytes as {:?}, which cannot be", head.kind);
        self.host.peer_error(proc, true, &what);
        false
    }
}
