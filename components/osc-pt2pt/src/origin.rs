//! Operations at their origin: checked against epoch and range, and made into records.
//!
//! Short data is copied into the record when the call is made, so put and accumulate are over at the origin when they return. The target's listener is asked for such operations where
//! it has one (`asking.rs`); else they go by messages. Long
//! data is sent from where it lies and received where it belongs; such an operation is open ([`Open`]) until the messages
//! have ended, and one that gets something until it has come.

use crate::asking::Asking;
use crate::layout::{one_block, runs_of};
use crate::link::ANY_SOURCE;
use crate::peer::Open;
use crate::state::{Core, LockedState, TransferPurpose};
use crate::wire::{HEAD, Head, flag, kind, layout_of, tag};
use core::ptr::{null, null_mut};
use oxmpi_datatype::kernel::op;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Asked, Rma, Want};
use oxmpi_osc_support::{Destination, Elements, Pending, Request, offset};

/// An operation, ready to be issued.
struct Task<'a> {
    kind: u8,
    code: u16,
    target: u32,
    disp: i64,
    there: Elements<'a>,
    gives: Option<Elements<'a>>,
    /// Sent before that, of the same length: what to compare with.
    compare: *const u8,
    takes: Option<Elements<'a>>,
    /// The target's counter that it adds to.
    counter: Option<u32>,
}

