//! What peers ask for, executed on this process's memory.

use super::{Engine, LinkId};
use crate::amo::Amo;
use crate::config::config;
use crate::cq::Cq;
use crate::entry::{Entry, Source};
use crate::frame::{Header, Kind, flag};
use crate::layouts::MemHandle;
use crate::link::Item;
use crate::memory;
use crate::numbers::{event, status};
use std::sync::Arc;

/// An event for the queue at a memory.
fn announce(cq: &Option<Arc<Cq>>, header: &Header) {
    let Some(cq) = cq else { return };
    let kind = if header.flags & flag::MESSAGE != 0 { event::SMSG } else { event::POST };
    cq.push(Entry { data: header.event.into(), tid: 0, kind, source: Source::Remote, status: 0 });
}

impl Engine {
    /// Serves a request that came over a connection, and queues the answer there.
    pub(super) fn serve(&mut self, id: LinkId, kind: Kind, header: &Header, payload: &[u8]) {
        let done = match kind {
            Kind::Put => match self.put(id, header, payload) {
                Some(done) => done,
                None => return,
            },
            Kind::Get => match get(header) {
                Ok(item) => return self.queue(id, item),
                Err(status) => done(header, status, 0),
            },
            Kind::Amo => match atomic(header) {
                Ok(old) => done(header, 0, old),
                Err(status) => done(header, status, 0),
            },
            _ => done(header, write_queue(header), 0),
        };
        self.queue(id, Item::Frame(done, Vec::new()));
    }

    fn queue(&mut self, id: LinkId, item: Item) {
        if let Some(link) = self.links.get_mut(&id) {
            link.queue.push_back(item);
        }
    }

    /// A piece of a put: the answer behind the last one.
    fn put(&mut self, id: LinkId, header: &Header, payload: &[u8]) -> Option<Header> {
        let key = (id, header.op);
        let handle = handle(header);
        let last = header.flags & flag::LAST != 0;
        let at = header.address.wrapping_add(header.offset);
        let mut outcome = self.failed.get(&key).map_or(Ok(None), |s| Err(*s));
        if outcome.is_ok() {
            outcome = memory::check(handle, header.address, header.length, true, header.cookie);
        }
        let early = header.flags & flag::EARLY != 0;
        if let Ok(cq) = &outcome
            && early
            && header.offset == 0
            && header.flags & flag::EVENT != 0
        {
            announce(cq, header);
        }
        let outcome = outcome.and_then(|cq| memory::write(at, payload).map(|()| cq));
        if !last {
            if let Err(status) = outcome {
                self.failed.insert(key, status);
            }
            return None;
        }
        self.failed.remove(&key);
        let outcome = outcome.and_then(|cq| {
            if header.flags & flag::SYNC != 0 {
                memory::check(handle, header.b, 8, true, header.cookie)?;
                memory::store(header.b, header.a, 8)?;
            }
            if header.flags & flag::EVENT != 0 && !early {
                announce(&cq, header);
            }
            Ok(())
        });
        Some(done(header, outcome.err().unwrap_or(0), 0))
    }
}

fn handle(header: &Header) -> MemHandle {
    MemHandle { qword1: header.handle[0], qword2: header.handle[1] }
}

/// The answer to an operation.
fn done(request: &Header, status: u8, a: u64) -> Header {
    Header { op: request.op, status, a, ..Header::new(Kind::Done) }
}

fn get(header: &Header) -> Result<Item, u8> {
    let cq = memory::check(handle(header), header.address, header.length, false, header.cookie)?;
    if header.flags & flag::EVENT != 0 {
        announce(&cq, header);
    }
    let answer = Header { op: header.op, ..Header::new(Kind::Data) };
    Ok(Item::Answer { header: answer, address: header.address, length: header.length, sent: 0 })
}

/// Atomic to all other atomics of the card, since one thread executes them; not to the processors.
fn atomic(header: &Header) -> Result<u64, u8> {
    let amo = Amo::of(header.event as i32, config().is_gemini()).ok_or(status::AMO_CACHE)?;
    memory::check(handle(header), header.address, amo.bytes as u64, true, header.cookie)?;
    let mut old = [0; 8];
    memory::read(header.address, &mut old[..amo.bytes])?;
    let old = u64::from_le_bytes(old);
    memory::store(header.address, amo.apply(old, header.a, header.b), amo.bytes)?;
    Ok(old)
}

fn write_queue(header: &Header) -> u8 {
    match memory::check(handle(header), header.address, 0, false, header.cookie) {
        Ok(Some(cq)) => {
            cq.push(Entry { data: header.a, tid: 0, kind: event::POST, source: Source::CqWrite, status: 0 });
            0
        }
        Ok(None) => status::AT_PROTECTION,
        Err(status) => status,
    }
}
