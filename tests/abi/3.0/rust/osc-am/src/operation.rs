//! Operations at their origin: checked against epoch and range, cut into messages, put into the outbox.
//!
//! Data that the origin sends is copied into messages when the call is made, so its buffer is free at once: put and accumulate are
//! complete at the origin when they return. Where values come back, [`Operation`] says where they go.

use crate::state::{Operation, SharedState};
use crate::window::AmWindow;
use crate::wire::{Header, kind};
use oxmpi_datatype::kernel::op;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Asked, Rma, Want};
use oxmpi_osc_support::runs::{Room, cut};
use oxmpi_osc_support::{Address, Destination, Elements, Pending, Request, offset};

/// An operation, ready to be sent.
struct Task<'a> {
    kind: u32,
    code: u32,
    target: u32,
    disp: i64,
    there: Elements<'a>,
    /// The data that travels.
    sends: Option<Elements<'a>>,
    /// Sent before that, of the same length: what to compare with.
    compare: *const u8,
    /// Where what comes back goes.
    gets: Option<Elements<'a>>,
}

impl AmWindow {
    pub fn transfer(&self, entry: &mut Entry, args: Rma<'_>, kind: u32, want: Want) -> Asked<Request> {
        // SAFETY: vouched for; types that an operation does not use are null.
        let (origin, there) = unsafe {
            (
                Elements::new(args.origin, args.origin_count, args.origin_type),
                Elements::new(core::ptr::null_mut(), args.target_count, args.target_type),
            )
        };
        let (sends, gets) = if kind == kind::PUT { (origin, None) } else { (None, origin) };
        let there = there.ok_or(Status::BAD_PARAM)?;
        let (target, disp) = (args.target, args.disp);
        let task = Task { kind, code: 0, target, disp, there, sends, compare: core::ptr::null(), gets };
        self.issue(entry, &task, want)
    }

    pub fn accumulate_into(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.combine(entry, args, kind::ACCUMULATE, want)
    }

    pub fn fetch(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.combine(entry, args, kind::FETCH, want)
    }

    fn combine(&self, entry: &mut Entry, args: Rma<'_>, kind: u32, want: Want) -> Asked<Request> {
        // SAFETY: vouched for, or null.
        let (origin, there, result, code) = unsafe {
            (
                Elements::new(args.origin, args.origin_count, args.origin_type),
                Elements::new(core::ptr::null_mut(), args.target_count, args.target_type),
                Elements::new(args.result, args.result_count, args.result_type),
                args.op.as_ref().ok_or(Status::BAD_PARAM)?.code,
            )
        };
        let (target, disp, there) = (args.target, args.disp, there.ok_or(Status::BAD_PARAM)?);
        let sends = if code == op::NO_OP { None } else { origin };
        let gets = if kind == kind::FETCH { result } else { None };
        let task = Task { kind, code, target, disp, there, sends, compare: core::ptr::null(), gets };
        self.issue(entry, &task, want)
    }

    pub fn swap(&self, entry: &mut Entry, args: Rma<'_>) -> Asked<Request> {
        // SAFETY: vouched for, or null.
        let (sends, there, gets) = unsafe {
            (
                Elements::new(args.origin, 1, args.origin_type),
                Elements::new(core::ptr::null_mut(), 1, args.target_type),
                Elements::new(args.result, 1, args.result_type),
            )
        };
        let (target, disp, there) = (args.target, args.disp, there.ok_or(Status::BAD_PARAM)?);
        let task =
            Task { kind: kind::SWAP, code: 0, target, disp, there, sends, compare: args.compare, gets };
        self.issue(entry, &task, Want::Nothing)
    }

