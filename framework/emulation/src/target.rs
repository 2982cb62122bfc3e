//! The target's side: registered memory, and requests carried out on it.
//!
//! Everything here is under the service lock: [`Memory::serve`] is called by the receiver of requests, which a
//! transport calls from `service_progress` alone, and registering takes the lock for itself. So memory that has been taken out of the
//! table is touched by no request any more. A handler touches window memory and answers, and does nothing else.
//!
//! **Listeners.** The owner of registered memory may have a function of its own carry out what peers ask there; it gets the bytes of the entry, and room for its
//! answer. It is called under the service lock as everything here, and never behind the end of the registration.
//!
//! **Nothing in a request is believed:** it names a registration by id and key, and address, length and access are
//! checked against what was registered. A request that does not fit is answered with an error.

use crate::amo::{self, Update};
use crate::slab::Slab;
use crate::wire::{self, Entry, RegistrationName, Reply, Request, Verb};
use oxmpi_btl::{AskDesc, LIST_ASK, LIST_PUT, Listener, access};
use oxmpi_mca::Status;
use std::cell::{Ref, RefCell};
use std::ffi::c_void;
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
    listening: Option<Listening>,
}

/// A function that carries out what peers ask at a registration.
#[derive(Clone, Copy)]
struct Listening {
    listener: Listener,
    ctx: *mut c_void,
}

// SAFETY: who gives it says that the function may be called by any thread that has the service lock (`Memory::listen`).
unsafe impl Send for Listening {}

/// The deed of an entry of a list.
enum Deed {
    Write(*mut u8),
    Update(*mut u8, Update),
    Ask(Listening),
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
        let id = self.registered.insert(Registered { key, base: base as u64, len, access, listening: None });
        RegistrationName { id, key }
    }

    /// Has a function carry out what peers ask at a registration. BAD_PARAM: there is no such registration, or it has one.
    ///
    /// # Safety
    /// The function keeps to the contract of a [`Listener`], by any thread that has the service lock; `ctx` stays until [`Memory::remove`].
    pub unsafe fn listen(&mut self, name: RegistrationName, listener: Listener, ctx: *mut c_void) -> Status {
        match self.registered.get_mut(name.id).filter(|r| r.key == name.key && r.listening.is_none()) {
            Some(registered) => {
                registered.listening = Some(Listening { listener, ctx });
                Status::OK
            }
            None => Status::BAD_PARAM,
        }
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

    /// The function that listens at a registration.
    fn listening(&self, RegistrationName { id, key }: RegistrationName) -> Result<Listening, Status> {
        let known = self.registered.get(id).filter(|r| r.key == key).ok_or(Status::NOT_FOUND)?;
        known.listening.ok_or(Status::NO_PERMISSION)
    }

    /// The deed of an entry of a list, with memory that it may reach.
    fn find_entry(&self, entry: &Entry) -> Result<Deed, Status> {
        if u32::from(entry.op) == LIST_ASK {
            let plain = entry.addr == 0 && entry.flags == 0 && entry.fetches == (entry.compare > 0);
            return if plain {
                self.listening(entry.registration).map(Deed::Ask)
            } else {
                Err(Status::BAD_PARAM)
            };
        }
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
        Ok(update.map_or(Deed::Write(at), |update| Deed::Update(at, update)))
    }

    /// Bytes that an entry adds to the results. BAD_PARAM: it does not fit.
    fn results_of(&self, entry: &Entry) -> Result<u64, Status> {
        match (self.find_entry(entry)?, entry.fetches) {
            (_, false) => Ok(0),
            (Deed::Write(_), true) => Err(Status::BAD_PARAM),
            (Deed::Update(..), true) => Ok(u64::from(entry.len)),
            (Deed::Ask(_), true) => Ok(entry.compare),
        }
    }

    /// Carries out the entries of a list in order, or none of them if one does not fit; a listener that refuses its entry ends the list. Returns old
    /// elements and answers, which stay until the next request.
    ///
    /// # Safety
    /// As [`Memory::serve`].
    unsafe fn carry_out_list(&self, list: &[u8], most: u64) -> Result<Ref<'_, [u8]>, Status> {
        let (mut rest, mut fetched) = (list, 0);
        while !rest.is_empty() {
            let (entry, _, behind) = Entry::decode(rest).ok_or(Status::BAD_PARAM)?;
            let more = self.results_of(&entry)?;
            fetched += if more > most { return Err(Status::BAD_PARAM) } else { more.next_multiple_of(8) };
            if fetched > most {
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
                Deed::Write(at) => unsafe { std::ptr::copy(data.as_ptr(), at, data.len()) },
                // SAFETY: registered for all elements, and under the service lock.
                Deed::Update(at, update) => unsafe {
                    amo::apply_each(&update, at, data, entry.fetches.then_some(&mut *results));
                },
                // SAFETY: the caller's promise.
                Deed::Ask(listening) => unsafe { ask(listening, data, entry.compare, &mut results) }?,
            }
            let whole = results.len().next_multiple_of(8);
            results.resize(whole, 0);
        }
        drop(results);
        Ok(Ref::map(self.results.borrow(), Vec::as_slice))
    }
}

