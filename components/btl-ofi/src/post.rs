//! Handing messages to the provider: a short one is injected, a longer one is copied into a send buffer, which is free again when its completion
//! comes.

use crate::abi::err;
use crate::buffers::Route;
use crate::context::Context;
use crate::link::Door;
use crate::rail::Rail;
use crate::wire::{HEAD, Head, Kind};
use core::ffi::c_void;
use oxmpi_btl::Message;
use oxmpi_mca::Status;

/// Bytes behind the head of a message.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    Message(&'a Message<'a>),
    Bytes(&'a [u8]),
}

impl Body<'_> {
    pub fn len(&self) -> usize {
        match self {
            Body::Message(msg) => msg.total_len(),
            Body::Bytes(bytes) => bytes.len(),
        }
    }

    /// `to` is as long as that.
    fn write(&self, to: &mut [u8]) {
        match self {
            Body::Bytes(bytes) => to.copy_from_slice(bytes),
            Body::Message(msg) => msg.write(to),
        }
    }
}

/// The provider's answer to a message.
enum Said {
    Taken,
    /// There is no room now.
    Full,
    Refused(i32),
}

fn said(code: isize) -> Said {
    const NOBUFS: i32 = 105;
    match (-code) as i32 {
        0 => Said::Taken,
        err::AGAIN | err::NOMEM | NOBUFS => Said::Full,
        code => Said::Refused(code),
    }
}

impl Rail {
    /// Hands a message to the provider.
    pub fn post(
        &self,
        cx: &mut Context,
        door: Door,
        via: Route,
        kind: Kind,
        tag: u8,
        body: Body<'_>,
    ) -> Status {
        let len = HEAD + body.len();
        let number = if kind.is_numbered() { *cx.number_of(via) } else { 0 };
        let head = Head { link: door.link, token: door.token, kind, tag, number }.encode();
        // The last word is waited for, so it needs a completion.
        let is_injected = len <= cx.inject && kind != Kind::Bye;
        let status = match is_injected {
            true => self.inject(cx, door, &head, body, len),
            false => self.send_buffer(cx, door, via, &head, body, len),
        };
        match status {
            Said::Taken => {
                if kind.is_numbered() {
                    *cx.number_of(via) = number.wrapping_add(1);
                }
                if let Some(attendant) = &self.attendant {
                    attendant.attend(&cx.ward, &self.host);
                }
                Status::OK
            }
            Said::Full => {
                cx.starves();
                Status::NO_RESOURCE
            }
            Said::Refused(code) => {
                let why = format!("a message is refused: {}", self.api.text(code));
                self.fail(&cx.core_of(via), &why);
                Status::PEER_FAILED
            }
        }
    }

    #[inline]
    fn inject(&self, cx: &mut Context, door: Door, head: &[u8; HEAD], body: Body<'_>, len: usize) -> Said {
        let (front, rest) = cx.scratch[..len].split_at_mut(HEAD);
        front.copy_from_slice(head);
        body.write(rest);
        for attempt in 0..2 {
            let ep = &cx.ep;
            // SAFETY: the endpoint lives, and so many bytes, which the provider has copied when it returns.
            let code = unsafe { (ep.inject)(ep.object, cx.scratch.as_ptr().cast(), len, door.address) };
            match said(code) {
                // Completions that are read make room.
                Said::Full if attempt == 0 && self.take(cx) > 0 => {}
                said => return said,
            }
        }
        Said::Full
    }

    fn send_buffer(
        &self,
        cx: &mut Context,
        door: Door,
        via: Route,
        head: &[u8; HEAD],
        body: Body<'_>,
        len: usize,
    ) -> Said {
        let number = match cx.buffers.take() {
            Some(number) => number,
            None => {
                self.take(cx);
                let Some(number) = cx.buffers.take() else { return Said::Full };
                number
            }
        };
        let (at, record) = cx.buffers.send(number);
        // SAFETY: a send buffer has room for the longest message, and this one is nobody else's since it was taken.
        let bytes = unsafe { core::slice::from_raw_parts_mut(at, len) };
        let (front, rest) = bytes.split_at_mut(HEAD);
        front.copy_from_slice(head);
        body.write(rest);
        cx.buffers.is_under_way(number, via);
        for attempt in 0..2 {
            let ep = &cx.ep;
            // SAFETY: the endpoint lives; buffer and record are left alone until the completion, and go behind the endpoint.
            let code = unsafe {
                (ep.send)(
                    ep.object,
                    at.cast_const().cast::<c_void>(),
                    len,
                    cx.buffers.desc(),
                    door.address,
                    record,
                )
            };
            match said(code) {
                Said::Taken => return Said::Taken,
                Said::Full if attempt == 0 && self.take(cx) > 0 => {}
                said => {
                    cx.buffers.give(number);
                    return said;
                }
            }
        }
        cx.buffers.give(number);
        Said::Full
    }
}
