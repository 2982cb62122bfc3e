//! Sending on links: what the host sends, and what waits for room or for its link.

use crate::buffers::Route;
use crate::context::{Context, Unsent};
use crate::link::{Called, Calling};
use crate::post::Body;
use crate::rail::Rail;
use crate::wire::Kind;
use oxmpi_btl::Message;
use oxmpi_mca::Status;

/// How often the completion queue is read for credits before there are none.
const LOOKS: usize = 4;

impl Rail {
    /// Sends an active message, which takes a credit, or has done nothing. The body is no longer than `Settings::max_send_size`.
    #[inline]
    pub fn send(&self, cx: &mut Context, link: u32, msg: &Message<'_>) -> Status {
        let is_open = |cx: &Context| matches!(cx.outs[link as usize].calling, Calling::Open);
        if cx.outs[link as usize].credits == 0 && is_open(cx) {
            // Some may lie with the provider, which brings them to light in several steps.
            for _ in 0..LOOKS {
                self.take(cx);
                if cx.outs[link as usize].credits > 0 {
                    break;
                }
            }
            let out = &cx.outs[link as usize];
            if out.credits == 0 {
                return if out.core.is_out() { Status::PEER_FAILED } else { Status::NO_RESOURCE };
            }
        }
        let status = self.push(cx, link, Kind::Message, msg.tag(), Body::Message(msg));
        if status.is_ok() {
            cx.outs[link as usize].credits -= 1;
        }
        status
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

    /// Sends what waits, each link's in order. How many have gone.
    pub fn send_unsent(&self, cx: &mut Context) -> i32 {
        let mut sent = 0;
        let mut full: Vec<Route> = Vec::new();
        for _ in 0..cx.unsent.len() {
            let Some(first) = cx.unsent.pop_front() else { break };
            let status = match full.contains(&first.via) {
                true => Status::NO_RESOURCE,
                false => self.send_one(cx, &first),
            };
            if status == Status::NO_RESOURCE {
                full.push(first.via);
                cx.unsent.push_back(first);
            } else {
                // Also where the process is gone: nobody waits for it.
                sent += 1;
            }
        }
        sent
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
                    cx.outs[link as usize].calling = Calling::Open;
                }
                status
            }
            (Route::Out(link), _) => self.push(cx, link, *kind, *tag, body),
            (Route::In(link), _) => {
                let link = &cx.ins[link as usize];
                if matches!(link.called, Called::Free) || link.core.is_out() {
                    return Status::PEER_FAILED;
                }
                let door = link.door;
                self.post(cx, door, *via, *kind, *tag, body)
            }
        }
    }
}
