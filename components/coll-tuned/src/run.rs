//! Does what an algorithm says, in one call: at once, or as steps of a plan.
//!
//! **Buffers outlive their messages.** All messages that were started are waited for before memory goes, also behind failures ([`Run::end`], and `drop`).
//!
//! **Failures** are those of docs/adding-a-coll.md: the first one is noted, and the algorithm goes on. From the first receive that failed on, each
//! message is replaced by one that ends its receive with the error, and data is left alone, so every rank whose result depends on
//! what is missing hears of it, and nobody waits for ever. Where memory is missing a rank goes on as if a receive had failed; its
//! receives have no room then. In a plan the host does this, and an error here ends the making.
//!
//! **The last message.** A message is held back until the next word: if that is `wait(0)`, a send needs no request, nor does a receive that is
//! alone.

use crate::buffers::{Buffers, Need, Run as Part, Temp};
use crate::call::Call;
use crate::script::{Piece, Script};
use core::ptr::null_mut;
use oxmpi_coll_support::layout::Result;
use oxmpi_coll_support::{Lease, Place, Room, Source};
use oxmpi_mca::{RequestHeader, Status};
use std::collections::VecDeque;

/// A message before it is started.
#[derive(Clone, Copy)]
enum Message<'a> {
    Send(Source<'a>, u32),
    Recv(Place<'a>, u32),
}

/// One call, as a script.
pub struct Run<'a> {
    call: &'a Call<'a>,
    buffers: Buffers<'a>,
    held: Option<Message<'a>>,
    /// Requests in the order in which they were started.
    pending: Vec<*mut RequestHeader>,
    /// How many of them each word of the algorithm has.
    words: VecDeque<usize>,
    /// Temporary memory; dropped after all messages are done.
    leases: Vec<Lease<'a>>,
    /// Of a plan that could not be made.
    stopped: Result,
}

impl<'a> Run<'a> {
    pub fn new(call: &'a Call<'a>, buffers: Buffers<'a>) -> Run<'a> {
        let (pending, words, leases) = (Vec::new(), VecDeque::new(), Vec::new());
        Run { call, buffers, held: None, pending, words, leases, stopped: Ok(()) }
    }

    /// Waits for everything. Errors of messages are the call's, which has noted them.
    pub fn end(mut self) -> Result {
        self.wait(0);
        self.stopped
    }

    /// Notes a failure; `spoils`: data is missing.
    #[cold]
    fn failed(&mut self, status: Status, spoils: bool) {
        if self.call.is_planning() {
            self.stopped = self.stopped.and(Err(status));
        } else {
            self.call.failure.note(status, spoils);
        }
    }

    fn note(&mut self, done: Result, spoils: bool) {
        if let Err(status) = done {
            self.failed(status, spoils);
        }
    }

    /// Starts a message; null: it was refused, which is noted, or nobody can be told.
    fn start(&mut self, message: Message<'a>) -> *mut RequestHeader {
        let (call, mut request) = (self.call, null_mut());
        let (status, spoils) = match message {
            Message::Send(_, to) if call.failure.has_spoiled() => {
                // A peer that cannot be told is not reached, and knows by itself.
                let told = call.failure.told();
                let status = (call.services.send_failure)(call.comm, to, call.tag, told, &mut request);
                return if status.is_err() { null_mut() } else { request };
            }
            Message::Send(data, to) => {
                let (at, count, dtype) = data.raw();
                ((call.services.isend)(call.comm, at, count, dtype, to, call.tag, &mut request), false)
            }
            Message::Recv(place, from) => {
                let (at, count, dtype) = place.raw();
                ((call.services.irecv)(call.comm, at, count, dtype, from, call.tag, &mut request), true)
            }
        };
        if status.is_err() {
            self.failed(status, spoils);
            return null_mut();
        }
        request
    }

    /// Starts messages of one word.
    fn start_all(&mut self, messages: impl Iterator<Item = Message<'a>>) {
        let before = self.pending.len();
        for message in messages {
            let request = self.start(message);
            if !request.is_null() {
                self.pending.push(request);
            }
        }
        self.words.push_back(self.pending.len() - before);
    }

    fn release(&mut self) {
        if let Some(message) = self.held.take() {
            self.start_all(core::iter::once(message));
        }
    }

    /// Does the message that is held back, which is waited for with all before it.
    fn finish_held(&mut self) {
        let call = self.call;
        match self.held {
            Some(Message::Send(data, to)) if !call.failure.has_spoiled() => {
                self.held = None;
                let (at, count, dtype) = data.raw();
                let status = (call.services.send)(call.comm, at, count, dtype, to, call.tag);
                self.note(status.ok().map(drop), false);
            }
            Some(Message::Recv(place, from)) if self.pending.is_empty() => {
                self.held = None;
                let (at, count, dtype) = place.raw();
                let status = (call.services.recv)(call.comm, at, count, dtype, from, call.tag, null_mut());
                self.note(status.ok().map(drop), true);
            }
            _ => self.release(),
        }
    }

    /// Takes the one message of a word; none: it would be empty.
    fn one(&mut self, message: Option<Message<'a>>) {
        self.release();
        if self.stopped.is_err() {
            return;
        }
        match message {
            None => self.words.push_back(0),
            held => self.held = held,
        }
    }

    /// Takes the messages of a word whose piece consists of several in memory.
    fn several(&mut self, messages: Vec<Message<'a>>) {
        self.release();
        if self.stopped.is_ok() {
            self.start_all(messages.into_iter());
        }
    }

    /// The message that takes a piece in memory. Parts of packed data are never sent: algorithms are told to use a copy.
    fn outgoing(&self, data: Piece, to: u32) -> Option<Message<'a>> {
        match self.buffers.source(data) {
            Part::Elements(all) | Part::Packed { all, .. } => {
                (all.bytes() != Ok(0)).then_some(Message::Send(all, to))
            }
            Part::Missing => Some(Message::Send(Source::NOTHING, to)),
            Part::Empty => None,
        }
    }

