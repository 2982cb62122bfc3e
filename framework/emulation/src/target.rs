//! The target's side: registered memory, and requests carried out on it.
//!
//! Everything here is under the service lock: [`Memory::serve`] is called by the receiver of requests, which a
//! transport calls from `service_progress` alone, and registering takes the lock for itself. So memory that has been taken out of the
//! table is touched by no request any more. A handler touches window memory and answers, and does nothing else.
//!
//! **Nothing in a request is believed:** it names a registration by id and key, and address, length and access are
//! checked against what was registered. A request that does not fit is answered with an error.

use crate::amo::{self, Update};
use crate::slab::Slab;
use crate::wire::{self, Entry, RegistrationName, Reply, Request, Verb};
use oxmpi_btl::{LIST_PUT, access};
use oxmpi_mca::Status;
use std::cell::{Ref, RefCell};
use std::sync::atomic::{Ordering, fence};

/// Memory that peers may reach by requests.
#[derive(Default)]
pub struct Memory {
    registered: Slab<Registered>,
    /// Old elements of the list that is being carried out, until its reply is sent.
    results: RefCell<Vec<u8>>,
}

/// A piece of memory that peers may reach, and the key that they must know.
struct Registered {
    key: u64,
    base: u64,
    len: u64,
    access: u32,
}

/// The answer: a reply, and the memory that follows it as payload.
pub struct Answer {
    pub reply: Reply,
    pub payload: *const u8,
    pub len: u64,
}

impl Memory {
    /// Registers memory for requests. The answer names the registration.
    ///
    /// # Safety
    /// It stays valid until [`Memory::remove`], as far as `access` says what may be done with it.
    pub unsafe fn add(&mut self, key: u64, base: *mut u8, len: u64, access: u32) -> RegistrationName {
        let id = self.registered.insert(Registered { key, base: base as u64, len, access });
        RegistrationName { id, key }
    }

    /// Removes a registration. False: there is no such registration.
    pub fn remove(&mut self, name: RegistrationName) -> bool {
        let known = self.registered.get(name.id).is_some_and(|r| r.key == name.key);
        known && self.registered.remove(name.id).is_some()
    }

    /// The address of the memory that a request names, if all of it may be reached with that `access`.
    fn find(
        &self,
        RegistrationName { id, key }: RegistrationName,
        (addr, len): (u64, u64),
        access: u32,
    ) -> Result<*mut u8, Status> {
        let known = self.registered.get(id).filter(|r| r.key == key).ok_or(Status::NOT_FOUND)?;
        if known.access & access != access {
            return Err(Status::NO_PERMISSION);
        }
        let inside = addr
            .checked_sub(known.base)
            .and_then(|offset| offset.checked_add(len))
            .is_some_and(|end| end <= known.len);
        if inside { Ok(addr as *mut u8) } else { Err(Status::RMA_RANGE) }
    }

    /// Carries out a request, given by its bytes, and makes the reply. `most`: bytes of payload that fit into a reply.
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

    /// Carries out a request: the old value of an atomic, and address and length of the reply's payload.
    ///
    /// # Safety
    /// As [`Memory::serve`].
    unsafe fn carry_out(
        &self,
        request: &Request,
        payload: &[u8],
        most: u64,
    ) -> Result<(u64, *const u8, u64), Status> {
        const NONE: *const u8 = std::ptr::null();
        let find = |access| self.find(request.registration, (request.addr, request.len), access);
        match request.verb {
            Verb::Put => {
                let at = find(access::REMOTE_WRITE)?;
                // SAFETY: registered for `len` bytes, which the payload has (`Request::decode`). Stores to it by the program
                // at the same time are the program's to avoid (MPI 5.0 §12.7).
                unsafe { std::ptr::copy(payload.as_ptr(), at, payload.len()) };
                // Visible before the reply is, whatever instructions copied.
                fence(Ordering::SeqCst);
                Ok((0, NONE, 0))
            }
            Verb::Get => {
                let at = find(access::REMOTE_READ)?;
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
                let at = find(access::REMOTE_ATOMIC)?;
                // SAFETY: registered for its width, and under the service lock.
                let old = unsafe { amo::apply(&update, at) };
                fence(Ordering::SeqCst);
                Ok((old, NONE, 0))
            }
            Verb::List => {
                // SAFETY: the caller's promise.
                let results = unsafe { self.carry_out_list(payload, most) }?;
                fence(Ordering::SeqCst);
                Ok((0, results.as_ptr(), results.len() as u64))
            }
        }
    }

    /// The address of the memory that an entry of a list names, and the update of each of its elements; `None`: bytes
    /// are written.
    fn find_entry(&self, entry: &Entry) -> Result<(*mut u8, Option<Update>), Status> {
        let (access, update) = if u32::from(entry.op) == LIST_PUT {
            (access::REMOTE_WRITE, None)
        } else {
            let (op, flags) = (u32::from(entry.op), u32::from(entry.flags));
            let update = Update { op, flags, operand: 0, compare: entry.compare };
            update.check().ok()?;
            if !u64::from(entry.len).is_multiple_of(update.width()) {
                return Err(Status::BAD_PARAM);
            }
            (access::REMOTE_ATOMIC, Some(update))
        };
        let at = self.find(entry.registration, (entry.addr, entry.len.into()), access)?;
        Ok((at, update))
    }

