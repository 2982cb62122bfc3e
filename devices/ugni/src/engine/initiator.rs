//! Our own operations: frames out, answers in.

use super::state::{Engine, LinkId, event_flags};
use crate::config::config;
use crate::counters::{self, Counter};
use crate::frame::{Header, Kind, PAYLOAD, flag};
use crate::link::Item;
use crate::memory::{self, Access};
use crate::numbers::status;
use crate::operation::{Operation, Work};

/// Outcome of an attempt to send.
enum Sent {
    /// All of the item.
    Whole,
    Part,
    NoRoom,
    Broken,
}

impl Engine {
    pub(super) fn post(&mut self, operation: Operation) {
        let Ok(id) = self.link_to(operation.cookie, operation.target) else {
            return operation.end(status::ENDPOINT_UNREACHABLE);
        };
        self.last_operation += 1;
        let op = self.last_operation;
        let in_order = operation.in_order;
        self.operations.insert(op, (operation, id));
        let shuffles = config().shuffle != 0 && !in_order;
        let waiting = self.links.get(&id).map_or(0, |l| l.queue.len());
        // Packets of different operations overtake each other where nothing asks for order.
        let at = if shuffles && waiting > 1 { 1 + self.draw(waiting) } else { waiting };
        if let Some(link) = self.links.get_mut(&id) {
            link.queue.insert(at.min(link.queue.len()), Item::Operation(op));
        }
    }

    pub(super) fn pump_all(&mut self) -> bool {
        let ids: Vec<LinkId> =
            self.links.iter().filter(|(_, l)| !l.queue.is_empty()).map(|(id, _)| *id).collect();
        let mut any = false;
        for id in ids {
            for _ in 0..64 {
                let Some(item) = self.links.get_mut(&id).and_then(|l| l.queue.pop_front()) else { break };
                let (sent, item) = self.send_item(id, item);
                any |= matches!(sent, Sent::Whole | Sent::Part);
                if let (Sent::Part | Sent::NoRoom, Some(item), Some(link)) =
                    (&sent, item, self.links.get_mut(&id))
                {
                    link.queue.push_front(item);
                }
                match sent {
                    Sent::Whole | Sent::Part => {}
                    Sent::NoRoom => break,
                    Sent::Broken => {
                        self.drop_link(id);
                        break;
                    }
                }
            }
        }
        any
    }

    fn send_item(&mut self, id: LinkId, item: Item) -> (Sent, Option<Item>) {
        match item {
            Item::Frame(header, data) => {
                let sent = self.send_frame(id, &header, &data);
                (sent, Some(Item::Frame(header, data)))
            }
            Item::Operation(op) => (self.send_operation(id, op), Some(item)),
            Item::Answer { header, from, sent } => self.send_answer(id, header, from, sent),
        }
    }

    fn send_frame(&mut self, id: LinkId, header: &Header, data: &[u8]) -> Sent {
        match self.links.get(&id).map(|l| l.send(header, data)) {
            Some(Ok(true)) => Sent::Whole,
            Some(Ok(false)) => Sent::NoRoom,
            Some(Err(_)) | None => Sent::Broken,
        }
    }

    /// The next piece of what a get of a peer's asked for. The memory is checked again, since its registration may have ended meanwhile.
    fn send_answer(
        &mut self,
        id: LinkId,
        mut header: Header,
        from: Access,
        sent: u64,
    ) -> (Sent, Option<Item>) {
        let n = (from.length - sent).min(PAYLOAD as u64) as usize;
        let mut data = vec![0; n];
        (header.offset, header.len) = (sent, n as u32);
        header.status = from.run(|| memory::read(from.address + sent, &mut data)).err().unwrap_or(0);
        let is_last = sent + n as u64 == from.length || header.status != 0;
        header.flags = if is_last { flag::LAST } else { 0 };
        let outcome = self.send_frame(id, &header, &data);
        let moved = if matches!(outcome, Sent::Whole) { n as u64 } else { 0 };
        let outcome = if matches!(outcome, Sent::Whole) && !is_last { Sent::Part } else { outcome };
        (outcome, Some(Item::Answer { header, from, sent: sent + moved }))
    }

    fn request(operation: &Operation, op: u64) -> Header {
        let mut h = Header::new(Kind::Put);
        h.op = op;
        (h.to_inst, h.from_inst, h.from_addr) = (operation.target.1, operation.inst, config().node);
        h.handle = [operation.handle.qword1, operation.handle.qword2];
        (h.address, h.length) = (operation.address, operation.length);
        h.cookie = operation.cookie;
        h.event = operation.event.map_or(0, |e| e.data);
        h.flags = event_flags(operation.event);
        h
    }