    fn incoming(&self, place: Piece, from: u32) -> Option<Message<'a>> {
        match self.buffers.place(place) {
            Part::Elements(all) | Part::Packed { all, .. } => {
                (all.bytes() != Ok(0)).then_some(Message::Recv(all, from))
            }
            Part::Missing => Some(Message::Recv(Place::NOTHING, from)),
            Part::Empty => None,
        }
    }

    fn allocate(&mut self, need: &Need<'a>) -> Result<Temp<'a>> {
        let len = need.len();
        let room = if self.call.is_planning() {
            self.call.local().memory(len)?
        } else {
            let lease = self.call.scratch(len)?;
            let (start, ..) = lease.bytes(0, len).raw();
            self.leases.push(lease);
            // SAFETY: the lease's memory, which does not move, and which is kept until all messages are done; each lease has its own, and nobody
            // else takes pieces of this one.
            unsafe { Room::new(start, len) }
        };
        Ok(match need {
            Need::Span(span) => Temp::Even { all: room.elements(0, span), each: 1 },
            Need::Bytes { each, len } => Temp::Even { all: room.bytes(0, *len), each: *each },
            Need::Packs(starts) => Temp::Packs { all: room.bytes(0, len), starts: starts.clone() },
        })
    }

    /// Copies one piece in memory.
    fn copy_run(&self, from: Part<Source<'a>>, to: Part<Place<'a>>) -> Result {
        let local = self.call.local();
        // SAFETY: pieces of different buffers, or the same elements, which are left alone; algorithms name no others, and their tests look at that. Temporary
        // memory is bytes where packed data meets it, and as many as the piece has.
        unsafe {
            match (from, to) {
                (Part::Elements(from), Part::Elements(to)) if from.is(to) => Ok(()),
                (Part::Elements(from), Part::Elements(to))
                    if from.is_like(to) && from.count() == to.count() =>
                {
                    local.duplicate(from, to)
                }
                (Part::Elements(from), Part::Elements(to)) => local.transfer(from, to),
                (Part::Packed { all, first, .. }, Part::Elements(to)) => local.pack(all, first, to),
                (Part::Elements(from), Part::Packed { all, first, .. }) => local.unpack(all, first, from),
                _ => Ok(()),
            }
        }
    }
}

impl Script for Run<'_> {
    fn temp(&mut self, number: u8, units: u64, turned: u64) {
        if units == 0 || self.stopped.is_err() {
            return;
        }
        let temp = match self.buffers.units.need(units, turned) {
            Ok(need) => self.allocate(&need).map_err(|status| (status, need.starts())),
            Err(status) => Err((status, None)),
        };
        let temp = temp.unwrap_or_else(|(status, starts)| {
            self.failed(status, true);
            Temp::Missing { starts }
        });
        self.buffers.temps[usize::from(number)] = Some(temp);
    }

    fn send(&mut self, data: Piece, to: u32) {
        match self.buffers.runs(data) {
            1 => self.one(self.outgoing(data, to)),
            runs => {
                let unit = |i: u64| self.outgoing(data.area.piece(data.first + i, 1), to);
                self.several((0..runs).filter_map(unit).collect());
            }
        }
    }

    fn recv(&mut self, place: Piece, from: u32) {
        match self.buffers.runs(place) {
            1 => self.one(self.incoming(place, from)),
            runs => {
                let unit = |i: u64| self.incoming(place.area.piece(place.first + i, 1), from);
                self.several((0..runs).filter_map(unit).collect());
            }
        }
    }

    fn signal(&mut self, to: u32) {
        self.one(Some(Message::Send(Source::NOTHING, to)));
    }

    fn await_signal(&mut self, from: u32) {
        self.one(Some(Message::Recv(Place::NOTHING, from)));
    }

    fn wait(&mut self, left: usize) {
        if left == 0 {
            self.finish_held();
        } else {
            self.release();
        }
        let done = self.words.len().saturating_sub(left);
        let requests: usize = self.words.drain(..done).sum();
        if requests > 0 {
            let call = self.call;
            let status = (call.services.wait_all)(call.comm, self.pending.as_mut_ptr(), requests);
            self.pending.drain(..requests);
            self.note(status.ok().map(drop), true);
        }
    }

    fn copy(&mut self, from: Piece, to: Piece) {
        self.release();
        if from.len == 0 || self.stopped.is_err() {
            return;
        }
        let runs = self.buffers.runs(from).max(self.buffers.runs(to));
        let each = if runs == 1 { from.len } else { 1 };
        for i in 0..runs {
            let from = self.buffers.source(from.area.piece(from.first + i, each));
            let to = self.buffers.place(to.area.piece(to.first + i, each));
            let done = self.copy_run(from, to);
            self.note(done, false);
        }
    }

    fn combine(&mut self, left: Piece, right: Piece) {
        self.release();
        if left.len == 0 || self.stopped.is_err() {
            return;
        }
        let (left, right) = (self.buffers.source(left), self.buffers.place(right));
        if let (Part::Elements(left), Part::Elements(right)) = (left, right) {
            // SAFETY: pieces of different buffers with as many elements of the operation's type, as algorithms name them.
            let done = unsafe { self.call.local().reduce(self.call.op(), left, right) };
            self.note(done, true);
        }
    }
}

impl Drop for Run<'_> {
    /// Before memory goes.
    fn drop(&mut self) {
        self.wait(0);
    }
}
