//! Sending: a message is copied into a send buffer, which is free again when the library reports that the message has arrived.

use crate::abi::rc;
use crate::context::{Context, NAPS, Pool, Tracked};
use crate::lane::Lane;
use crate::link::State;
use crate::nic::Taken;
use crate::rail::Rail;
use crate::wire::{HEAD, Kind, head};
use oxmpi_btl::Message;
use oxmpi_mca::Status;

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

    /// `to` is as long as that.
    fn write(&self, to: &mut [u8]) {
        match self {
            Body::Bytes(bytes) => to.copy_from_slice(bytes),
            Body::Message(msg) => msg.write(to),
        }
    }
}

impl Rail {
    /// Sends on a link that the context has met, or has done nothing. `lane` is the context's, and the body no longer than
    /// `Settings::max_send_size`.
    pub fn push(
        &self,
        lane: &Lane,
        context: &mut Context,
        link: u32,
        kind: Kind,
        tag: u8,
        body: &Body<'_>,
    ) -> Status {
        let Context { pool, links, starved, .. } = context;
        let n = link as usize;
        let link = &*links[n].link;
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
        if links[n].skips > 0 {
            links[n].skips -= 1;
            return Status::NO_RESOURCE;
        }
        let buffer = pool.take().or_else(|| {
            self.reap(lane, pool, links);
            pool.take()
        });
        let Some(id) = buffer else { return Status::NO_RESOURCE };
        let len = HEAD + body.len();
        let bytes = &mut pool.bytes(id)[..len];
        let (front, rest) = bytes.split_at_mut(HEAD);
        front.copy_from_slice(&head(tag, body.len()));
        body.write(rest);
        let at = bytes.as_mut_ptr();
        // SAFETY: the buffer is as long, and left alone until the message's event; it goes with its context, after the lane was closed.
        let send = || unsafe { lane.nic.lock().send(ep, at, len as u32, id, kind as u8) };
        let mut sent = send();
        // Reading the queue frees requests of the library.
        if matches!(sent, Err(rc::NOT_DONE | rc::ERROR_RESOURCE)) && self.reap(lane, pool, links) > 0 {
            sent = send();
        }
        match sent {
            Ok(()) => {
                pool.is_under_way(id, n as u32);
                links[n].refusals = 0;
                Status::OK
            }
            Err(rc::NOT_DONE | rc::ERROR_RESOURCE) => {
                pool.put_back(id);
                *starved = NAPS;
                let refusals = links[n].refusals;
                links[n].refusals = (refusals + 1).min(MOST_SKIPPED);
                links[n].skips = refusals;
                Status::NO_RESOURCE
            }
            Err(code) => {
                pool.put_back(id);
                let why = format!("a message is refused: {}", lane.nic.api.code_text(code));
                self.fail(&links[n].link.core, &why);
                Status::PEER_FAILED
            }
        }
    }

    /// Reads the queue of sent messages: their buffers are free. How many entries there were.
    pub fn reap(&self, lane: &Lane, pool: &mut Pool, links: &[Tracked]) -> i32 {
        let mut handled = 0;
        let mut lost = Vec::new();
        pool.turns = 0;
        let nic = lane.nic.lock();
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
            let link = nic.message_id(event).and_then(|id| pool.give(id));
            if failed && let Some(link) = link {
                lost.push((link, event));
            }
        }
        drop(nic);
        for (link, event) in lost {
            let core = &links[link as usize].link.core;
            self.fail(core, &format!("a message is lost: {}", lane.nic.api.event_text(event)));
        }
        handled
    }
}