/// Has a listener carry out an entry, whose answer of `len` bytes, of which there is room in a reply, joins the results.
///
/// # Safety
/// The caller holds the service lock.
unsafe fn ask(listening: Listening, data: &[u8], len: u64, results: &mut Vec<u8>) -> Result<(), Status> {
    let before = results.len();
    results.resize(before + len as usize, 0);
    let answer = results[before..].as_mut_ptr();
    let ask = AskDesc { data: data.as_ptr(), len: data.len() as u64, answer, answer_len: len };
    // SAFETY: the registration that it listens at is there, so its context is, too (`Memory::listen`).
    let status = unsafe { (listening.listener)(listening.ctx, &ask) };
    status.ok().map(|_| ())
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

    /// Adds the first byte that is asked to each of the answer's, and counts in the context; refuses what begins with 255.
    unsafe extern "C" fn listener(ctx: *mut c_void, ask: *const AskDesc) -> Status {
        // SAFETY: the tests' counter, and what `ask` lends.
        unsafe {
            let AskDesc { data, len, answer, answer_len } = *ask;
            if len > 0 && *data == 255 {
                return Status::NOT_AVAILABLE;
            }
            *ctx.cast::<u64>() += 1;
            (0..answer_len as usize).for_each(|i| *answer.add(i) += *data);
        }
        Status::OK
    }

    #[test]
    fn listeners_carry_out_what_is_asked_of_them() {
        let (mut window, mut calls) = ([10u64; 2], 0u64);
        let base = window.as_mut_ptr().cast::<u8>();
        let mut memory = Memory::default();
        // SAFETY: of the test's, which goes behind `memory`.
        let (deaf, name) = unsafe { (memory.add(1, base, 16, ALL), memory.add(2, base, 16, ALL)) };
        let ctx = (&raw mut calls).cast();
        let wrong = RegistrationName { key: 3, ..name };
        // SAFETY: the counter goes behind `memory`.
        unsafe {
            assert_eq!(memory.listen(wrong, listener, ctx), Status::BAD_PARAM);
            assert_eq!(memory.listen(name, listener, ctx), Status::OK);
            assert_eq!(memory.listen(name, listener, ctx), Status::BAD_PARAM, "once");
        }
        let plain = Entry {
            registration: name,
            addr: 0,
            compare: 0,
            len: 2,
            op: LIST_ASK as u16,
            flags: 0,
            fetches: false,
        };
        let asks = Entry { compare: 3, fetches: true, ..plain };
        let update = Entry { addr: base as u64, len: 8, op: 0, ..plain };
        let ten = 10u64.to_le_bytes();
        let all = [(asks, &[7u8, 0][..]), (update, &ten[..]), (plain, &[1, 0]), (asks, &[5, 0])];
        assert_eq!(
            serve_list(&memory, &all, 64),
            (Status::OK, vec![7, 7, 7, 0, 0, 0, 0, 0, 5, 5, 5, 0, 0, 0, 0, 0])
        );
        assert_eq!(window[0], 20);
        // One that is refused ends the list, behind what was done.
        let some = [(update, &ten[..]), (asks, &[255, 0]), (update, &ten)];
        assert_eq!(serve_list(&memory, &some, 64), (Status::NOT_AVAILABLE, Vec::new()));
        assert_eq!(window[0], 30);
        for (bad, status) in [
            (Entry { registration: deaf, ..asks }, Status::NO_PERMISSION),
            (Entry { registration: wrong, ..asks }, Status::NOT_FOUND),
            (Entry { addr: 8, ..asks }, Status::BAD_PARAM),
            (Entry { flags: 1, ..asks }, Status::BAD_PARAM),
            (Entry { fetches: false, ..asks }, Status::BAD_PARAM),
            (Entry { compare: 0, ..asks }, Status::BAD_PARAM),
            (Entry { compare: 65, ..asks }, Status::BAD_PARAM),
            (Entry { compare: u64::MAX, ..asks }, Status::BAD_PARAM),
        ] {
            assert_eq!(
                serve_list(&memory, &[(update, &ten), (bad, &[7, 0])], 64),
                (status, Vec::new()),
                "{bad:?}"
            );
        }
        assert!(memory.remove(name));
        assert_eq!(serve_list(&memory, &[(asks, &[7, 0])], 64).0, Status::NOT_FOUND);
        assert_eq!((window[0], calls), (30, 3));
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
