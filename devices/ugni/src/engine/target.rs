//! Execution of peers' requests on this process's memory.

use super::state::{Engine, LinkId};
use crate::amo::Amo;
use crate::config::config;
use crate::cq::Cq;
use crate::entry::{Entry, Source};
use crate::frame::{Header, Kind, flag};
use crate::layouts::MemHandle;
use crate::link::Item;
use crate::memory::{self, Access};
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
        let last = header.flags & flag::LAST != 0;
        let early = header.flags & flag::EARLY != 0;
        let wants = header.flags & flag::EVENT != 0;
        let outcome = match self.failed.get(&key) {
            Some(status) => Err(*status),
            None => write_piece(header, payload),
        };
        if let Ok(cq) = &outcome
            && wants
            && early
            && header.offset == 0
        {
            announce(cq, header);
        }
        if !last {
            if let Err(status) = outcome {
                self.failed.insert(key, status);
            }
            return None;
        }
        self.failed.remove(&key);
        let outcome = outcome.and_then(|cq| {
            if header.flags & flag::SYNC != 0 {
                let word = Access { address: header.b, length: 8, ..access(header, true) };
                word.run(|| memory::store(header.b, header.a, 8))?;
            }
            if wants && !early {
                announce(&cq, header);
            }
            Ok(())
        });
        Some(done(header, outcome.err().unwrap_or(0), 0))
    }
}

/// The memory that a request names.
fn access(header: &Header, write: bool) -> Access {
    let handle = MemHandle { qword1: header.handle[0], qword2: header.handle[1] };
    Access { handle, address: header.address, length: header.length, write, cookie: header.cookie }
}

/// Writes a piece of a put, which must lie within what its request names.
fn write_piece(header: &Header, payload: &[u8]) -> Result<Option<Arc<Cq>>, u8> {
    let end = header.offset.checked_add(payload.len() as u64);
    if end.is_none_or(|end| end > header.length) {
        return Err(status::AT_BOUNDS);
    }
    let at = header.address.wrapping_add(header.offset);
    access(header, true).run(|| memory::write(at, payload)).map(|((), cq)| cq)
}

/// The answer to an operation.
fn done(request: &Header, status: u8, a: u64) -> Header {
    Header { op: request.op, status, a, ..Header::new(Kind::Done) }
}

fn get(header: &Header) -> Result<Item, u8> {
    let from = access(header, false);
    let cq = from.check()?;
    if header.flags & flag::EVENT != 0 {
        announce(&cq, header);
    }
    Ok(Item::Answer { header: Header { op: header.op, ..Header::new(Kind::Data) }, from, sent: 0 })
}

/// Atomic to all other atomics of the card, since one thread executes them; not to the processors.
fn atomic(header: &Header) -> Result<u64, u8> {
    let amo = Amo::of(header.event as i32, config().is_gemini()).ok_or(status::AMO_CACHE)?;
    let word = Access { length: amo.bytes as u64, ..access(header, true) };
    let (old, _) = word.run(|| {
        let mut old = [0; 8];
        memory::read(header.address, &mut old[..amo.bytes])?;
        let old = u64::from_le_bytes(old);
        memory::store(header.address, amo.apply(old, header.a, header.b), amo.bytes)?;
        Ok(old)
    })?;
    Ok(old)
}

fn write_queue(header: &Header) -> u8 {
    match (Access { length: 0, ..access(header, false) }).check() {
        Ok(Some(cq)) => {
            cq.push(Entry { data: header.a, tid: 0, kind: event::POST, source: Source::CqWrite, status: 0 });
            0
        }
        Ok(None) => status::AT_PROTECTION,
        Err(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds that a request names are checked; a piece outside of them is an error and changes nothing.
    #[test]
    fn a_piece_beyond_its_put_is_refused() {
        let memory = vec![7u64; 1024];
        let at = memory.as_ptr() as u64;
        let handle = memory::register(at, 64, None, 0, 5).expect("registered");
        let mut header = Header { op: 9, cookie: 5, address: at, length: 8, ..Header::new(Kind::Put) };
        (header.handle, header.flags, header.len) = ([handle.qword1, handle.qword2], flag::LAST, 8);
        let mut engine = Engine::new();
        for (offset, status) in
            [(0, 0), (1, status::AT_BOUNDS), (4096, status::AT_BOUNDS), (u64::MAX, status::AT_BOUNDS)]
        {
            header.offset = offset;
            let done = engine.put(1, &header, &[1; 8]).expect("an answer");
            assert_eq!((done.status, done.op), (status, 9), "offset {offset}");
        }
        assert_eq!((memory[0], memory[1], memory[512]), (0x0101_0101_0101_0101, 7, 7));
        assert!(memory::deregister(handle));
    }
}
