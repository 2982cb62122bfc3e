//! Receiving messages: operations at their target, answers at their origin.
//!
//! Runs in progress under the CRI of our context, or in a verb's drain for messages of this process to itself. It touches
//! window memory, completes requests and puts answers into the outbox; it never waits. Messages that come in are not trusted: one
//! that makes no sense closes its sender.

use crate::enter::CONTEXT;
use crate::state::{Am, SharedState, WinState};
use crate::wire::{Header, body, kind};
use core::ffi::c_void;
use oxmpi_datatype::{Base, Run};
use oxmpi_mca::{CriGuard, RecvDesc, Status};
use oxmpi_osc_support::runs::bytes;

impl SharedState {
    /// Sends what waits, and receives what waits for this process; the CRI of our context is held. How many
    /// messages moved.
    pub fn drain(&mut self, am: &Am, held: &mut CriGuard<'_>) -> i32 {
        let (me, mut moved) = (am.host.job().rank, 0);
        loop {
            let (own, sent) = self.outbox.send(&am.host, held);
            moved += sent + own.len() as i32;
            if own.is_empty() {
                return moved;
            }
            for message in own {
                receive(self, am, me, &message);
            }
        }
    }
}

/// The receiver of our tag, for transports.
///
/// # Safety
/// `ctx` is the component's state, which lives, as it was registered; the message is valid during the call; and the calling thread runs in `progress` of the context
/// that the message names.
pub unsafe extern "C" fn arrived(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: the caller's promise of both.
    let (am, msg) = unsafe { (&*ctx.cast::<Am>(), &*msg) };
    // SAFETY: a valid message has so many bytes.
    let message = unsafe { core::slice::from_raw_parts(msg.data, msg.len as usize) };
    let mut shared = am.lock();
    receive(&mut shared, am, msg.proc, message);
    // On any other context, where none of ours is sent, answers wait for the next turn of progress.
    if msg.ctx == CONTEXT {
        // SAFETY: whoever called `progress` holds the context's CRI until that returns, and has lent its guard to the transport; where locks are not taken it is the only
        // thread in MPI.
        let mut held = unsafe { am.host.inherit(CONTEXT, am.host.threaded()) };
        shared.drain(am, &mut held);
    }
    oxmpi_mca::host::receive::CONTINUE
}

/// Takes a message of a process.
fn receive(shared: &mut SharedState, am: &Am, proc: u32, message: &[u8]) {
    if take(shared, proc, message).is_none() {
        am.host.peer_error(proc, true, "sent a one-sided message that makes no sense");
    }
}

/// `None`: no sender of ours makes such a message.
fn take(shared: &mut SharedState, proc: u32, message: &[u8]) -> Option<()> {
    let header = Header::decode(message)?;
    let window = shared.window(header.window)?;
    if window.peers.get(header.from as usize)?.proc != proc {
        return None;
    }
    let (runs, data) = body(&header, message)?;
    match header.kind {
        kind::DONE | kind::DATA => answered(shared, &header, data),
        kind::LOCK => {
            let granted = window.locks.request(header.from, header.code)?;
            grant(shared, &header, &granted)
        }
        kind::UNLOCK => {
            let granted = window.locks.release(header.from)?;
            grant(shared, &header, &granted)?;
            answer(shared, &header, Status::OK, 0, None)
        }
        kind::POST => {
            window.peers[header.from as usize].posts += 1;
            answer(shared, &header, Status::OK, 0, None)
        }
        kind::COMPLETE => {
            window.peers[header.from as usize].completes += 1;
            answer(shared, &header, Status::OK, 0, None)
        }
        _ => {
            let (status, old) = operate(window, &header, &runs, data)?;
            answer(shared, &header, status, 0, old)
        }
    }
}

