//! Reading the completion queue, wherever room is needed: by `send` as well as by a turn. Messages that come to light wait in the context for the
//! next turn; credits and what makes links are taken at once, and nothing is sent meanwhile.

use crate::abi::{ADDR_UNSPEC, err};
use crate::buffers::{Purpose, Record};
use crate::context::Context;
use crate::objects::{Failure, Found};
use crate::rail::Rail;
use crate::wire::{Head, Kind};
use oxmpi_mca::Status;

impl Rail {
    /// Reads the completion queue once. How many entries there were.
    pub fn take(&self, cx: &mut Context) -> i32 {
        cx.blind = 0;
        cx.ward.beat();
        match cx.ep.cq.read(&mut cx.entries) {
            Found::Entries(0) => 0,
            Found::Entries(count) => {
                for n in 0..count {
                    let entry = cx.entries[n];
                    // SAFETY: the provider answers contexts that this endpoint's operations had, whose records live as long as it.
                    match unsafe { Record::of(entry.context) } {
                        Some(Purpose::Receive(number)) => self.came(cx, number, entry.len),
                        Some(Purpose::Send(number)) => _ = cx.buffers.give(number),
                        Some(Purpose::Operation(ticket)) => self.end(cx, ticket, Status::OK),
                        None => {}
                    }
                }
                count as i32
            }
            Found::Failure => self.take_failure(cx),
            Found::Broken(code) => {
                self.tell_broken(code);
                0
            }
        }
    }

    /// A message has come.
    #[inline]
    fn came(&self, cx: &mut Context, number: u32, len: usize) {
        let (at, _) = cx.buffers.receive(number);
        // SAFETY: a receive buffer that is not posted, of at least that length; it lies outside of the context.
        let bytes = unsafe { core::slice::from_raw_parts(at.cast_const(), len.min(cx.buffers.size())) };
        let Some((head, body)) = Head::split(bytes) else {
            cx.unposted.push(number);
            return self.tell_stranger("bytes that are no message of this version of the component");
        };
        if head.kind.is_numbered() {
            return cx.arrived.push_back((number, len));
        }
        cx.unposted.push(number);
        if head.kind == Kind::Credits {
            self.take_credits(cx, head);
        } else if !self.take_call(cx, head, body) {
            self.tell_stranger("an attempt to connect by somebody who is not of this job");
        }
    }

    fn take_credits(&self, cx: &mut Context, head: Head) {
        let out = cx.outs.get_mut(head.link as usize).filter(|o| o.token == head.token);
        let Some(out) = out else { return self.tell_stranger("credits without the token of a link") };
        if !out.take_credits(head.tag) {
            let proc = out.core.proc;
            self.host.peer_error(proc, true, &format!("process {proc} gave more credits than there are"));
        }
    }

    #[cold]
    fn take_failure(&self, cx: &mut Context) -> i32 {
        let Some(failure) = cx.ep.cq.failure() else { return 0 };
        let Failure { context, code, text } = failure;
        // SAFETY: as in `take`.
        match unsafe { Record::of(context) } {
            Some(Purpose::Receive(number)) => {
                cx.unposted.push(number);
                match code {
                    err::CANCELED => {}
                    err::TRUNC => {
                        self.tell_stranger("a message that is longer than any of a process of this job")
                    }
                    _ => self.host.debug(&format!("a receive has failed: {text}")),
                }
            }
            Some(Purpose::Send(number)) => {
                let via = cx.buffers.give(number);
                let core = cx.core_of(via);
                self.fail(&core, &format!("a message is lost: {text}"));
            }
            Some(Purpose::Operation(ticket)) => self.operation_failed(cx, ticket, code, &text),
            None => self.host.debug(&format!("a short message is lost: {text}")),
        }
        1
    }

    /// Gives receive buffers to the provider.
    pub fn post_receives(&self, cx: &mut Context) {
        while let Some(&number) = cx.unposted.last() {
            let (at, record) = cx.buffers.receive(number);
            let ep = &cx.ep;
            // SAFETY: the endpoint lives; buffer and record are left alone until the completion, and go behind the endpoint.
            let code = unsafe {
                (ep.recv)(ep.receiver, at.cast(), cx.buffers.size(), cx.buffers.desc(), ADDR_UNSPEC, record)
            };
            match (-code) as i32 {
                0 => _ = cx.unposted.pop(),
                err::AGAIN => return,
                code => return self.tell_broken(code),
            }
        }
    }
}
