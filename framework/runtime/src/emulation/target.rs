//! The target's side: registered memory, and requests carried out on it.
//!
//! Everything here is under the service lock: [`Memory::serve`] is called by the receiver of requests, which a
//! transport calls from `service_progress` alone, and registering takes the lock for itself. So memory that has been taken out of the
//! table is touched by no request any more. A handler touches window memory and answers, and does nothing else.
//!
//! **Nothing in a request is believed:** it names a registration by id and key, and address, length and access are
//! checked against what was registered. What does not fit is answered with an error.

use super::amo::{self, Update};
use super::slab::Slab;
use super::wire::{self, RegistrationName, Reply, Request, Verb};
use oxmpi_btl::access;
use oxmpi_mca::Status;
use std::sync::atomic::{Ordering, fence};

/// Memory that peers may reach by requests.
#[derive(Default)]
pub struct Memory {
    registered: Slab<Registered>,
}

struct Registered {
    key: u64,
    base: u64,
    len: u64,
    access: u32,
}

/// What to answer: a reply, and the memory that follows it as payload.
pub struct Answer {
    pub reply: Reply,
    pub payload: *const u8,
    pub len: u64,
}

impl Memory {
    /// Makes memory accessible; it stays valid until `remove`.
    pub fn add(&mut self, key: u64, base: *mut u8, len: u64, access: u32) -> RegistrationName {
        let id = self.registered.insert(Registered { key, base: base as u64, len, access });
        RegistrationName { id, key }
    }

    /// False: there is no such registration.
    pub fn remove(&mut self, name: RegistrationName) -> bool {
        let known = self.registered.get(name.id).is_some_and(|r| r.key == name.key);
        known && self.registered.remove(name.id).is_some()
    }

    /// Where the memory of a request lies, if all of it may be reached in that way.
    fn find(&self, request: &Request, access: u32) -> Result<*mut u8, Status> {
        let RegistrationName { id, key } = request.registration;
        let known = self.registered.get(id).filter(|r| r.key == key).ok_or(Status::NOT_FOUND)?;
        if known.access & access != access {
            return Err(Status::NO_PERMISSION);
        }
        let inside = request
            .addr
            .checked_sub(known.base)
            .and_then(|offset| offset.checked_add(request.len))
            .is_some_and(|end| end <= known.len);
        if inside { Ok(request.addr as *mut u8) } else { Err(Status::RMA_RANGE) }
    }

    /// Carries a request out. `most`: bytes of payload that fit into a reply.
    ///
    /// # Safety
    /// Registered memory is valid, and the caller holds the service lock.
    pub unsafe fn serve(&self, bytes: &[u8], most: u64) -> Answer {
        let answer =
            |id, status, old| Answer { reply: Reply { id, status, old }, payload: std::ptr::null(), len: 0 };
        let (request, payload) = match Request::decode(bytes) {
            Ok(request) => request,
            Err(bad) => return answer(bad.id, bad.status, 0),
        };
        let id = request.id;
        // SAFETY: the caller's promise.
        match unsafe { self.carry_out(&request, payload, most) } {
            Ok((old, payload, len)) => Answer { payload, len, ..answer(id, Status::OK, old) },
            Err(status) => answer(id, status, 0),
        }
    }

    /// # Safety
    /// As [`Memory::serve`].
    unsafe fn carry_out(
        &self,
        request: &Request,
        payload: &[u8],
        most: u64,
    ) -> Result<(u64, *const u8, u64), Status> {
        const NONE: *const u8 = std::ptr::null();
        match request.verb {
            Verb::Put => {
                let at = self.find(request, access::REMOTE_WRITE)?;
                // SAFETY: registered for `len` bytes, which the payload has (`Request::decode`). Stores to it by the program
                // at the same time are the program's to avoid (MPI 5.0 §12.7).
                unsafe { std::ptr::copy(payload.as_ptr(), at, payload.len()) };
                // Visible before the reply is, whatever instructions copied.
                fence(Ordering::SeqCst);
                Ok((0, NONE, 0))
            }
            Verb::Get => {
                let at = self.find(request, access::REMOTE_READ)?;
                if request.len > most { Err(Status::BAD_PARAM) } else { Ok((0, at, request.len)) }
            }
            Verb::Atomic => {
                let update = Update {
                    op: request.op,
                    flags: u32::from(request.flags),
                    operand: request.operand,
                    compare: request.compare,
                };
                let checked = update.check();
                if checked.is_err() || request.len != update.width() {
                    return Err(Status::BAD_PARAM);
                }
                let at = self.find(request, access::REMOTE_ATOMIC)?;
                // SAFETY: registered for its width, and under the service lock.
                let old = unsafe { amo::apply(&update, at) };
                fence(Ordering::SeqCst);
                Ok((old, NONE, 0))
            }
        }
    }
}