/// Tells ranks that they have the lock.
fn grant(shared: &mut SharedState, header: &Header, ranks: &[u32]) -> Option<()> {
    for &from in ranks {
        let to = Header { from, operation: Header::NO_OPERATION, at: 0, ..*header };
        answer(shared, &to, Status::OK, GRANTED, None)?;
    }
    Some(())
}

/// In `base` of an answer: a lock is granted.
const GRANTED: u32 = 1;

/// Answers the message with this header.
fn answer(
    shared: &mut SharedState,
    to: &Header,
    status: Status,
    granted: u32,
    data: Option<Vec<u8>>,
) -> Option<()> {
    let window = shared.window(to.window)?;
    let peer = window.peers.get(to.from as usize)?;
    let header = Header {
        kind: if data.is_some() { kind::DATA } else { kind::DONE },
        window: peer.window,
        from: window.rank,
        operation: to.operation,
        code: status.0.cast_unsigned(),
        base: granted,
        runs: 0,
        reserved: 0,
        at: to.at,
    };
    let proc = peer.proc;
    let data = data.unwrap_or_default();
    let mut message = header.message(&[], data.len());
    message.extend_from_slice(&data);
    shared.outbox.put(proc, message);
    Some(())
}

/// Carries out an operation on this rank's memory; old values where they are wanted. The lock on the component's state makes it
/// atomic.
fn operate(
    window: &WinState,
    header: &Header,
    runs: &[Run],
    data: &[u8],
) -> Option<(Status, Option<Vec<u8>>)> {
    let len = usize::try_from(bytes(runs)?).ok()?;
    let due = match header.kind {
        kind::PUT | kind::ACCUMULATE => data.len() == len,
        kind::GET => data.is_empty(),
        kind::FETCH => data.len() == len || data.is_empty(),
        kind::SWAP => len.checked_mul(2) == Some(data.len()),
        _ => false,
    };
    let room = window.peers.get(header.from as usize)?.room;
    if !due || len > room {
        return None;
    }
    let Some(blocks) = window.exposed.find(runs) else { return Some((Status::RMA_RANGE, None)) };
    if header.kind == kind::PUT {
        blocks.write(data);
        return Some((Status::OK, None));
    }
    let mut old = vec![0; len];
    blocks.read(&mut old);
    match header.kind {
        kind::ACCUMULATE | kind::FETCH if !data.is_empty() => {
            let combined = blocks.combine(header.code, Base(header.base), data);
            combined.is_ok().then_some(())?;
        }
        kind::SWAP => {
            let (compare, new) = data.split_at(len);
            if compare == old {
                blocks.write(new);
            }
        }
        _ => {}
    }
    Some((Status::OK, (header.kind != kind::ACCUMULATE).then_some(old)))
}

/// An answer at the origin.
fn answered(shared: &mut SharedState, header: &Header, data: &[u8]) -> Option<()> {
    let window = shared.window(header.window)?;
    let status = Status(header.code.cast_signed());
    let peer = window.peers.get_mut(header.from as usize)?;
    peer.pending = peer.pending.checked_sub(1)?;
    if header.base == GRANTED {
        peer.granted = true;
    }
    if header.operation == Header::NO_OPERATION {
        if status.is_err() && peer.failure.is_ok() {
            peer.failure = status;
        }
        return Some(());
    }
    let operation = window.operations.get(header.operation)?;
    // SAFETY: the program's buffer is writable until the operation completes.
    let filled = header.kind != kind::DATA || unsafe { operation.into.fill(header.at, data) };
    if !filled || operation.target != header.from {
        return None;
    }
    if status.is_err() {
        operation.failure = status;
    }
    operation.left = operation.left.checked_sub(1)?;
    if operation.left > 0 {
        return Some(());
    }
    let operation = window.operations.remove(header.operation)?;
    match operation.request {
        Some(request) => request.complete(operation.failure),
        None if operation.failure.is_err() => {
            let peer = window.peers.get_mut(header.from as usize)?;
            peer.failure = operation.failure;
        }
        None => {}
    }
    Some(())
}