    /// The next frame of an operation of ours.
    fn send_operation(&mut self, id: LinkId, op: u64) -> Sent {
        // It may have failed since it was queued.
        let Some((operation, _)) = self.operations.get(&op) else { return Sent::Whole };
        let mut header = Engine::request(operation, op);
        let mut data = Vec::new();
        let mut is_last = true;
        match &operation.work {
            Work::Put { sync, .. } => {
                let n = (operation.length - operation.sent).min(PAYLOAD as u64) as usize;
                data.resize(n, 0);
                if let Err(status) = operation.read_source(&mut data) {
                    let (operation, _) = self.operations.remove(&op).expect("looked up above");
                    operation.end(status);
                    return Sent::Whole;
                }
                header.offset = operation.sent;
                is_last = operation.sent + n as u64 == operation.length;
                if is_last {
                    header.flags |= flag::LAST;
                    if let Some((address, value)) = sync {
                        header.flags |= flag::SYNC;
                        (header.b, header.a) = (*address, *value);
                    }
                }
            }
            Work::Get { .. } => header.kind = Kind::Get as u8,
            Work::Amo { command, operands, .. } => {
                header.kind = Kind::Amo as u8;
                header.event = *command as u32;
                [header.a, header.b] = *operands;
            }
            Work::CqWrite { value } => {
                header.kind = Kind::CqWrite as u8;
                header.a = *value;
            }
        }
        header.len = data.len() as u32;
        if is_last && self.is_lost(op) {
            // Sent again from its start, like a packet that nobody acknowledged.
            return Sent::Part;
        }
        match self.send_frame(id, &header, &data) {
            Sent::Whole => {}
            other => return other,
        }
        let (operation, _) = self.operations.get_mut(&op).expect("looked up above");
        operation.sent += data.len() as u64;
        if !is_last {
            return Sent::Part;
        }
        operation.source_read();
        Sent::Whole
    }

    /// Whether the set-up loses this message; it is sent again as often as its domain permits.
    fn is_lost(&mut self, op: u64) -> bool {
        let Some((operation, _)) = self.operations.get_mut(&op) else { return false };
        let is_message = operation.event.is_some_and(|e| e.message);
        if !is_message || config().smsg_drop == 0 {
            return false;
        }
        self.messages += 1;
        if !self.messages.is_multiple_of(config().smsg_drop) {
            return false;
        }
        if operation.retries == 0 {
            operation.fault = status::SSID_TIMEOUT;
            return false;
        }
        operation.retries -= 1;
        operation.sent = 0;
        counters::add(Counter::Resent, 1);
        if let Some(c) = &operation.completion {
            c.ep.nic.count(crate::numbers::statistic::RETRANS_COUNT);
        }
        true
    }

    /// An answer has come over a connection; one to an operation of another connection is none.
    pub(super) fn answered(&mut self, id: LinkId, kind: Kind, header: &Header, payload: &[u8]) {
        let Some((operation, _)) = self.operations.get(&header.op).filter(|(_, of)| *of == id) else {
            return;
        };
        let mut outcome = header.status;
        match (&operation.work, kind) {
            (Work::Get { to }, Kind::Data) => {
                let fits = header
                    .offset
                    .checked_add(payload.len() as u64)
                    .is_some_and(|end| end <= operation.length);
                if !fits {
                    return;
                }
                if outcome == 0 {
                    let at = to.address + header.offset;
                    outcome = to.run(|| memory::write(at, payload)).err().unwrap_or(0);
                }
                if header.flags & flag::LAST == 0 && outcome == 0 {
                    return;
                }
            }
            (Work::Amo { to: Some(to), .. }, Kind::Done) if outcome == 0 => {
                let old = header.a.to_le_bytes();
                outcome = to.run(|| memory::write(to.address, &old[..to.length as usize])).err().unwrap_or(0);
            }
            _ => {}
        }
        let (operation, _) = self.operations.remove(&header.op).expect("looked up above");
        if config().shuffle != 0 {
            self.shuffled.push((operation, outcome));
        } else {
            operation.end(outcome);
        }
    }

    /// Ends one of the operations whose answers have come, drawn by lot.
    pub(super) fn end_shuffled(&mut self) -> bool {
        if self.shuffled.is_empty() {
            return false;
        }
        let i = self.draw(self.shuffled.len());
        let (operation, outcome) = self.shuffled.swap_remove(i);
        operation.end(outcome);
        true
    }
}