/// Bytes of a put in one request, and of a get in one reply, where a link carries `limit` bytes.
pub fn payload_limits(limit: u32) -> (u64, u64) {
    let limit = limit as usize;
    (limit.saturating_sub(wire::REQUEST) as u64, limit.saturating_sub(wire::REPLY) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

    fn request(verb: Verb, registration: RegistrationName, addr: u64, len: u64) -> Request {
        Request { verb, flags: 0, op: 0, operand: 1, compare: 0, id: 77, registration, addr, len }
    }

    /// Status and first word of payload of the answer to a request with eight bytes of payload at most.
    fn serve(memory: &Memory, request: Request, payload: &[u8]) -> (Status, u64) {
        // SAFETY: the tests register memory that lives.
        let answer = unsafe { memory.serve(&[&request.encode()[..], payload].concat(), 64) };
        assert_eq!(answer.reply.id, 77);
        let word = if answer.len == 8 {
            // SAFETY: memory of the test.
            unsafe { answer.payload.cast::<u64>().read() }
        } else {
            answer.reply.old
        };
        (answer.reply.status, word)
    }

    #[test]
    fn requests_reach_what_was_registered_and_no_more() {
        let mut window = [1u64, 2, 3, 4];
        let base = window.as_mut_ptr().cast::<u8>();
        let at = base as u64;
        let mut memory = Memory::default();
        // The second and the third word.
        let name = memory.add(5, base.wrapping_add(8), 16, ALL);
        let reads = memory.add(6, base, 32, access::REMOTE_READ);
        assert_eq!(serve(&memory, request(Verb::Get, name, at + 16, 8), &[]), (Status::OK, 3));
        assert_eq!(serve(&memory, request(Verb::Put, name, at + 8, 8), &9u64.to_le_bytes()), (Status::OK, 0));
        assert_eq!(serve(&memory, request(Verb::Atomic, name, at + 8, 8), &[]), (Status::OK, 9));
        assert_eq!(serve(&memory, request(Verb::Get, reads, at + 8, 8), &[]), (Status::OK, 10));

        for (addr, len) in [(at, 8), (at + 24, 8), (at + 20, 8), (at + 8, 17), (u64::MAX - 3, 8), (0, 1)] {
            let bytes = vec![0; if len < 100 { len as usize } else { 0 }];
            for (verb, payload) in [(Verb::Get, &[][..]), (Verb::Put, &bytes)] {
                let status = serve(&memory, request(verb, name, addr, len), payload).0;
                assert_eq!(status, Status::RMA_RANGE, "{verb:?} {addr:#x} {len}");
            }
        }
        let huge = request(Verb::Get, name, at + 8, u64::MAX);
        assert_eq!(serve(&memory, huge, &[]).0, Status::RMA_RANGE);
        let wide = request(Verb::Atomic, name, at + 8, 4);
        assert_eq!(serve(&memory, wide, &[]).0, Status::BAD_PARAM);
        for verb in [Verb::Put, Verb::Atomic] {
            let payload = if verb == Verb::Put { &[0; 8][..] } else { &[] };
            assert_eq!(serve(&memory, request(verb, reads, at, 8), payload).0, Status::NO_PERMISSION);
        }
        for bad in [RegistrationName { key: 6, ..name }, RegistrationName { id: 99, ..name }] {
            assert_eq!(serve(&memory, request(Verb::Get, bad, at + 8, 8), &[]).0, Status::NOT_FOUND);
            assert!(!memory.remove(bad));
        }
        assert!(memory.remove(name) && !memory.remove(name));
        assert_eq!(serve(&memory, request(Verb::Get, name, at + 8, 8), &[]).0, Status::NOT_FOUND);
        assert_eq!(window, [1, 10, 3, 4]);
    }

    #[test]
    fn a_get_is_no_longer_than_a_reply() {
        let mut window = [0u8; 128];
        let base = window.as_mut_ptr();
        let mut memory = Memory::default();
        let name = memory.add(1, base, 128, ALL);
        assert_eq!(serve(&memory, request(Verb::Get, name, base as u64, 64), &[]).0, Status::OK);
        assert_eq!(serve(&memory, request(Verb::Get, name, base as u64, 65), &[]).0, Status::BAD_PARAM);
    }
}
