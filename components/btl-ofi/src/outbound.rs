//! Sending on links: the first hello, what the host sends, and what waits for room or for its link.

use crate::buffers::Route;
use crate::context::Context;
use crate::link::{Called, Calling};
use crate::post::Body;
use crate::rail::Rail;
use crate::unsent::{Unsent, offer_each};
use crate::wire::{Hello, Kind};
use oxmpi_btl::Message;
use oxmpi_mca::Status;

/// How often the completion queue is read for credits before there are none.
const LOOKS: usize = 4;
/// Messages that are sent without a look at the completion queue, by whose reading some providers work at all.
const MOST_BLIND: u32 = 32;

impl Rail {
    /// Sends an active message, which takes a credit, or has done nothing. The body is no longer than `Settings::max_send_size`.
    #[inline]
    pub fn send(&self, cx: &mut Context, link: u32, msg: &Message<'_>) -> Status {
        if cx.outs[link as usize].credits == 0 && !self.finds_credits(cx, link) {
            let is_out = cx.outs[link as usize].core.is_out();
            return if is_out { Status::PEER_FAILED } else { Status::NO_RESOURCE };
        }
        if cx.blind >= MOST_BLIND {
            self.look(cx);
        }
        let status = self.push(cx, link, Kind::Message, msg.tag(), Body::Message(msg));
        if status.is_ok() {
            cx.blind += 1;
            cx.outs[link as usize].credits -= 1;
        }
        status
    }

    /// Looks for credits of a link, which is called for at first: a process that only sends has no turns. Whether there are some.
    fn finds_credits(&self, cx: &mut Context, link: u32) -> bool {
        self.call(cx, link);
        // Some may lie with the provider, which brings them to light in several steps.
        (0..LOOKS).any(|_| {
            self.look(cx);
            cx.outs[link as usize].credits > 0
        })
    }

    /// Does what may not wait for a turn: takes what came, gives receive buffers back, and answers.
    fn look(&self, cx: &mut Context) {
        self.take(cx);
        if !cx.unposted.is_empty() {
            self.post_receives(cx);
        }
        if cx.has_unsent() {
            self.send_unsent(cx);
        }
    }

    /// Sends a message on a link that this process has called for, or has done nothing. The body is no longer than `Settings::max_send_size`.
    #[inline]
    pub fn push(&self, cx: &mut Context, link: u32, kind: Kind, tag: u8, body: Body<'_>) -> Status {
        let out = &cx.outs[link as usize];
        if out.core.is_out() {
            return Status::PEER_FAILED;
        }
        if !matches!(out.calling, Calling::Open) {
            self.call(cx, link);
            return Status::NO_RESOURCE;
        }
        let door = out.door;
        self.post(cx, door, Route::Out(link), kind, tag, body)
    }

    /// Says hello on a link, unless that was done.
    #[cold]
    pub fn call(&self, cx: &mut Context, link: u32) {
        let out = &cx.outs[link as usize];
        if !matches!(out.calling, Calling::New) {
            return;
        }
        let (core, door, token, theirs) = (out.core.clone(), out.door, out.token, out.theirs);
        let hello = Rail::name_of(&self.host, core.proc).and_then(|to| {
            Some(Hello {
                from: self.name,
                to,
                from_lane: cx.lane,
                to_lane: theirs,
                link,
                token,
                nonce: self.nonce().ok()?,
                address: self.card.addresses.get(usize::from(cx.lane))?.clone(),
            })
        });
        let Some(hello) = hello else {
            return self.fail(&core, "nothing can be said to it: no random numbers");
        };
        let bytes = hello.encode();
        if self.post(cx, door, Route::Out(link), Kind::Hello, 0, Body::Bytes(&bytes)).is_ok() {
            cx.outs[link as usize].calling = Calling::Hello(Box::new(hello));
        }
    }

    /// Sends what waits: proofs first, then each link's messages in order. How many have gone.
    pub fn send_unsent(&self, cx: &mut Context) -> i32 {
        let proofs = offer_each(cx, |cx| &mut cx.proofs, |cx, message| self.send_one(cx, message));
        proofs + offer_each(cx, |cx| &mut cx.unsent, |cx, message| self.send_one(cx, message))
    }

    fn send_one(&self, cx: &mut Context, message: &Unsent) -> Status {
        let Unsent { via, kind, tag, bytes } = message;
        let body = Body::Bytes(bytes);
        match (*via, kind) {
            (Route::Out(link), Kind::Proof) => {
                let out = &cx.outs[link as usize];
                if out.core.is_out() {
                    return Status::PEER_FAILED;
                }
                let door = out.door;
                let status = self.post(cx, door, *via, *kind, *tag, body);
                if status.is_ok() {
                    cx.outs[link as usize].calling = Calling::Proved;
                }
                status
            }
            (Route::Out(link), _) => self.push(cx, link, *kind, *tag, body),
            (Route::In(number), _) => {
                let link = &cx.ins[number as usize];
                let is_refused = matches!(link.called, Called::Refused);
                let door = link.door;
                let status = match matches!(link.called, Called::Free) || link.core.is_out() {
                    true => Status::PEER_FAILED,
                    false => self.post(cx, door, *via, *kind, *tag, body),
                };
                if is_refused && status != Status::NO_RESOURCE {
                    self.free_refused(cx, number);
                }
                status
            }
        }
    }
}
