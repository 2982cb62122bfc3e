//! One FIFO to a process, as the holder of its CRI has it: credit, and what waits to go out.

use crate::peers::streamed::Streamed;
use crate::requests::request::Request;
use crate::wire::{FREE, FREE_BYTES, Header};
use std::collections::VecDeque;

/// The part of a peer that belongs to the holder of its FIFO's CRI. Fields that every send reads stand first.
#[repr(C)]
pub struct Flow {
    /// Bytes of eager payload (messages above [`FREE_BYTES`]) we may still send.
    pub(super) credit: u64,
    /// Requests in `queue`; while there are any, later ones go behind them. [`Flow::SHUT`] once failed,
    /// so that the short way, which looks at nothing else, is closed.
    pub(super) queued: u32,
    /// The process broke the protocol or its transport failed.
    pub(super) failed: bool,
    /// The process cannot read our memory; do not offer RGET again.
    pub(super) no_rget: bool,
    /// We cannot read its memory.
    pub(super) no_get: bool,
    pub(super) in_backlog: bool,
    /// We cannot write to its memory.
    pub(super) no_put: bool,
    /// Sends that found no room, oldest first.
    pub(super) queue: VecDeque<&'static Request>,
    /// Small messages of ours that found no room.
    pub(super) control: VecDeque<Header>,
    /// Long sends and pulls that go on when there is room.
    pub(super) streams: VecDeque<&'static Request>,
    /// The stamp that the receiver was told last (`queue_changed`).
    pub(super) oldest: u64,
    /// The message from it of which a part is here.
    pub(super) streamed: Option<Streamed>,
}

impl Flow {
    /// The value of `queued` once the peer has failed.
    pub(super) const SHUT: u32 = u32::MAX;

    /// Makes a flow with nothing queued and so much credit. `gets`, `puts`: whether the transport's get and put serve long messages.
    pub(super) fn new(credit: u64, gets: bool, puts: bool) -> Flow {
        Flow {
            credit,
            queued: 0,
            failed: false,
            no_rget: !gets,
            no_get: !gets,
            in_backlog: false,
            no_put: !puts,
            queue: VecDeque::new(),
            control: VecDeque::new(),
            streams: VecDeque::new(),
            oldest: 0,
            streamed: None,
        }
    }

    /// Whether a send may go: none waits in front of it, and the peer has not failed.
    #[inline(always)]
    pub fn is_clear(&self) -> bool {
        self.queued == 0
    }

    /// Takes credit for `bytes` of eager payload, all or nothing; up to [`FREE_BYTES`] cost none. `false`: there is too
    /// little.
    #[inline(always)]
    pub fn take_credit(&mut self, bytes: u64) -> bool {
        if bytes <= FREE_BYTES {
            return true;
        }
        if self.credit < bytes {
            return false;
        }
        self.credit -= bytes;
        true
    }

    /// Gives back credit that was taken for `bytes` of eager payload that were not sent.
    #[inline(always)]
    pub fn give_credit(&mut self, bytes: u64) {
        if bytes > FREE_BYTES {
            self.credit += bytes;
        }
    }

    /// Whether the process broke the protocol or its transport failed, as far as this FIFO's CRI has been told.
    #[inline(always)]
    pub fn is_failed(&self) -> bool {
        self.failed
    }
    /// Whether the process may read our memory, as far as is known.
    pub fn may_read(&self) -> bool {
        !self.no_rget
    }
    /// Notes that the process cannot read our memory, so that it is not offered again.
    pub fn refuse_reading(&mut self) {
        self.no_rget = true;
    }
    /// Whether we may read the process's memory, as far as is known.
    pub fn is_readable(&self) -> bool {
        !self.no_get
    }
    /// Notes that we cannot read the process's memory.
    pub fn be_unreadable(&mut self) {
        self.no_get = true;
    }
    /// Whether we may write to the process's memory, as far as is known.
    pub fn is_writable(&self) -> bool {
        !self.no_put
    }
    /// Notes that we cannot write to the process's memory.
    pub fn be_unwritable(&mut self) {
        self.no_put = true;
    }

    /// Whether nothing waits for room: no send, no control message, no stream. Of a failed peer sends do not count.
    pub fn is_idle(&self) -> bool {
        (self.queued == 0 || self.queued == Flow::SHUT) && self.control.is_empty() && self.streams.is_empty()
    }

    /// Drops the control messages that wait for room, since the peer is closed.
    pub(super) fn drop_control(&mut self) {
        self.control.clear();
    }

    /// The stamp of the oldest queued message that has one, or 0. Messages that may overtake others keep nobody waiting; those of one FIFO have rising
    /// stamps.
    pub(super) fn oldest_stamp(&self) -> u64 {
        self.queue.iter().map(|r| r.order()).find(|&order| order != FREE).unwrap_or(0)
    }
}

/// Long operations that go on with the next room, each for a step in its turn.
impl Flow {
    /// Lists a long operation behind the others.
    pub fn add_stream(&mut self, req: &'static Request) {
        req.be_listed();
        self.streams.push_back(req);
    }
    /// Takes the first long operation off the list.
    pub fn next_stream(&mut self) -> Option<&'static Request> {
        let req = self.streams.pop_front()?;
        req.be_unlisted();
        Some(req)
    }
    /// Gives how many long operations are listed.
    pub fn num_streams(&self) -> usize {
        self.streams.len()
    }
    /// Takes the long operations off the list of which `is_it` says yes.
    pub fn take_streams_of(&mut self, is_it: impl Fn(&&'static Request) -> bool) -> Vec<&'static Request> {
        let (taken, others): (Vec<_>, Vec<_>) = self.streams.drain(..).partition(is_it);
        self.streams.extend(others);
        taken.iter().for_each(|req| req.be_unlisted());
        taken
    }
}

/// The message of which a part has come.
impl Flow {
    /// Gives the message of which a part has come. `None`: there is none.
    #[inline(always)]
    pub fn streamed(&self) -> Option<&Streamed> {
        self.streamed.as_ref()
    }
    /// Notes a message of which a part has come.
    pub fn begin_streamed(&mut self, streamed: Streamed) {
        self.streamed = Some(streamed);
    }
    /// Forgets the message, of which all has come or nothing more is wanted, and gives it.
    pub fn end_streamed(&mut self) -> Option<Streamed> {
        self.streamed.take()
    }
}
