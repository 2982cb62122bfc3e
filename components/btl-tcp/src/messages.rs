//! The way of a message to its stream: at once, at the end of the context's turn, or together with others that follow.
//!
//! **Company.** A message to a peer that has acknowledged everything goes at once; so does one behind a pause. One that follows another within [`SHORTLY`], and may wait,
//! is put into the stream's ring and noted (`gathered.rs`). It goes by one call of the system with all that join it until the context's next turn, until there are
//! [`MUCH`] bytes, until a message that may not wait, or until the courier comes.

use crate::context::Context;
use crate::frame::{Kind, room};
use crate::gathered::Waiting;
use crate::links::JOINED;
use crate::peer::Core;
use crate::rail::Tcp;
use crate::stream::Link;
use crate::streams::StreamName;
use core::time::Duration;
use oxmpi_btl::{Completion, Message};
use oxmpi_mca::Status;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Messages gather up to so many bytes.
const MUCH: u64 = 16 << 10;
/// A message so long behind the last write is alone: longer than a program takes from one send to the next, shorter than a message takes to its peer.
const SHORTLY: Duration = Duration::from_micros(20);

impl Tcp {
    /// The stream of a context to one of a process's that is not over.
    #[cold]
    pub(crate) fn first_use(
        &self,
        cx: &mut Context,
        core: &Arc<Core>,
        theirs: u16,
    ) -> Result<(usize, StreamName), Status> {
        if core.is_over() {
            return Err(Status::PEER_FAILED);
        }
        let slot = cx.stream(core, theirs, &self.settings);
        Ok((slot, cx.streams.name(slot)))
    }

    /// Puts a message on a stream. PENDING: it waits for others there. NO_RESOURCE where there is no room, or no connection and `kept` does not
    /// say that it may wait for one.
    pub(crate) fn push(
        &self,
        cx: &mut Context,
        slot: usize,
        kind: Kind,
        msg: &Message<'_>,
        kept: bool,
    ) -> Status {
        if !cx.streams[slot].is_up() {
            let status = self.wants_connection(cx, slot);
            if !kept || status == Status::PEER_FAILED {
                return status;
            }
        }
        cx.take_back(slot);
        let waits = cx.streams[slot].out.unsent();
        if !kept && waits > 0 && waits + room(msg.total_len()) as u64 > JOINED {
            self.flush(cx, slot);
            if cx.streams[slot].out.unsent() > 0 {
                return Status::NO_RESOURCE;
            }
        }
        let s = &mut cx.streams[slot];
        let at = s.at();
        let alone = s.out.is_settled();
        if !s.out.push(kind, msg, at) {
            return Status::NO_RESOURCE;
        }
        s.told = at;
        let may_wait = kind == Kind::Request || msg.may_wait();
        if may_wait && !alone && self.gather(cx, slot, waits > 0) {
            return Status::PENDING;
        }
        self.flush_soon(cx, slot);
        Status::OK
    }

    /// Puts a message on a stream whose payload is kept where it lies until it is acknowledged, which `done` tells behind PENDING.
    pub(crate) fn push_kept(
        &self,
        cx: &mut Context,
        slot: usize,
        msg: &Message<'_>,
        done: Completion,
    ) -> Status {
        if !cx.streams[slot].is_up() {
            return self.wants_connection(cx, slot);
        }
        cx.take_back(slot);
        if cx.streams[slot].out.unsent() > 0 {
            self.flush(cx, slot);
        }
        let s = &mut cx.streams[slot];
        let at = s.at();
        if s.out.unsent() > 0 || !s.out.push_kept(msg, at, done) {
            return Status::NO_RESOURCE;
        }
        s.told = at;
        self.flush(cx, slot);
        Status::PENDING
    }

    /// Has what waits on a stream wait for company, if there is likely to be some; false: it is to go now. `joins`: others wait already.
    fn gather(&self, cx: &mut Context, slot: usize, joins: bool) -> bool {
        let s = &mut cx.streams[slot];
        let Link::Up(fd) = &s.link else { return false };
        // A full socket tells when it has room, and then all goes.
        if cx.inside || s.broken || s.waits_for_room() || s.out.unsent() >= MUCH {
            return false;
        }
        let company = joins || s.wrote.is_some_and(|wrote| wrote.elapsed() < SHORTLY);
        // All of what waits is in one piece, or the courier would not have the rest of it.
        let piece = s.out.next_piece();
        let whole = piece.len() as u64 == s.out.unsent();
        if !company || !whole || !self.courier.is_there() {
            return false;
        }
        let note = Waiting {
            slot,
            fd: fd.as_raw_fd(),
            from: piece.as_ptr(),
            len: piece.len(),
            wrote: 0,
            failed: false,
        };
        s.gathered = true;
        cx.gathering.push(slot);
        cx.gathered.put(note);
        self.courier.notice();
        true
    }

    /// A message waits for a connection.
    #[cold]
    fn wants_connection(&self, cx: &mut Context, slot: usize) -> Status {
        let s = &cx.streams[slot];
        if s.is_shut() || s.core.is_over() {
            return Status::PEER_FAILED;
        }
        if matches!(s.link, Link::Idle) {
            self.call(cx, slot);
        }
        // That there is no way to it may be known at once.
        if cx.streams[slot].is_shut() { Status::PEER_FAILED } else { Status::NO_RESOURCE }
    }
}