impl<'a> Task<'a> {
    fn of(kind: u8, args: Rma<'a>) -> Result<Task<'a>, Status> {
        // SAFETY: vouched for; types that an operation does not use are null.
        let (origin, there, result, op) = unsafe {
            (
                Elements::new(args.origin, args.origin_count, args.origin_type),
                Elements::new(null_mut(), args.target_count, args.target_type),
                Elements::new(args.result, args.result_count, args.result_type),
                args.op.as_ref(),
            )
        };
        let code = match kind {
            kind::ACCUMULATE | kind::FETCH => op.ok_or(Status::BAD_PARAM)?.code,
            _ => op::REPLACE,
        };
        let (gives, takes) = match kind {
            kind::PUT | kind::ACCUMULATE => (origin, None),
            kind::GET => (None, origin),
            _ => (origin.filter(|_| code != op::NO_OP), result),
        };
        let there = there.ok_or(Status::BAD_PARAM)?;
        let (target, disp, code) = (args.target, args.disp, code as u16);
        Ok(Task { kind, code, target, disp, there, gives, compare: null(), takes, counter: None })
    }

    /// Fetch and op, compare and swap: one element of the origin's type everywhere.
    fn of_one(kind: u8, args: Rma<'a>) -> Result<Task<'a>, Status> {
        // SAFETY: vouched for, or null.
        let one = |at| unsafe { Elements::new(at, 1, args.origin_type) }.ok_or(Status::BAD_PARAM);
        let (code, compare) = match kind {
            kind::SWAP => (op::REPLACE, args.compare),
            // SAFETY: vouched for, or null.
            _ => (unsafe { args.op.as_ref() }.ok_or(Status::BAD_PARAM)?.code, null()),
        };
        let (gives, takes) = (one(args.origin)?, one(args.result)?);
        let gives = Some(gives).filter(|_| code != op::NO_OP);
        let (target, disp, code) = (args.target, args.disp, code as u16);
        let (there, takes) = (one(null_mut())?, Some(takes));
        Ok(Task { kind, code, target, disp, there, gives, compare, takes, counter: None })
    }

    /// Bytes of data at the target.
    fn bytes(&self) -> u64 {
        self.gives.map_or(self.there.bytes(), |gives| gives.bytes().min(self.there.bytes()))
    }

    /// Appends the data that it gives, of which there are `len` bytes at the target.
    fn append(&self, len: u64, out: &mut Vec<u8>) {
        let Some(gives) = self.gives else { return };
        // SAFETY: the program's buffers hold the data during the call.
        unsafe {
            if !self.compare.is_null() {
                Elements { at: self.compare.cast_mut(), ..gives }.append(0, len, out);
            }
            gives.append(0, len, out);
        }
    }
}

/// Batches on their way, from which on the one who fills them helps to empty them.
const MANY_MESSAGES: usize = 256;
/// The same of questions to a rank that wait for room.
const MANY_QUESTIONS: usize = 4;

impl Core {
    /// Issues an operation: one of the kinds of records.
    pub fn operate(&self, entry: &mut Entry, kind: u8, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.issue(entry, &Task::of(kind, args)?, want)
    }

    /// A put or get that adds to a counter of its target.
    pub fn operate_notified(&self, entry: &mut Entry, kind: u8, args: Rma<'_>, counter: u32) -> Status {
        let issued = Task::of(kind, args).and_then(|task| {
            let task = Task { counter: Some(counter), ..task };
            // Without data there is nothing to bring back, and a put of nothing is told as well.
            let nothing = task.bytes() == 0;
            let task =
                if nothing { Task { kind: kind::PUT, gives: None, takes: None, ..task } } else { task };
            self.issue(entry, &task, Want::Nothing)
        });
        issued.err().unwrap_or(Status::OK)
    }

    /// The same of one element.
    pub fn operate_on_one(&self, entry: &mut Entry, kind: u8, args: Rma<'_>) -> Status {
        let issued = Task::of_one(kind, args).and_then(|task| self.issue(entry, &task, Want::Nothing));
        issued.err().unwrap_or(Status::OK)
    }

    fn issue(&self, entry: &mut Entry, task: &Task<'_>, want: Want) -> Asked<Request> {
        let mut locked = self.enter(entry);
        let request = locked.issue(task, want)?;
        let unsent = locked.peer(task.target).line.as_ref().map_or(0, |line| line.unsent());
        let crowded = locked.transfers.len() > MANY_MESSAGES || unsent > MANY_QUESTIONS;
        drop(locked);
        if crowded {
            self.link.comm.progress(entry);
        }
        Ok(request)
    }
}

impl LockedState<'_> {
    fn issue(&mut self, task: &Task<'_>, want: Want) -> Asked<Request> {
        if task.target as usize >= self.peers.len() {
            return Err(Status::BAD_PARAM);
        }
        let status = self.epochs.operate(task.target);
        if status.is_err() {
            return Err(status);
        }
        let bytes = task.bytes();
        let offset = if bytes == 0 { 0 } else { self.offset(task)? };
        let peer = self.peer(task.target);
        if peer.broken.is_err() {
            return Err(peer.broken);
        }
        let core = self.core;
        let pending = match want {
            Want::Request => Some(core.common.pool.take(core.host_win)?),
            Want::Nothing => None,
        };
        let request = pending.as_ref().map(Pending::request);
        if task.kind == kind::PUT {
            // The window's; the pool's where there is a request.
            self.counts.put_locks += 1 + 2 * u64::from(request.is_some());
        }
        let nothing = bytes == 0 && task.counter.is_none();
        let over = if nothing { pending } else { self.send(task, bytes, offset, pending) };
        if let Some(pending) = over {
            pending.complete(Status::OK);
        }
        Ok(request)
    }

    /// Where the displacement lies from the base of the target's memory, in bytes; RMA_RANGE if the data does not lie inside.
    fn offset(&self, task: &Task<'_>) -> Result<i64, Status> {
        if self.core.dynamic {
            // Only the target knows what is attached.
            return Ok(task.disp);
        }
        let (sizes, there) = (&self.core.sizes, &task.there);
        offset(task.disp, sizes.disp_unit(task.target), sizes.bytes(task.target), there.count, there.dtype)
    }

    /// Sends it. It has its request as long as it is open; one that is over at the origin gives it back.
    fn send(
        &mut self,
        task: &Task<'_>,
        bytes: u64,
        offset: i64,
        mut request: Option<Pending>,
    ) -> Option<Pending> {
        let rank = task.target;
        let runs = runs_of(task.there.dtype, task.there.count, bytes, offset);
        let block = one_block(&runs);
        let (layout, runs) = match block {
            Some(_) => (Vec::new(), 0),
            None => (layout_of(&runs), runs.len() as u32),
        };
        let gives = if task.gives.is_some() { flag::GIVES } else { 0 };
        let head = Head {
            kind: task.kind,
            flags: gives,
            code: task.code,
            word: task.counter.unwrap_or(task.there.dtype.base.0),
            number: 0,
            disp: block.map_or(0, |(disp, _)| disp),
            len: bytes,
            runs,
            layout: layout.len() as u32,
        };
        let asking = Asking { target: rank, head, layout: &layout, takes: task.takes };
        if task.counter.is_none() && self.can_ask(&asking) {
            return self.gather(&asking, request, |out| task.append(bytes, out));
        }
        self.come_behind_questions(rank);
        let peer = self.peer(rank);
        let (number, fits) = (peer.number(), |room: usize| bytes <= (room - HEAD) as u64);
        let gives_apart = task.gives.is_some() && task.kind != kind::SWAP && !fits(peer.room);
        let takes_apart = task.takes.is_some() && !fits(self.core.common.settings.message);
        let flags = [
            (gives_apart, flag::GIVES_APART),
            (takes_apart, flag::TAKES_APART),
            (task.counter.is_some(), flag::NOTIFIES),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(gives, |all, (_, flag)| all | flag);
        let head = Head { flags, number, ..head };
        let left = u32::from(task.takes.is_some()) + u32::from(gives_apart) + u32::from(takes_apart);
        let waits = left > 0 && request.is_some();
        let peer = self.peer(rank);
        peer.behind = true;
        peer.urgent |= left > 0;
        if left > 0 {
            let destination = task.takes.filter(|_| !takes_apart).map(|takes| Destination::of(&takes));
            let request = request.take();
            peer.open.insert(number, Open { left, destination, request, failure: Status::OK });
        }
        self.transmit(task, head, &layout, takes_apart);
        // Neither what a request stands for nor a long transfer nor a notification is to wait for a synchronisation.
        if waits || gives_apart || takes_apart || task.counter.is_some() {
            self.push(rank);
        }
        request
    }

    /// The record, and the messages beside it.
    fn transmit(&mut self, task: &Task<'_>, head: Head, layout: &[u8], takes_apart: bool) {
        let (core, rank, number) = (self.core, task.target, head.number);
        if let Some(takes) = task.takes.filter(|_| takes_apart) {
            // SAFETY: the program's buffer is the operation's until that is over, which it is not before the message has ended.
            let begun = unsafe { core.link.receive(self.entry, takes, rank.cast_signed(), tag::RESULT) };
            self.watch(rank, begun, TransferPurpose::Part { rank, number });
        }
        let inline = !head.has(flag::GIVES_APART);
        self.append(rank, head, layout, |out| {
            if inline {
                task.append(head.len, out);
            }
        });
        if let Some(gives) = task.gives.filter(|_| head.has(flag::GIVES_APART)) {
            // SAFETY: the program leaves its buffer as it is until the operation is over, which it is not before the message has ended.
            let begun = unsafe { core.link.send(self.entry, gives, rank, tag::DATA) };
            self.watch(rank, begun, TransferPurpose::Part { rank, number });
        }
    }
}

/// Posts a receive of records.
pub fn post(core: &Core, entry: &mut Entry, mut buffer: Vec<u8>) -> Result<crate::state::Posted, Status> {
    buffer.resize(core.common.settings.message, 0);
    let data = core.room(&mut buffer);
    // SAFETY: the buffer is kept beside the message, and used when that has ended.
    let pending = unsafe { core.link.receive(entry, data, ANY_SOURCE, tag::RECORDS) }?;
    Ok(crate::state::Posted { pending, buffer })
}