    /// Carries out the entries of a list in order, or none of them if one does not fit. Returns the old elements,
    /// which stay until the next request.
    ///
    /// # Safety
    /// As [`Memory::serve`].
    unsafe fn carry_out_list(&self, list: &[u8], most: u64) -> Result<Ref<'_, [u8]>, Status> {
        let (mut rest, mut fetched) = (list, 0);
        while !rest.is_empty() {
            let (entry, _, behind) = Entry::decode(rest).ok_or(Status::BAD_PARAM)?;
            let (_, update) = self.find_entry(&entry)?;
            fetched += if entry.fetches { u64::from(entry.len).next_multiple_of(8) } else { 0 };
            if fetched > most || (entry.fetches && update.is_none()) {
                return Err(Status::BAD_PARAM);
            }
            rest = behind;
        }
        let mut results = self.results.borrow_mut();
        results.clear();
        rest = list;
        while let Some((entry, data, behind)) = Entry::decode(rest) {
            rest = behind;
            match self.find_entry(&entry)? {
                // SAFETY: registered for `len` bytes, which the data has; see `carry_out`.
                (at, None) => unsafe { std::ptr::copy(data.as_ptr(), at, data.len()) },
                // SAFETY: registered for all elements, and under the service lock.
                (at, Some(update)) => unsafe {
                    amo::apply_each(&update, at, data, entry.fetches.then_some(&mut *results));
                },
            }
            let whole = results.len().next_multiple_of(8);
            results.resize(whole, 0);
        }
        drop(results);
        Ok(Ref::map(self.results.borrow(), Vec::as_slice))
    }
}

/// Most bytes of a put in one request, and of a get in one reply, where a service link carries `limit` bytes.
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
        // SAFETY: of the test's, which goes behind `memory`.
        let name = unsafe { memory.add(5, base.wrapping_add(8), 16, ALL) };
        // SAFETY: the same memory.
        let reads = unsafe { memory.add(6, base, 32, access::REMOTE_READ) };
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

    /// Status and payload of the answer to a list.
    fn serve_list(memory: &Memory, entries: &[(Entry, &[u8])], most: u64) -> (Status, Vec<u8>) {
        let mut list = Vec::new();
        for (entry, data) in entries {
            entry.encode(&mut list);
            list.extend_from_slice(data);
            list.resize(list.len().next_multiple_of(8), 0);
        }
        let request = request(Verb::List, RegistrationName::default(), 0, list.len() as u64);
        // SAFETY: the tests register memory that lives.
        let answer = unsafe { memory.serve(&[&request.encode()[..], &list].concat(), most) };
        // SAFETY: the answer's payload, until the next request.
        let payload = (0..answer.len as usize).map(|i| unsafe { *answer.payload.add(i) }).collect();
        (answer.reply.status, payload)
    }

    #[test]
    fn lists_are_carried_out_in_order_or_not_at_all() {
        let mut window = [1u64, 2, 3, 4];
        let base = window.as_mut_ptr().cast::<u8>();
        let at = base as u64;
        let mut memory = Memory::default();
        // SAFETY: of the test's, which goes behind `memory`.
        let name = unsafe { memory.add(5, base, 32, ALL) };
        // SAFETY: the same memory.
        let reads = unsafe { memory.add(6, base, 32, access::REMOTE_READ) };
        let put = Entry {
            registration: name,
            addr: at,
            compare: 0,
            len: 8,
            op: LIST_PUT as u16,
            flags: 0,
            fetches: false,
        };
        let add = Entry { op: oxmpi_btl::amo::ADD as u16, fetches: true, ..put };
        let ten = 10u64.to_le_bytes();
        let two = [ten, ten].concat();
        let narrow = Entry { addr: at + 24, len: 4, flags: oxmpi_btl::amo::WIDTH_32 as u8, ..add };
        let all: [(Entry, &[u8]); 3] = [(put, &ten), (Entry { len: 16, ..add }, &two), (narrow, &ten[..4])];
        let (status, old) = serve_list(&memory, &all, 64);
        let words: Vec<u64> =
            old.chunks(8).map(|w| u64::from_le_bytes(w.try_into().expect("a word"))).collect();
        assert_eq!((status, words), (Status::OK, vec![10, 2, 4]));
        for (bad, status) in [
            (Entry { addr: at + 32, ..put }, Status::RMA_RANGE),
            (Entry { registration: reads, ..put }, Status::NO_PERMISSION),
            (Entry { op: 9, ..add }, Status::BAD_PARAM),
            (Entry { fetches: true, ..put }, Status::BAD_PARAM),
            (Entry { flags: 255, ..add }, Status::BAD_PARAM),
            (Entry { registration: RegistrationName { id: 77, key: 1 }, ..add }, Status::NOT_FOUND),
        ] {
            assert_eq!(serve_list(&memory, &[(put, &ten), (bad, &ten)], 64), (status, Vec::new()), "{bad:?}");
        }
        let odd = Entry { len: 4, ..add };
        assert_eq!(serve_list(&memory, &[(odd, &ten[..4])], 64).0, Status::BAD_PARAM);
        assert_eq!(serve_list(&memory, &all, 16).0, Status::BAD_PARAM, "longer than a reply");
        assert_eq!(window, [20, 12, 3, 14]);
    }

    #[test]
    fn a_get_is_no_longer_than_a_reply() {
        let mut window = [0u8; 128];
        let base = window.as_mut_ptr();
        let mut memory = Memory::default();
        // SAFETY: of the test's, which goes behind `memory`.
        let name = unsafe { memory.add(1, base, 128, ALL) };
        assert_eq!(serve(&memory, request(Verb::Get, name, base as u64, 64), &[]).0, Status::OK);
        assert_eq!(serve(&memory, request(Verb::Get, name, base as u64, 65), &[]).0, Status::BAD_PARAM);
    }
}
