//! Sending: a message is copied into a send buffer, which is free again when the library reports that the message has arrived.

use crate::abi::rc;
use crate::lane::{Held, Lane, NAPS};
use crate::link::{Link, State};
use crate::nic::Taken;
use crate::rail::Rail;
use crate::wire::{HEAD, Kind, head};
use core::sync::atomic::Ordering;
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use std::sync::Arc;

/// Offers that are refused unseen behind an attempt that was refused, at most; one more with each such attempt.
const MOST_SKIPPED: u32 = 8;

/// Bytes behind the head of a message.
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

    /// # Safety
    /// `to` has room for `len` bytes.
    unsafe fn write(&self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Body::Bytes(bytes) => core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()),
                Body::Message(msg) => {
                    let header = msg.header();
                    core::ptr::copy_nonoverlapping(header.as_ptr(), to, header.len());
                    msg.write_payload(to.add(header.len()));
                }
            }
        }
    }
}

impl Rail {
    /// Sends, or has done nothing. The holder of the lane calls.
    pub fn push(
        &self,
        lane: &Lane,
        held: &mut Held,
        link: &Arc<Link>,
        kind: Kind,
        tag: u8,
        body: &Body<'_>,
    ) -> Status {
        match link.state() {
            State::Connected => {}
            State::Failed => return Status::PEER_FAILED,
            State::New => {
                self.call(link);
                return Status::NO_RESOURCE;
            }
            State::Calling => return Status::NO_RESOURCE,
        }
        let Some(ep) = link.ep() else { return Status::NO_RESOURCE };
        // Whether credits have come only an attempt tells, and that costs a copy: not every offer is one.
        let skips = link.skips.load(Ordering::Relaxed);
        if skips > 0 {
            link.skips.store(skips - 1, Ordering::Relaxed);
            return Status::NO_RESOURCE;
        }
        let buffer = held.pool.take().or_else(|| {
            self.reap(lane, held);
            held.pool.take()
        });
        let Some((id, at)) = buffer else { return Status::NO_RESOURCE };
        // SAFETY: a buffer holds the head and the longest message, and lengths were checked.
        unsafe {
            at.cast::<[u8; HEAD]>().write_unaligned(head(tag, body.len()));
            body.write(at.add(HEAD));
        }
        let len = (HEAD + body.len()) as u32;
        // SAFETY: the buffer is left alone until the message's event.
        let send = || unsafe { lane.nic.enter().send(ep, at, len, id, kind as u8) };
        let mut sent = send();
        // Reading the queue frees requests of the library.
        if matches!(sent, Err(rc::NOT_DONE | rc::ERROR_RESOURCE)) && self.reap(lane, held) > 0 {
            sent = send();
        }
        match sent {
            Ok(()) => {
                held.pool.is_under_way(id, link);
                link.refusals.store(0, Ordering::Relaxed);
                Status::OK
            }
            Err(rc::NOT_DONE | rc::ERROR_RESOURCE) => {
                held.pool.put_back(id);
                held.starved = NAPS;
                let refusals = link.refusals.load(Ordering::Relaxed);
                link.refusals.store((refusals + 1).min(MOST_SKIPPED), Ordering::Relaxed);
                link.skips.store(refusals, Ordering::Relaxed);
                Status::NO_RESOURCE
            }
            Err(code) => {
                held.pool.put_back(id);
                self.fail(&link.core, &format!("a message is refused: {}", lane.nic.api.code_text(code)));
                Status::PEER_FAILED
            }
        }
    }

    /// Reads the queue of sent messages: their buffers are free. How many entries there were.
    pub fn reap(&self, lane: &Lane, held: &mut Held) -> i32 {
        let mut handled = 0;
        let mut lost = Vec::new();
        held.turns = 0;
        let nic = lane.nic.enter();
        loop {
            let (event, failed) = match nic.take_event(&lane.sends) {
                Taken::Nothing => break,
                Taken::Event(event) => (event, false),
                Taken::Failed(event) => (event, true),
                // Buffers whose entries were lost stay out of use; the pool grows by others.
                Taken::Overrun(event) => (event, false),
                Taken::Broken(code) => {
                    self.host.error(&format!("a queue of sent messages: {}", nic.text(code)));
                    break;
                }
            };
            handled += 1;
            let link = nic.message_id(event).and_then(|id| held.pool.give(id));
            if failed && let Some(link) = link {
                lost.push((link, event));
            }
        }
        drop(nic);
        for (link, event) in lost {
            self.fail(&link.core, &format!("a message is lost: {}", lane.nic.api.event_text(event)));
        }
        handled
    }
}
