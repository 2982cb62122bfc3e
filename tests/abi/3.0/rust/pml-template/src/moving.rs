//! Messages that come, and the outbox that goes.

use crate::layer::{CANCELLED, FIFO, Receiving, Sending, State, Template, WHOLE, failure};
use crate::matching::Waiting;
use crate::outbox::Item;
use crate::wire::{Announce, DATA_BYTES, Frame, LONGEST};
use oxmpi_mca::host::am_tag;
use oxmpi_mca::{CriGuard, Entry, MsgStatus, Status};
use oxmpi_pml::simple::{Link, Open};
use std::collections::HashMap;

/// Bytes of payload that are packed at a time, at most.
const PIECE: usize = 1 << 16;

impl Template {
    /// Handles a message of a process. False: it cannot be one of this protocol.
    pub fn handle(&self, held: &CriGuard<'_>, proc: u32, bytes: &[u8]) -> bool {
        let Some((frame, payload)) = Frame::decode(bytes) else { return false };
        let state = &mut *self.state();
        match frame {
            Frame::Announce(announce) => {
                self.announced(held, state, Waiting { proc, announce, data: payload.into() });
            }
            Frame::Want { send, receive, bytes } => self.wanted(state, proc, send, receive, bytes),
            Frame::Data { receive, offset } => return self.data(state, proc, (receive, offset), payload),
            Frame::Cancel { send } => self.take_back(state, proc, send),
            Frame::Cancelled { send } => {
                if let Some(send) = take(&mut state.sends, send, |send| send.proc == proc && !send.wanted) {
                    send.open.complete(CANCELLED);
                }
            }
        }
        true
    }

    /// A message was announced: it meets a receive, or waits.
    fn announced(&self, held: &CriGuard<'_>, state: &mut State, message: Waiting) {
        if state.revoked.contains(&message.announce.to) {
            return;
        }
        let Some(matching) = state.matching(message.announce.to) else {
            // Whether it has been freed here, or not been made yet, cannot be told apart; what is freed is not sent to (MPI 5.0 §7.4.3).
            return state.early.push(message);
        };
        match matching.take_posted(&message.announce) {
            Some(open) => self.receive(state, open, &message),
            None => {
                matching.waiting.push_back(message);
                if let Some(turns) = self.turns() {
                    turns.count_unmatched(held);
                }
            }
        }
    }

    /// A receive has met a message: asks for its data, or is over.
    pub fn receive(&self, state: &mut State, mut open: Open, message: &Waiting) {
        let Announce { to, source, tag, send, len, is_whole } = message.announce;
        let (wanted, missing) = (len.min(open.packed()), len.saturating_sub(open.packed()));
        let mut status = MsgStatus { source, tag, bytes: wanted, ..MsgStatus::EMPTY };
        if missing > 0 {
            (status.error, status.cancelled) = (Status::TRUNCATED, (missing.min(0x7fff_ffff) as u32) << 1);
        }
        if is_whole {
            open.unpack(0, &message.data);
            return open.complete(status);
        }
        let receive = open.id();
        let want = Frame::Want { send, receive, bytes: wanted };
        if self.put(state, message.proc, Item::Frame(want)).is_err() {
            return open.complete(failure(Status::PEER_FAILED));
        }
        if wanted == 0 {
            return open.complete(status);
        }
        let proc = message.proc;
        state.receives.insert(receive, Receiving { open, proc, comm: to, wanted, got: 0, status });
    }

    /// A receive wants the data of a send of ours. One that is not known has ended.
    fn wanted(&self, state: &mut State, proc: u32, send: u64, receive: u64, bytes: u64) {
        let Some(sending) = state.sends.get_mut(&send).filter(|s| s.proc == proc && !s.wanted) else {
            return;
        };
        sending.wanted = true;
        let end = bytes.min(sending.open.packed());
        if end > 0 {
            // It cannot fail: the process has just spoken.
            let _ = self.put(state, proc, Item::Data { send, receive, offset: 0, end });
        } else if let Some(sent) = state.sends.remove(&send) {
            sent.open.complete(MsgStatus::EMPTY);
        }
    }

    /// Data has come. False: it does not follow on what came before.
    fn data(&self, state: &mut State, proc: u32, (receive, offset): (u64, u64), payload: &[u8]) -> bool {
        // A receive that is not known has ended, with its communicator or its process.
        let Some(receiving) = state.receives.get_mut(&receive) else { return true };
        let len = payload.len() as u64;
        if receiving.proc != proc || offset != receiving.got || len > receiving.wanted - receiving.got {
            return false;
        }
        receiving.open.unpack(offset, payload);
        receiving.got += len;
        if receiving.got == receiving.wanted
            && let Some(done) = state.receives.remove(&receive)
        {
            done.open.complete(done.status);
        }
        true
    }