    /// Sends it.
    fn issue(&self, entry: &mut Entry, task: &Task<'_>, want: Want) -> Asked<Request> {
        let am = &*self.am;
        let mut guard = am.lock();
        let shared = &mut *guard;
        let window = shared.window(self.slot).ok_or(Status::INTERNAL)?;
        let status = window.epochs.operate(task.target);
        if status.is_err() {
            return Err(status);
        }
        let total = match task.sends {
            Some(sends) => sends.bytes(),
            None => task.there.bytes(),
        };
        let offset = match total {
            0 => 0,
            _ => self.offset(shared, task)?,
        };
        let pending = match want {
            Want::Request => Some(am.requests.take(Address::NULL)?),
            Want::Nothing => None,
        };
        let request = pending.as_ref().map(Pending::request);
        if task.gets.is_none() || total == 0 {
            // Complete at the origin as soon as it is copied.
            self.send(shared, task, total, offset, Header::NO_OPERATION);
            if let Some(pending) = pending {
                pending.complete(Status::OK);
            }
        } else {
            let number = self.expect(shared, task, pending)?;
            let left = self.send(shared, task, total, offset, number);
            if let Some(operation) = shared.window(self.slot).and_then(|w| w.operations.get(number)) {
                operation.left = left;
            }
        }
        drop(guard);
        am.push(entry);
        Ok(request)
    }

    /// Where the displacement lies from the base of the target's memory, in bytes; RMA_RANGE if the data does not lie inside.
    fn offset(&self, shared: &mut SharedState, task: &Task<'_>) -> Result<i64, Status> {
        let window = shared.window(self.slot).ok_or(Status::INTERNAL)?;
        let peer = window.peers.get(task.target as usize).ok_or(Status::BAD_PARAM)?;
        if self.dynamic {
            // Only the target knows what is attached.
            return Ok(task.disp);
        }
        offset(task.disp, peer.disp_unit, peer.bytes, task.there.count, task.there.dtype)
    }

    /// Notes where what comes back goes.
    fn expect(
        &self,
        shared: &mut SharedState,
        task: &Task<'_>,
        request: Option<Pending>,
    ) -> Result<u32, Status> {
        let gets = task.gets.ok_or(Status::INTERNAL)?;
        let into = Destination::of(&gets);
        let window = shared.window(self.slot).ok_or(Status::INTERNAL)?;
        let target = task.target;
        Ok(window.operations.add(Operation { target, left: 0, into, request, failure: Status::OK }))
    }

    /// Cuts it into messages; how many they are.
    fn send(&self, shared: &mut SharedState, task: &Task<'_>, total: u64, offset: i64, number: u32) -> u64 {
        let Some(window) = shared.window(self.slot) else { return 0 };
        let rank = window.rank;
        let peer = &mut window.peers[task.target as usize];
        let (proc, there) = (peer.proc, task.there.dtype);
        let carried = task.sends.is_some();
        let unit = there.base.layout().map_or(1, |basic| basic.packed);
        let unit = if matches!(task.kind, kind::PUT | kind::GET) { 1 } else { unit };
        let room = Room { bytes: peer.room, carried, unit };
        let (mut from, mut messages) = (0, Vec::new());
        while from < total {
            let (len, mut runs) = cut(there, task.there.count, from, total, room);
            debug_assert!(len > 0, "an element does not fit into a message");
            runs.iter_mut().for_each(|run| run.disp = run.disp.wrapping_add(offset));
            let header = Header {
                kind: task.kind,
                window: peer.window,
                from: rank,
                operation: number,
                code: task.code,
                base: there.base.0,
                runs: runs.len() as u32,
                reserved: 0,
                at: from,
            };
            let mut message = header.message(&runs, 2 * len as usize);
            if let Some(sends) = task.sends {
                // SAFETY: the program's buffers hold the data during the call.
                unsafe {
                    if !task.compare.is_null() {
                        let compare = Elements { at: task.compare.cast_mut(), ..sends };
                        compare.append(from, len, &mut message);
                    }
                    sends.append(from, len, &mut message);
                }
            }
            messages.push(message);
            from += len;
        }
        peer.pending += messages.len() as u64;
        let count = messages.len() as u64;
        messages.into_iter().for_each(|message| shared.outbox.put(proc, message));
        count
    }
}