    /// The sender cancels a message: it is taken back if no receive has met it.
    fn take_back(&self, state: &mut State, proc: u32, send: u64) {
        let is_it = |w: &Waiting| w.proc == proc && w.announce.send == send;
        let lists = state.comms.values_mut().map(|(_, matching)| &mut matching.waiting);
        let waits = lists.into_iter().any(|list| {
            let at = list.iter().position(is_it);
            at.is_some_and(|at| list.remove(at).is_some())
        });
        let early = state.early.iter().position(is_it).map(|at| state.early.remove(at));
        if waits || early.is_some() {
            // The process has just spoken.
            let _ = self.put(state, proc, Item::Frame(Frame::Cancelled { send }));
        }
    }

    /// Sends what is in the outbox, on the context that is held, until the transports have no room. Returns how many messages went.
    pub fn send_out(&self, held: &mut CriGuard<'_>) -> i32 {
        let (mut sent, mut lost) = (0, Vec::new());
        let mut guard = self.state();
        let state = &mut *guard;
        for (proc, queue) in &mut state.outbox {
            while let Some(item) = queue.items.front_mut() {
                let status = match send_item(held, queue.link, item, &state.sends) {
                    Ok(status) => status,
                    // Its operation has ended, with its communicator or its process.
                    Err(Ended) => {
                        queue.items.pop_front();
                        continue;
                    }
                };
                match status {
                    Status::OK => sent += 1,
                    Status::NO_RESOURCE => break,
                    _ => {
                        lost.push(*proc);
                        break;
                    }
                }
                let (is_done, ended) = match item {
                    Item::Frame(_) => (true, None),
                    Item::Whole { send, .. } => (true, state.sends.remove(send)),
                    Item::Data { send, offset, end, .. } if offset == end => (true, state.sends.remove(send)),
                    Item::Data { .. } => (false, None),
                };
                if is_done {
                    queue.items.pop_front();
                }
                if let Some(ended) = ended {
                    ended.open.complete(MsgStatus::EMPTY);
                }
            }
        }
        lost.into_iter().for_each(|proc| self.lose(state, proc));
        if let Some(turns) = self.turns() {
            turns.set_waiting(held, state.outbox.values().any(|queue| !queue.items.is_empty()));
        }
        sent
    }

    /// Enters the context and sends what is in the outbox.
    pub fn send_now(&self, entry: &mut Entry) -> i32 {
        self.host.activate(FIFO);
        self.send_out(&mut self.host.hold(entry, FIFO))
    }

    /// A process is lost: what is under way with it ends.
    pub fn lose(&self, state: &mut State, proc: u32) {
        if state.failed.insert(proc) {
            state.outbox.remove(&proc);
            state.end_lost(|of, _| of == proc);
            state.end_hopeless(self.host.job().rank);
        }
    }
}

/// The operation of an item has ended before the item went.
struct Ended;

/// Sends an item of the outbox, or the next piece of it; data moves on by what went.
fn send_item(
    held: &mut CriGuard<'_>,
    link: Link,
    item: &mut Item,
    sends: &HashMap<u64, Sending>,
) -> Result<Status, Ended> {
    let header = &mut [0; LONGEST];
    match item {
        Item::Frame(frame) => Ok(link.send(held, am_tag::PML, frame.encode(header), &[])),
        Item::Whole { frame, send } => {
            let sending = sends.get(send).ok_or(Ended)?;
            let mut data = [0; WHOLE as usize];
            let len = sending.open.pack(0, &mut data) as usize;
            Ok(link.send(held, am_tag::PML, frame.encode(header), &data[..len]))
        }
        Item::Data { send, receive, offset, end } => {
            let sending = sends.get(send).ok_or(Ended)?;
            let room = (link.attrs().max_send_size as usize).saturating_sub(DATA_BYTES);
            let mut data = vec![0; room.min(PIECE).min((*end - *offset) as usize)];
            sending.open.pack(*offset, &mut data);
            let frame = Frame::Data { receive: *receive, offset: *offset };
            let status = link.send(held, am_tag::PML, frame.encode(header), &data);
            *offset += if status.is_ok() { data.len() as u64 } else { 0 };
            Ok(status)
        }
    }
}

/// Takes an entry of a map if it is as it should be.
fn take<V>(map: &mut HashMap<u64, V>, key: u64, is_it: impl Fn(&V) -> bool) -> Option<V> {
    if map.get(&key).is_some_and(is_it) { map.remove(&key) } else { None }
}
